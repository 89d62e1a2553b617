// A recording of the daemon's board, on its way from the daemon to a sink of this program.

import Dispatch
import Glibc
import JSONReading
import LinuxIO
package import Recording
import SensorHub
import SensorTypes
import Synchronization
import Threads

/// What becomes of a recording.
package protocol RecordingProgress: Sendable {
  /// The reason why the recording has stopped, if it has.
  var failure: String? { get }
  /// Whether it has stopped because the daemon has gone. Another recording can begin when it is back.
  var hasLostDaemon: Bool { get }
  /// The number of steps that are missing because the sink was too slow.
  var droppedSteps: UInt64 { get }
  /// Whether steps are missing and the sink has caught up since: a replay ends where they are missing.
  var isBroken: Bool { get }
  /// Ends the recording, and waits a few seconds for its last bytes.
  func end()
}

extension HubRecording: RecordingProgress {
  package var hasLostDaemon: Bool { false }
}

/// A recording that comes from the daemon.
package final class DaemonRecording: RecordingProgress {
  private struct State: Sendable {
    var failure: String?
    var hasLostDaemon = false
    var missingSteps: UInt64 = 0
    var isEnding = false
    /// Whether nothing more is written: the recording has ended, or its last bytes are waited for no longer.
    var isOver = false
  }

  /// The line with which the daemon ends a recording.
  private struct End: Decodable {
    var kind: String
    var failure: String?
    var missingSteps: UInt64?
  }

  /// The number of seconds that the daemon has for its first word, since it may have to open the board.
  private static let patience = 30.0
  /// The number of seconds that the rest of a recording may take.
  private static let closing = 10.0
  private static let longestLine = 65_536
  private static let begin = Array("{\"record\":true}\n".utf8)
  private static let end = Array("{\"record\":false}\n".utf8)

  private let state = Mutex(State())
  private let poller: Poller
  private let finished = DispatchSemaphore(value: 0)

  /// Begins a recording. Waits until the daemon has begun it.
  ///
  /// - Parameters:
  ///   - path: The path of the socket of the daemon's stream.
  ///   - sink: Takes the bytes, on a separate thread.
  /// - Throws: `DaemonUnreachable` if the daemon does not record, or what the sink throws.
  package init(path: String, sink: @escaping TraceSink) throws {
    let connection: LocalConnection
    do {
      connection = try LocalConnection(path: path)
    } catch {
      throw DaemonUnreachable(description: "the daemon's stream cannot be reached: \(error)")
    }
    poller = try Poller()
    try poller.add(connection.descriptor, token: 1, .readable)
    let stream = Connection(connection, poller)
    guard stream.write(Self.begin) else {
      throw DaemonUnreachable(description: "the daemon's stream at \(path) takes no request")
    }
    let first = try Self.awaitBeginning(stream, path)
    let failure = SystemThread.start("recording") { [self] in run(stream, first, sink) }
    guard failure == 0 else {
      throw DaemonUnreachable(
        description: "this program cannot start a thread: \(String(cString: strerror(failure)))")
    }
  }

  package var failure: String? { state.withLock { $0.failure } }
  package var hasLostDaemon: Bool { state.withLock { $0.hasLostDaemon } }
  package var droppedSteps: UInt64 { state.withLock { $0.missingSteps } }
  package var isBroken: Bool { state.withLock { $0.missingSteps > 0 } }

  package func end() {
    let isRunning = state.withLock { state in
      defer { state.isEnding = true }
      return !state.isEnding && !state.isOver
    }
    guard isRunning else { return }
    poller.wake()
    _ = finished.wait(timeout: .now() + Self.closing + 1)
    over("the last bytes were not written in time", isLoss: false)
  }

  /// Reads lines up to the one of the kind `recording`. Returns the bytes that have come behind it.
  private static func awaitBeginning(_ stream: Connection, _ path: String) throws -> [UInt8] {
    struct Line: Decodable {
      var kind: String
      var message: String?
    }
    let deadline = RuntimeClocks.system.now().advanced(bySeconds: patience)
    var bytes: [UInt8] = []
    while true {
      while let end = bytes.firstIndex(of: 0x0A) {
        let line = try? JSONDocument.decode(Line.self, from: Array(bytes[..<end]))
        bytes.removeFirst(end + 1)
        switch line?.kind {
        case "recording": return bytes
        case "error":
          throw DaemonUnreachable(
            description: "the daemon: \(line?.message ?? "it does not record")")
        default: break
        }
      }
      guard bytes.count < longestLine, RuntimeClocks.system.now() < deadline,
        let more = stream.read(until: deadline)
      else {
        throw DaemonUnreachable(
          description: "the daemon at \(path) did not begin a recording within \(Int(patience)) s")
      }
      bytes += more
    }
  }

  private func run(_ connection: Connection, _ first: [UInt8], _ sink: TraceSink) {
    defer { finished.signal() }
    var (bytes, deadline): ([UInt8], Timestamp?) = (first, nil)
    var reader = RecordingReader()
    while true {
      let count = reader.take(bytes)
      // Who waits no longer may have given the sink's file to another recording.
      guard !state.withLock({ $0.isOver }) else { return }
      do {
        try bytes.withUnsafeBytes {
          if count > 0 { try sink(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
      } catch {
        return over("\(error)", isLoss: false)
      }
      state.withLock { $0.missingSteps = reader.missingSteps }
      let now = RuntimeClocks.system.now()
      if deadline == nil, state.withLock({ $0.isEnding }) {
        deadline = now.advanced(bySeconds: Self.closing)
        _ = connection.write(Self.end)
      }
      if let deadline, now >= deadline {
        return over("the daemon does not end the recording", isLoss: false)
      }
      guard let next = connection.read(until: deadline ?? now.advanced(bySeconds: 1)) else {
        return finish(reader.end)
      }
      bytes = next
    }
  }

  /// Takes the line that ends a recording. Without it the recording is not whole.
  private func finish(_ line: [UInt8]) {
    guard let end = try? JSONDocument.decode(End.self, from: line), end.kind == "end" else {
      return over("the daemon has gone", isLoss: true)
    }
    state.withLock { state in
      if let count = end.missingSteps { state.missingSteps = max(state.missingSteps, count) }
      guard !state.isOver else { return }
      (state.failure, state.isOver) = (end.failure, true)
    }
  }

  private func over(_ reason: String, isLoss: Bool) {
    state.withLock { state in
      guard !state.isOver else { return }
      (state.failure, state.hasLostDaemon, state.isOver) = (reason, isLoss, true)
    }
  }

  /// A connection that is read on one thread at a time.
  private final class Connection: @unchecked Sendable {
    private static let readAtOnce = 65_536

    private let connection: LocalConnection
    private let poller: Poller
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Connection.readAtOnce, alignment: 16)

    init(_ connection: LocalConnection, _ poller: Poller) {
      (self.connection, self.poller) = (connection, poller)
    }

    deinit { buffer.deallocate() }

    func write(_ bytes: [UInt8]) -> Bool {
      bytes.withUnsafeBytes { connection.write($0) } == bytes.count
    }

    /// Waits for bytes. Returns none if none came in time, and `nil` at the end.
    func read(until deadline: Timestamp) -> [UInt8]? {
      _ = poller.wait(until: deadline)
      switch connection.read(into: buffer) {
      case .nothing: return []
      case .end: return nil
      case .bytes(let count): return Array(buffer[..<count])
      }
    }
  }
}
