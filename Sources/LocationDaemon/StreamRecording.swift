// A recording on its way to a reader of the stream.

import Dispatch
import Recording
import SensorHub
import Synchronization

/// The bytes of a recording, between the thread that records and the one that writes to the reader.
///
/// The recording waits for the reader for a while. What the hub measures meanwhile waits in the recording's own queue.
final class StreamRecording: Sendable {
  /// The reader did not take the recording.
  struct ReaderGone: Error, CustomStringConvertible {
    var description: String { "the program does not take the recording" }
  }

  /// The number of bytes from which on the recording waits.
  private static let limit = 262_144
  /// The largest number of bytes that are written at once.
  private static let piece = 65_536
  /// The number of seconds for which a reader may take nothing.
  private static let patience = 20.0

  private struct State: Sendable {
    var waiting: [UInt8] = []
    var recording: HubRecording?
    var isGone = false
    /// Whether all bytes have come.
    var isOver = false
  }

  private let state = Mutex(State())
  private let room = DispatchSemaphore(value: 0)
  private let wake: @Sendable () -> Void

  /// - Parameter wake: Called when there is something to write.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  /// The number of bytes that wait to be written.
  var waitingCount: Int { state.withLock { $0.waiting.count } }
  /// Whether all bytes have come and are written.
  var isDone: Bool { state.withLock { $0.isOver && $0.waiting.isEmpty } }

  /// Begins a recording. May take seconds.
  ///
  /// - Parameter begin: Begins it, with this sink.
  func begin(_ begin: (@escaping TraceSink) throws -> HubRecording) throws {
    let recording = try begin { [weak self] bytes in try self?.take(bytes) }
    let isGone = state.withLock { state in
      state.recording = recording
      return state.isGone
    }
    if isGone { recording.end() }
  }

  /// Ends the recording, whose last bytes then come. May take seconds.
  func finish() {
    state.withLock { $0.recording }?.end()
    state.withLock { $0.isOver = true }
    wake()
  }

  /// Takes note that nobody reads the recording any more: its thread waits no longer.
  func readerHasGone() {
    state.withLock { ($0.isGone, $0.waiting) = (true, []) }
    room.signal()
  }

  /// Ends the recording because nobody reads it any more. May take seconds.
  func abandon() {
    readerHasGone()
    state.withLock { $0.recording }?.end()
    state.withLock { $0.isOver = true }
  }

  /// Takes bytes of the recording, on its thread.
  private func take(_ bytes: UnsafeRawBufferPointer) throws {
    while true {
      let (isGone, isFull) = state.withLock { state in
        let isFull = state.waiting.count >= Self.limit
        if !state.isGone, !isFull { state.waiting += bytes }
        return (state.isGone, isFull)
      }
      if isGone { throw ReaderGone() }
      guard isFull else { return wake() }
      guard room.wait(timeout: .now() + Self.patience) == .success else {
        // The connection is closed, which ends the recording: it cannot end itself on its own thread.
        state.withLock { ($0.isGone, $0.isOver, $0.waiting) = (true, true, []) }
        wake()
        throw ReaderGone()
      }
    }
  }

  /// Returns the next bytes to write, or `nil`.
  func next() -> [UInt8]? {
    let (bytes, isRoom) = state.withLock { state -> ([UInt8]?, Bool) in
      guard !state.waiting.isEmpty else { return (nil, false) }
      let wasFull = state.waiting.count >= Self.limit
      let bytes = Array(state.waiting.prefix(Self.piece))
      state.waiting.removeFirst(bytes.count)
      return (bytes, wasFull && state.waiting.count < Self.limit)
    }
    if isRoom { room.signal() }
    return bytes
  }
}
