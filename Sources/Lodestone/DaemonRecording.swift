// A recording of the daemon's board, on its way from the daemon to a sink of this program.

import Foundation
import JSONReading
import LinuxIO
package import Recording
import SensorHub
import SensorTypes
import Synchronization

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

/// The recording of a session that was opened with a sink. It ends with the session.
package struct SessionRecording: RecordingProgress {
  private let hub: Hub

  package init(of session: Session) { hub = session.hub }

  package var failure: String? { hub.recordingFailure }
  package var hasLostDaemon: Bool { false }
  package var droppedSteps: UInt64 { hub.droppedSteps }
  package var isBroken: Bool { hub.recordingIsBroken }
  package func end() {}
}

/// A recording that comes from the daemon.
package final class DaemonRecording: RecordingProgress {
  private struct State: Sendable {
    var failure: String?
    var hasLostDaemon = false
    var holes = HoleCounter()
    var isEnding = false
    /// Whether the last byte has come.
    var isComplete = false
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
    let reader = Reader(connection, poller)
    guard reader.write(Self.begin) else {
      throw DaemonUnreachable(description: "the daemon's stream at \(path) takes no request")
    }
    let rest = try Self.awaitBeginning(reader, path)
    try rest.withUnsafeBytes { try sink($0) }
    state.withLock { $0.holes.take(rest) }
    let thread = Thread { [self] in run(reader, sink) }
    thread.name = "recording"
    thread.start()
  }

  package var failure: String? { state.withLock { $0.failure } }
  package var hasLostDaemon: Bool { state.withLock { $0.hasLostDaemon } }
  package var droppedSteps: UInt64 { state.withLock { $0.holes.steps } }
  package var isBroken: Bool { state.withLock { $0.holes.steps > 0 } }

  package func end() {
    let isRunning = state.withLock { state in
      defer { state.isEnding = true }
      return !state.isEnding && state.failure == nil && !state.isComplete
    }
    guard isRunning else { return }
    poller.wake()
    _ = finished.wait(timeout: .now() + Self.closing + 1)
  }

  /// Reads lines until the one behind which the recording begins. Returns what has come of it.
  private static func awaitBeginning(_ reader: Reader, _ path: String) throws -> [UInt8] {
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
        let more = reader.read(until: deadline)
      else {
        throw DaemonUnreachable(description: "the daemon's stream at \(path) begins no recording")
      }
      bytes += more
    }
  }

  private func run(_ reader: Reader, _ sink: TraceSink) {
    defer { finished.signal() }
    var deadline: Timestamp?
    while true {
      let now = RuntimeClocks.system.now()
      if deadline == nil, state.withLock({ $0.isEnding }) {
        deadline = now.advanced(bySeconds: Self.closing)
        _ = reader.write(Self.end)
      }
      if let deadline, now >= deadline {
        return fail("the daemon does not end the recording", isLoss: false)
      }
      guard let bytes = reader.read(until: deadline ?? now.advanced(bySeconds: 1)) else {
        if deadline != nil { return state.withLock { $0.isComplete = true } }
        return fail("the daemon has gone", isLoss: true)
      }
      guard !bytes.isEmpty else { continue }
      do {
        try bytes.withUnsafeBytes { try sink($0) }
      } catch {
        return fail("\(error)", isLoss: false)
      }
      state.withLock { $0.holes.take(bytes) }
    }
  }

  private func fail(_ reason: String, isLoss: Bool) {
    state.withLock { ($0.failure, $0.hasLostDaemon) = (reason, isLoss) }
  }

  /// A connection that is read on one thread at a time.
  private final class Reader: @unchecked Sendable {
    private static let readAtOnce = 65_536

    private let connection: LocalConnection
    private let poller: Poller
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Reader.readAtOnce, alignment: 16)

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

/// Counts the steps that a recording says are missing in it: lines `g COUNT`.
struct HoleCounter: Sendable {
  private enum Place { case lineStart, afterLetter, inNumber, elsewhere }

  private(set) var steps: UInt64 = 0
  private var place = Place.lineStart
  private var number: UInt64 = 0

  mutating func take(_ bytes: [UInt8]) {
    for byte in bytes {
      switch (place, byte) {
      case (_, 0x0A):
        if place == .inNumber { steps &+= number }
        (place, number) = (.lineStart, 0)
      case (.lineStart, UInt8(ascii: "g")): place = .afterLetter
      case (.afterLetter, UInt8(ascii: " ")): place = .inNumber
      case (.inNumber, UInt8(ascii: "0")...UInt8(ascii: "9")):
        number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
      default: place = .elsewhere
      }
    }
  }
}
