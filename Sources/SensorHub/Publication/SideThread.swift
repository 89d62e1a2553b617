// A thread for work that may be slow, such as clients' code and disks.

import Dispatch
import Recording
import Synchronization
import Threads

/// A named thread that does its work each time it is woken.
///
/// Wakes that arrive while the work is under way are merged into one more round.
final class SideThread: RecorderThread {
  private final class State: Sendable {
    let wakeUp = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    let isPending = Atomic<Bool>(false)
    let isStopped = Atomic<Bool>(false)
    let thread = Atomic<UInt>(0)
  }

  private let state = State()

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: What a debugger calls it.
  ///   - work: What is done at each round.
  init(name: String, _ work: @escaping @Sendable () -> Void) {
    let failure = SystemThread.start(name) { [state] in
      state.thread.store(SystemThread.current, ordering: .releasing)
      while true {
        state.wakeUp.wait()
        // Cleared before the work looks: what is added meanwhile wakes again.
        state.isPending.store(false, ordering: .sequentiallyConsistent)
        let isLast = state.isStopped.load(ordering: .sequentiallyConsistent)
        work()
        if isLast { break }
      }
      state.ended.signal()
    }
    // If the machine can have no more threads, nothing is done, and `stop` does not wait.
    if failure != 0 { state.ended.signal() }
  }

  deinit { end() }

  /// Has the work done once more.
  func wake() {
    if !state.isPending.exchange(true, ordering: .sequentiallyConsistent) { state.wakeUp.signal() }
  }

  /// Has the work done a last time and waits for the end of the thread.
  ///
  /// Called by the work itself it returns at once.
  /// - Returns: Whether the thread ended within that time.
  @discardableResult
  func stop(within seconds: Double) -> Bool {
    end()
    guard state.thread.load(ordering: .acquiring) != SystemThread.current else { return true }
    guard state.ended.wait(timeout: .now() + seconds) == .success else { return false }
    // For other callers that wait.
    state.ended.signal()
    return true
  }

  private func end() {
    guard !state.isStopped.exchange(true, ordering: .sequentiallyConsistent) else { return }
    state.wakeUp.signal()
  }
}
