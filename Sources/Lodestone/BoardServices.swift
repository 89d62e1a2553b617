// The location services of a board that a command shows.

import BoardFile
package import LocationServices
package import SensorTypes

/// The location services of a board, for outputs that a command shows: those of the daemon that owns it, or some of its own.
package final class BoardServices: Sendable {
  /// The services. They withhold what the program may not know of the position.
  package let port: any ServicePort
  package let isSimulated: Bool
  /// Why the program may not know the exact position, in one line; `nil` if it may.
  package let positionProblem: String?
  /// The daemon whose authorization is kept, or `nil` if the board is this program's.
  private let daemon: DaemonBoard?

  /// Opens the board that was named, or the machine's own if no daemon owns it; otherwise attaches to the daemon.
  ///
  /// - Parameter name: As given by the user. A board that is named, here or by `LODESTONE_BOARD`, is opened by this program itself.
  package init(board name: String?) throws {
    if name == nil, let path = DaemonLocator.socket() {
      let shared = try DaemonBoard(path: path)
      (port, daemon) = (shared.services, shared)
      (isSimulated, positionProblem) = (shared.board.simulation != nil, shared.positionProblem)
      return
    }
    let session = try Session(board: name, calibratesInUse: true)
    isSimulated = session.simulation != nil
    positionProblem =
      switch session.access {
      case .full: nil
      case .reduced: "this program is authorized for reduced accuracy only"
      case .withheld(let why): why
      }
    let source = SessionSource(session)
    // The policy of the machine is the session's business: these services withhold nothing more.
    port = ProgramServices(
      open: { source }, regionStore: RegionStore(nil), clocks: .system)
    daemon = nil
  }

  /// Why the daemon is away, in one line; `nil` while it is there, and for a board of this program.
  package var loss: String? {
    if case .away(let reason)? = daemon?.connection { reason } else { nil }
  }

  /// The state of the sensors, in the order of the board file. May take a second.
  package var sensors: [SensorStatus] {
    if case .board(let report)? = port.answer(.board) { report.sensors } else { [] }
  }
}
