// The clients of an output, and the closure that wakes the outputs' thread.

import Synchronization

/// The clients that are connected to an output. The output keeps it under its lock.
struct ClientTable<Client: Sendable>: Sendable {
  private var clients: [UInt64: Client] = [:]
  private var last: UInt64 = 0
  /// The number of messages that were left out for clients that have gone.
  private var droppedBefore: UInt64 = 0

  var all: [Client] { Array(clients.values) }
  var count: Int { clients.count }
  var isEmpty: Bool { clients.isEmpty }

  /// Adds a client and returns it.
  ///
  /// - Parameter make: Makes the client from its number, which no other client of the output has had.
  mutating func add(_ make: (_ id: UInt64) -> Client) -> Client {
    last += 1
    let client = make(last)
    clients[last] = client
    return client
  }

  /// Removes a client; one that is gone already changes nothing.
  ///
  /// - Parameter dropped: The number of messages that were left out for it.
  mutating func remove(_ id: UInt64, dropped: UInt64 = 0) {
    guard clients.removeValue(forKey: id) != nil else { return }
    droppedBefore += dropped
  }

  /// Returns the number of messages that were left out for all clients, those that have gone as well.
  func dropped(_ ofClient: (Client) -> UInt64) -> UInt64 {
    clients.values.reduce(droppedBefore) { $0 + ofClient($1) }
  }
}

/// Has the thread of the outputs look at an output. Does nothing before that thread runs.
final class OutputWaking: Sendable {
  // In a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Waking: Sendable { var wake: (@Sendable () -> Void)? }

  private let waking = Mutex(Waking())

  func begin(_ wake: @escaping @Sendable () -> Void) { waking.withLock { $0.wake = wake } }

  func callAsFunction() { waking.withLock { $0.wake }?() }
}
