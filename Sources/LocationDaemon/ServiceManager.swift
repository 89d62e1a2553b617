// The service manager: readiness and watchdog messages to it, and the sockets that it has opened for the daemon.

import CLinuxIO
import Glibc

/// The service manager that has started the process, if one has: sd_notify(3) and sd_listen_fds(3).
package struct ServiceManager: Sendable {
  /// The first descriptor that a service manager hands over.
  private static let firstDescriptor: Int32 = 3
  /// The largest number of descriptors that are taken.
  private static let mostDescriptors: Int32 = 16

  private let path: String?
  /// The seconds within which the manager wants to hear of the process, or `nil`.
  package let watchdog: Double?
  /// The descriptors that were handed over.
  package let descriptors: [Int32]

  /// Reads what the manager says in the environment.
  package init(environment: [String: String], process: Int32 = getpid()) {
    path = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    let isOurs = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
    let period = isOurs ? environment["WATCHDOG_USEC"].flatMap { Double($0) } : nil
    watchdog = period.flatMap { $0 > 0 && $0.isFinite ? $0 / 1e6 : nil }
    let count =
      environment["LISTEN_PID"] == String(process)
      ? environment["LISTEN_FDS"].flatMap { Int32($0) } ?? 0 : 0
    descriptors = (0..<max(0, min(count, Self.mostDescriptors))).map { Self.firstDescriptor + $0 }
  }

  /// Tells the manager something, a variable a line, as in `READY=1`. Does nothing without a manager.
  package func tell(_ message: String) {
    guard let path else { return }
    _ = lodestone_send_datagram(path, message, message.utf8.count)
  }
}
