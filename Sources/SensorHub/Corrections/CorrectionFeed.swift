import SensorTypes
import Synchronization

/// Frames of corrections on their way to the thread of a receiver: bounded, the oldest go first.
final class CorrectionFeed: Sendable {
  /// The most bytes that wait: an epoch of all satellites with two frequencies, three times. Older ones are of no use.
  static let capacity = 16_384
  /// The time in seconds for which a frame waits: a slow line is to send new corrections, not old ones.
  static let longestWait = 5.0

  private struct State {
    var frames: [(bytes: [UInt8], time: Timestamp)] = []
    var bytes = 0
    var isOpen = false
    var dropped: UInt64 = 0
    var refusals: UInt64 = 0
    var refusal: String?

    mutating func dropFirst() {
      bytes -= frames.removeFirst().bytes.count
      dropped &+= 1
    }
  }

  private let state = Mutex(State())

  /// The number of whole frames that were not passed on.
  var dropped: UInt64 { state.withLock { $0.dropped } }

  /// The number of transfers that the receiver's I2C port did not acknowledge.
  var refusals: UInt64 { state.withLock { $0.refusals } }

  /// Why the newest frame was lost on its way to the receiver, in words for a person; `nil` once one has passed.
  var refusal: String? { state.withLock { $0.refusal } }

  /// Counts a transfer that was not acknowledged, and is made again.
  func refused() { state.withLock { $0.refusals &+= 1 } }

  /// Counts a frame that is given up after it was taken.
  func lost(because reason: String?) {
    state.withLock { state in
      state.dropped &+= 1
      state.refusal = reason ?? state.refusal
    }
  }

  /// Says that a frame has reached the receiver.
  func passed() { state.withLock { $0.refusal = nil } }

  /// Says whether the receiver is heard. What comes while it is not is dropped.
  func setOpen(_ isOpen: Bool) {
    state.withLock { state in
      state.isOpen = isOpen
      while !isOpen, !state.frames.isEmpty { state.dropFirst() }
    }
  }

  /// Adds a whole frame that has come at a moment.
  func add(_ frame: [UInt8], at time: Timestamp) {
    state.withLock { state in
      state.frames.append((frame, time))
      state.bytes += frame.count
      while !state.frames.isEmpty, !state.isOpen || state.bytes > Self.capacity {
        state.dropFirst()
      }
    }
  }

  /// Drops the frames that have waited for too long.
  func dropOld(at now: Timestamp) {
    state.withLock { state in
      while let first = state.frames.first, now.seconds(since: first.time) > Self.longestWait {
        state.dropFirst()
      }
    }
  }

  /// Takes the oldest frame.
  func take() -> [UInt8]? {
    state.withLock { state in
      guard !state.frames.isEmpty else { return nil }
      let frame = state.frames.removeFirst().bytes
      state.bytes -= frame.count
      return frame
    }
  }
}
