// Locks that know who holds them, so that a wrong order stops the test that meets it and not, some day, a board.

import Glibc
import Synchronization
import Threads

/// A lock that knows whether the calling thread holds it.
package protocol HeldLock: Sendable {
  /// Whether the calling thread holds the lock.
  var isHeldByThisThread: Bool { get }
}

/// A value behind a lock that has a place in an order.
///
/// Taking the lock twice on one thread, or while a later lock is held, is a mistake of the program: it traps with a
/// sentence that names the lock, instead of waiting for itself for ever.
package final class OrderedLock<Value>: HeldLock, @unchecked Sendable {
  // Touched with the lock held alone, which is what makes this class Sendable.
  private var value: Value
  // The system's own lock: the sanitizers know it.
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let name: StaticString
  private let later: [any HeldLock]
  // Only the holder itself can find its own number here.
  private let holder = Atomic<UInt>(0)

  /// Makes a lock.
  ///
  /// - Parameters:
  ///   - name: What a trap calls it.
  ///   - value: What it guards.
  ///   - later: The locks that are taken after this one, never before it.
  package init(_ name: StaticString, _ value: sending Value, before later: [any HeldLock] = []) {
    self.name = name
    self.value = value
    self.later = later
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    pthread_mutex_init(lock, nil)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  package var isHeldByThisThread: Bool { holder.load(ordering: .relaxed) == SystemThread.current }

  /// Calls `body` with the value, which no other thread touches meanwhile and which must not leave it.
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    preconditionNotHeld()
    for other in later {
      precondition(!other.isHeldByThisThread, "\(name) is taken while a later lock is held")
    }
    pthread_mutex_lock(lock)
    holder.store(SystemThread.current, ordering: .relaxed)
    defer {
      holder.store(0, ordering: .relaxed)
      pthread_mutex_unlock(lock)
    }
    return try body(&value)
  }

  /// Traps when the calling thread holds the lock: for the places where foreign or slow code is called.
  package func preconditionNotHeld() {
    precondition(!isHeldByThisThread, "\(name) is held where it must not be")
  }
}
