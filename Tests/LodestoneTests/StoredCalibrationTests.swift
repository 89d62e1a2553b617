import BoardFile
import BoardTestSupport
import CalibrationCore
import Foundation
import LinearAlgebra
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import StateStore
import Testing

/// A magnetometer's stored record: which one a run uses, and what becomes of one that changes meanwhile.
struct StoredCalibrationTests {
  private func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

  private func record(
    _ board: VirtualBoard, offset: Vector3, covariance: Double = 0.01
  ) throws -> CalibrationRecord {
    let sensor = board.board.sensors[0]
    let ideal = try #require(board.simulation.board.idealCalibration(ofChip: 0))
    return CalibrationRecord(
      chip: sensor.chip, busPosition: sensor.attachment.description, board: board.board.name,
      date: "2026-11-21T00:00:00Z", method: "ellipsoid", samples: 500, coverage: 0.9, residual: 0.3,
      field: 49, matrix: ideal.matrix, offset: ideal.offset + offset,
      offsetCovariance: Matrix3(diagonal: Vector3(repeating: covariance)))
  }

  @Test("a simulated chip of another seed is not corrected by the record of the one before")
  func otherSpecimen() throws {
    func kept(_ seed: Int, _ before: [StoredRecord]) throws -> StoredRecord {
      let board = try VirtualBoard(
        edit: { $0.replacingOccurrences(of: "seed: 1 ", with: "seed: \(seed) ") },
        prepare: { store in for record in before { try store.calibrations.save(record) } })
      let found = board.state.calibrations.current(.init(.magnetometer, board.board.sensors[0]))
      guard case .record(let record) = found else { throw CocoaError(.fileNoSuchFile) }
      return record
    }
    let (first, second) = (try kept(1, []), try kept(2, []))
    #expect(first != second)
    #expect(try kept(2, [first]) == second)
    #expect(try kept(1, [first]) == first)
    // What somebody has locked, or measured, stays.
    var locked = first
    locked.isLocked = true
    #expect(try kept(2, [locked]) == locked)
    let board = try VirtualBoard()
    let measured = StoredRecord.magnetometer(try record(board, offset: .zero))
    #expect(try kept(2, [measured]) == measured)
  }

  @Test(
    "a record that another process saves is applied within two seconds, and heading does not jump",
    arguments: [Vector3(1, -1, 0.5), Vector3(-2, 1, 1)])
  func newCalibration(offset: Vector3) throws {
    let board = try VirtualBoard()
    _ = board.run(13)
    let wrong = try record(board, offset: offset, covariance: 2)
    try board.state.calibrations.save(wrong)
    let saved = board.clock.now()
    let first = board.run(12)
    let told = try #require(first.diagnostics.first { $0.text.contains("new calibration") })
    #expect(told.at.seconds(since: saved) <= 2)
    try board.state.calibrations.save(try record(board, offset: .zero))
    let second = board.run(20)
    #expect(second.diagnostics.contains { $0.text.contains("new calibration") })
    // 13 ms pass between two headings; what the truth moves by is taken off.
    let all = board.headingErrors(of: first.headings) + board.headingErrors(of: second.headings)
    let steps = zip(all, all.dropFirst()).map { abs($1 - $0) }
    print(
      "largest step between two headings, deg:", steps.max() ?? 0, "worst error:",
      all.map(abs).max() ?? 0)
    #expect((steps.max() ?? 9) < 0.5)
    #expect((first + second).headings.allSatisfy { $0.accuracy != nil })
    // The wrong record's own variance, and what is held back of each change, are in the bar.
    let inside = zip(first.headings + second.headings, all).allSatisfy { heading, error in
      abs(error) <= degrees(heading.accuracy ?? 0)
    }
    #expect(inside)
    // Twenty seconds later little is left of it.
    #expect(abs(all.last ?? 99) < 2)
  }

  @Test("a record that goes leaves a heading that is not trusted, until it is back")
  func lostCalibration() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let sensor = board.board.sensors[0]
    let file = board.state.calibrations.file(
      chip: sensor.chip, position: sensor.attachment.description)
    let good = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    let gone = board.run(3)
    #expect(gone.diagnostics.contains { $0.text.contains("is not calibrated") })
    #expect(gone.headings.last?.accuracy == nil)
    #expect(gone.headings.last?.reason == .uncalibrated)
    try good.write(to: file)
    let back = board.run(5)
    #expect(back.headings.last?.accuracy != nil)
  }

  @Test("a damaged record is said and put aside, and the one in use stays")
  func damagedCalibration() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let sensor = board.board.sensors[0]
    let store = board.state.calibrations
    let file = store.file(chip: sensor.chip, position: sensor.attachment.description)
    let good = try Data(contentsOf: file)
    try Data("{".utf8).write(to: file)
    let damaged = board.run(2)
    #expect(damaged.diagnostics.contains { $0.text.contains("the one before stays") })
    // It is put aside by a thread of the disk's own, which is not to meet the good one.
    board.hub.finishCalibration()
    #expect(!FileManager.default.fileExists(atPath: file.path))
    let aside = board.run(4)
    #expect(!aside.diagnostics.contains { $0.text.contains("is not calibrated") })
    #expect((damaged + aside).headings.allSatisfy { $0.accuracy != nil })
    // A good one is taken again, and one that is taken away counts again.
    try good.write(to: file)
    _ = board.run(2)
    try FileManager.default.removeItem(at: file)
    #expect(board.run(3).headings.last?.accuracy == nil)
    try Data("{".utf8).write(to: file)
    _ = board.run(2)
    board.hub.stop()
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(!store.setAsideFiles.isEmpty)
  }

  @Test("a run in which the calibration changed replays bit for bit, with the state folder gone")
  func replay() throws {
    let board = try VirtualBoard(records: true)
    var live = board.run(4)
    try board.state.calibrations.save(try record(board, offset: Vector3(1, 0, 0)))
    live += board.run(4)
    board.hub.stop()
    try FileManager.default.removeItem(at: board.state.folder)
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(live.diagnostics.contains { $0.text.contains("new calibration") })
    #expect(replayed == live)
  }
}
