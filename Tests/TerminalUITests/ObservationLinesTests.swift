import BoardFile
import Foundation
import LinearAlgebra
import SensorTypes
@testable import TerminalUI
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

/// The table of `monitor`, with time as an argument.
@Suite struct MonitorTableTests {
  private static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 1_000 + seconds) }

  private static func table() -> MonitorTable {
    var table = MonitorTable(
      Board(
        name: "boat",
        sensors: [
          Board.Sensor(chip: "LIS3MDL", attachment: .i2c(bus: "/dev/i2c-1", address: 0x1C))
        ]))
    for step in 0...40 {
      let time = at(Double(step) / 20)
      table.take(
        .heading(
          HeadingEstimate(
            time: time, magneticHeading: 73.6 * .pi / 180, accuracy: 2.4 * .pi / 180,
            field: nil, attitude: .identity)))
      table.take(
        .altitude(
          AltitudeEstimate(
            time: time, relativeAltitude: 12.34, relativeAccuracy: 0.1, pressure: 101_325)))
    }
    for step in 0..<3 {
      var fix = GNSSFix(received: at(2 - 5 * Double(2 - step)), mode: .threeDimensional)
      (fix.latitude, fix.longitude, fix.horizontalAccuracy) = (48.5, 11, 2)
      table.take(.location(LocationEstimate(fix: fix, isSimulated: false)))
    }
    return table
  }

  @Test func whatIsFreshIsShown() {
    let text = Self.table().lines(at: Self.at(3.9)).joined(separator: "\n")
    #expect(text.contains("magnetic 73.6 deg +- 2.4"))
    #expect(text.contains("12.34 m") && text.contains("48.500000"))
  }

  @Test func whatABoardHasNotIsSaidFromTheBeginning() {
    let parts = [
      (row: "heading", chip: "LIS3MDL", missing: NoData.notEquipped("magnetometer")),
      (row: "altitude", chip: "BMP280", missing: .notEquipped("barometer")),
      (row: "position", chip: "u-blox", missing: .notEquipped("receiver")),
    ]
    for present in parts {
      let attachment = Board.Attachment.i2c(bus: "/dev/i2c-1", address: 0x1C)
      let table = MonitorTable(
        Board(name: "boat", sensors: [Board.Sensor(chip: present.chip, attachment: attachment)]))
      let lines = table.lines(at: Self.at(0))
      for part in parts {
        let reason = part.row == present.row ? NoData.notYet : part.missing
        #expect(
          lines.contains { $0.hasPrefix(part.row) && $0.hasSuffix("- (\(reason))") }, "\(lines)")
      }
    }
  }

  @Test func whatIsOlderThanTwoSecondsOrThreePeriodsGivesWayToItsAge() {
    let table = Self.table()
    let lines = table.lines(at: Self.at(6))
    #expect(lines.contains("heading   - (the last one is 4 s old)"))
    #expect(lines.contains("altitude  - (the last one is 4 s old)"))
    // One every five seconds stands for fifteen.
    #expect(lines.contains { $0.hasPrefix("position  48.500000") })
    #expect(table.lines(at: Self.at(18)).contains("position  - (the last one is 16 s old)"))
    let summary = table.summary(at: Self.at(6))
    #expect(summary.hasPrefix("heading - (the last one is 4 s old) | altitude - (the last one"))
    #expect(!summary.contains("73.6"))
  }

  @Test func aReasonOfTheBoardGoesBeforeAnAge() {
    var table = Self.table()
    table.take(.headingUnavailable(.sensorLost("no answer"), at: Self.at(2)))
    let line = table.lines(at: Self.at(60)).first { $0.hasPrefix("heading") }
    #expect(line?.contains("no answer") == true && line?.contains("old") == false)
  }
}

/// Sensors whose transfers are disturbed while their state stays.
@Suite struct ErrorCounterMonitorTests {
  private static func status(_ change: (inout SensorCounters) -> Void) -> SensorStatus {
    var status = SensorStatus(
      index: 1, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: .running,
      since: Timestamp(seconds: 3))
    status.counters.samples = 900
    status.counters.starts = 1
    change(&status.counters)
    return status
  }

  @Test("a sensor is reported when its retries or its errors rise, and not when it delivers")
  func risen() {
    var errors = ErrorCounterMonitor()
    #expect(errors.risen([Self.status { _ in }]).isEmpty)
    let disturbed = Self.status { $0.retries = 4 }
    #expect(errors.risen([disturbed]) == [disturbed])
    #expect(errors.risen([Self.status { ($0.samples, $0.retries) = (2_000, 4) }]).isEmpty)
    // What was published meanwhile is reported already.
    let failed = Self.status { ($0.retries, $0.busErrors) = (9, 1) }
    errors.note(failed)
    #expect(errors.risen([failed]).isEmpty)
    #expect(errors.risen([disturbed]) == [disturbed], "a sensor that was opened again")
  }

  @Test("a report is due every ten seconds")
  func due() {
    var errors = ErrorCounterMonitor()
    let due = (0..<35).filter { errors.isDue(at: Timestamp(seconds: Double($0))) }
    #expect(due == [10, 20, 30])
  }

  @Test("the table and the log say how often a sensor's transfers were disturbed")
  func row() {
    #expect(MonitorTable.condition(Self.status { _ in }) == "running")
    #expect(
      MonitorTable.condition(Self.status { ($0.retries, $0.busErrors) = (9, 1) })
        == "running (retries 9, bus errors 1)")
    var failed = Self.status { $0.busErrors = 3 }
    failed.state = .failed("no answer")
    #expect(MonitorTable.condition(failed) == "failed: no answer (bus errors 3)")
  }
}
