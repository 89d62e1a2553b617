// Peers that connect to an output and read its lines.

import OutputProtocols
import SensorTypes
import Synchronization

/// A program that has connected to an output, without a socket.
struct PreviewConnection: Sendable {
  /// The number of pieces that are taken in one turn.
  private static let most = 4_096
  let connection: any ServedConnection

  func send(_ bytes: [UInt8], at now: Timestamp) {
    guard !bytes.isEmpty else { return }
    bytes.withUnsafeBytes { connection.receive($0, at: now.seconds) }
  }

  /// Returns the bytes that wait.
  func take(at now: Timestamp) -> [UInt8] {
    connection.advance(to: now.seconds)
    var bytes: [UInt8] = []
    for _ in 0..<Self.most {
      guard let next = connection.next() else { break }
      bytes += next
    }
    return bytes
  }
}

/// A program that connects, asks once, and reads lines: a client of gpsd or of Signal K.
final class ConnectionPreview: PreviewPeer {
  /// Makes a connection at a time in seconds.
  typealias PreviewConnect = @Sendable (_ now: Double) -> any ServedConnection

  private struct State: Sendable {
    var connection: PreviewConnection?
    /// The beginning of a line whose end has not come.
    var rest: [UInt8] = []
  }

  private let request: String
  private let connect: PreviewConnect
  private let state = Mutex(State())

  /// - Parameter request: What it asks for.
  init(asking request: String, _ connect: @escaping PreviewConnect) {
    (self.request, self.connect) = (request, connect)
  }

  deinit { state.withLock { $0.connection }?.connection.end() }

  func lines(at now: Timestamp) -> [String] {
    state.withLock { state in
      let connection = state.connection ?? PreviewConnection(connection: connect(now.seconds))
      if state.connection == nil {
        state.connection = connection
        connection.send(Array(request.utf8), at: now)
      }
      return TextLines.take(connection.take(at: now), &state.rest)
    }
  }
}

/// A scraper of OpenMetrics: it asks for the page again and again.
final class MetricsPreview: PreviewPeer {
  /// The time in seconds between two pages. Chosen: Prometheus waits a minute, and a person does not.
  static let interval = 5.0

  private struct State: Sendable { var next: Timestamp? }

  private let connect: ConnectionPreview.PreviewConnect
  private let state = Mutex(State())

  init(_ connect: @escaping ConnectionPreview.PreviewConnect) { self.connect = connect }

  func lines(at now: Timestamp) -> [String] {
    let isDue = state.withLock { state in
      guard state.next.map({ now >= $0 }) ?? true else { return false }
      state.next = now.advanced(bySeconds: Self.interval)
      return true
    }
    guard isDue else { return [] }
    let connection = PreviewConnection(connection: connect(now.seconds))
    defer { connection.connection.end() }
    connection.send(HTTPRequest.bytes("GET", "/metrics", host: "localhost"), at: now)
    let answer = connection.take(at: now)
    var rest: [UInt8] = []
    let lines = TextLines.take(answer, &rest)
    // The head ends with an empty line.
    guard let end = lines.firstIndex(of: "") else { return lines }
    return Array(lines[(end + 1)...])
  }
}

/// Splits bytes of a connection into lines.
enum TextLines {
  /// The number of bytes of a line beyond which it is cut.
  private static let longest = 1_048_576

  /// Returns the lines that have ended.
  ///
  /// - Parameter rest: The beginning of a line, which is kept for the next call.
  static func take(_ bytes: [UInt8], _ rest: inout [UInt8]) -> [String] {
    rest += bytes
    var lines: [String] = []
    var start = rest.startIndex
    while let end = rest[start...].firstIndex(of: 10) {
      lines.append(text(rest[start..<end]))
      start = end + 1
    }
    rest.removeFirst(start)
    if rest.count > longest {
      lines.append(text(rest[...]))
      rest = []
    }
    return lines
  }

  private static func text(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
  }
}
