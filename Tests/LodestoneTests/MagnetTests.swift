// Magnets that pass and magnets that stay, from the chips to what a client is told.

import BoardFile
import BoardTestSupport
import CalibrationCore
import Foundation
import LinearAlgebra
import LocationServices
import Lodestone
import SensorHub
import SensorTypes
import SimulatedDevices
import StateStore
import Testing

/// What became of headings while a magnet was there.
private struct Outcome {
  /// Headings with an accuracy that the truth was outside of, seconds, and the worst excess, degrees.
  var outside = 0.0
  var excess = 0.0
  /// Seconds from its coming to the first heading without accuracy; `nil` where all had one.
  var lost: Double?
  /// The same from its going to the last one.
  var back = 0.0
  /// After two seconds of its presence: headings with an accuracy that the truth was outside of, seconds.
  var lateOutside = 0.0
}

struct MagnetTests {
  private static let come = 12.0

  private static func direction(_ seed: Int) -> Vector3 {
    var random = SeededGenerator(seed: UInt64(seed), stream: 77)
    while true {
      let v = Vector3(random.unit() * 2 - 1, random.unit() * 2 - 1, random.unit() * 2 - 1)
      if v.length > 0.1, v.length < 1, let unit = v.normalized { return unit }
    }
  }

  private func visit(
    _ sensors: MagnetScene.Sensors, _ motion: MagnetScene.Motion, strength: Double, seed: Int,
    seconds: Double = 5
  ) throws -> (MagnetScene, Outcome) {
    let gone = Self.come + seconds
    let magnet = Magnet(
      field: strength * Self.direction(seed), place: seed % 2 == 0 ? .room : .board,
      from: Self.come, until: gone)
    let scene = try MagnetScene(
      sensors, motion, seed: seed, magnets: [magnet], calibratesInUse: true)
    let stored = try scene.stored
    scene.run(gone + 8)
    #expect(try scene.stored == stored, "\(strength) uT, seed \(seed)")
    var outcome = Outcome()
    var before = Self.come
    for report in scene.listener.headings {
      let time = scene.seconds(report)
      guard time > Self.come else { continue }
      defer { before = time }
      guard let accuracy = report.accuracy else {
        if time < gone { outcome.lost = outcome.lost ?? time - Self.come }
        outcome.back = max(0, time - gone)
        continue
      }
      let excess = scene.error(report) - accuracy
      guard excess > 0 else { continue }
      outcome.outside += time - before
      outcome.excess = max(outcome.excess, excess)
      if time > Self.come + 2, time < gone { outcome.lateOutside += time - before }
    }
    return (scene, outcome)
  }

  private func text(_ value: Double) -> String { String((value * 100).rounded() / 100) }

  private static let trials: [(strength: Double, seed: Int)] =
    ProcessInfo.processInfo.environment["LODESTONE_LONG"] == nil
    ? [(10, 1), (20, 2), (50, 3), (120, 4), (250, 5), (500, 5), (500, 6), (500, 7)]
    : [10.0, 20, 50, 120, 250, 500].flatMap { strength in (1...12).map { (strength, $0) } }

  @Test(
    "D8: a magnet near for five seconds: with a gyro the truth stays inside the bar or there is none; heading is back within five seconds, nothing is asked, no record changes",
    arguments: MagnetScene.Motion.allCases)
  func passingWithGyro(motion: MagnetScene.Motion) throws {
    for (strength, seed) in Self.trials {
      let (scene, outcome) = try visit(.gyro, motion, strength: strength, seed: seed)
      print(
        "gyro \(motion) \(strength) uT seed \(seed): outside \(text(outcome.outside)) s by \(text(outcome.excess)) deg, lost after \(outcome.lost.map(text) ?? "-"), back after \(text(outcome.back)), failures \(scene.listener.failures.count)"
      )
      #expect(outcome.outside == 0, "\(strength) uT, seed \(seed): \(outcome)")
      #expect(outcome.back < 5, "\(strength) uT, seed \(seed): \(outcome)")
      #expect(scene.listener.failures.count <= 1)
      #expect(scene.listener.questions.count <= 1)
      #expect(scene.listener.headings.last?.accuracy != nil)
    }
  }

  @Test(
    "D8: a magnet near for five seconds: without a gyro accuracy is negative within two seconds, and heading is back within five",
    arguments: [MagnetScene.Sensors.accelerometer, .level], MagnetScene.Motion.allCases)
  func passingWithoutGyro(sensors: MagnetScene.Sensors, motion: MagnetScene.Motion) throws {
    for (strength, seed) in Self.trials {
      let (scene, outcome) = try visit(sensors, motion, strength: strength, seed: seed)
      print(
        "\(sensors) \(motion) \(strength) uT seed \(seed): outside \(text(outcome.outside)) s by \(text(outcome.excess)) deg, after 2 s \(text(outcome.lateOutside)) s, lost after \(outcome.lost.map(text) ?? "-"), back after \(text(outcome.back)), failures \(scene.listener.failures.count)"
      )
      #expect(outcome.back < 5, "\(strength) uT, seed \(seed): \(outcome)")
      #expect(scene.listener.failures.count <= 1)
      #expect(scene.listener.questions.count <= 1)
      #expect(scene.listener.headings.last?.accuracy != nil)
      // A weak one can turn the horizontal field and leave strength and dip as they are: nothing but a gyro
      // tells that from a turn.
      guard strength >= 50 else { continue }
      #expect((outcome.lost ?? 99) <= 2, "\(strength) uT, seed \(seed): \(outcome)")
      #expect(outcome.lateOutside == 0, "\(strength) uT, seed \(seed): \(outcome)")
    }
  }

  @Test(
    "D2 D8: a magnet that stays for twelve seconds is one failure, a prompt at most once, and no change of the record",
    arguments: MagnetScene.Sensors.allCases, [60.0, 600])
  func failure(sensors: MagnetScene.Sensors, strength: Double) throws {
    // A gyro that knew north before goes on with it. Heading is impossible beside a magnet that was there from the start,
    // and so strong that it cannot pass for the earth's field.
    let strength = sensors == .gyro ? max(strength, 200) : strength
    let come = sensors == .gyro ? 0 : Self.come
    let scene = try MagnetScene(
      sensors, .still, seed: 3,
      magnets: [
        Magnet(
          field: strength * Self.direction(3), place: .room, from: come, until: come + 12)
      ])
    scene.run(2)
    let record = try Data(contentsOf: scene.record)
    scene.run(come + 4.5 - 2)
    #expect(scene.listener.failures.isEmpty)
    scene.run(30)
    #expect(scene.listener.failures.count == 1)
    #expect(scene.listener.failures.first?.service == .heading)
    #expect(scene.listener.questions.count <= 1)
    #expect(try Data(contentsOf: scene.record) == record)
    #expect(scene.listener.headings.last?.accuracy != nil)
    let last = try #require(scene.listener.headings.last)
    #expect(scene.error(last) < 3)
  }

  @Test(
    "D2: while a gyro carries heading past a magnet there is no failure: headings go on, and are right",
    arguments: [60.0, 600])
  func carried(strength: Double) throws {
    let scene = try MagnetScene(
      .gyro, .still, seed: 3,
      magnets: [
        Magnet(
          field: strength * Self.direction(3), place: .room, from: Self.come, until: Self.come + 12)
      ])
    scene.run(Self.come + 20)
    #expect(scene.listener.failures.isEmpty)
    let late = scene.listener.headings.suffix(20)
    #expect(late.count == 20 && late.allSatisfy { $0.accuracy != nil && scene.error($0) < 3 })
  }

  @Test(
    "D8: a magnet that stays on the board: the prompt, a new record, the prompt's end, and heading is right again",
    arguments: MagnetScene.Sensors.allCases, [30.0, 150])
  func stays(sensors: MagnetScene.Sensors, strength: Double) throws {
    for motion in MagnetScene.Motion.allCases {
      let magnet = strength * Self.direction(Int(strength) + 1)
      let scene = try MagnetScene(
        sensors, motion, seed: 2, magnets: [Magnet(field: magnet, place: .board, from: Self.come)])
      scene.run(Self.come)
      #expect(scene.listener.questions.isEmpty)
      scene.run(30)
      #expect(scene.listener.questions.count == 1)
      scene.answer(true)
      #expect(scene.runtime.showsCalibrationPrompt)
      scene.run(30)
      #expect(scene.listener.questions.count == 1)
      try scene.board.state.calibrations.save(scene.recordWith(magnet))
      let saved = scene.board.clock.now().seconds(since: scene.board.start)
      scene.run(20)
      #expect(!scene.runtime.showsCalibrationPrompt)
      let after = scene.listener.headings.filter { scene.seconds($0) > saved }
      // Right and trusted from here on.
      let lastBad = after.last { $0.accuracy == nil }
      let settled = lastBad.map { scene.seconds($0) - saved } ?? 0
      let during = scene.listener.headings.filter {
        scene.seconds($0) > Self.come && scene.seconds($0) < saved
      }
      let dishonest = during.filter { ($0.accuracy ?? 999) < scene.error($0) }.count
      let trusted = during.filter { $0.accuracy != nil }.count
      let wrong = after.filter { ($0.accuracy ?? 0) < scene.error($0) && $0.accuracy != nil }
      let late = after.filter { scene.seconds($0) > saved + 6 }.map(scene.error)
      print(
        "\(sensors) \(motion) \(strength) uT stays: \(trusted) trusted and \(dishonest) outside the bar of \(during.count) beside it; valid again \(text(settled)) s after the record, outside the bar \(wrong.count) of \(after.count), worst error after 6 s \(text(late.max() ?? 999)) deg"
      )
      #expect(settled < 5)
      #expect(wrong.isEmpty)
      // Turned without a gyro it lags, which its bar says.
      if sensors == .gyro || motion == .still { #expect((late.max() ?? 99) < 2) }
      #expect(scene.listener.questions.count == 1)
    }
  }

  /// Still for a while, then turned about in a hand, every side up once, again and again.
  private static let handled = Trajectory(
    segments: [.init(duration: 30)]
      + (0..<8).flatMap { round -> [Trajectory.Segment] in
        let turn = round % 2 == 0 ? 100.0 : -130
        return [
          .init(duration: 3, turn: turn, pitch: 60, roll: 0),
          .init(duration: 3, turn: turn, pitch: -50, roll: 40),
          .init(duration: 3, turn: turn, pitch: 10, roll: 120),
          .init(duration: 3, turn: turn, pitch: 0, roll: 180),
          .init(duration: 3, turn: turn, pitch: -20, roll: 250),
          .init(duration: 3, turn: turn, pitch: 0, roll: 360),
          .init(duration: 1, roll: 0),
        ]
      } + [.init(duration: 5, pitch: 0, roll: 0), .init(duration: 10, turn: 150)])

  @Test(
    "D8: a magnet that stays on the board: prompt, a new calibration while the board is turned, prompt gone, heading right again",
    arguments: [MagnetScene.Sensors.gyro, .accelerometer], [15.0, 40, 150])
  func staysAndIsCalibratedAway(sensors: MagnetScene.Sensors, strength: Double) throws {
    let magnet = strength * Self.direction(Int(strength) + 1)
    let scene = try MagnetScene(
      sensors, .moving, seed: 2, magnets: [Magnet(field: magnet, place: .board, from: Self.come)],
      calibratesInUse: true, way: Self.handled)
    let before = try Data(contentsOf: scene.record)
    var asked: Double?
    var calibrated: Double?
    while scene.board.clock.now().seconds(since: scene.board.start) < 215 {
      scene.run(1)
      let now = scene.board.clock.now().seconds(since: scene.board.start)
      if asked == nil, !scene.listener.questions.isEmpty {
        asked = now
        scene.answer(true)
      }
      if calibrated == nil, try Data(contentsOf: scene.record) != before { calibrated = now }
    }
    let record = try CalibrationRecord(json: Array(try Data(contentsOf: scene.record)))
    let late = scene.listener.headings.filter { scene.seconds($0) > 200 }
    let worst = late.map(scene.error).max() ?? 99
    let outside = late.filter { ($0.accuracy ?? 0) < scene.error($0) }.count
    print(
      "\(sensors) \(strength) uT stays: asked after \(asked.map { text($0 - Self.come) } ?? "-") s, calibrated \(calibrated.map { text($0 - 30) } ?? "-") s after the turning began, \(record.method) score \(record.score ?? 0), \(record.headingErrorBefore ?? 0) -> \(record.headingError ?? 0) deg, then worst error \(text(worst)), outside \(outside) of \(late.count), bar \(text(late.last?.accuracy ?? -1)), prompts \(scene.prompts.all.count)"
    )
    #expect(record.method == "background")
    #expect(late.allSatisfy { $0.accuracy != nil })
    #expect(outside == 0)
    #expect(worst < 3)
    #expect(!scene.runtime.showsCalibrationPrompt)
    #expect(scene.listener.questions.count <= 1)
    #expect(
      scene.board.state.calibrations.history(
        CalibrationKey(.magnetometer, scene.board.board.sensors[0])
      ).count >= 1)
    #expect(asked != nil)
    #expect(scene.dismissed.wait(timeout: .now() + 10) == .success)
    let events = scene.prompts.all
    #expect(events.last == .dismiss(.calibrated))
    #expect(events.contains { if case .update = $0 { true } else { false } })
  }

  /// A board that is off by enough is calibrated on this way (`staysAndIsCalibratedAway`), so that something could come of
  /// what passes by.
  @Test(
    "D8: magnets that pass a board which is turned about and calibrates in use change no record",
    arguments: [MagnetScene.Sensors.gyro, .accelerometer], [60.0, 500])
  func passingWhileCalibrating(sensors: MagnetScene.Sensors, strength: Double) throws {
    let times = [34.0, 52, 70, 88, 106, 124, 142, 160]
    let magnets = times.enumerated().map { index, time in
      Magnet(
        field: strength * Self.direction(index + 1), place: index % 2 == 0 ? .room : .board,
        from: time, until: time + 5)
    }
    let scene = try MagnetScene(
      sensors, .moving, seed: 2, magnets: magnets, calibratesInUse: true, way: Self.handled)
    let progress = Kept<CalibrationProgress>()
    let subscription = scene.board.hub.subscribe(progress: { progress.append($0) })
    defer { subscription.cancel() }
    let before = try scene.stored
    scene.run(215)
    print(
      "\(sensors) \(strength) uT passes \(times.count) times: \(progress.all.count) fits, \(progress.all.last?.advice ?? "-")"
    )
    // It was not for want of fits.
    #expect(progress.all.count >= 2)
    #expect(try scene.stored == before)
    #expect(scene.listener.headings.last?.accuracy != nil)
  }

  @Test(
    "D8 M9: a board without a record: asked at the first heading, shown, dismissed, never valid")
  func uncalibrated() throws {
    let scene = try MagnetScene(.gyro, .still, seed: 1, magnets: [])
    scene.run(1)
    try FileManager.default.removeItem(at: scene.record)
    scene.run(3)
    let count = scene.listener.headings.count
    #expect(scene.listener.questions.map(\.prompt.cause) == [.uncalibrated])
    scene.answer(true)
    #expect(scene.runtime.showsCalibrationPrompt)
    scene.runtime.send(ServiceRequest(scene.client, .dismissPrompt))
    #expect(!scene.runtime.showsCalibrationPrompt)
    scene.run(10)
    #expect(scene.listener.questions.count == 1)
    #expect(scene.listener.headings.dropFirst(count).allSatisfy { $0.accuracy == nil })
    #expect(scene.listener.failures.isEmpty)
  }
}
