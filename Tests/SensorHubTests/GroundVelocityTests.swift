import FusionCore
import SensorTypes
import Testing

@testable import SensorHub

/// What of a receiver's speed and course the attitude filter gets.
struct GroundVelocityTests {
  private static let north: Result<TrueNorth.Declination, NoData> = .success(
    TrueNorth.Declination(angle: 0, deviation: 0.01))

  private func velocity(
    _ declination: Result<TrueNorth.Declination, NoData> = north,
    _ change: (inout GNSSFix) -> Void
  ) -> GroundVelocity? {
    var fix = GNSSFix(received: Timestamp(seconds: 7), mode: .threeDimensional)
    change(&fix)
    return GroundVelocity(fix, declination: declination)
  }

  @Test("speed and course are east and magnetic north")
  func components() throws {
    let radian = Double.pi / 180
    let declination: Result<TrueNorth.Declination, NoData> = .success(
      TrueNorth.Declination(angle: 10 * radian, deviation: 0.01))
    for (course, east, north) in [
      // Towards 40 degrees of magnetic north: sine and cosine of 40 degrees times 5.
      (50.0, 3.213_938_048, 3.830_222_216), (10, 0, 5), (100, 5, 0), (280, -5, 0),
    ] {
      let found = try #require(
        velocity(declination) { ($0.speed, $0.course, $0.speedAccuracy) = (5, course, 0.3) })
      #expect(abs(found.value.x - east) < 1e-8 && abs(found.value.y - north) < 1e-8, "\(course)")
      #expect(found.deviation == 0.3)
      // Epochs are told 80 ms after they were true, where no pulse says more.
      #expect(found.time == Timestamp(seconds: 6.92))
    }
  }

  @Test(
    "the deviation is the worse of speed's and course's, and never better than a receiver can be")
  func deviation() throws {
    func deviation(_ speed: Double, _ accuracy: Double?, _ course: Double?) throws -> Double {
      let found = velocity {
        ($0.speed, $0.course, $0.speedAccuracy, $0.courseAccuracy) = (speed, 90, accuracy, course)
      }
      return try #require(found).deviation
    }
    #expect(try deviation(10, 0.4, nil) == 0.4)
    #expect(try deviation(10, nil, nil) == 0.5)
    #expect(try deviation(10, 0.01, nil) == 0.2)
    // Ten degrees of 10 m/s.
    #expect(abs(try deviation(10, 0.4, 10) - 1.745_329) < 1e-6)
    #expect(try deviation(10, 3, 10) == 3)
    // A course of which nothing is known is no worse than the speed.
    #expect(try deviation(2, 0.4, 180) == 2)
  }

  @Test("without a course only a standstill is a velocity: zero, within what the speed says")
  func standstill() throws {
    let still = try #require(velocity { ($0.speed, $0.speedAccuracy) = (0.3, 0.25) })
    #expect(still.value == .zero && still.deviation == 0.3)
    #expect(try #require(velocity { ($0.speed, $0.speedAccuracy) = (0.1, 0.25) }).deviation == 0.25)
    #expect(velocity { $0.speed = 0.5 } == nil)
    #expect(velocity { $0.course = 90 } == nil)
    #expect(velocity { ($0.speed, $0.course) = (-1, 90) } == nil)
    #expect(velocity(.failure(.positionUnknown)) { ($0.speed, $0.course) = (5, 90) } == nil)
  }
}
