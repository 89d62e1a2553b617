import Foundation
import SensorBus
import SensorHub
import SensorTypes
import SimulatedDevices
import Synchronization

@testable import Lodestone

/// The simulated board of the project on a clock that the test moves: an hour in seconds, no sleep, and
/// the same to the bit every time.
final class VirtualBoard: Sendable {
  let board: Board
  let text: String
  let clock = VirtualClock()
  let simulation: SimulatedBusProvider
  let runner: VirtualTimeRunner
  let hub: Hub
  let calibrations: CalibrationStore
  let start: Timestamp
  private let observations = Kept<Observation>()
  private let recorded = Kept<UInt8>()

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// - Parameters:
  ///   - edit: Changes the text of the board file first.
  ///   - records: Whether a recording is kept.
  init(
    _ name: String = "simulated", edit: (String) -> String = { $0 }, records: Bool = false,
    demand: Demand = .everything, keepsObservations: Bool = true
  ) throws {
    let file = Self.root.appending(path: "Boards/\(name).yaml")
    text = edit(try String(contentsOf: file, encoding: .utf8))
    board = try BoardFile.parse(text, file: name)
    guard let plan = board.simulation else { throw CocoaError(.featureUnsupported) }
    let clock = self.clock
    simulation = SimulatedBusProvider(
      Simulation.board(board, plan: plan, utcStart: 1_795_000_000), clock: clock)
    runner = VirtualTimeRunner(
      time: { clock.now() }, setTime: { clock.advance(to: $0) })
    calibrations = CalibrationStore(
      stateDirectory: FileManager.default.temporaryDirectory
        .appending(path: "lodestone-test-\(UUID().uuidString)"))
    try Simulation.storeCalibrations(of: board, simulation, in: calibrations)
    start = clock.now()
    let sink: TraceSink = { [recorded] bytes in recorded.append(contentsOf: bytes) }
    hub = try Hub(
      board: board, provider: simulation, runner: runner, calibrations: calibrations,
      isSimulated: true, recording: records ? (text, name, sink) : nil)
    if keepsObservations {
      _ = hub.subscribe { [observations] observation in observations.append(observation) }
    }
    hub.setDemand(demand)
    hub.start()
  }

  deinit {
    try? FileManager.default.removeItem(at: calibrations.folder.deletingLastPathComponent())
  }

  /// Lets the board live for `seconds` and gives what was published.
  func run(_ seconds: Double) -> [Observation] {
    observations.removeAll()
    runner.run(until: clock.now().advanced(bySeconds: seconds))
    return observations.all
  }

  var recording: [UInt8] { recorded.all }
}

/// A list that several threads may append to.
final class Kept<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  func append(_ element: Element) { elements.withLock { $0.append(element) } }

  func append(contentsOf bytes: UnsafeRawBufferPointer) where Element == UInt8 {
    let copy = Array(bytes)
    elements.withLock { $0.append(contentsOf: copy) }
  }

  func removeAll() { elements.withLock { $0.removeAll() } }

  var all: [Element] { elements.withLock { $0 } }
}
