// An agent of the machine's owner on a terminal.

import Dispatch
import LocationServices
import Lodestone
import TerminalUI

/// Shows the daemon's prompts on the terminal until a signal ends it.
package struct AgentRun {
  /// The time between two looks at the connection, in seconds.
  private static let look = 0.5

  private let path: String

  package init(path: String) { self.path = path }

  package func run() throws {
    guard isTerminal else {
      throw CommandError("an agent needs a terminal that it can ask at", kind: .usage)
    }
    let port = try DaemonPort(path: path)
    port.serveOwner(TerminalAuthorizationAgent())
    let stop = StopFlag()
    let round = DispatchSemaphore(value: 0)
    let interrupts = Interrupts { signal in
      stop.set(signal)
      round.signal()
    }
    var said: ServiceConnection?
    while stop.signal == nil {
      let now = port.connection
      if now != said {
        said = now
        if let problem = try report(now, port) { throw problem }
      }
      _ = round.wait(timeout: .now() + Self.look)
    }
    withExtendedLifetime(interrupts) {}
  }

  private var isTerminal: Bool { Terminal.isInteractive && Keyboard.isTerminal }

  /// Says what has become of the connection. Returns an error if this user may not be an agent.
  private func report(_ connection: ServiceConnection, _ port: DaemonPort) throws -> CommandError? {
    switch connection {
    case .none, .connecting: return nil
    case .away(let reason):
      Terminal.warn("lodestone: \(reason)")
      return nil
    case .connected(let board, _):
      // Who may see the programs may answer for them.
      guard let status = port.ask(.daemon) else { return nil }
      guard status.programs != nil else {
        return CommandError(
          "this user may not answer for the owner: 'agents' in serve.yaml does not name it",
          kind: .permission)
      }
      Terminal.say("prompts of \(board) appear here; Ctrl-C ends that")
      return nil
    }
  }
}
