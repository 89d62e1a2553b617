import Foundation
import LinearAlgebra
import SensorTypes
@testable import OutputProtocols
import Testing

/// The JSON lines, with time as an argument.
@Suite struct ObservationLinesTests {
  private static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 1_000 + seconds) }

  private static func clock(isSet: Bool) -> (Timestamp) -> ClockReading? {
    { ClockReading(seconds: 1_795_219_200 + $0.seconds(since: at(0)), isSet: isSet) }
  }

  private static let observations: [Observation] = [
    .heading(
      HeadingEstimate(
        time: at(1), magneticHeading: 1, accuracy: 0.05, trueHeading: 1, field: nil,
        attitude: .identity, limit: .iron)),
    .headingUnavailable(.notYet, at: at(1)),
    .altitude(
      AltitudeEstimate(
        time: at(1), relativeAltitude: 1, relativeAccuracy: 0.1, pressure: 101_325)),
    .altitudeUnavailable(.notYet, at: at(1)),
    .locationUnavailable(.noFix, at: at(1)),
    .sensor(
      SensorStatus(index: 0, chip: "LIS3MDL", position: "x", state: .running, since: at(1))),
    .diagnostic("text", at: at(1)),
  ]

  private func object(_ line: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test func theAirIsInKilopascalsDegreesAndPercent() throws {
    var lines = ObservationLines(start: Self.at(0), clock: Self.clock(isSet: true))
    let altitude = try object(
      lines.line(
        for: .altitude(
          AltitudeEstimate(
            time: Self.at(1), relativeAltitude: 1, relativeAccuracy: 0.1, pressure: 98_765,
            temperature: 21.25, humidity: 45.5))))
    #expect(altitude["pressure"] as? Double == 98.765)
    #expect(altitude["temperature"] as? Double == 21.25 && altitude["humidity"] as? Double == 45.5)
    let height = try object(
      lines.line(
        for: .absoluteAltitude(
          AbsoluteAltitudeEstimate(
            time: Self.at(1), altitude: 36, accuracy: 2, seaLevelPressure: 101_712.5,
            seaLevelPressureAccuracy: 103))))
    #expect(height["seaLevelPressure"] as? Double == 101.7125)
    #expect(height["seaLevelPressureAccuracy"] as? Double == 0.103)
    let sample = try object(
      lines.line(
        for: SensorReading(
          sensor: 2,
          sample: Sample(
            time: Self.at(1), value: .atmosphere(pressure: 98_765, temperature: 21, humidity: 45)),
          edge: nil, outputRate: 25)))
    #expect(sample["humidity"] as? Double == 45 && sample["temperature"] as? Double == 21)
    // What a chip does not measure is not there.
    let dry = try object(
      lines.line(
        for: SensorReading(
          sensor: 2,
          sample: Sample(time: Self.at(1), value: .atmosphere(pressure: 98_765, temperature: 21)),
          edge: nil, outputRate: 25)))
    #expect(dry["humidity"] == nil)
  }

  @Test func aClockThatIsSetDatesEveryLine() throws {
    var lines = ObservationLines(start: Self.at(0), clock: Self.clock(isSet: true))
    for observation in Self.observations {
      let line = try object(lines.line(for: observation))
      #expect(line["time"] as? String == "2026-11-21T00:00:01.000Z")
      #expect(line["clockIsSet"] == nil)
    }
  }

  @Test func aClockThatNobodyHasSetIsSaidAndDatesNothing() throws {
    var lines = ObservationLines(start: Self.at(0), clock: Self.clock(isSet: false))
    for observation in Self.observations {
      let line = try object(lines.line(for: observation))
      #expect(line["time"] == nil)
      #expect(line["clockIsSet"] as? Bool == false)
      #expect(line["monotonic"] as? Double == 1)
    }
  }

  @Test func theReceiversTimeStandsAlsoWhereTheClockIsNotSet() throws {
    var lines = ObservationLines(start: Self.at(0), clock: Self.clock(isSet: false))
    var fix = GNSSFix(received: Self.at(1), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.horizontalAccuracy, fix.utc) = (48, 11, 2, 1_795_300_000)
    let line = try object(
      lines.line(for: .location(LocationEstimate(fix: fix, isSimulated: false))))
    #expect(line["time"] as? String == "2026-11-21T22:26:40.000Z")
    #expect(line["clockIsSet"] as? Bool == false)
  }

  @Test func theLimitOfAHeadingIsGivenOnlyWithIt() throws {
    var lines = ObservationLines(start: Self.at(0), clock: Self.clock(isSet: true))
    let line = try object(lines.line(for: Self.observations[0]))
    #expect(line["headingLimit"] as? String == "iron")
    let heading = HeadingEstimate(
      time: Self.at(2), magneticHeading: 1, accuracy: nil, field: nil, attitude: .identity)
    #expect(try object(lines.line(for: .heading(heading)))["headingLimit"] == nil)
  }

  @Test func aLogWithoutAClockSaysNothingOfOne() throws {
    var lines = ObservationLines { _ in nil }
    let line = try object(lines.line(for: Self.observations[1]))
    #expect(line["time"] == nil && line["clockIsSet"] == nil)
  }
}
