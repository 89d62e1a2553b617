import BoardFile
import BoardTestSupport
import CalibrationCore
import Foundation
import Geomagnetism
import LinearAlgebra
import LocationServices
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import Lodestone
import Recording
import StateStore

/// What outlives a run, and what another process changes during one.
struct StateTests {
  private func headings(_ observations: [Observation]) -> [HeadingEstimate] {
    observations.compactMap { if case .heading(let heading) = $0 { heading } else { nil } }
  }

  private func diagnostics(_ observations: [Observation]) -> [(text: String, at: Timestamp)] {
    observations.compactMap {
      if case .diagnostic(let text, let time) = $0 { (text, time) } else { nil }
    }
  }

  private func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

  private func errors(_ headings: [HeadingEstimate], _ board: VirtualBoard) -> [Double] {
    headings.map { heading in
      let truth = board.simulation.truth(at: heading.time).magneticHeading
      return (degrees(heading.magneticHeading) - truth).remainder(dividingBy: 360)
    }
  }

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
    let told = try #require(diagnostics(first).first { $0.text.contains("new calibration") })
    #expect(told.at.seconds(since: saved) <= 2)
    try board.state.calibrations.save(try record(board, offset: .zero))
    let second = board.run(20)
    #expect(diagnostics(second).contains { $0.text.contains("new calibration") })
    // 13 ms pass between two headings; what the truth moves by is taken off.
    let all = errors(headings(first), board) + errors(headings(second), board)
    let steps = zip(all, all.dropFirst()).map { abs($1 - $0) }
    print(
      "largest step between two headings, deg:", steps.max() ?? 0, "worst error:",
      all.map(abs).max() ?? 0)
    #expect((steps.max() ?? 9) < 0.5)
    #expect(headings(first + second).allSatisfy { $0.accuracy != nil })
    // The wrong record's own variance, and what is held back of each change, are in the bar.
    let inside = zip(headings(first) + headings(second), all).allSatisfy { heading, error in
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
    #expect(diagnostics(gone).contains { $0.text.contains("is not calibrated") })
    #expect(headings(gone).last?.accuracy == nil)
    #expect(headings(gone).last?.reason == .uncalibrated)
    try good.write(to: file)
    let back = board.run(5)
    #expect(headings(back).last?.accuracy != nil)
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
    #expect(diagnostics(damaged).contains { $0.text.contains("the one before stays") })
    // It is put aside by a thread of the disk's own, which is not to meet the good one.
    board.hub.finishCalibration()
    #expect(!FileManager.default.fileExists(atPath: file.path))
    let aside = board.run(4)
    #expect(!diagnostics(aside).contains { $0.text.contains("is not calibrated") })
    #expect(headings(damaged + aside).allSatisfy { $0.accuracy != nil })
    // A good one is taken again, and one that is taken away counts again.
    try good.write(to: file)
    _ = board.run(2)
    try FileManager.default.removeItem(at: file)
    #expect(headings(board.run(3)).last?.accuracy == nil)
    try Data("{".utf8).write(to: file)
    _ = board.run(2)
    board.hub.stop()
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(!store.setAsideFiles.isEmpty)
  }

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
    let before = headings(plain.run(3.5))
    var level: LevelRecord?
    let board = try VirtualBoard(prepare: {
      // The same record, for the board that is not there yet.
      let record = levelRecord(plain, degrees: 5)
      level = record
      try $0.calibrations.save(.level(record))
    })
    let turn = try #require(level).rotation
    let with = headings(board.run(3.5))
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
    let told = try #require(diagnostics(after).first { $0.text.contains("new level") })
    #expect(told.at.seconds(since: saved) <= 2)
    _ = plain.run(8)
    _ = board.run(10)
    let late = try (up(headings(plain.run(1)).last) - up(headings(board.run(1)).last)).length
    print("the same after being saved while it ran, against the other run, deg:", late * 180 / .pi)
    #expect(late * 180 / .pi < 0.3)
    // It goes as it came.
    try FileManager.default.removeItem(
      at: plain.state.calibrations.file(
        CalibrationKey(.level, plain.board.sensors[1])))
    #expect(diagnostics(plain.run(2)).contains { $0.text.contains("new level") })
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
    #expect(diagnostics(observations).contains { $0.text.contains("another mount") })
    #expect(headings(observations) == headings(plain.run(3)))
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
      let found = headings(board.run(12)).filter { $0.time.seconds(since: board.start) > 1 }
      let errors = errors(found, board)
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
    let texts = diagnostics(live).map(\.text)
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
    #expect(diagnostics(live).contains { $0.text.contains("new calibration") })
    #expect(replayed == live)
  }

  // The first fix of the simulated board comes after 8 s.
  private func beforeAndAfterFix(
    daysAgo: Double, clockIsSet: Bool = true
  ) throws -> (early: [HeadingEstimate], late: [HeadingEstimate], texts: [String]) {
    let start = 1_795_000_000.0
    let board = try VirtualBoard(clockIsSet: clockIsSet, utcStart: start) {
      try $0.save(
        LastPosition(
          latitude: 52.5, longitude: 13.4, altitude: 40, utc: start - daysAgo * 86_400))
    }
    let early = board.run(6)
    let late = board.run(10)
    return (headings(early), headings(late), diagnostics(early).map(\.text))
  }

  @Test(
    "a kept position gives true heading before the first fix, with an error that grows with its age"
  )
  func lastPosition() throws {
    let fresh = try beforeAndAfterFix(daysAgo: 0.1)
    let old = try beforeAndAfterFix(daysAgo: 10)
    let ancient = try beforeAndAfterFix(daysAgo: 60)
    func bar(_ headings: [HeadingEstimate]) throws -> Double {
      degrees(try #require(headings.last?.accuracy))
    }
    #expect(fresh.early.last?.trueHeading != nil && old.early.last?.trueHeading != nil)
    #expect(fresh.texts.contains { $0.contains("last position, 2 h old") })
    #expect(old.texts.contains { $0.contains("last position, 10 days old") })
    print(
      "bar with a position of 2 h, 10 days, and a fix, deg:", try bar(fresh.early),
      try bar(old.early), try bar(old.late))
    #expect(try bar(old.early) > bar(fresh.early) + 2)
    #expect(try bar(old.late) < bar(old.early))
    #expect(ancient.early.allSatisfy { $0.trueHeading == nil && $0.trueReason == .positionUnknown })
    #expect(ancient.late.last?.trueHeading != nil)
    #expect(ancient.early.last?.accuracy != nil)
  }

  @Test("without a date there is no true heading, and the reason; the first fix brings both")
  func clockUnset() throws {
    let run = try beforeAndAfterFix(daysAgo: 0.1, clockIsSet: false)
    #expect(!run.early.isEmpty)
    #expect(run.early.allSatisfy { $0.trueHeading == nil && $0.trueReason == .dateUnknown })
    #expect(run.late.last?.trueHeading != nil)
  }

  @Test("the position of a run is kept for the next one")
  func keeping() throws {
    let board = try VirtualBoard()
    _ = board.run(15)
    board.hub.stop()
    let kept = try #require(board.state.lastPosition)
    let truth = board.simulation.truth(at: board.clock.now())
    #expect(abs(kept.latitude - truth.latitude) < 0.001)
    #expect(abs(kept.longitude - truth.longitude) < 0.001)
    #expect(abs(kept.utc - truth.utc) < 15)
  }

  @Test("no position is kept while the program may not know it")
  func withheldPosition() throws {
    let board = try VirtualBoard()
    board.hub.setPositionIsOpen(false)
    _ = board.run(15)
    board.hub.stop()
    #expect(board.state.lastPosition == nil)
  }

  @Test("what a runtime's program may know decides whether a position is kept")
  func withheldFromProgram() throws {
    for isDenied in [true, false] {
      let board = try VirtualBoard()
      let runtime = LodestoneRuntime(source: VirtualSource(board))
      if isDenied {
        runtime.change { engine, emit in
          engine.authorize(
            .decided(AuthorizationDecision(.denied), UsageDescriptions()), emit)
        }
        runtime.applyDemand()
      }
      board.hub.setDemand(.everything)
      _ = board.run(15)
      board.hub.stop()
      #expect((board.state.lastPosition == nil) == isDenied)
    }
  }

  @Test("a newer model in the configuration folder is used; a damaged file is named and left")
  func magneticModel() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-cof-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // A field that is a dipole along the axis: declination zero everywhere.
    var text = "    2030.0            WMM-2030     11/13/2029\n"
    for degree in 1...12 {
      for order in 0...degree {
        text += "\(degree) \(order) \(degree == 1 && order == 0 ? -29000.0 : 0.0) 0.0 0.0 0.0\n"
      }
    }
    text += String(repeating: "9", count: 48) + "\n"
    try Data(text.utf8).write(to: folder.appending(path: "WMM.COF"))
    try Data("nonsense".utf8).write(to: folder.appending(path: "OLD.COF"))
    let (found, problems) = MagneticModelFile.newest(in: [folder])
    let model = try #require(found)
    #expect(model.model.name == "WMM-2030")
    #expect(
      problems.count == 1 && problems.allSatisfy { $0.contains("OLD.COF is not used: line 1") })

    // Files that cannot be read are reported in a sentence each, and a pipe does not block.
    try FileManager.default.createDirectory(
      at: folder.appending(path: "A.COF"), withIntermediateDirectories: false)
    #expect(mkfifo(folder.appending(path: "B.COF").path, 0o600) == 0)
    try Data([0xFF, 0xFE]).write(to: folder.appending(path: "C.COF"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(path: "D.COF").path, withDestinationPath: "nowhere")
    let reasons = [
      "A.COF: it is not a regular file", "B.COF: it is not a regular file",
      "C.COF: it is not UTF-8 text", "D.COF: no such file or directory",
    ]
    #expect(
      MagneticModelFile.newest(in: [folder]).problems.prefix(4)
        == reasons.map { "the magnetic model is not used: \(folder.path)/\($0)" }[...])

    func declination(utc: Double) throws -> Double? {
      let board = try VirtualBoard(model: (model.model, model.text), utcStart: utc)
      return headings(board.run(12)).last?.declination.map { degrees($0) }
    }
    // Before the new model's epoch the built-in one is right.
    let now = try #require(try declination(utc: 1_795_000_000))
    let later = try #require(try declination(utc: 1_910_000_000))
    #expect(now > 4 && now < 6)
    #expect(abs(later) < 0.01)
  }

  @Test(
    "a model that has ended is extrapolated for two years, and says so; then there is no true heading"
  )
  func extrapolation() throws {
    // July 2030 and July 2032.
    let board = try VirtualBoard(utcStart: 1_909_094_400)
    let observations = board.run(12)
    #expect(diagnostics(observations).contains { $0.text.contains("extrapolated") })
    #expect(headings(observations).last?.trueHeading != nil)
    let late = try VirtualBoard(utcStart: 1_972_252_800)
    let last = headings(late.run(12)).last
    #expect(last?.trueHeading == nil)
    guard case .modelInvalid = last?.trueReason else {
      Issue.record("\(String(describing: last?.trueReason))")
      return
    }
  }
}
