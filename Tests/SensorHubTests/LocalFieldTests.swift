import Geomagnetism
import SensorTypes
import StateStore
import Testing

@testable import SensorHub

/// What is said of a declination that is an earlier run's.
struct LocalFieldTests {
  private static let date = 1.795e9

  private func said(givesHeading: Bool, age: Double) -> [String] {
    var field = LocalField(position: nil, models: [.wmm2025], givesHeading: givesHeading)
    field.update(wallTime: Self.date)
    field.update(
      LastPosition(latitude: 52, longitude: 13, altitude: 34, utc: Self.date - age))
    return field.diagnostics
  }

  @Test("its age is said in hours and days, to a board that has a heading")
  func ages() throws {
    #expect(said(givesHeading: true, age: 600).first?.contains("less than 1 h old") == true)
    #expect(said(givesHeading: true, age: 7_200).first?.contains("2 h old") == true)
    #expect(said(givesHeading: true, age: 3 * 86_400).first?.contains("3 days old") == true)
    #expect(said(givesHeading: false, age: 600).isEmpty)
  }
}
