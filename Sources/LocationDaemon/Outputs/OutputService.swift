// The thread that supplies the outputs of a daemon.

import Dispatch
package import LocationServices
package import Lodestone
import SensorBus
package import SensorTypes
import Synchronization
import Threads

/// The outputs of a daemon, and the thread on which they do what is due.
package final class OutputService: Sendable {
  /// The time in seconds for which measurements wait for others, so that a fast chip does not wake the thread each time.
  private static let patience = 0.02
  /// The longest time between two rounds in seconds.
  private static let longestPause = 1.0

  private struct State: Sendable {
    var isStopping = false
    /// Something has come that is not to wait.
    var isUrgent = false
  }

  private let feeds: [OutputFeed]
  /// The outputs in the order of the configuration, each with the line of its entry.
  private let entries: [(output: any ProtocolOutput, line: Int?)]
  /// What has happened at the ports of outputs that have one.
  private let ports: [ObjectIdentifier: PortReport]
  private let clocks: RuntimeClocks
  private let state: Wakes
  private let ended = DispatchSemaphore(value: 0)

  /// What wakes the thread.
  private final class Wakes: Sendable {
    let state = Mutex(State())
    let semaphore = DispatchSemaphore(value: 0)

    func wake(isUrgent: Bool) {
      if isUrgent { state.withLock { $0.isUrgent = true } }
      semaphore.signal()
    }
  }

  /// Makes outputs that do nothing yet.
  ///
  /// - Parameters:
  ///   - lines: The lines of serve.yaml on which the entries of the outputs begin, for a status.
  ///   - ports: What has happened at the ports of outputs that have one.
  ///   - makeServices: Makes services for outputs that may know equally much of the position.
  package init(
    _ outputs: [any ProtocolOutput], lines: [Int?] = [],
    ports: [ObjectIdentifier: PortReport] = [:], clocks: RuntimeClocks = .system,
    makeServices: () -> any ServicePort
  ) {
    let wakes = Wakes()
    state = wakes
    (self.clocks, self.ports) = (clocks, ports)
    entries = outputs.indices.map { (outputs[$0], lines.indices.contains($0) ? lines[$0] : nil) }
    feeds = PositionLimit.allCases.compactMap { limit in
      let own = outputs.filter { $0.positions == limit }
      guard !own.isEmpty else { return nil }
      let services = makeServices()
      for output in own {
        output.attach {
          if case .board(let report)? = services.answer(.board) { report.sensors } else { [] }
        }
        // A program that is attached to a daemon hears no receiver itself.
        if limit == .exact, let receivers = services as? any ReceiverSource {
          output.attach(receivers: receivers)
        }
      }
      return OutputFeed(own, limit, services) { wakes.wake(isUrgent: $0) }
    }
    for output in outputs { output.begin { wakes.wake(isUrgent: true) } }
  }

  /// What the outputs do, for a status, in the order of the configuration.
  package var reports: [DaemonStatus.OutputReport] {
    let now = clocks.now().seconds
    return entries.map { output, line in
      let (summary, port) = (output.summary, ports[ObjectIdentifier(output)])
      var report = DaemonStatus.OutputReport(
        name: output.name, place: output.place, positions: output.positions,
        listeners: summary.listeners, sent: summary.sent, dropped: summary.dropped,
        problem: port?.problem ?? summary.problem, line: line,
        isConnected: summary.isConnected, refused: summary.refused > 0 ? summary.refused : nil,
        isLasting: summary.problem != nil && summary.isLasting ? true : nil)
      report.refusedConnections = port.flatMap { $0.refused > 0 ? $0.refused : nil }
      report.refusal = port?.refusal(at: now)
      report.attempts = port.flatMap { $0.attempts > 0 ? $0.attempts : nil }
      return report
    }
  }
  /// The number of observations that were dropped because the thread was late.
  package var dropped: UInt64 { feeds.reduce(0) { $0 + $1.dropped } }

  /// Begins the thread.
  ///
  /// - Throws: An error if the process or the machine can have no more threads.
  package func start() throws {
    let failure = SystemThread.start("outputs") { [self] in
      run()
      ended.signal()
    }
    guard failure == 0 else { throw BusError(.system, bus: "outputs", errno: failure) }
  }

  /// Ends the thread, a second at most, and what the outputs ask for.
  package func stop() {
    state.state.withLock { $0.isStopping = true }
    state.wake(isUrgent: true)
    _ = ended.wait(timeout: .now() + 1)
    for feed in feeds {
      feed.end()
      for output in feed.outputs { output.end() }
    }
  }

  /// Passes on what has come and does what is due.
  ///
  /// - Returns: When something is due next, or `nil` if nothing is without an observation.
  @discardableResult
  package func round() -> Timestamp? {
    let now = clocks.now()
    return feeds.compactMap { $0.round(at: now) }.min()
  }

  private func run() {
    while true {
      let next = round()
      let now = clocks.now()
      let pause = min(next.map { max(0, $0.seconds(since: now)) } ?? .infinity, Self.longestPause)
      guard wait(until: now.advanced(bySeconds: pause), from: now) else { return }
    }
  }

  /// Waits until a moment, or until something comes. Returns whether the thread goes on.
  private func wait(until deadline: Timestamp, from begin: Timestamp) -> Bool {
    var deadline = deadline
    while true {
      let (isStopping, isUrgent) = state.state.withLock { state in
        defer { state.isUrgent = false }
        return (state.isStopping, state.isUrgent)
      }
      if isStopping { return false }
      let pause = deadline.seconds(since: clocks.now())
      guard !isUrgent, pause > 0 else { return true }
      guard state.semaphore.wait(timeout: .now() + pause) == .success else { return true }
      deadline = min(deadline, begin.advanced(bySeconds: Self.patience))
    }
  }
}
