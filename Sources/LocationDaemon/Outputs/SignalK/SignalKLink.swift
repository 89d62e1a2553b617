// What the thread of the outputs and the one that talks with a Signal K server share.

import Synchronization

/// Deltas on their way to a server, and how the connection is doing.
final class SignalKLink: Sendable {
  /// The number of bytes that may wait before nothing more is made for the server.
  static let mostWaiting = 16_384

  /// How the connection is doing.
  struct SignalKCondition: Sendable, Hashable {
    /// Which of the streams that were opened is open now, or `nil`.
    var stream: UInt64?
    /// Why nothing is sent, in one line.
    var problem: String?
  }

  private struct State: Sendable {
    var condition = SignalKCondition()
    var messages: [String] = []
    var count = 0
    var sent: UInt64 = 0
    var dropped: UInt64 = 0
    var changed: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var condition: SignalKCondition { state.withLock { $0.condition } }
  var sent: UInt64 { state.withLock { $0.sent } }
  var dropped: UInt64 { state.withLock { $0.dropped } }
  var hasRoom: Bool { state.withLock { $0.count < Self.mostWaiting } }

  /// Is given what is called when a stream has opened or ended.
  func begin(_ changed: @escaping @Sendable () -> Void) { state.withLock { $0.changed = changed } }

  /// Counts a round in which the server was passed over because it takes too little.
  func passOver() { state.withLock { $0.dropped += 1 } }

  /// Adds messages for a stream; for one that has ended meanwhile they are counted and gone.
  func add(_ messages: [String], to stream: UInt64) {
    state.withLock { state in
      guard state.condition.stream == stream else {
        state.dropped += UInt64(messages.count)
        return
      }
      state.messages += messages
      state.count += messages.reduce(0) { $0 + $1.utf8.count }
    }
  }

  // MARK: The thread that talks with the server

  /// Takes the oldest message.
  func take() -> String? {
    state.withLock { state in
      guard !state.messages.isEmpty else { return nil }
      let message = state.messages.removeFirst()
      state.count -= message.utf8.count
      state.sent += 1
      return message
    }
  }

  /// Says how the connection is doing. What waits for a stream that has ended is counted and gone.
  func report(_ condition: SignalKCondition) {
    let changed: (@Sendable () -> Void)? = state.withLock { state in
      let isSame = state.condition.stream == condition.stream
      state.condition = condition
      guard !isSame else { return nil }
      state.dropped += UInt64(state.messages.count)
      (state.messages, state.count) = ([], 0)
      return state.changed
    }
    changed?()
  }
}
