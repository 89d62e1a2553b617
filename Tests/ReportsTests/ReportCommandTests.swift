import CommandTestSupport
import BoardFile
import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import Reports
import StateStore
import TerminalUI

/// From stored files to a page, in a folder of its own.
struct ReportCommandTests {
  let state = StateStore(
    folder: FileManager.default.temporaryDirectory.appending(path: UUID().uuidString))
  let board = Board(
    name: "boat", position: .init(latitude: 52.5, longitude: 13.4, altitude: 40),
    sensors: [
      .init(chip: "LIS3MDL", attachment: .i2c(bus: "/dev/i2c-1", address: 0x1E)),
      .init(chip: "LSM6DSOX", attachment: .i2c(bus: "/dev/i2c-1", address: 0x6A)),
    ])
  // 2026-11-21
  let now = 1_795_219_200.0

  func clean() { try? FileManager.default.removeItem(at: state.folder) }

  @Test func storedFilesBecomeAReport() throws {
    defer { clean() }
    let store = state.calibrations
    let record = ReportFixture.record()
    let older = ReportFixture.record(date: "2026-10-02T11:30:00Z", method: "sphere", score: 60)
    try store.save(older)
    let kept = CalibrationSamples(
      keeping: ReportFixture.samples(200, seed: 3, noise: 0.5, outliers: 0), of: record.applied)
    try store.save(record, samples: kept)
    try store.save(
      .gyro(
        GyroRecord(
          chip: "LSM6DSOX", busPosition: "/dev/i2c-1:0x6a", board: "boat",
          date: "2026-11-01T10:00:00Z", samples: 900, bias: Vector3(0.01, -0.02, 0),
          deviation: 1e-4)))

    let report = try CalibrationReport.report(
      of: board, state: state, program: "lodestone", unixSeconds: now)
    #expect(report.board == "boat")
    let chip = try #require(report.magnetometers.first)
    #expect(report.magnetometers.count == 1)
    #expect(chip.present == .record(record))
    let samples = try CalibrationSamples(csv: kept.encoded())
    #expect(chip.samples == .kept(samples))
    #expect(chip.former == [.init(record: older, isUndone: false)])
    // Berlin: 68 degrees by anybody's map.
    #expect((67...69).contains(chip.modelDip ?? 0))
    #expect(report.others.map(\.title) == ["Gyro by LSM6DSOX at /dev/i2c-1:0x6a"])
    let bias = report.others.first?.facts.first { $0.name == "Bias" }?.value
    #expect(bias == "(0.573, \u{2212}1.146, 0.000) \u{B0}/s")
    #expect(ReportPage.html(report).contains("m1-corrected-xy"))
  }

  @Test func aRecordGoneBackToIsListedOnce() throws {
    defer { clean() }
    let store = state.calibrations
    let older = ReportFixture.record(date: "2026-10-02T11:30:00Z")
    let newer = ReportFixture.record(method: "background")
    try store.save(older)
    try store.save(newer)
    try store.rollback(.init(.magnetometer, chip: older.chip, position: older.busPosition))
    let report = try CalibrationReport.report(
      of: board, state: state, program: "lodestone", unixSeconds: now)
    let chip = try #require(report.magnetometers.first)
    #expect(chip.present == .record(older))
    #expect(chip.former == [.init(record: newer, isUndone: true)])
    #expect(chip.before == nil)
  }

  @Test func damageIsShownAndLeftAlone() throws {
    defer { clean() }
    let store = state.calibrations
    let file = store.file(chip: "LIS3MDL", position: "/dev/i2c-1:0x1e")
    try FileManager.default.createDirectory(at: store.folder, withIntermediateDirectories: true)
    try Data("{".utf8).write(to: file)
    let report = try CalibrationReport.report(
      of: board, state: state, program: "lodestone", unixSeconds: now)
    guard case .unusable = report.magnetometers.first?.present else {
      Issue.record("a damaged record was used")
      return
    }
    #expect(FileManager.default.fileExists(atPath: file.path))
  }

  @Test func withoutABoardTheRecordsSayWhatThereIs() throws {
    defer { clean() }
    #expect(throws: CommandError.self) {
      try CalibrationReport.report(
        of: nil, state: state, program: "lodestone", unixSeconds: now)
    }
    try state.calibrations.save(ReportFixture.record())
    let report = try CalibrationReport.report(
      of: nil, state: state, program: "lodestone", unixSeconds: now)
    #expect(report.board == "workbench" && report.magnetometers.count == 1)
    #expect(report.magnetometers.first?.modelDip == nil)
  }
}
