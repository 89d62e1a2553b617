import BoardFile
import Foundation
import Testing

@testable import Diagnosis

/// What `lodestone doctor` prints of what it found.
struct DoctorReportTests {
  private func report() -> DoctorReport {
    DoctorReport { $0.replacingOccurrences(of: "lodestone", with: "/opt/lodestone") }
  }

  @Test("a problem counts and names the line that mends it, as this user can type it")
  func problem() {
    var report = report()
    let lines = report.take(
      Doctor.Finding(.problem, "nobody answers", mend: "lodestone scan"))
    #expect(lines == ["problem  nobody answers", "         mend: /opt/lodestone scan"])
    #expect(report.hasProblems)
  }

  @Test("a note and what is right are no problems, nor do they take one away")
  func others() {
    var report = report()
    #expect(report.take(Doctor.Finding(.note, "mirrored")) == ["note     mirrored"])
    #expect(report.take(Doctor.Finding(.good, "answers")) == ["ok       answers"])
    #expect(!report.hasProblems)
    _ = report.take(Doctor.Finding(.problem, "silent"))
    _ = report.take(Doctor.Finding(.good, "answers"))
    #expect(report.hasProblems)
  }

  @Test("a board file is named with its number of chips", arguments: [1, 2])
  func boardFile(chips: Int) throws {
    let sensor = "  - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c}\n"
    let other = "  - {chip: BMP280, bus: /dev/i2c-1, address: 0x77}\n"
    let text = "schema: 1\nname: boat\nsensors:\n" + sensor + (chips == 2 ? other : "")
    let board = try BoardFile.parse(text, file: "boat.yaml")
    var report = report()
    let words = chips == 1 ? "1 chip" : "2 chips"
    let lines = report.take(board, file: "/etc/lodestone/board.yaml")
    #expect(lines == ["ok       board file /etc/lodestone/board.yaml: \(words)"])
    #expect(!report.hasProblems)
  }

  @Test("without a board file the buses are probed, and one that cannot be used is a problem")
  func noBoardFile() {
    var report = report()
    #expect(report.take(nil, file: nil) == ["ok       no board file: the buses are probed"])
    #expect(!report.hasProblems)
    let lines = report.take(unusable: CocoaError(.fileReadNoSuchFile))
    #expect(lines.count == 2 && lines[0].hasPrefix("problem  "))
    #expect(lines[1] == "         mend: edit the board file, or name another with --board")
    #expect(report.hasProblems)
  }
}
