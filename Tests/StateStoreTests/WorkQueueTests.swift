import StateStore
import Synchronization
import Testing

/// What is queued is done in its order, and can be waited for from everywhere.
struct WorkQueueTests {
  @Test("waiting from outside waits for all, waiting from within for nothing")
  func drain() {
    let queue = WorkQueue("test")
    let other = WorkQueue("other")
    let done = Mutex<[Int]>([])
    queue.add {
      // A queue that waited for itself would never end.
      queue.drain()
      other.add { done.withLock { $0.append(1) } }
      other.drain()
      done.withLock { $0.append(2) }
    }
    queue.add { done.withLock { $0.append(3) } }
    queue.drain()
    #expect(done.withLock { $0 } == [1, 2, 3])
  }
}
