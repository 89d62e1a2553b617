// Threads with a run loop of their own.

import Foundation

/// Runs `body` on a thread of its own, without blocking the pool that tests run on.
///
/// Expectations belong outside, on what `body` returns: a thread of its own belongs to no test.
package func onThread<Result: Sendable>(
  _ body: @escaping @Sendable () -> Result
) async -> Result {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      // A board's program has a pool around its loop; here it is the thread's.
      continuation.resume(returning: body())
    }
  }
}

/// Turns the run loop of the calling thread until `condition` holds, at most ten seconds; returns whether it
/// does.
@discardableResult
package func turn(until condition: () -> Bool) -> Bool {
  let deadline = Date(timeIntervalSinceNow: 10)
  while !condition() {
    guard Date() < deadline else { return false }
    _ = RunLoop.current.run(mode: .default, before: deadline)
  }
  return true
}
