// The port of an output: who arrives there, and what happens while another program has it.

import Glibc
package import LinuxIO
package import LocationServices
import Synchronization

/// A TCP port at which an output is served. While another program has it, it is tried again and again, and everything else is served.
///
/// The thread of the server opens it and accepts connections.
package final class OutputPort: ConnectionListener {
  typealias PortOpening =
    (_ address: String, _ port: UInt16) throws(LocalSocketError) -> NetworkListener

  /// The first and the longest pause between two attempts, in seconds.
  private static let (shortest, longest) = (1.0, 30.0)

  package let path: String
  /// What has happened here.
  package let report = PortReport()
  private let address: String
  private let number: UInt16
  private let makeListener: PortOpening
  private var listener: NetworkListener?
  private var pause = OutputPort.shortest
  private var next: Double?

  /// Opens a port, or prepares to do so later if another program has it.
  ///
  /// - Parameters:
  ///   - address: A numeric address of this machine.
  ///   - port: The port; the system chooses one if it is 0.
  /// - Throws: The error of every other failure: it will not go away.
  package convenience init(address: String, port: UInt16) throws(LocalSocketError) {
    try self.init(address: address, port: port, makeListener: Self.listen)
  }

  /// - Parameter makeListener: Opens the port.
  init(
    address: String, port: UInt16, makeListener: @escaping PortOpening
  ) throws(LocalSocketError) {
    (self.address, number, self.makeListener) = (address, port, makeListener)
    path = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    do throws(LocalSocketError) {
      listener = try makeListener(address, port)
      report.opened()
    } catch {
      guard error.errno == EADDRINUSE else { throw error }
      report.failed(error, port: port)
    }
  }

  private static func listen(
    _ address: String, _ port: UInt16
  ) throws(LocalSocketError) -> NetworkListener {
    try NetworkListener(address: address, port: port)
  }

  /// -1 while the port is not open.
  package var descriptor: Int32 { listener?.descriptor ?? -1 }
  /// The port, which the system may have chosen.
  package var port: UInt16 { listener?.port ?? number }
  package var isOpen: Bool { listener != nil }

  package func accept() throws(LocalSocketError) -> LocalConnection? { try listener?.accept() }

  /// Closes the port, which cannot be waited at, and tries again after a pause.
  ///
  /// - Parameter now: The monotonic clock in seconds.
  func close(at now: Double) {
    listener = nil
    next = now + pause
    report.failed(LocalSocketError(path, errno: EMFILE), port: number)
  }

  /// Tries to open the port if it is not open and an attempt is due. Returns whether it was opened.
  ///
  /// - Parameter now: The monotonic clock in seconds.
  func open(at now: Double) -> Bool {
    guard listener == nil else { return false }
    guard let due = next else {
      next = now + pause
      return false
    }
    guard now >= due else { return false }
    do throws(LocalSocketError) {
      listener = try makeListener(address, number)
      report.opened()
      return true
    } catch {
      pause = min(2 * pause, Self.longest)
      next = now + pause
      report.failed(error, port: number)
      return false
    }
  }
}

/// What has happened at a port. Any thread may ask.
package final class PortReport: Sendable {
  /// Seconds for which a status has the reason why a connection was refused.
  private static let memory = 60.0

  private struct Values: Sendable {
    var isOpen = false
    var problem: String?
    var attempts: UInt64 = 0
    var refused: UInt64 = 0
    var refusal: (words: String, at: Double)?
  }

  private let values = Mutex(Values())

  package init() {}

  /// Whether connections are accepted.
  package var isOpen: Bool { values.withLock { $0.isOpen } }
  /// Why nobody can connect, in one line.
  var problem: String? { values.withLock { $0.problem } }
  /// The number of attempts to open the port that have failed since it was open last.
  var attempts: UInt64 { values.withLock { $0.attempts } }
  /// The number of connections that were refused, or closed in favour of others.
  var refused: UInt64 { values.withLock { $0.refused } }

  /// Returns why connections were refused in the last minute, or `nil` if none were.
  func refusal(at now: Double) -> String? {
    values.withLock { values in
      values.refusal.flatMap { now - $0.at < Self.memory ? $0.words : nil }
    }
  }

  package func opened() {
    values.withLock { ($0.isOpen, $0.problem, $0.attempts) = (true, nil, 0) }
  }

  package func failed(_ error: LocalSocketError, port: UInt16) {
    let words =
      error.errno == EADDRINUSE
      ? "another program has the port (`ss -ltnp 'sport = :\(port)'` names it): end it, or choose another 'port'"
      : "the port cannot be opened: \(error.reason)"
    values.withLock { values in
      (values.isOpen, values.problem) = (false, words)
      values.attempts += 1
    }
  }

  func refuse(_ words: String, at now: Double) {
    values.withLock { values in
      values.refused += 1
      values.refusal = (words, now)
    }
  }
}

/// The port of the stream, or of the pages, as status and journal report it.
package struct NetworkReport: Sendable {
  private let name: String
  private let path: String
  private let positions: PositionLimit
  private let port: PortReport

  /// - Parameters:
  ///   - name: Its key in the configuration.
  ///   - path: The address and the port.
  package init(name: String, path: String, _ positions: PositionLimit, _ port: PortReport) {
    (self.name, self.path, self.positions, self.port) = (name, path, positions, port)
  }

  var report: DaemonStatus.OutputReport {
    var report = DaemonStatus.OutputReport(
      name: name, place: path, positions: positions, listeners: 0, sent: 0, dropped: 0,
      problem: port.problem)
    report.attempts = port.attempts > 0 ? port.attempts : nil
    report.refusedConnections = port.refused > 0 ? port.refused : nil
    return report
  }
}
