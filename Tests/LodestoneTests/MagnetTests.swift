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
import Synchronization
import Testing

/// The hub of a virtual board, as a runtime sees it.
private struct HubSource: ObservationSource {
  let hub: Hub

  func subscribe(
    _ handler: @escaping @Sendable (Observation) -> Void
  ) -> any ObservationSubscription { hub.subscribe(handler) }
  func setDemand(_ demand: Demand) { hub.setDemand(demand) }
  func subscribe(
    progress handler: @escaping @Sendable (CalibrationProgress) -> Void
  ) -> (any ObservationSubscription)? { hub.subscribe(progress: handler) }
  var capabilities: HardwareCapabilities { hub.capabilities }
}

/// A client that keeps what it is told.
private final class Listener: ServiceClient {
  private let contents = Kept<EventContent>()

  func post(_ content: EventContent) -> Int {
    contents.append(content)
    return 0
  }
  func applicationChanged(isSuspended: Bool) {}

  var all: [EventContent] { contents.all }
  var headings: [HeadingReport] {
    all.compactMap { if case .heading(let report) = $0 { report } else { nil } }
  }
  var failures: [ServiceFailure] {
    all.compactMap { if case .failure(let failure) = $0 { failure } else { nil } }
  }
  var questions: [CalibrationQuestion] {
    all.compactMap { if case .question(let question) = $0 { question } else { nil } }
  }
}

/// A board with a magnet, the services on it, and one client.
private final class Scene {
  enum Sensors: String, CaseIterable, Sendable { case gyro, accelerometer, level }
  enum Motion: String, CaseIterable, Sendable { case still, moving }

  let board: VirtualBoard
  let runtime: LodestoneRuntime
  let listener = Listener()
  let client: ClientID
  let prompts = Kept<CalibrationPromptEvent>()
  /// Signalled when a prompt is taken down; what came before it was presented by then.
  let dismissed = DispatchSemaphore(value: 0)

  init(
    _ sensors: Sensors, _ motion: Motion, seed: Int, magnets: [Magnet],
    calibratesInUse: Bool = false, way: Trajectory? = nil
  ) throws {
    board = try VirtualBoard(
      adapt: { simulated in
        simulated.world.magnets = magnets
        simulated.trajectory = way ?? Self.trajectory(sensors, motion)
      },
      edit: { text in
        let start = "simulation:\n  start: {latitude: 52.5163, longitude: 13.3777, altitude: 36}\n"
        let iron = "  seed: \(seed)\n  heading: \(seed * 73 % 360)\n  hardIron: [18, -31, 12]\n"
        switch sensors {
        case .gyro: return text.replacingOccurrences(of: "seed: 1 ", with: "seed: \(seed) ")
        case .accelerometer:
          return """
            schema: 1
            name: No gyro
            sensors:
              - {chip: LSM303DLHC-M, bus: /dev/i2c-1, address: 0x1e, rate: 75}
              - {chip: LSM303DLHC-A, bus: /dev/i2c-1, address: 0x19, rate: 100}

            """ + start + iron
        case .level:
          return """
            schema: 1
            name: Level
            level: true
            position: {latitude: 52.5163, longitude: 13.3777, altitude: 36}
            sensors:
              - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c, rate: 20}

            """ + start + iron
        }
      }, calibratesInUse: calibratesInUse, demand: Demand(heading: true), keepsObservations: false)
    let clock = board.clock
    let source = HubSource(hub: board.hub)
    runtime = LodestoneRuntime(
      open: { source },
      clocks: RuntimeClocks(now: { clock.now() }, wallTime: { 1_795_000_000 }))
    runtime.install(source)
    let (prompts, dismissed) = (self.prompts, self.dismissed)
    runtime.calibrationPresenter = .closure { event in
      prompts.append(event)
      if case .dismiss = event { dismissed.signal() }
    }
    client = runtime.connect(listener)
    runtime.send(
      ServiceRequest(
        client, .configure(ClientSettings(headingFilter: -1, answersQuestions: true))))
    runtime.send(ServiceRequest(client, .start(.heading)))
  }

  private static func trajectory(_ sensors: Sensors, _ motion: Motion) -> Trajectory {
    guard motion == .moving else { return .still }
    let isTilted = sensors != .level
    func tilt(_ degrees: Double) -> Double? { isTilted ? degrees : nil }
    return Trajectory(
      segments: [
        .init(duration: 3, turn: 90, pitch: tilt(20)),
        .init(duration: 4, turn: -150, pitch: tilt(-15), roll: tilt(25)),
        .init(duration: 3, turn: 60, pitch: tilt(0), roll: tilt(-20)),
        .init(duration: 4, turn: 180, roll: tilt(0)),
        .init(duration: 2),
      ], repeats: true)
  }

  func run(_ seconds: Double) { _ = board.run(seconds) }

  func answer(_ display: Bool) {
    for question in listener.questions {
      runtime.send(
        ServiceRequest(client, .answer(question: question.number, display: display)))
    }
  }

  /// Degrees that a report is off.
  func error(_ report: HeadingReport) -> Double {
    let truth = board.simulation.truth(at: report.time).magneticHeading
    return abs((report.magneticHeading - truth).remainder(dividingBy: 360))
  }

  func seconds(_ report: HeadingReport) -> Double { report.time.seconds(since: board.start) }

  var record: URL {
    let sensor = board.board.sensors[0]
    return board.state.calibrations.file(
      chip: sensor.chip, position: sensor.attachment.description)
  }

  /// The record's bytes, and those of the records before it.
  var stored: [Data] {
    get throws {
      let key = CalibrationKey(.magnetometer, board.board.sensors[0])
      let history = board.state.calibrations.history(key)
      return try ([record] + history.map(\.file)).map { try Data(contentsOf: $0) }
    }
  }

  /// The record that a calibration beside a magnet on the board would leave.
  func recordWith(_ magnet: Vector3) throws -> CalibrationRecord {
    let sensor = board.board.sensors[0]
    let ideal = try #require(board.simulation.board.idealCalibration(ofChip: 0))
    let inverse = try #require(ideal.matrix.inverse)
    let offset = ideal.offset + inverse * (sensor.mount.matrix.transposed * magnet)
    return CalibrationRecord(
      chip: sensor.chip, busPosition: sensor.attachment.description, board: board.board.name,
      date: "2026-11-21T00:00:00Z", method: "ellipsoid", samples: 500, coverage: 0.9, residual: 0.3,
      field: 49.5, matrix: ideal.matrix, offset: offset,
      offsetCovariance: Matrix3(diagonal: Vector3(repeating: 0.01)))
  }
}

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
    _ sensors: Scene.Sensors, _ motion: Scene.Motion, strength: Double, seed: Int,
    seconds: Double = 5
  ) throws -> (Scene, Outcome) {
    let gone = Self.come + seconds
    let magnet = Magnet(
      field: strength * Self.direction(seed), place: seed % 2 == 0 ? .room : .board,
      from: Self.come, until: gone)
    let scene = try Scene(sensors, motion, seed: seed, magnets: [magnet], calibratesInUse: true)
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
    arguments: Scene.Motion.allCases)
  fileprivate func passingWithGyro(motion: Scene.Motion) throws {
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
    arguments: [Scene.Sensors.accelerometer, .level], Scene.Motion.allCases)
  fileprivate func passingWithoutGyro(sensors: Scene.Sensors, motion: Scene.Motion) throws {
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
    arguments: Scene.Sensors.allCases, [60.0, 600])
  fileprivate func failure(sensors: Scene.Sensors, strength: Double) throws {
    let gone = Self.come + 12
    let scene = try Scene(
      sensors, .still, seed: 3,
      magnets: [
        Magnet(
          field: strength * Self.direction(3), place: .room, from: Self.come, until: gone)
      ])
    scene.run(2)
    let record = try Data(contentsOf: scene.record)
    scene.run(Self.come + 4.5 - 2)
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
    "D8: a magnet that stays on the board: the prompt, a new record, the prompt's end, and heading is right again",
    arguments: Scene.Sensors.allCases, [30.0, 150])
  fileprivate func stays(sensors: Scene.Sensors, strength: Double) throws {
    for motion in Scene.Motion.allCases {
      let magnet = strength * Self.direction(Int(strength) + 1)
      let scene = try Scene(
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
    arguments: [Scene.Sensors.gyro, .accelerometer], [15.0, 40, 150])
  fileprivate func staysAndIsCalibratedAway(sensors: Scene.Sensors, strength: Double) throws {
    let magnet = strength * Self.direction(Int(strength) + 1)
    let scene = try Scene(
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
    arguments: [Scene.Sensors.gyro, .accelerometer], [60.0, 500])
  fileprivate func passingWhileCalibrating(sensors: Scene.Sensors, strength: Double) throws {
    let times = [34.0, 52, 70, 88, 106, 124, 142, 160]
    let magnets = times.enumerated().map { index, time in
      Magnet(
        field: strength * Self.direction(index + 1), place: index % 2 == 0 ? .room : .board,
        from: time, until: time + 5)
    }
    let scene = try Scene(
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
    let scene = try Scene(.gyro, .still, seed: 1, magnets: [])
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
