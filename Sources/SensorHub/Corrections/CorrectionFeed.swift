import Synchronization

/// Frames of corrections on their way to the thread of a receiver: bounded, the oldest go first.
final class CorrectionFeed: Sendable {
  /// The most bytes that wait: an epoch of all satellites with two frequencies, three times. Older ones are of no use.
  static let capacity = 16_384

  private struct State {
    var frames: [[UInt8]] = []
    var bytes = 0
    var isOpen = false
    var dropped: UInt64 = 0

    mutating func dropFirst() {
      bytes -= frames.removeFirst().count
      dropped &+= 1
    }
  }

  private let state = Mutex(State())

  /// The number of whole frames that were not passed on.
  var dropped: UInt64 { state.withLock { $0.dropped } }

  /// Says whether the receiver is heard. What comes while it is not is dropped.
  func setOpen(_ isOpen: Bool) {
    state.withLock { state in
      state.isOpen = isOpen
      while !isOpen, !state.frames.isEmpty { state.dropFirst() }
    }
  }

  /// Adds a whole frame.
  func add(_ frame: [UInt8]) {
    state.withLock { state in
      state.frames.append(frame)
      state.bytes += frame.count
      while !state.frames.isEmpty, !state.isOpen || state.bytes > Self.capacity {
        state.dropFirst()
      }
    }
  }

  /// Takes the oldest frame.
  func take() -> [UInt8]? {
    state.withLock { state in
      guard !state.frames.isEmpty else { return nil }
      let frame = state.frames.removeFirst()
      state.bytes -= frame.count
      return frame
    }
  }
}
