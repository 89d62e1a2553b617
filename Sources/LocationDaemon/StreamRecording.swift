// A recording on its way to a reader of the stream.

import Dispatch
import Recording
import SensorHub
import Synchronization
import TextForms

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
  /// The number of seconds for which a reader may take nothing. The server closes its connection before.
  private static let patience = 30.0

  private struct State: Sendable {
    var chunks: [[UInt8]] = []
    /// The chunks before this one are written.
    var first = 0
    var waiting = 0
    var recording: HubRecording?
    /// Whether no more bytes of the recording are taken.
    var isEnded = false
    /// Whether the last line has come.
    var isComplete = false

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
      for start in stride(from: 0, to: bytes.count, by: StreamRecording.piece) {
        chunks.append(Array(bytes[start..<min(bytes.count, start + StreamRecording.piece)]))
      }
      waiting += bytes.count
    }

    mutating func removeAll() { (chunks, first, waiting) = ([], 0, 0) }
  }

  private let state = Mutex(State())
  private let room = DispatchSemaphore(value: 0)
  private let wake: @Sendable () -> Void

  /// - Parameter wake: Called when there is something to write.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  /// The number of bytes that wait to be written.
  var waitingCount: Int { state.withLock { $0.waiting } }
  /// Whether the last line is written.
  var isDone: Bool { state.withLock { $0.isComplete && $0.waiting == 0 } }

  /// Begins a recording. May take seconds.
  ///
  /// - Parameter begin: Begins it, with this sink.
  func begin(_ begin: (@escaping TraceSink) throws -> HubRecording) throws {
    let recording = try begin { [weak self] bytes in try self?.take(bytes) }
    let isEnded = state.withLock { state in
      state.recording = recording
      return state.isEnded
    }
    if isEnded { recording.end() }
  }

  /// Ends the recording, whose last bytes then come, with a line that says how it has ended. May take seconds.
  ///
  /// - Parameter refusal: Why the reader gets no more of it, not even what waits; `nil` if it has asked for the end.
  func finish(refusal: String? = nil) {
    if refusal != nil { close() }
    let recording = state.withLock { $0.recording }
    recording?.end()
    var line = JSONLine()
    line.set("kind", "end")
    line.set("failure", refusal ?? recording?.failure)
    line.set("missingSteps", recording.map { Int(clamping: $0.droppedSteps) })
    state.withLock { state in
      guard !state.isComplete else { return }
      (state.isEnded, state.isComplete) = (true, true)
      // What was written before may end in the middle of a line.
      let text = (refusal == nil ? "" : "\n") + line.line + "\n"
      Array(text.utf8).withUnsafeBytes { state.append($0) }
    }
    wake()
  }

  /// Takes no more bytes, and drops what waits: the recording's thread waits no longer.
  func close() {
    state.withLock { state in
      state.isEnded = true
      state.removeAll()
    }
    room.signal()
  }

  /// Ends the recording because nobody reads it any more. May take seconds.
  func abandon() {
    close()
    state.withLock { $0.recording }?.end()
  }

  /// Takes bytes of the recording, on its thread.
  private func take(_ bytes: UnsafeRawBufferPointer) throws {
    while true {
      let (isEnded, isFull) = state.withLock { state in
        let isFull = state.waiting >= Self.limit
        if !state.isEnded, !isFull { state.append(bytes) }
        return (state.isEnded, isFull)
      }
      if isEnded { throw ReaderGone() }
      guard isFull else { return wake() }
      guard room.wait(timeout: .now() + Self.patience) == .success else { throw ReaderGone() }
    }
  }

  /// Returns the next bytes to write, or `nil`.
  func next() -> [UInt8]? {
    let (bytes, isRoom) = state.withLock { state -> ([UInt8]?, Bool) in
      guard state.first < state.chunks.count else { return (nil, false) }
      let bytes = state.chunks[state.first]
      state.chunks[state.first] = []
      state.first += 1
      if state.first == state.chunks.count { (state.chunks, state.first) = ([], 0) }
      let wasFull = state.waiting >= Self.limit
      state.waiting -= bytes.count
      return (bytes, wasFull && state.waiting < Self.limit)
    }
    if isRoom { room.signal() }
    return bytes
  }
}
