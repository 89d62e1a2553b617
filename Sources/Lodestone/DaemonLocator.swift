// Where a program finds the daemon that owns the board.

import FoundationEssentials
import Glibc
import LinuxIO

/// Finds the socket of the daemon.
package enum DaemonLocator {
  /// The path of the socket of a machine's daemon.
  package static let systemSocket = "/run/lodestone/lodestone.sock"

  /// The path of the socket of the daemon that a command asks: `LODESTONE_SOCKET`, or the machine's.
  package static var socketOfCommands: String {
    let path = ProcessInfo.processInfo.environment["LODESTONE_SOCKET"] ?? ""
    return path.isEmpty ? systemSocket : path
  }

  /// Returns the path of the daemon's socket, or `nil` if this process is to open a board itself.
  ///
  /// That is so if `LODESTONE_BOARD` names a board, or if `LODESTONE_SOCKET` names no socket and the machine has none.
  package static func socket(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    guard (environment["LODESTONE_BOARD"] ?? "").isEmpty else { return nil }
    if let path = environment["LODESTONE_SOCKET"], !path.isEmpty { return path }
    return FileManager.default.fileExists(atPath: systemSocket) ? systemSocket : nil
  }

  /// Whether somebody listens at a socket, or this user cannot know.
  package static func isListening(at path: String) -> Bool {
    do {
      _ = try LocalConnection(path: path)
      return true
    } catch {
      return error.errno == EACCES
    }
  }
}
