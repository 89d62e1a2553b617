import Foundation
import Testing

@testable import HardwareSuite

/// What a terminal is told of a report.
struct ReportRemarksTests {
  private static let report: Report = {
    var report = Report(
      board: "boat", boardFile: "b.yaml", machine: "m", rig: "r",
      date: Date(timeIntervalSince1970: 1_795_000_000))
    report.checks = [
      .init("wiring", "bus", .passed, "well", mend: "nothing"),
      .init("rates", "LIS3MDL", .failed, "8 of 10 samples", mend: "run lodestone doctor"),
      .init("fix", "receiver", .skipped, "no sky"),
    ]
    return report
  }()

  @Test("what is well is not repeated, and what mends the rest stands below it")
  func remarks() {
    #expect(
      Self.report.remarks == [
        "failed  rates, LIS3MDL: 8 of 10 samples", "         mend: run lodestone doctor",
        "skipped  fix, receiver: no sky",
      ])
  }

  @Test("commands are completed in what was found and in what mends it, and nowhere else")
  func completed() {
    let report = Self.report.completed { $0.replacingOccurrences(of: "o", with: "0") }
    #expect(report.checks.map(\.detail) == ["well", "8 0f 10 samples", "n0 sky"])
    #expect(report.checks.map(\.mend) == ["n0thing", "run l0dest0ne d0ct0r", nil])
    #expect(report.board == "boat" && report.checks.map(\.name) == ["bus", "LIS3MDL", "receiver"])
  }
}
