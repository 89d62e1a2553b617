// A board that runs while it is tested, whoever owns it.

import BoardFile
import Glibc
import Lodestone
import SensorHub
import SensorTypes
import SimulatedDevices
import StateStore
import Synchronization

/// A board whose chips run while it is tested.
protocol TestedBoard: Sendable {
  /// The state of the sensors, in the order of the board file.
  var status: [SensorStatus] { get }

  /// The process that runs it, or `nil` if it does not answer.
  var process: Int32? { get }

  /// Says what is measured from here on.
  func setDemand(_ demand: Demand)

  /// Calls the handlers with what the board says, until the returned closure is called.
  func listen(
    _ observations: @escaping @Sendable (Observation) -> Void,
    readings: @escaping @Sendable (SensorReading) -> Void
  ) -> @Sendable () -> Void
}

extension Hub: TestedBoard {
  var process: Int32? { getpid() }

  func listen(
    _ observations: @escaping @Sendable (Observation) -> Void,
    readings: @escaping @Sendable (SensorReading) -> Void
  ) -> @Sendable () -> Void {
    let subscriptions = [subscribe(observations), subscribe(readings: readings)]
    return { for subscription in subscriptions { subscription.cancel() } }
  }
}

/// The board of a daemon. Other programs may use it at the same time, and keep awake what they need.
final class DaemonUnderTest: TestedBoard {
  // The closures stand in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Handlers: Sendable {
    var observations: @Sendable (Observation) -> Void = { _ in }
    var readings: @Sendable (SensorReading) -> Void = { _ in }
  }

  private let daemon: DaemonBoard
  private let handlers = Mutex(Handlers())

  init(_ daemon: DaemonBoard) { self.daemon = daemon }

  var status: [SensorStatus] { daemon.sensors }
  var process: Int32? { daemon.process }

  func setDemand(_ demand: Demand) {
    let handlers = handlers.withLock { $0 }
    daemon.begin(demand, readings: handlers.readings, handlers.observations)
  }

  func listen(
    _ observations: @escaping @Sendable (Observation) -> Void,
    readings: @escaping @Sendable (SensorReading) -> Void
  ) -> @Sendable () -> Void {
    handlers.withLock { $0 = Handlers(observations: observations, readings: readings) }
    return { [daemon] in daemon.end() }
  }
}

/// A board that was opened for a test, by this program or by a daemon.
struct OpenedBoard {
  let board: Board
  let source: any TestedBoard
  let calibrations: CalibrationStore?
  /// Why the daemon's records could not be read, in one line.
  let recordProblem: String?
  /// What can let a simulated board's chips go wrong.
  let simulation: SimulatedBusProvider?
  let now: @Sendable () -> Timestamp
  let begin: () -> Void
  let end: () -> Void

  init(_ session: Session) {
    (board, source, calibrations) = (session.board, session.hub, session.state.calibrations)
    (simulation, recordProblem) = (session.simulation, nil)
    now = { session.now() }
    (begin, end) = ({ session.hub.start() }, { session.hub.stop() })
  }

  init(_ daemon: DaemonBoard) {
    (board, source) = (daemon.board, DaemonUnderTest(daemon))
    var problem: String?
    do {
      try daemon.fetchRecords()
    } catch {
      problem = "\(error)"
    }
    recordProblem = problem
    calibrations = problem == nil ? daemon.state.calibrations : nil
    simulation = nil
    now = { daemon.now() }
    (begin, end) = ({}, {})
  }
}
