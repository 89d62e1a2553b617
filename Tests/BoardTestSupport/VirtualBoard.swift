package import BoardFile
package import Foundation
package import Geomagnetism
package import Lodestone
import Recording
import SensorBus
package import SensorHub
package import SensorTypes
package import SimulatedDevices
package import StateStore
import Synchronization

/// The simulated board of the project on a clock that the test moves: an hour in seconds, no sleep, and
/// the same to the bit every time.
package final class VirtualBoard: Sendable {
  package let board: Board
  package let text: String
  package let clock = VirtualClock()
  package let simulation: SimulatedBusProvider
  package let runner: VirtualTimeRunner
  package let hub: Hub
  package let state: StateStore
  package let start: Timestamp
  /// What the system's clock shows now.
  package let systemClock: @Sendable () -> ClockReading
  /// Waited for every tenth of a second, so that no queue overflows that real time would not fill.
  package let barrier = Barrier()
  private let calibratesInUse: Bool
  private let observations = Kept<Observation>()
  private let recorded = Kept<UInt8>()

  package static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// - Parameters:
  ///   - adapt: Changes what is simulated.
  ///   - edit: Changes the text of the board file first.
  ///   - records: Whether a recording is kept.
  ///   - calibratesInUse: Whether the background calibration runs; its fits then take no time at all.
  ///   - clockIsSet: Whether the system knows the date from the start; a board has no clock battery.
  ///   - storesCalibrations: Whether the magnetometers have the records that a good calibration leaves.
  ///   - access: What the hub's subscribers may know of the position.
  ///   - prepare: Puts into the state folder what an earlier run has left.
  package init(
    _ name: String = "simulated", adapt: (inout SimulatedBoard) -> Void = { _ in },
    edit: (String) -> String = { $0 }, records: Bool = false, calibratesInUse: Bool = false,
    demand: Demand = .everything, keepsObservations: Bool = true,
    model: (value: MagneticModel, text: String)? = nil, clockIsSet: Bool = true,
    utcStart: Double = 1_795_000_000, storesCalibrations: Bool = true,
    access: PositionAccess = .full,
    prepare: (StateStore) throws -> Void = { _ in }
  ) throws {
    let file = Self.root.appending(path: "Boards/\(name).yaml")
    text = edit(try String(contentsOf: file, encoding: .utf8))
    board = try BoardFile.parse(text, file: name)
    guard let plan = board.simulation else { throw CocoaError(.featureUnsupported) }
    let clock = self.clock
    var simulated = Simulation.board(board, plan: plan, utcStart: utcStart)
    adapt(&simulated)
    simulation = SimulatedBusProvider(simulated, clock: clock)
    runner = VirtualTimeRunner(
      time: { clock.now() }, setTime: { clock.advance(to: $0) })
    state = StateStore(
      folder: FileManager.default.temporaryDirectory
        .appending(path: "lodestone-test-\(UUID().uuidString)"))
    try prepare(state)
    if storesCalibrations {
      try Simulation.storeCalibrations(of: board, simulation, in: state.calibrations)
    }
    start = clock.now()
    let provider = ClockedProvider(base: simulation, clockIsSet: clockIsSet, start: start)
    systemClock = { ClockReading(seconds: provider.wallTime(), isSet: clockIsSet) }
    self.calibratesInUse = calibratesInUse
    let sink: TraceSink = { [recorded] bytes in recorded.append(contentsOf: bytes) }
    let screen: Hub.Screen = { Session.screen(access) }
    hub = try Hub(
      board: board, provider: provider,
      runner: runner, state: state, model: model,
      isSimulated: true, calibratesInUse: calibratesInUse,
      screen: access == .full ? nil : screen,
      recording: records ? (text, name, sink) : nil)
    if keepsObservations {
      _ = hub.subscribe { [observations] observation in observations.append(observation) }
    }
    hub.setDemand(demand)
    hub.start()
  }

  deinit {
    // What it keeps by then would make the folder again.
    hub.stop()
    try? FileManager.default.removeItem(at: state.folder)
  }

  /// Lets the board live for `seconds` and gives what was published.
  package func run(_ seconds: Double) -> [Observation] {
    observations.removeAll()
    let end = clock.now().advanced(bySeconds: seconds)
    while calibratesInUse, clock.now() < end {
      runner.run(until: min(end, clock.now().advanced(bySeconds: 0.25)))
      hub.finishCalibration()
      barrier()
    }
    barrier()
    while barrier.isSet, clock.now() < end {
      runner.run(until: min(end, clock.now().advanced(bySeconds: 0.1)))
      barrier()
    }
    runner.run(until: end)
    return observations.all
  }

  package var recording: [UInt8] { recorded.all }
}

/// The hub of a virtual board, as a runtime sees it.
package struct VirtualSource: ObservationSource {
  private let hub: Hub
  package let barrier: Barrier

  package init(_ board: VirtualBoard) { (hub, barrier) = (board.hub, board.barrier) }

  package func subscribe(
    _ handler: @escaping @Sendable (Observation) -> Void
  ) -> any ObservationSubscription { hub.subscribe(handler) }
  package func subscribe(
    progress handler: @escaping @Sendable (CalibrationProgress) -> Void
  ) -> (any ObservationSubscription)? { hub.subscribe(progress: handler) }
  package func setDemand(_ demand: Demand) { hub.setDemand(demand) }
  package func setPositionIsOpen(_ isOpen: Bool) { hub.setPositionIsOpen(isOpen) }
  package var capabilities: HardwareCapabilities { hub.capabilities }
}

/// A list that several threads may append to.
package final class Kept<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  package init() {}

  package func append(_ element: Element) { elements.withLock { $0.append(element) } }

  package func append(contentsOf bytes: UnsafeRawBufferPointer) where Element == UInt8 {
    let copy = Array(bytes)
    elements.withLock { $0.append(contentsOf: copy) }
  }

  package func removeAll() { elements.withLock { $0.removeAll() } }

  package var all: [Element] { elements.withLock { $0 } }
}

/// A simulated board whose system clock may never have been set.
private struct ClockedProvider: BusProvider {
  let base: SimulatedBusProvider
  let clockIsSet: Bool
  let start: Timestamp

  func now() -> Timestamp { base.now() }
  // A clock that nobody has set begins in 1970 and goes on.
  func wallTime() -> Double {
    clockIsSet ? base.wallTime() : 1_000 + base.now().seconds(since: start)
  }
  var isWallTimeSet: Bool { clockIsSet }
  func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    try base.registerDevice(bus: bus, address: address)
  }
  func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    try base.kernelDevice(bus: bus, address: address)
  }
  func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    try base.byteStream(port: port, baudRate: baudRate)
  }
  func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    try base.connection(to: server)
  }
  func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    try base.interruptLine(name)
  }
  func networkStream(
    to server: ServerAddress, isEncrypted: Bool, within seconds: Double
  ) throws(BusError) -> any NetworkStream {
    try base.networkStream(to: server, isEncrypted: isEncrypted, within: seconds)
  }
  func registerBuses() -> [String] { base.registerBuses() }
  func serialPorts() -> [String] { base.serialPorts() }
}
