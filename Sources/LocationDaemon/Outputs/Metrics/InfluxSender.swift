// The thread that writes points to a database over HTTP.

import Glibc
import LinuxIO
import OutputProtocols
import SensorBus
import SensorTypes
import StateStore
import Synchronization
import TextForms

/// Sends what waits to a database, one request at a time, on a thread of its own.
package final class InfluxSender: Sendable {
  private struct Running: Sendable { var thread: BusThread? }

  private let server: InfluxSettings.InfluxServer
  private let program: String
  private let queue = Mutex(InfluxWriteQueue())
  private let running = Mutex(Running())

  /// - Parameter program: What the server is told of this program: `Lodestone/1.0`.
  package init(_ server: InfluxSettings.InfluxServer, program: String) {
    (self.server, self.program) = (server, program)
  }

  deinit { running.withLock { $0.thread }?.stop() }

  var summary: OutputSummary {
    queue.withLock { queue in
      var summary = OutputSummary()
      (summary.sent, summary.dropped, summary.problem) = (
        queue.written, queue.dropped, queue.problem
      )
      return summary
    }
  }

  /// Begins the thread.
  func start() {
    running.withLock { running in
      guard running.thread == nil else { return }
      running.thread = try? BusThread(name: "influxdb") { [weak self, server, program] in
        InfluxWork(self, server, program: program, provider: LinuxBusProvider())
      }
    }
  }

  /// Adds lines, which are sent as soon as may be.
  func add(_ lines: [UInt8], isDated: Bool) {
    queue.withLock { $0.add(lines, isDated: isDated) }
    running.withLock { $0.thread }?.wake()
  }

  fileprivate func withQueue<Result: Sendable>(
    _ body: (inout InfluxWriteQueue) -> Result
  ) -> Result { queue.withLock { body(&$0) } }
}

/// The work of the thread: connects, writes a request, reads its answer.
private final class InfluxWork: BusWork {
  /// The time in seconds that a request may take with its connection and its answer.
  private static let patience = 20.0
  /// The time in seconds between two looks at a connection that is being made, which does not always wake the thread.
  private static let look = 0.05
  private static let longestAnswer = 16_384
  /// Reads and writes of one step: between two of them the deadline is looked at, and whether the thread is to end.
  private static let turns = 16

  private weak var sender: InfluxSender?
  private let server: InfluxSettings.InfluxServer
  private let program: String
  private let provider: LinuxBusProvider
  private var stream: (any NetworkStream)?
  private var unsent: [UInt8] = []
  /// What the request under way has, and no message may repeat.
  private var token: String?
  private var reader = HTTPAnswerReader(limit: longestAnswer)
  private var deadline = Timestamp.distantFuture
  private var buffer = [UInt8](repeating: 0, count: 4_096)

  init(
    _ sender: InfluxSender?, _ server: InfluxSettings.InfluxServer, program: String,
    provider: LinuxBusProvider
  ) {
    (self.sender, self.server, self.program, self.provider) = (sender, server, program, provider)
  }

  func step() -> Timestamp {
    guard let sender else { return .distantFuture }
    let now = provider.now()
    if stream == nil { begin(sender, now) }
    if stream != nil { exchange(sender, now) }
    guard stream == nil else { return min(deadline, now.advanced(bySeconds: Self.look)) }
    return sender.withQueue { $0.deadline } ?? .distantFuture
  }

  func forEachReadiness(_ body: (Readiness) -> Void) {
    if let stream { body(stream.readiness) }
  }

  func finish() { stream = nil }

  /// Begins the request that is due.
  private func begin(_ sender: InfluxSender, _ now: Timestamp) {
    guard let body = sender.withQueue({ $0.begin(at: now) }) else { return }
    do {
      let token = try CredentialFile.token(server.tokenFile)
      self.token = token
      let query =
        "/api/v2/write?org=\(Self.escaped(server.organization))&bucket=\(Self.escaped(server.bucket))&precision=ns"
      unsent = HTTPRequest.bytes(
        "POST", query, host: server.authority,
        fields: [
          ("User-Agent", program), ("Authorization", "Token \(token)"),
          ("Content-Type", "text/plain; charset=utf-8"), ("Accept", "application/json"),
          ("Connection", "close"),
        ], body: body)
      reader = HTTPAnswerReader(limit: Self.longestAnswer)
      deadline = now.advanced(bySeconds: Self.patience)
      stream = try provider.networkStream(
        to: .tcp(host: server.host, port: server.port), isEncrypted: server.isEncrypted,
        within: Self.patience / 2)
    } catch let problem as FileProblem {
      fail(sender, "tokenFile: \(problem)", now)
    } catch {
      fail(sender, "\(error)", now)
    }
  }

  private func exchange(_ sender: InfluxSender, _ now: Timestamp) {
    guard let stream else { return }
    do {
      for _ in 0..<Self.turns {
        let count = try buffer.withUnsafeMutableBytes { try stream.read(into: $0) }
        if count > 0 {
          switch reader.take(Array(buffer[..<count])) {
          case .unfinished: break
          case .answer(let answer): return take(answer, sender, now)
          case .foreign(let words):
            return fail(sender, "\(server.authority) answers with \(words)", now)
          }
        }
        if stream.isOpen, !unsent.isEmpty {
          let sent = try unsent.withUnsafeBytes { try stream.writeSome($0) }
          unsent.removeFirst(min(sent, unsent.count))
          if sent > 0 { continue }
        }
        if count == 0 { break }
      }
    } catch {
      // An answer may end with its connection.
      if case .answer(let answer) = reader.ended() { return take(answer, sender, now) }
      return fail(sender, "\(error)", now)
    }
    if now >= deadline {
      fail(sender, "\(server.authority) does not answer in \(Int(Self.patience)) s", now)
    }
  }

  private func take(_ answer: HTTPAnswer, _ sender: InfluxSender, _ now: Timestamp) {
    let wish = answer.head.values("retry-after").first.flatMap(Double.init)
    let words = Self.words(of: answer).hiding([token])
    (stream, unsent) = (nil, [])
    let status = answer.head.status
    sender.withQueue { [server] queue in
      // A proxy may answer a wrong token with a web page.
      guard Self.isPage(answer), status != 401, status != 403 else {
        return queue.take(status: status, wish: wish, words: words, at: now)
      }
      queue.fail(
        "\(server.authority) answers \(status) with a web page, as InfluxDB does not: correct 'server'",
        wish: wish, at: now)
    }
  }

  /// Whether an answer is a page for a browser.
  private static func isPage(_ answer: HTTPAnswer) -> Bool {
    let type = answer.head.values("content-type").first ?? ""
    return type.lowercased().hasPrefix("text/html") || answer.body.first == UInt8(ascii: "<")
  }

  private func fail(_ sender: InfluxSender, _ words: String, _ now: Timestamp) {
    let words = words.hiding([token])
    (stream, unsent) = (nil, [])
    sender.withQueue { $0.fail(words, at: now) }
  }

  /// What the server says, short and printable, for a person.
  private static func words(of answer: HTTPAnswer) -> String {
    let text = answer.body.isEmpty ? Array(answer.head.words.utf8) : answer.body
    let printable = text.filter { $0 >= 32 && $0 < 127 }.prefix(160)
    return String(decoding: printable, as: UTF8.self)
  }

  /// A value in a query (RFC 3986, section 2.3).
  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
