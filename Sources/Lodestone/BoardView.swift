// A board that a command shows: one that it opens itself, or the one of the daemon.

import BoardFile
package import SensorTypes
import SensorHub
import Synchronization

/// A board whose observations a program shows.
package protocol BoardView: AnyObject, Sendable {
  /// The name and the chips of the board.
  var summary: BoardDescription { get }
  /// The state of the sensors, in the order of the board file. May take seconds.
  var sensors: [SensorStatus] { get }
  /// Whether other programs use the board as well.
  var isShared: Bool { get }

  /// Calls `handler` with the observations of the board, in order, until `end()`. The handler must return at once.
  func begin(_ demand: Demand, _ handler: @escaping @Sendable (Observation) -> Void)

  /// Ends the observations.
  func end()

  /// The monotonic clock of the board.
  func now() -> Timestamp
  /// What the system's clock shows now.
  var clock: ClockReading { get }
  /// What the system's clock shows at a moment, by what it shows now.
  func clock(at time: Timestamp) -> ClockReading

  /// Throws unless the program may know the exact position of the board.
  ///
  /// - Parameter what: What needs it, a clause for a message.
  func demandExactPosition(_ what: String) throws(PositionNotAuthorized)

  /// Throws unless the program may know the position of the board, exactly or not.
  ///
  /// - Parameter what: What needs it, a clause for a message.
  func demandPosition(_ what: String) throws(PositionNotAuthorized)
}

/// Finds the board that a command shows.
package enum BoardViews {
  /// Opens the board that was named, or the machine's own if no daemon owns it; otherwise attaches to the daemon.
  ///
  /// - Parameters:
  ///   - name: As given by the user. A board that is named, here or by `LODESTONE_BOARD`, is opened by this program itself.
  ///   - calibratesInUse: Whether a board that is opened here is calibrated while it is in use.
  package static func open(board name: String?, calibratesInUse: Bool = false) throws
    -> any BoardView
  {
    if name == nil, let path = DaemonLocator.socket() { return try DaemonBoard(path: path) }
    return try Session(board: name, calibratesInUse: calibratesInUse)
  }
}

extension Session: BoardView {
  package var summary: BoardDescription { board.summary }
  package var sensors: [SensorStatus] { hub.status }
  package var isShared: Bool { false }

  package func begin(_ demand: Demand, _ handler: @escaping @Sendable (Observation) -> Void) {
    let subscription = hub.subscribe(handler)
    let old = viewing.withLock { viewing in
      defer { viewing = subscription }
      return viewing
    }
    old?.cancel()
    hub.setDemand(demand)
    if old == nil { hub.start() }
  }

  package func end() {
    viewing.withLock { $0?.cancel() }
    listening.withLock { $0?.cancel() }
    hub.stop()
  }
}
