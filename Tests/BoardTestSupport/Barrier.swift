// Where a test waits for what is on its way between two threads.

import Synchronization

/// Waits until what is on its way has arrived, where a test's services are behind a socket; does nothing until it is set.
package final class Barrier: Sendable {
  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Body: Sendable { var wait: (@Sendable () -> Void)? }
  private let body = Mutex(Body())

  package init() {}

  package var isSet: Bool { body.withLock { $0.wait != nil } }
  package func set(_ wait: @escaping @Sendable () -> Void) { body.withLock { $0.wait = wait } }
  package func callAsFunction() { body.withLock { $0 }.wait?() }
}
