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
  /// The descriptor of the socket at which programs arrive, if one was handed over: the first that is not the stream's.
  package let socket: Int32?
  /// The descriptor of the socket of the stream, if one was handed over: `FileDescriptorName=stream`.
  package let stream: Int32?

  /// Reads what the manager says in the environment.
  package init(environment: [String: String], process: Int32 = getpid()) {
    path = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    let isOurs = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
    let period = isOurs ? environment["WATCHDOG_USEC"].flatMap { Double($0) } : nil
    watchdog = period.flatMap { $0 > 0 && $0.isFinite ? $0 / 1e6 : nil }
    let count =
      environment["LISTEN_PID"] == String(process)
      ? environment["LISTEN_FDS"].flatMap { Int32($0) } ?? 0 : 0
    let names = (environment["LISTEN_FDNAMES"] ?? "").split(
      separator: ":", omittingEmptySubsequences: false)
    let descriptors = (0..<Int(max(0, min(count, Self.mostDescriptors)))).map { place in
      (file: Self.firstDescriptor + Int32(place), name: place < names.count ? names[place] : "")
    }
    socket = descriptors.first { $0.name != "stream" }?.file
    stream = descriptors.first { $0.name == "stream" }?.file
  }

  /// Tells the manager something, a variable a line, as in `READY=1`. Does nothing without a manager.
  package func tell(_ message: String) {
    guard let path else { return }
    _ = lodestone_send_datagram(path, message, message.utf8.count)
  }
}
