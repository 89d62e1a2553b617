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

/// The stored level of a board and the stored bias of its gyro.
struct LevelAndGyroRecordTests {
  private func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

  private func levelRecord(_ board: VirtualBoard, degrees: Double) -> LevelRecord {
    let sensor = board.board.sensors[1]
    return LevelRecord(
      chip: sensor.chip, busPosition: sensor.attachment.description, mount: sensor.mount,
      board: board.board.name, date: "2026-11-21T00:00:00Z", method: "onePosition", samples: 500,
      rotation: Quaternion(rotationVector: Vector3(degrees * .pi / 180, 0, 0)), deviation: 0.01)
  }

  private func gyroRecord(_ board: VirtualBoard, bias: Vector3) -> GyroRecord {
    let sensor = board.board.sensors[1]
    return GyroRecord(
      chip: sensor.chip, busPosition: sensor.attachment.description, board: board.board.name,
      date: "2026-11-21T00:00:00Z", samples: 500, bias: bias, deviation: 1e-4)
  }

  // Where up is in the body's frame.
  private func up(_ heading: HeadingEstimate?) throws -> Vector3 {
    try #require(heading).attitude.conjugate.rotate(Vector3(0, 0, 1))
  }

  @Test("a level turns what all chips say, from the start and within two seconds of being saved")
  func level() throws {
    let plain = try VirtualBoard()
    let before = plain.run(3.5).headings
    var level: LevelRecord?
    let board = try VirtualBoard(prepare: {
      // The same record, for the board that is not there yet.
      let record = levelRecord(plain, degrees: 5)
      level = record
      try $0.calibrations.save(.level(record))
    })
    let turn = try #require(level).rotation
    let with = board.run(3.5).headings
    let expected = try turn.rotate(up(before.last))
    let off = try (up(with.last) - expected).length * 180 / .pi
    print("level of 5 deg from the start, left over, deg:", off)
    #expect(off < 0.02)
    #expect(try (up(with.last) - up(before.last)).length > 0.08)
    let heading = try #require(with.last), without = try #require(before.last)
    #expect(abs(degrees(heading.magneticHeading - without.magneticHeading)) < 0.5)
    #expect(heading.accuracy != nil)
    // While it runs.
    try plain.state.calibrations.save(.level(levelRecord(plain, degrees: 5)))
    let saved = plain.clock.now()
    let after = plain.run(2)
    let told = try #require(after.diagnostics.first { $0.text.contains("new level") })
    #expect(told.at.seconds(since: saved) <= 2)
    _ = plain.run(8)
    _ = board.run(10)
    let late = try (up(plain.run(1).headings.last) - up(board.run(1).headings.last)).length
    print("the same after being saved while it ran, against the other run, deg:", late * 180 / .pi)
    #expect(late * 180 / .pi < 0.3)
    // It goes as it came.
    try FileManager.default.removeItem(
      at: plain.state.calibrations.file(
        CalibrationKey(.level, plain.board.sensors[1])))
    #expect(plain.run(2).diagnostics.contains { $0.text.contains("new level") })
  }

  @Test("a level of another mount is not used, and is said to be of another one")
  func foreignLevel() throws {
    let board = try VirtualBoard(prepare: {
      let other = try VirtualBoard(edit: {
        $0.replacingOccurrences(of: "[+y, -x, +z]", with: "[+x, +y, +z]")
      })
      try $0.calibrations.save(.level(levelRecord(other, degrees: 10)))
    })
    let plain = try VirtualBoard()
    let observations = board.run(3)
    #expect(observations.diagnostics.contains { $0.text.contains("another mount") })
    #expect(observations.headings == plain.run(3).headings)
  }

  // A board that is turned from the first moment on: no rest, ever.
  private static func restless(_ text: String) -> String {
    guard let legs = text.range(of: "  legs:\n") else { return text }
    return text[..<legs.upperBound] + "    - {seconds: 60, turn: 2400, fix: false}\n"
  }

  private func restingBias() throws -> Vector3 {
    let board = try VirtualBoard()
    let rest = Kept<SensorReading>()
    let subscription = board.hub.subscribe(readings: { rest.append($0) })
    _ = board.run(3.8)
    subscription.cancel()
    var gyro = GyroAtRest()
    for reading in rest.all {
      guard case .inertial(let rate, let force) = reading.sample.value else { continue }
      gyro.rate.take(rate, at: reading.sample.time)
      gyro.force.take(force, at: reading.sample.time)
    }
    let outcome = gyro.outcome
    #expect(outcome.refusal == nil)
    return try #require(outcome.bias)
  }

  @Test("with the gyro's stored bias a board that never rests is right sooner")
  func gyro() throws {
    let bias = try restingBias()
    func worst(with record: Bool) throws -> Double {
      let board = try VirtualBoard(edit: Self.restless) {
        if record {
          try $0.calibrations.save(.gyro(gyroRecord(try VirtualBoard(), bias: bias)))
        }
      }
      let found = board.run(12).headings.filter { $0.time.seconds(since: board.start) > 1 }
      let errors = board.headingErrors(of: found)
      return (errors.map { $0 * $0 }.reduce(0, +) / Double(max(1, errors.count))).squareRoot()
    }
    let (without, with) = (try worst(with: false), try worst(with: true))
    print("never at rest, heading RMS in 12 s, deg: \(without) without, \(with) with its bias")
    #expect(with <= without)
  }

  @Test("a run in which the board's level and the gyro's bias changed replays bit for bit")
  func replayOfOthers() throws {
    let board = try VirtualBoard(records: true) {
      try $0.calibrations.save(.gyro(gyroRecord(try VirtualBoard(), bias: Vector3(0.01, 0, 0))))
    }
    var live = board.run(3)
    try board.state.calibrations.save(.level(levelRecord(board, degrees: -3)))
    try board.state.calibrations.save(.gyro(gyroRecord(board, bias: Vector3(0, 0.01, 0))))
    live += board.run(4)
    let file = board.state.calibrations.file(CalibrationKey(.gyro, board.board.sensors[1]))
    try Data("[]".utf8).write(to: file)
    live += board.run(3)
    board.hub.stop()
    try FileManager.default.removeItem(at: board.state.folder)
    let texts = live.diagnosticTexts
    #expect(texts.contains { $0.contains("new level") })
    #expect(texts.contains { $0.contains("gyro's new record") })
    #expect(texts.contains { $0.contains("its gyro record cannot be used") })
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == live)
  }

  @Test("a recording of a version without these records replays as it did")
  func olderRecording() throws {
    let board = try VirtualBoard(records: true)
    let live = board.run(5)
    // What that version has not looked at: files beyond the chips' own and the position's.
    let count = board.board.sensors.count
    let lines = String(decoding: board.recording, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let older = lines.filter { line in
      let words = line.split(separator: " ")
      guard words.first == "k", words.count > 1, let file = Int(words[1]) else { return true }
      return file <= count
    }
    // A gyro's record, a level, and what was told of the height; nor had it asked who set the clock.
    #expect(lines.count == older.count + 3)
    let undated = older.map { line in
      line.hasPrefix("u ")
        ? line.split(separator: " ").prefix(2).joined(separator: " ") : String(line)
    }
    var replayed: [Observation] = []
    try Replay.run(
      Recording(Array(undated.joined(separator: "\n").utf8)), board: board.board
    ) { replayed.append($0) }
    #expect(replayed == live)
  }
}
