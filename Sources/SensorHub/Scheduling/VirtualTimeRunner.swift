package import SensorBus
package import SensorTypes
package import Synchronization

/// Runs all work on the caller's thread in the order of time, on a clock that the caller moves.
///
/// What takes an hour on a board takes a second here, and two runs are alike to the bit: for tests and
/// for anything that wants a simulated board faster than life.
package final class VirtualTimeRunner: BusRunner {
  private struct Entry: @unchecked Sendable {
    // Confined: only `run(until:)` touches work, on one thread at a time, inside `isRunning`.
    let work: any BusWork
    var due: Timestamp
    let token: Token
  }

  /// A stopped run is skipped from then on.
  private final class Token: BusRun {
    let isStopped = Atomic<Bool>(false)
    let isWoken = Atomic<Bool>(false)
    let isFinished = Atomic<Bool>(false)
    func wake() { isWoken.store(true, ordering: .releasing) }
    func stop() { isStopped.store(true, ordering: .releasing) }
  }

  /// The caller of `run(until:)` steps all work.
  package let stepsOnCaller = true
  /// Steps of all work so far: what a thread would have woken up for.
  package let steps = Atomic<Int>(0)
  private let entries = Mutex<[Entry]>([])
  private let setTime: @Sendable (Timestamp) -> Void
  private let time: @Sendable () -> Timestamp

  /// - Parameters:
  ///   - time: Reads the clock that the buses live on.
  ///   - setTime: Moves that clock forward.
  package init(
    time: @escaping @Sendable () -> Timestamp, setTime: @escaping @Sendable (Timestamp) -> Void
  ) {
    self.time = time
    self.setTime = setTime
  }

  /// Takes the work at once; it is stepped by `run(until:)`.
  package func start(
    name: String, _ make: @escaping @Sendable () -> any BusWork
  ) -> any BusRun {
    let token = Token()
    let entry = Entry(work: make(), due: time(), token: token)
    entries.withLock { $0.append(entry) }
    return token
  }

  /// Steps everything that is due, in order, until the clock reaches `end`; what was stopped finishes first.
  package func run(until end: Timestamp) {
    var entries = self.entries.withLock { $0 }
    for entry in entries where entry.token.isStopped.load(ordering: .acquiring) {
      let wasFinished = entry.token.isFinished.exchange(true, ordering: .acquiringAndReleasing)
      if !wasFinished { entry.work.finish() }
    }
    while true {
      var next: (index: Int, time: Timestamp)?
      for index in entries.indices where !entries[index].token.isStopped.load(ordering: .acquiring)
      {
        var due = entries[index].due
        if entries[index].token.isWoken.load(ordering: .acquiring) { due = time() }
        entries[index].work.forEachReadiness { readiness in
          if case .at(let nanoseconds) = readiness {
            due = min(due, Timestamp(nanoseconds: nanoseconds))
          }
        }
        if due < next?.time ?? .distantFuture { next = (index, due) }
      }
      guard let next, next.time <= end else { break }
      // Something may be due already (an edge that was not taken yet); time never goes back, and a step
      // moves it by a microsecond at least, so that no work can hold it still.
      let floor = Timestamp(nanoseconds: time().nanoseconds + 1_000)
      setTime(max(next.time, floor))
      entries[next.index].token.isWoken.store(false, ordering: .releasing)
      steps.add(1, ordering: .relaxed)
      entries[next.index].due = entries[next.index].work.step()
    }
    setTime(max(end, time()))
    self.entries.withLock { stored in
      for index in entries.indices where index < stored.count {
        stored[index].due = entries[index].due
      }
    }
  }
}
