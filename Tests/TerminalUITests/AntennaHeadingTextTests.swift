// What `gnss` and `monitor` show of a heading by antennas.

import LinearAlgebra
import SensorTypes
import Testing

@testable import TerminalUI

struct AntennaHeadingTextTests {
  private func board(antennas: Bool?) -> BoardDescription {
    BoardDescription(
      name: "boat", isSimulated: false, isVehicle: false, chips: ["NMEA"], hasAntennas: antennas)
  }

  private func heading(_ degrees: Double, at time: Double = 1, field: Vector3? = nil) -> Observation
  {
    .heading(
      HeadingEstimate(
        time: Timestamp(seconds: time), magneticHeading: (degrees - 3) * .pi / 180,
        accuracy: 4 * .pi / 180, trueHeading: degrees * .pi / 180, declination: 3 * .pi / 180,
        field: field, attitude: .identity, limit: .antennas))
  }

  private func row(_ page: GNSSPage) -> String? {
    page.lines(at: Timestamp(seconds: 2), size: (80, 24)).first { $0.hasPrefix("heading") }
  }

  @Test("the page of the receiver has the heading of its antennas, or why there is none")
  func page() {
    var page = GNSSPage(board(antennas: true))
    #expect(row(page) == "heading   - (nothing measured yet)")
    page.take(heading(123.4))
    #expect(row(page) == "heading   123.4 deg +- 4.0 deg, by the antennas")
    // A heading with a magnetometer's part is another one.
    page.take(heading(99, field: Vector3(1, 2, 3)))
    #expect(row(page)?.contains("123.4") == true)
    page.take(
      .headingUnavailable(.sensorLost("the receiver gives no heading"), at: Timestamp(seconds: 2)))
    #expect(row(page) == "heading   - (sensor lost: the receiver gives no heading)")
    for antennas in [false, nil] {
      var other = GNSSPage(board(antennas: antennas))
      other.take(heading(123.4))
      #expect(row(other) == nil)
    }
  }

  @Test(
    "as lines of JSON one heading of the antennas comes with each position, and its end at once")
  func lines() {
    let position = Observation.locationUnavailable(.notYet, at: Timestamp(seconds: 1))
    let end = Observation.headingUnavailable(.notYet, at: Timestamp(seconds: 1))
    var selection = ReceiverSelection(hasAntennas: true)
    #expect(selection.take([heading(1), heading(2), position]) == [heading(2), position])
    #expect(selection.take([position]) == [position])
    #expect(selection.take([heading(3)]).isEmpty)
    #expect(
      selection.take([heading(4, field: Vector3(1, 2, 3)), position]) == [heading(3), position])
    #expect(selection.take([heading(5), end, position]) == [end, position])
    var other = ReceiverSelection(hasAntennas: false)
    #expect(other.take([heading(1), end, position]) == [position])
  }

  @Test("without positions there is a heading of the antennas each two seconds")
  func linesWithoutPositions() {
    var selection = ReceiverSelection(hasAntennas: true)
    let headings = (0...60).map { heading(Double($0), at: Double($0) / 10) }
    let taken = selection.take(headings)
    #expect(taken == [20, 40, 60].map { headings[$0] })
  }

  @Test("a board with antennas lacks no magnetometer")
  func missing() {
    #expect(MissingParts(board(antennas: true)).heading == .notYet)
    #expect(MissingParts(board(antennas: false)).heading == .notEquipped("magnetometer"))
    #expect(MissingParts(board(antennas: nil)).heading == .notEquipped("magnetometer"))
  }
}
