import FacadeTestSupport
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
final class HeadingListener: ServiceClient {
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
final class MagnetScene {
  enum Sensors: String, CaseIterable, Sendable { case gyro, accelerometer, level }
  enum Motion: String, CaseIterable, Sendable { case still, moving }

  let board: VirtualBoard
  let runtime: LodestoneRuntime
  let listener = HeadingListener()
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
