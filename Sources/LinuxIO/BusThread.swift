import CLinuxIO
import Dispatch
import Glibc
package import SensorBus
import SensorTypes
import Synchronization
import Threads

/// A thread of its own for one bus, and an executor for actors that talk to it: what blocks, blocks here
/// and never in the cooperative pool.
///
/// The thread alternates between the jobs of its actors and the steps of its work, and waits in poll(2)
/// for whatever comes first: a job, a wake, an edge, a byte, or the time the work asked for.
package final class BusThread: SerialExecutor, BusRun {
  /// Longest wait: a bound, so that nothing that was missed can be missed for good.
  private static let longestWait: Int64 = 1_000_000_000
  private static let stopTimeout = 1.0

  private struct State {
    var jobs: [UnownedJob] = []
    var isStopped = false
  }

  private let name: String
  private let priority: Int32?
  private let wakeDescriptor: Descriptor
  private let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)
  // Read by `checkIsolated`; written once, by the thread itself.
  private let threadID = Atomic<UInt>(0)

  /// Starts the thread. `make` runs on it, and what it makes is used by no other thread.
  ///
  /// - Parameter priority: The real-time priority (SCHED_FIFO) from 1 to 99, or `nil` for none. It is ignored if it is not permitted.
  package init(
    name: String, priority: Int32? = nil, _ make: (@Sendable () -> any BusWork)? = nil
  ) throws(BusError) {
    (self.name, self.priority) = (name, priority)
    guard let descriptor = Descriptor(lodestone_wake_open()) else {
      throw BusError(.system, bus: name, errno: EMFILE)
    }
    wakeDescriptor = descriptor
    let failure = SystemThread.start(name) { [self] in run(make) }
    guard failure == 0 else { throw BusError(.system, bus: name, errno: failure) }
  }

  /// Queues a job of an actor.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
    wake()
  }

  /// The executor as actors name it.
  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Traps when called on another thread than this one.
  package func checkIsolated() {
    precondition(
      SystemThread.current == threadID.load(ordering: .acquiring), "not on \(name)'s thread")
  }

  /// Ends the current wait.
  package func wake() {
    var one: UInt64 = 1
    _ = posixWrite(wakeDescriptor.raw, &one, 8)
  }

  /// Stops after the current step, lets the work finish and waits for the end, a second at most.
  package func stop() { stop(within: Self.stopTimeout) }

  /// Stops after the current step and waits for the end, so many seconds at most.
  func stop(within seconds: Double) {
    let wasStopped = state.withLock { state in
      defer { state.isStopped = true }
      return state.isStopped
    }
    wake()
    // Its own step may be what lets go of the board.
    guard !wasStopped, threadID.load(ordering: .acquiring) != SystemThread.current else { return }
    _ = ended.wait(timeout: .now() + seconds)
  }

  private func run(_ make: (@Sendable () -> any BusWork)?) {
    if let priority { _ = ThreadRunner.set(priority) }
    threadID.store(SystemThread.current, ordering: .releasing)
    var work = make?()
    var entries: [pollfd] = []
    while true {
      let (jobs, isStopped) = state.withLock { state in
        defer { if !state.jobs.isEmpty { state.jobs = [] } }
        return (state.jobs, state.isStopped)
      }
      for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
      if isStopped { break }
      var deadline = work?.step().nanoseconds ?? .max
      entries.removeAll(keepingCapacity: true)
      entries.append(pollfd(fd: wakeDescriptor.raw, events: Int16(POLLIN), revents: 0))
      work?.forEachReadiness { readiness in
        switch readiness {
        case .descriptor(let file):
          entries.append(pollfd(fd: file, events: Int16(POLLIN), revents: 0))
        case .at(let nanoseconds): deadline = min(deadline, nanoseconds)
        case .never: break
        }
      }
      wait(until: deadline, &entries)
    }
    work?.finish()
    // What it holds is closed when somebody who waits for the end goes on.
    work = nil
    ended.signal()
  }

  private func wait(until deadline: Int64, _ entries: inout [pollfd]) {
    let now = lodestone_monotonic()
    let left = min(Self.longestWait, max(0, deadline == .min ? 0 : deadline - now))
    guard lodestone_wait(&entries, UInt32(entries.count), left) > 0 else { return }
    if entries[0].revents != 0 {
      var count: UInt64 = 0
      _ = posixRead(wakeDescriptor.raw, &count, 8)
    }
  }
}

/// Gives each bus a `BusThread`.
package struct ThreadRunner: BusRunner {
  /// A run that never began, because the system has no thread left; the hub shows its sensors starting.
  private struct NeverStarted: BusRun {
    func wake() {}
    func stop() {}
  }

  private let priority: Int32?

  /// Makes a runner whose threads may have a real-time priority.
  ///
  /// - Parameter priority: The real-time priority of the threads, or `nil` for none.
  package init(priority: Int32? = nil) { self.priority = priority }

  /// Returns the reason why this process may not have threads of a real-time priority, or `nil` if it may. Tries it on this thread.
  package static func problem(of priority: Int32) -> String? {
    let code = set(priority)
    guard code == 0 else { return String(cString: strerror(code)) }
    var none = sched_param()
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &none)
    return nil
  }

  fileprivate static func set(_ priority: Int32) -> Int32 {
    var parameters = sched_param()
    parameters.sched_priority = priority
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
  }

  /// Starts a `BusThread` that makes its work and steps it.
  package func start(
    name: String, _ make: @escaping @Sendable () -> any BusWork
  ) -> any BusRun { start(name: name, priority: priority, make) }

  /// The same without a real-time priority.
  package func startBackground(
    name: String, _ make: @escaping @Sendable () -> any BusWork
  ) -> any BusRun { start(name: name, priority: nil, make) }

  private func start(
    name: String, priority: Int32?, _ make: @escaping @Sendable () -> any BusWork
  ) -> any BusRun {
    do {
      return try BusThread(name: name, priority: priority, make)
    } catch {
      return NeverStarted()
    }
  }
}
