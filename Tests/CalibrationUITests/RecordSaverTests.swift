import CommandTestSupport
import CalibrationCore
@testable import CalibrationUI
import Foundation
import LinearAlgebra
import Lodestone
import SensorTypes
import Testing

import StateStore
import TerminalUI

/// What a calibration has found is stored, or is on the screen.
struct RecordSaverTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private var store: CalibrationStore { CalibrationStore(stateDirectory: folder) }
  private let record = ReportFixture.record()

  private var samples: CalibrationSamples {
    CalibrationSamples(
      keeping: ReportFixture.samples(50, seed: 3, noise: 0.5, outliers: 0), of: record.applied)
  }

  /// What is said while a record is saved, and why it was not.
  private func save(_ record: CalibrationRecord) -> (said: [String], failure: String?) {
    var said: [String] = []
    do {
      try RecordSaver.store(.magnetometer(record), samples: samples, warn: { said.append($0) }) {
        try store.save($0, samples: $1, overridingLock: false)
      }
      return (said, nil)
    } catch {
      return (said, "\(error)")
    }
  }

  @Test func aRecordIsStoredWithItsSamples() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (said, failure) = save(record)
    #expect(said.isEmpty && failure == nil)
    let key = CalibrationKey(.magnetometer(record))
    #expect(store.current(key) == .record(.magnetometer(record)))
    let kept = try CalibrationSamples(csv: samples.encoded())
    #expect(store.samples(chip: key.chip, position: key.position) == .samples(kept))
  }

  @Test(
    "a simulated board keeps its record for the run, and no file is named",
    .enabled(if: ProcessInfo.processInfo.environment["STATE_DIRECTORY"] == nil))
  func simulated() throws {
    let session = try Session(board: "simulated", access: .full)
    let saver = RecordSaver(session: session, settings: SaveSettings(yes: true, format: .json))
    #expect(!saver.isKept)
    #expect(try saver.save(.magnetometer(record)) == nil)
    #expect(
      session.state.calibrations.current(CalibrationKey(.magnetometer(record)))
        == .record(.magnetometer(record)))
  }

  @Test("a lock that was set meanwhile, a newer version's too, and a disk lose no record")
  func whateverTheReason() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let before = ReportFixture.record(date: "2026-10-02T11:30:00Z")
    let file = store.file(chip: before.chip, position: before.busPosition)
    func expectPrinted(_ reason: String, elsewhere: Bool) throws {
      let (said, failure) = save(record)
      #expect(failure?.contains(reason) == true, "\(failure ?? "saved")")
      #expect(failure?.contains("STATE_DIRECTORY") == elsewhere)
      #expect(said.count == 2 && said.first?.contains("calibrate import FILE") == true)
      let printed = try #require(said.last)
      #expect(try StoredRecord(json: Array(printed.utf8)) == .magnetometer(record))
    }
    try store.save(before)
    try store.setLock(true, CalibrationKey(.magnetometer(before)))
    let locked = try String(contentsOf: file, encoding: .utf8)
    try expectPrinted("is locked", elsewhere: false)
    try Data(locked.replacingOccurrences(of: "\"schema\" : 1", with: "\"schema\" : 7").utf8)
      .write(to: file)
    try expectPrinted("is locked", elsewhere: false)
    // To root nothing is forbidden: the folder is a file.
    try FileManager.default.removeItem(at: folder)
    try Data().write(to: folder)
    try expectPrinted(folder.path, elsewhere: true)
  }

  @Test func aRecordThatNobodyWouldReadIsPrintedAsItIs() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    var odd = record
    odd.board = String(repeating: "b", count: 300)
    let (said, failure) = save(odd)
    #expect(failure?.contains("no name") == true)
    #expect(said.last?.contains(odd.board) == true && said.last?.contains("62.4") == true)
  }

  @Test func aRecordWithoutItsSamplesIsSaved() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: store.folder, withIntermediateDirectories: true)
    try Data().write(to: store.folder.appending(path: "samples"))
    let (said, failure) = save(record)
    #expect(failure == nil && said.count == 1 && said[0].contains("the samples were not kept"))
    #expect(
      store.current(CalibrationKey(.magnetometer(record))) == .record(.magnetometer(record)))
  }
}
