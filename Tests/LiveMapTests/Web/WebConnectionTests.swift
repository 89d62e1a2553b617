// A connection without its socket: what is answered, what is sent, and how long anything may take.

import Foundation
@testable import LiveMap
import SensorTypes
import Synchronization
import Testing

struct PathService: WebService {
  var stream: any WebStream = QuietStream()

  func answer(to request: WebRequest) -> WebAnswer {
    guard request.parameter("token") == "right" else {
      return .refusal(WebResponse(.forbidden, "No."))
    }
    switch request.path {
    case "/later": return .later { WebResponse(.ok, "later") }
    case "/live":
      let stream = stream
      return .stream(WebResponse(.switchingProtocols)) { _ in stream }
    default: return .response(WebResponse(.ok, request.path))
    }
  }
}

/// Has nothing to say.
struct QuietStream: WebStream {
  func next() -> WebStreamEvent? { nil }
}

/// Says what a test has put into it.
final class ScriptedStream: WebStream {
  private let events: Mutex<[WebStreamEvent]>
  private let heard = Mutex<[String]>([])
  /// The number of texts that it takes.
  private let most: Int

  init(_ events: [WebStreamEvent], takes most: Int = .max) {
    self.events = Mutex(events)
    self.most = most
  }

  var isReading: Bool { texts.count < most }
  var texts: [String] { heard.withLock { $0 } }

  func receive(_ text: [UInt8]) {
    heard.withLock { $0.append(String(decoding: text, as: UTF8.self)) }
  }

  func next() -> WebStreamEvent? {
    events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  var left: Int { events.withLock { $0.count } }
}

@Suite struct WebConnectionTests {
  static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }

  /// A connection that began at 0, and its socket, which takes all that it is given.
  struct Bench {
    var connection = WebConnection(
      from: PeerAddress(ipv4: 1), at: at(0), deadlines: WebConnection.Deadlines())
    var service = PathService()
    var received = ""
    var make: (@Sendable () -> WebResponse)?

    mutating func send(_ text: String, at seconds: Double) {
      send(Array(text.utf8), at: seconds)
    }

    mutating func send(_ bytes: [UInt8], at seconds: Double) {
      bytes.withUnsafeBytes { connection.receive($0, at: WebConnectionTests.at(seconds)) }
      advance(at: seconds)
    }

    /// Answers and sends until there is nothing more.
    mutating func advance(at seconds: Double) {
      repeat {
        make =
          connection.answer(by: service, at: WebConnectionTests.at(seconds)) {} ?? make
      } while drain(at: seconds)
    }

    /// The system takes all that is to be sent. Returns whether there was something.
    mutating func drain(at seconds: Double, most: Int = .max) -> Bool {
      guard connection.hasOutput else { return false }
      let bytes = connection.withOutput { Array($0.prefix(most)) }
      received += String(decoding: bytes, as: UTF8.self)
      connection.didSend(bytes.count, at: WebConnectionTests.at(seconds))
      return true
    }

    mutating func take() -> String {
      defer { received = "" }
      return received
    }

    /// When it is given up, in seconds to the millisecond.
    var left: Double { Double(connection.deadline.nanoseconds / 1_000_000) / 1_000 }
  }

  static let get = "GET /a?token=right HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test("five seconds for the first request, whatever comes meanwhile")
  func firstRequest() {
    var bench = Bench()
    #expect(bench.left == 5 && bench.connection.standing == .unknown)
    for second in 1...4 { bench.send("G", at: Double(second)) }
    #expect(bench.left == 5 && bench.connection.standing == .unknown)
    #expect(bench.take().isEmpty)
  }

  @Test("with the token the connection stays, and later requests have five seconds too")
  func laterRequests() {
    var bench = Bench()
    bench.send(Self.get, at: 1)
    #expect(
      bench.take()
        == "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
        + "Connection: keep-alive\r\n\r\n/a\n")
    #expect(bench.connection.standing == .idle && bench.left == 31)
    bench.send("GET", at: 20)
    #expect(bench.connection.standing == .busy && bench.left == 25)
    bench.send(" ", at: 24)
    #expect(bench.left == 25)
  }

  @Test("requests behind each other are answered in turn, none before the last answer is sent")
  func pipelines() {
    var bench = Bench()
    let bytes = Array((Self.get + Self.get + "GET").utf8)
    bytes.withUnsafeBytes { bench.connection.receive($0, at: Self.at(1)) }
    #expect(bench.connection.answer(by: bench.service, at: Self.at(1)) {} == nil)
    // Nothing is read, and nothing answered, while a response waits for its reader.
    #expect(bench.connection.readable == 0)
    let before = bench.connection.withOutput { $0.count }
    #expect(bench.connection.answer(by: bench.service, at: Self.at(1)) {} == nil)
    #expect(bench.connection.withOutput { $0.count } == before)
    bench.advance(at: 1)
    #expect(bench.take().components(separatedBy: "200 OK").count == 3)
    #expect(bench.left == 6)
  }

  @Test("without the token there is one answer, and then the end")
  func refusals() {
    var bench = Bench()
    bench.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get, at: 1)
    let received = bench.take()
    #expect(received.hasPrefix("HTTP/1.1 403 ") && received.contains("Connection: close\r\n"))
    #expect(received.hasSuffix("No.\n"))
    #expect(bench.connection.hasFinished && bench.connection.standing == .finished)
    #expect(bench.left == 2)
    // What still comes is skipped, up to a limit.
    bench.send([UInt8](repeating: 0x61, count: WebConnection.skippedLimit), at: 1.5)
    #expect(!bench.connection.isOver && bench.left == 2)
    bench.send("a", at: 1.6)
    #expect(bench.connection.isOver)
  }

  @Test("a refusal that nobody takes is no way to stay")
  func refusalNotTaken() {
    var bench = Bench()
    let bytes = Array("GET / HTTP/1.1\r\n\r\n".utf8)
    bytes.withUnsafeBytes { bench.connection.receive($0, at: Self.at(4.5)) }
    _ = bench.connection.answer(by: bench.service, at: Self.at(4.5)) {}
    #expect(bench.left == 5.5 && bench.connection.standing == .unknown)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\n\n", 400), ("GET / HTTP/2.0\r\n\r\n", 505),
    ("GET /" + String(repeating: "a", count: 8_192), 431),
  ])
  func whatIsNoRequest(text: String, status: Int) {
    var bench = Bench()
    bench.send(text, at: 1)
    #expect(bench.take().hasPrefix("HTTP/1.1 \(status) "))
    #expect(bench.connection.hasFinished)
  }

  @Test("a body is not read: the connection ends behind the answer")
  func bodies() {
    var bench = Bench()
    bench.send(
      "POST /a?token=right HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n" + Self.get, at: 1)
    let received = bench.take()
    #expect(received.components(separatedBy: "HTTP/1.1").count == 2)
    #expect(received.contains("Connection: close") && bench.connection.hasFinished)
  }

  @Test("a response that is made elsewhere")
  func later() throws {
    var bench = Bench()
    bench.send("GET /later?token=right HTTP/1.1\r\n\r\n", at: 1)
    let make = try #require(bench.make)
    #expect(bench.take().isEmpty && bench.connection.readable == 0)
    #expect(bench.connection.standing == .busy && bench.left == 16)
    // A client that has no more to say still waits for its answer.
    bench.connection.end()
    #expect(!bench.connection.isOver)
    bench.connection.take(make(), at: Self.at(3))
    #expect(bench.left == 63)
    bench.advance(at: 3)
    #expect(bench.take().hasSuffix("later\n"))
    #expect(bench.left == 33)
    // A second one that was made for nobody changes nothing.
    bench.connection.take(make(), at: Self.at(4))
    #expect(!bench.connection.hasOutput && bench.left == 33)
  }

  @Test("who has no more to say, and waits for nothing, is gone")
  func ends() {
    var bench = Bench()
    bench.send("GET / HT", at: 1)
    bench.connection.end()
    #expect(bench.connection.isOver)
  }

  @Test("a stream is asked when its last message is on its way, and its reader has 20 seconds")
  func streams() {
    var bench = Bench()
    let stream = ScriptedStream([.message("first"), .message("second")])
    bench.service.stream = stream
    bench.send("GET /live?token=right HTTP/1.1\r\n\r\n", at: 1)
    #expect(bench.take() == "HTTP/1.1 101 Switching Protocols\r\n\r\n")
    #expect(bench.connection.isWritable && bench.connection.standing == .busy)
    bench.connection.refill(at: Self.at(2))
    #expect(stream.left == 1 && bench.left == 22)
    bench.connection.refill(at: Self.at(3))
    #expect(stream.left == 1 && bench.left == 22)
    // Any progress counts.
    _ = bench.drain(at: 10, most: 3)
    #expect(bench.left == 30)
    _ = bench.drain(at: 11)
    #expect(bench.take() == "\u{FFFD}\u{5}first")
    bench.connection.refill(at: Self.at(12))
    _ = bench.drain(at: 12)
    bench.connection.refill(at: Self.at(13))
    #expect(!bench.connection.isWritable && bench.connection.deadline == .distantFuture)
    // News that the system has no room for count as well.
    bench.connection.wake(at: Self.at(100))
    #expect(bench.connection.isWritable && bench.left == 120)
    bench.connection.wake(at: Self.at(110))
    #expect(bench.left == 120)
  }

  @Test("pings are answered, the end too, and both behind what is half sent")
  func control() {
    var bench = Bench()
    bench.service.stream = ScriptedStream([.message("first"), .message("second")])
    bench.send("GET /live?token=right HTTP/1.1\r\n\r\n", at: 1)
    _ = bench.take()
    bench.connection.refill(at: Self.at(1))
    _ = bench.drain(at: 1, most: 3)
    bench.send(WebSocketTests.frame(0x89, Array("ping".utf8)), at: 2)
    #expect(bench.take() == "\u{FFFD}\u{5}first")
    bench.connection.refill(at: Self.at(2))
    _ = bench.drain(at: 2)
    #expect(bench.take() == "\u{FFFD}\u{4}ping")
    bench.connection.refill(at: Self.at(3))
    _ = bench.drain(at: 3, most: 3)
    bench.send(WebSocketTests.frame(0x88, [0x03, 0xE8]), at: 4)
    #expect(bench.take() == "\u{FFFD}\u{6}second\u{FFFD}\u{2}\u{3}\u{FFFD}")
    #expect(bench.connection.hasFinished && bench.left == 5)
  }

  @Test("a stream gets its client's texts, and no more are read while it takes none")
  func texts() {
    var bench = Bench()
    let stream = ScriptedStream([.message("first")], takes: 2)
    bench.service.stream = stream
    let early = WebSocketTests.frame(0x81, Array("one".utf8))
    bench.send(Array("GET /live?token=right HTTP/1.1\r\n\r\n".utf8) + early, at: 1)
    #expect(stream.texts == ["one"] && bench.connection.readable > 0)
    bench.send(WebSocketTests.frame(0x81, Array("two".utf8)), at: 2)
    #expect(stream.texts == ["one", "two"] && bench.connection.readable == 0)
  }

  @Test("the end of a stream is said")
  func endOfStream() {
    var bench = Bench()
    bench.service.stream = ScriptedStream([.end(code: 1013, reason: "full")])
    bench.send("GET /live?token=right HTTP/1.1\r\n\r\n", at: 1)
    _ = bench.take()
    bench.connection.refill(at: Self.at(1))
    _ = bench.drain(at: 1)
    #expect(bench.take() == "\u{FFFD}\u{6}\u{3}\u{FFFD}full")
    #expect(bench.connection.hasFinished && !bench.connection.isStreaming)
  }

  @Test("frames that have come with the handshake are read")
  func earlyFrames() {
    var bench = Bench()
    bench.send(
      Array("GET /live?token=right HTTP/1.1\r\n\r\n".utf8)
        + WebSocketTests.frame(0x88, [0x03, 0xE8]), at: 1)
    #expect(bench.take().hasSuffix("\r\n\r\n\u{FFFD}\u{2}\u{3}\u{FFFD}"))
    #expect(bench.connection.hasFinished)
  }
}
