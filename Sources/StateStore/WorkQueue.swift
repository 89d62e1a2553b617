// Work that is done one after the other beside the buses' threads.

import Dispatch
import Glibc
import Synchronization

/// A serial queue that can be waited for from anywhere, from its own work too: the last reference to a hub may go
/// wherever somebody is being told something.
package final class WorkQueue: Sendable {
  private let queue: DispatchQueue
  /// The thread that is at work; 0 while none is.
  private let worker = Atomic<UInt>(0)

  /// - Parameter name: What a debugger calls it.
  package init(_ name: String) { queue = DispatchQueue(label: "lodestone.\(name)", qos: .utility) }

  /// Does `work` after all that was asked for before.
  package func add(_ work: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      worker.store(UInt(pthread_self()), ordering: .relaxed)
      work()
      worker.store(0, ordering: .relaxed)
    }
  }

  /// Waits until all is done that was asked for, at most so many seconds; from its own work, which cannot wait for itself,
  /// it returns at once.
  package func drain(within seconds: Double = .infinity) {
    // Only this thread itself can have left its own number there.
    guard worker.load(ordering: .relaxed) != UInt(pthread_self()) else { return }
    guard seconds < .infinity else { return queue.sync {} }
    let isDone = DispatchSemaphore(value: 0)
    queue.async { isDone.signal() }
    _ = isDone.wait(timeout: .now() + seconds)
  }
}
