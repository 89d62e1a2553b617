// The daemon's socket: who may connect, what is read, what is written, and for how long nobody is waited for.

import Dispatch
import LinuxIO
import LocationServices
package import Lodestone
import SensorBus
import SensorTypes
import ServiceProtocol
import Synchronization
import Threads

/// Serves programs over sockets, on one thread. Who has news for many programs writes to them as well.
package final class ServiceServer: Sendable {
  private struct Shared: Sendable {
    var isStopping = false
    var news: Set<UInt64> = []
    /// The number of calls under way that gather news: the thread is woken at their end.
    var gathering = 0
    var counters = ServerCounters()
    /// Signalled in the next round of the thread.
    var rounds: [DispatchSemaphore] = []
  }

  private let poller: Poller
  private let shared = Mutex(Shared())
  private let ended = DispatchSemaphore(value: 0)
  // Set before the thread begins, and not afterwards.
  nonisolated(unsafe) private var loop: ServiceLoop?

  /// The counters so far.
  package var counters: ServerCounters { shared.withLock { $0.counters } }

  /// Begins to serve. The server keeps running until it is stopped.
  ///
  /// - Parameter entrances: Where programs arrive. They are the server's from here on, and closed when the server stops.
  /// - Throws: An error if the process or the machine has no file descriptor left.
  package init(
    _ entrances: [Entrance], limits: ServerLimits = ServerLimits(), clocks: RuntimeClocks = .system
  ) throws {
    poller = try Poller()
    for (index, entrance) in entrances.enumerated() where entrance.isOpen {
      try poller.add(entrance.listener.descriptor, token: UInt64(index), .readable)
    }
    loop = ServiceLoop(self, poller, entrances, limits, clocks)
    let failure = SystemThread.start("services") { [self] in
      loop?.run()
      ended.signal()
    }
    guard failure == 0 else { throw BusError(.system, bus: "services", errno: failure) }
  }

  /// Tells every program that the daemon ends, and waits until nobody listens any more, a second at most.
  package func stop() {
    let isFirst = shared.withLock { shared in
      defer { shared.isStopping = true }
      return !shared.isStopping
    }
    guard isFirst else { return }
    poller.wake()
    _ = ended.wait(timeout: .now() + 1)
  }

  /// Whether the thread still runs its rounds: the next one begins within a time in seconds.
  package func isAlive(within seconds: Double) -> Bool {
    let round = DispatchSemaphore(value: 0)
    shared.withLock { $0.rounds.append(round) }
    poller.wake()
    return round.wait(timeout: .now() + seconds) == .success
  }

  func note(_ token: UInt64) {
    let isFirst = shared.withLock { shared in
      let isFirst = shared.news.isEmpty && shared.gathering == 0
      shared.news.insert(token)
      return isFirst
    }
    if isFirst { poller.wake() }
  }

  /// Calls a closure that has news for many connections, then writes what the sockets have room for.
  ///
  /// Called on any thread but the server's, which would have to wake up first and writes the rest.
  package func gather(_ body: () -> Void) {
    shared.withLock { $0.gathering += 1 }
    body()
    let news = shared.withLock { shared in
      shared.gathering -= 1
      defer { shared.news = [] }
      return shared.news
    }
    guard !news.isEmpty, let left = loop?.write(news), !left.isEmpty else { return }
    shared.withLock { $0.news.formUnion(left) }
    poller.wake()
  }

  func takeNews() -> (tokens: Set<UInt64>, isStopping: Bool) {
    shared.withLock { shared in
      defer { (shared.news, shared.rounds) = ([], []) }
      for round in shared.rounds { round.signal() }
      return (shared.news, shared.isStopping)
    }
  }

  func count(_ change: (inout ServerCounters) -> Void) {
    shared.withLock { change(&$0.counters) }
  }
}
