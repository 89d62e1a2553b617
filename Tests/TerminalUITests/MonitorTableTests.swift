import LinearAlgebra
import SensorTypes
import Testing

@testable import TerminalUI

/// The table of `monitor`, with time as an argument.
@Suite struct MonitorTableTests {
  private static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 1_000 + seconds) }

  private static func table() -> MonitorTable {
    var table = MonitorTable(
      BoardDescription(name: "boat", isSimulated: false, isVehicle: false, chips: ["LIS3MDL"]))
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

  private static func disturbed(_ change: (inout SensorCounters) -> Void) -> SensorStatus {
    var status = SensorStatus(
      index: 1, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: .running,
      since: Timestamp(seconds: 3))
    status.counters.samples = 900
    status.counters.starts = 1
    change(&status.counters)
    return status
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
      let table = MonitorTable(
        BoardDescription(
          name: "boat", isSimulated: false, isVehicle: false, chips: [present.chip]))
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

  @Test("the table and the log say how often a sensor's transfers were disturbed")
  func row() {
    #expect(MonitorTable.condition(Self.disturbed { _ in }) == "running")
    #expect(
      MonitorTable.condition(Self.disturbed { ($0.retries, $0.busErrors) = (9, 1) })
        == "running (retries 9, bus errors 1)")
    var failed = Self.disturbed { $0.busErrors = 3 }
    failed.state = .failed("no answer")
    #expect(MonitorTable.condition(failed) == "failed: no answer (bus errors 3)")
  }
}
