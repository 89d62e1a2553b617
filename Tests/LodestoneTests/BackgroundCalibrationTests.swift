// Calibration while the board is in use, from the chips to the published heading, in virtual time.

import BoardFile
import BoardTestSupport
import CTestSupport
import CalibrationCore
@testable import Diagnosis
import Foundation
import LinearAlgebra
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

import Recording
import StateStore

struct BackgroundCalibrationTests {
  /// A record that is so far off that the field is not the earth's: that is mended within two minutes.
  private static let far = Vector3(-14, 9, 10)

  /// Turned about in a hand, with its pauses, for six minutes and more.
  private static func way(until end: Double = 500) -> Trajectory {
    var segments: [Trajectory.Segment] = [.init(duration: 4)]
    var time = 4.0
    var round = 0
    while time < end {
      let turn = [120.0, -70, 200, -160][round % 4]
      let leg: [Trajectory.Segment] = [
        .init(duration: 4, turn: turn, pitch: 40, roll: 10),
        .init(duration: 4, turn: turn, pitch: -35, roll: -50),
        .init(duration: 5, turn: -turn, pitch: 15, roll: 100),
        .init(duration: 5, turn: turn, pitch: 0, roll: 0),
        .init(duration: 7),
      ]
      for segment in leg where time < end {
        segments.append(segment)
        time += segment.duration
      }
      round += 1
    }
    return Trajectory(segments: segments)
  }

  private func board(
    off offset: Vector3, way: Trajectory = Self.way(), records: Bool = false,
    calibratesInUse: Bool = true, isLocked: Bool = false, method: String = "ellipsoid",
    edit: (String) -> String = { $0 }
  ) throws -> VirtualBoard {
    let plain = try VirtualBoard()
    let sensor = plain.board.sensors[0]
    let ideal = try #require(plain.simulation.board.idealCalibration(ofChip: 0))
    let record = CalibrationRecord(
      chip: sensor.chip, busPosition: sensor.attachment.description, board: plain.board.name,
      date: "2026-11-20T00:00:00Z", method: method, samples: 500, coverage: 0.9, residual: 0.3,
      field: 49.5, matrix: ideal.matrix, offset: ideal.offset + offset,
      offsetCovariance: Matrix3(diagonal: Vector3(repeating: 0.04)), score: 85, headingError: 0.5,
      isLocked: isLocked)
    return try VirtualBoard(
      adapt: { $0.trajectory = way }, edit: edit, records: records,
      calibratesInUse: calibratesInUse, demand: Demand(heading: true, location: true),
      prepare: { try $0.calibrations.save(record) })
  }

  private func headings(_ observations: [Observation]) -> [HeadingEstimate] {
    observations.compactMap { if case .heading(let heading) = $0 { heading } else { nil } }
  }

  private func words(_ observations: [Observation]) -> [(text: String, at: Timestamp)] {
    observations.compactMap {
      if case .diagnostic(let text, let time) = $0 { (text, time) } else { nil }
    }
  }

  private func record(_ board: VirtualBoard) throws -> CalibrationRecord {
    let sensor = board.board.sensors[0]
    let file = board.state.calibrations.file(
      chip: sensor.chip, position: sensor.attachment.description)
    return try CalibrationRecord(json: Array(Data(contentsOf: file)))
  }

  private func error(_ heading: HeadingEstimate, _ board: VirtualBoard) -> Double {
    let truth = board.simulation.truth(at: heading.time).magneticHeading
    return (heading.magneticHeading * 180 / .pi - truth).remainder(dividingBy: 360)
  }

  private func swap(_ observations: [Observation]) -> (text: String, at: Timestamp)? {
    words(observations).first { $0.text.contains("calibrated while in use") }
  }

  @Test(
    "a record that is off is replaced while the board is in use, and heading does not jump, moving or still",
    arguments: [Vector3(1.6, -1.2, 0.8), Vector3(-4, 2, 5)])
  func noJump(offset: Vector3) throws {
    let first = try board(off: offset)
    let observations = first.run(420)
    let said = swap(observations)
    let told = try #require(said)
    let when = told.at.seconds(since: first.start)
    print("after \(Int(when)) s: \(told.text)")
    for isStill in [false, true] {
      // The same until the fit; from there on it lies still.
      let board = try isStill ? board(off: offset, way: Self.way(until: when - 2)) : first
      let seen = isStill ? board.run(when + 30) : observations
      guard let at = swap(seen)?.at else {
        // It came to rest before the fit: then there is nothing to see.
        #expect(isStill)
        continue
      }
      let around = headings(seen).filter { abs($0.time.seconds(since: at)) < 20 }
      #expect(around.count > 500)
      let errors = around.map { error($0, board) }
      let steps = zip(errors, errors.dropFirst()).map { abs($1 - $0) }
      let bars = around.compactMap { $0.accuracy.map { $0 * 180 / .pi } }
      print(
        "still \(isStill): largest step \(steps.max() ?? 0) deg, error \(abs(errors.first ?? 0)) -> \(abs(errors.last ?? 0)), bar \(bars.first ?? 0) -> \(bars.last ?? 0), outside \(zip(around, errors).filter { ($0.accuracy ?? 9) * 180 / .pi < abs($1) }.count) of \(around.count)"
      )
      #expect((steps.max() ?? 9) < 1)
      #expect((steps.max() ?? 9) < bars.min() ?? 0)
      #expect(bars.count == around.count)
    }
    let history = first.state.calibrations.history(
      CalibrationKey(.magnetometer, first.board.sensors[0]))
    #expect(history.first?.record?.method == "ellipsoid")
    let found = try record(first)
    #expect(found.method == "background")
    let ideal = try #require(first.simulation.board.idealCalibration(ofChip: 0))
    print("offset off by \((found.offset - ideal.offset).length) uT, before \(offset.length)")
    #expect((found.offset - ideal.offset).length < 0.4 * offset.length)
    guard
      case .samples = first.state.calibrations.samples(
        chip: found.chip, position: found.busPosition)
    else {
      Issue.record("no samples beside the record")
      return
    }
  }

  @Test("a good record stays, and so does one that is locked, or was made by known headings")
  func stays() throws {
    for (offset, isLocked, method, seconds) in [
      (Vector3(0.1, -0.1, 0.1), false, "ellipsoid", 300.0), (Self.far, true, "ellipsoid", 130),
      (Self.far, false, "deviation", 130),
    ] {
      let board = try board(off: offset, isLocked: isLocked, method: method)
      let before = try record(board)
      let said = swap(board.run(seconds))
      #expect(said == nil)
      #expect(try record(board) == before)
    }
  }

  @Test("a board file can forbid it, and a program that does not ask for it has none")
  func off() throws {
    let forbidden = try board(
      off: Self.far, edit: { "backgroundCalibration: false\n" + $0 })
    let unasked = try board(off: Self.far, calibratesInUse: false)
    for board in [forbidden, unasked] {
      let before = try record(board)
      _ = board.run(130)
      #expect(try record(board) == before)
    }
  }

  @Test("a record that cannot be saved is said once, and the doctor names the folder")
  func unsaved() throws {
    // It is tried again every ten minutes.
    let board = try board(off: Self.far, way: Self.way(until: 760))
    let before = try record(board)
    // To root nothing is forbidden: the history's folder is a file.
    let history = board.state.calibrations.folder.appending(path: "history")
    try? FileManager.default.removeItem(at: history)
    try Data().write(to: history)
    let said = words(board.run(750)).filter { $0.text.contains("cannot be saved") }
    #expect(said.count == 1)
    #expect(said.first?.text.hasPrefix("LIS3MDL at /dev/i2c-1:0x1c: ") == true)
    #expect(said.first?.text.contains("what was in force stays") == true)
    #expect(try record(board) == before)
    let folder = board.state.folder
    let doctor = Doctor(provider: board.simulation, state: { _ in folder }, modelFolders: [])
    let problem = try #require(doctor.examine(board.board).first { $0.level == .problem })
    #expect(problem.text.contains("\(history.path) cannot be written"))
    #expect(problem.mend?.contains(history.path) == true)
  }

  @Test("a run in which the board was calibrated in use replays bit for bit, and writes nothing")
  func replay() throws {
    let board = try board(off: Self.far, records: true)
    let live = board.run(130)
    board.hub.stop()
    let said = swap(live)
    #expect(said != nil)
    try FileManager.default.removeItem(at: board.state.folder)
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    let isSame = replayed == live
    #expect(isSame)
    #expect(!FileManager.default.fileExists(atPath: board.state.folder.path))
  }

  @Test("a board without a record gets its first one, and says how far it has come meanwhile")
  func fromNothing() throws {
    let board = try VirtualBoard(
      adapt: { $0.trajectory = Self.way() }, calibratesInUse: true,
      demand: Demand(heading: true))
    let sensor = board.board.sensors[0]
    try FileManager.default.removeItem(
      at: board.state.calibrations.file(
        chip: sensor.chip, position: sensor.attachment.description))
    let progress = Kept<CalibrationProgress>()
    let subscription = board.hub.subscribe(progress: { progress.append($0) })
    let seen = board.run(300)
    subscription.cancel()
    let said = swap(seen)
    let told = try #require(said)
    print("first calibration after \(told.at.seconds(since: board.start)) s: \(told.text)")
    print(progress.all.map { "\($0.coverage ?? -1) \($0.score ?? -1) \($0.advice ?? "-")" })
    let last = try #require(headings(seen).last)
    #expect(last.accuracy != nil)
    #expect(abs(error(last, board)) < 3)
    #expect(progress.all.count >= 2)
    #expect(progress.all.contains { $0.advice == "calibrated" })
    #expect(progress.all.allSatisfy { (0...1).contains($0.coverage ?? 0) })
  }

  @Test(
    "with it nothing is allocated a sample either",
    .enabled(if: Effort.isOptimised, "only an optimised build says something"))
  func allocations() throws {
    let board = try VirtualBoard(
      adapt: { $0.trajectory = Self.way() }, calibratesInUse: true, keepsObservations: false)
    _ = board.run(60)
    // Between two fits, of which a calm board has less and less.
    var least = Int.max
    for _ in 0..<4 {
      let before = test_allocations()
      board.runner.run(until: board.clock.now().advanced(bySeconds: 5))
      least = min(least, Int(test_allocations() - before))
      board.hub.finishCalibration()
    }
    print("allocations in five seconds with background calibration", least)
    #expect(least < 40)
  }
}
