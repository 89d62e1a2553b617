// A connection that gets what all connections of its output get, and says nothing.

import ServiceProtocol
import SensorTypes
import Synchronization

/// One listener of an output that sends the same messages to all of them.
///
/// For one that reads too slowly, the oldest messages are left out whole, and counted.
final class BroadcastConnection: ServedConnection {
  /// The number of bytes that may wait: some seconds of sentences.
  static let mostWaiting = 32_768

  private struct State: Sendable {
    var waiting: [[UInt8]] = []
    var count = 0
    var dropped: UInt64 = 0
    var closed: Double?
  }

  private let state: Mutex<State>
  private let wake: @Sendable () -> Void
  private let leave: @Sendable (_ dropped: UInt64) -> Void

  /// - Parameters:
  ///   - first: What the listener gets first.
  ///   - leave: Called once the listener has gone, with the number of messages that were left out for it.
  init(
    first: [UInt8] = [], wake: @escaping @Sendable () -> Void,
    leave: @escaping @Sendable (_ dropped: UInt64) -> Void
  ) {
    var state = State()
    if !first.isEmpty { (state.waiting, state.count) = ([first], first.count) }
    self.state = Mutex(state)
    (self.wake, self.leave) = (wake, leave)
  }

  let isOneWay = true
  /// What waits is superseded by what is newer.
  let maySleep = true
  let isReading = true
  var isClosed: Bool { state.withLock { $0.closed != nil } }
  var waitingCount: Int { state.withLock { $0.count } }
  var deadline: Double? { state.withLock { $0.closed } }
  var dropped: UInt64 { state.withLock { $0.dropped } }

  func advance(to now: Double) {}
  func close(_ reason: Farewell, at now: Double) { state.withLock { $0.closed = $0.closed ?? now } }
  /// A listener may say anything: nothing is taken from it.
  func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {}

  func next() -> [UInt8]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return nil }
      let message = state.waiting.removeFirst()
      state.count -= message.count
      return message
    }
  }

  func end() { leave(dropped) }

  /// Sends a message, which is a whole number of lines.
  func send(_ message: [UInt8]) {
    guard !message.isEmpty else { return }
    let isFirst = state.withLock { state in
      guard state.closed == nil else { return false }
      while !state.waiting.isEmpty, state.count + message.count > Self.mostWaiting {
        state.count -= state.waiting.removeFirst().count
        state.dropped += 1
      }
      state.waiting.append(message)
      state.count += message.count
      return state.waiting.count == 1
    }
    if isFirst { wake() }
  }
}
