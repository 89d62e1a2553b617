// Foxglove's protocol at a port, as a program that shows the board sees it.

import BoardFile
import FacadeTestSupport
import Foundation
import Glibc
import LocationServices
import Lodestone
import OutputProtocols
import SensorTypes
import ServiceProtocol
import Synchronization
import Testing

@testable import LocationDaemon

/// A program that has connected to a port of this machine, and its WebSocket.
private final class WebPeer {
  private let file: Int32
  private var bytes: [UInt8] = []
  /// The head of the answer.
  private(set) var head = ""
  private(set) var texts: [String] = []
  private(set) var messages: [[UInt8]] = []

  init(_ port: UInt16, _ fields: String) throws {
    file = try connectToPort(port, timeout: 50_000)
    write(
      "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(fields)\r\n"
    )
    #expect(
      eventually {
        self.read(); return self.head.hasSuffix("\r\n\r\n")
      })
  }

  deinit { close(file) }

  private func write(_ text: String) { write(Array(text.utf8)) }

  private func write(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { Glibc.send(file, $0.baseAddress, $0.count, 0x4000) }
  }

  /// Says something, in a masked frame.
  func say(_ text: String) {
    let payload = Array(text.utf8)
    let mask: [UInt8] = [1, 2, 3, 4]
    let length: [UInt8] =
      payload.count < 126
      ? [0x80 | UInt8(payload.count)]
      : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    write([0x81] + length + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] })
  }

  func gets(_ isWanted: (WebPeer) -> Bool) -> Bool {
    eventually {
      self.read()
      return isWanted(self)
    }
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = Glibc.read(file, &buffer, buffer.count)
    if count > 0 { bytes += buffer[..<count] }
    while !head.hasSuffix("\r\n\r\n"), !bytes.isEmpty {
      head += String(decoding: [bytes.removeFirst()], as: UTF8.self)
    }
    while bytes.count >= 2 {
      var (length, start) = (Int(bytes[1]), 2)
      if length >= 126 {
        start = length == 126 ? 4 : 10
        guard bytes.count >= start else { return }
        length = bytes[2..<start].reduce(0) { $0 << 8 | Int($1) }
      }
      guard bytes.count >= start + length else { return }
      let payload = Array(bytes[start..<(start + length)])
      if bytes[0] == 0x81 { texts.append(String(decoding: payload, as: UTF8.self)) }
      if bytes[0] == 0x82 { messages.append(payload) }
      bytes.removeFirst(start + length)
    }
  }
}

struct FoxgloveOutputTests {
  private static let sdk = "Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n"

  private static func settings(_ positions: PositionLimit) -> OutputSettings {
    OutputSettings(
      kind: .foxglove(FoxgloveSettings(origins: ["https://view.example"])), transport: .tcp,
      address: "127.0.0.1", port: 0, positions: positions, line: 2)
  }

  private func now() -> Double { RuntimeClocks.system.now().seconds }

  @Test("a program is told the channels, and gets what it subscribes to")
  func conversation() throws {
    let bench = try DaemonBench(outputs: [Self.settings(.exact)])
    var peer: WebPeer? = try WebPeer(bench.port(0), Self.sdk)
    #expect(peer?.head.hasPrefix("HTTP/1.1 101 ") == true)
    #expect(peer?.head.contains("Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") == true)
    #expect(peer?.head.contains(Self.sdk) == true)
    #expect(peer?.gets { $0.texts.count == 2 } == true)
    #expect(peer?.texts.first?.contains(#""op":"serverInfo""#) == true)
    #expect(peer?.texts.last?.contains(#""schemaName":"foxglove.LocationFix""#) == true)
    #expect(bench.board.demands.isEmpty)
    let channel = FoxgloveMessage.channel(of: .location)
    peer?.say(
      #"{"op":"subscribe","subscriptions":[{"id":77,"channelId":\#(channel)},{"id":1,"channelId":99}]}"#
    )
    #expect(peer?.gets { $0.texts.last?.contains("Unknown channel: 99") == true } == true)
    #expect(eventually { bench.board.demands.last?.location == true })
    #expect(bench.board.demands.last?.motion.isAny == false)
    bench.board.publish(.location(53.123, 10.987, at: now()))
    #expect(peer?.gets { !$0.messages.isEmpty } == true)
    let message = try #require(peer?.messages.first)
    #expect(message.prefix(5) == [1, 77, 0, 0, 0])
    #expect(String(decoding: message.dropFirst(13), as: UTF8.self).contains(#""latitude":53.123"#))
    peer?.say(#"{"op":"unsubscribe","subscriptionIds":[77]}"#)
    #expect(eventually { bench.board.demands.last == Demand() })
    let output = try #require(bench.daemon?.status.outputs?.first)
    #expect(output.name == "foxglove" && output.listeners == 1 && output.sent >= 1)
    peer = nil
    #expect(eventually { bench.daemon?.status.outputs?.first?.listeners == 0 })
  }

  @Test("without positions there is no channel that tells where the board is")
  func withheld() throws {
    let bench = try DaemonBench(outputs: [Self.settings(.none)])
    let peer = try WebPeer(bench.port(0), Self.sdk)
    #expect(peer.gets { $0.texts.count == 2 })
    for word in ["gnss/", "heading/true"] { #expect(!peer.texts[1].contains(word)) }
    let ids = RobotMessages.Topic.allCases.enumerated().map {
      #"{"id":\#($0.offset),"channelId":\#(FoxgloveMessage.channel(of: $0.element))}"#
    }
    peer.say(#"{"op":"subscribe","subscriptions":[\#(ids.joined(separator: ","))]}"#)
    #expect(peer.gets { $0.texts.count == 5 })
    #expect(eventually { bench.board.demands.last?.heading == true })
    #expect(bench.board.demands.last?.location == false)
    bench.board.publish(.location(53.123, 10.987, at: now()))
    bench.board.publish(.heading(degrees: 20, at: now(), declination: 3.5))
    #expect(peer.gets { !$0.messages.isEmpty })
    #expect(peer.messages.allSatisfy { $0[1] == 4 })
  }

  @Test("pages of strangers, and programs that speak something else, are refused")
  func refusals() throws {
    let bench = try DaemonBench(outputs: [Self.settings(.exact)])
    for (fields, status) in [
      ("", "400 "), ("Sec-WebSocket-Protocol: chat\r\n", "400 "),
      (Self.sdk + "Origin: https://evil.example\r\n", "403 "),
      (Self.sdk + "Origin: null\r\n", "403 "),
      // A page with a name of its own that leads here.
      (Self.sdk + "Origin: http://rebound.evil.example:8765\r\n", "403 "),
      (Self.sdk + "Origin: https://app.foxglove.dev.evil.example\r\n", "403 "),
      (Self.sdk + "Origin: https://app.foxglove.dev\r\n", "101 "),
      (Self.sdk + "Origin: https://view.example\r\n", "101 "),
      (Self.sdk + "Origin: http://localhost:8080\r\n", "101 "),
      (Self.sdk + "Origin: file://\r\n", "101 "),
      ("Sec-WebSocket-Protocol: chat, foxglove.websocket.v1\r\n", "101 "),
    ] {
      let peer = try WebPeer(bench.port(0), fields)
      #expect(peer.head.hasPrefix("HTTP/1.1 \(status)"), "\(fields)\(peer.head)")
    }
  }

  @Test("a slow program loses the oldest messages, and is told")
  func slow() throws {
    let output = FoxgloveOutput(
      place: "", FoxgloveSettings(), positions: .exact, clocks: .system,
      clock: { ClockReading(seconds: $0.seconds, isSet: true) })
    let connection = output.admit(at: 10, wake: {})
    func receive(_ bytes: [UInt8]) {
      bytes.withUnsafeBytes { connection.receive($0, at: 10) }
    }
    receive(
      Array(
        ("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
          + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(Self.sdk)\r\n")
          .utf8))
    let text = Array(#"{"op":"subscribe","subscriptions":[{"id":5,"channelId":4}]}"#.utf8)
    receive([0x81, 0x80 | UInt8(text.count), 0, 0, 0, 0] + text)
    while connection.next() != nil {}
    #expect(output.demand.location && connection.waitingCount == 0)
    var published = PublishedState()
    let observation = Observation.location(53.123, 10.987, at: 10)
    published.take(observation)
    for _ in 0..<5_000 {
      output.take(observation, published, at: Timestamp(seconds: 10))
    }
    #expect(connection.waitingCount <= FoxgloveConnection.mostWaiting)
    #expect(output.summary.dropped > 1_000 && output.summary.sent == 5_000)
    connection.advance(to: 11)
    let first = try #require(connection.next())
    #expect(String(decoding: first, as: UTF8.self).contains("left out"))
    connection.close(.ending, at: 12)
    #expect(connection.isClosed)
  }

  @Test("a stranger's bytes are bounded, and harm nobody")
  func hostile() {
    let output = FoxgloveOutput(
      place: "", FoxgloveSettings(), positions: .exact, clocks: .system,
      clock: { ClockReading(seconds: $0.seconds, isSet: true) })
    let request = Array(
      ("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(Self.sdk)\r\n")
        .utf8)
    let text = Array(#"{"op":"subscribe","subscriptions":[{"id":5,"channelId":4}]}"#.utf8)
    var draw: UInt64 = 1
    func next(_ limit: Int) -> Int {
      draw = draw &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(draw >> 33) % limit
    }
    for round in 0..<1_000 {
      let connection = output.admit(at: 0, wake: {})
      var bytes = request
      for _ in 0..<4 { bytes += [0x81, 0x80 | UInt8(text.count), 0, 0, 0, 0] + text }
      let first = round % 2 == 0 ? request.count : 0
      for _ in 0..<(1 + next(4)) { bytes[first + next(bytes.count - first)] = UInt8(next(256)) }
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(1 + next(200)))
        rest = rest.dropFirst(piece.count)
        piece.withUnsafeBytes { connection.receive($0, at: 0) }
        #expect(connection.waitingCount < 65_536)
      }
      while connection.next() != nil {}
      connection.advance(to: 100)
      connection.end()
    }
    #expect(output.summary.listeners == 0 && output.demand == Demand())
  }

  @Test("a request that does not come ends the connection")
  func patience() {
    let output = FoxgloveOutput(
      place: "", FoxgloveSettings(), positions: .exact, clocks: .system,
      clock: { ClockReading(seconds: $0.seconds, isSet: true) })
    let connection = output.admit(at: 10, wake: {})
    Array("GET / HTTP/1.1\r\n".utf8).withUnsafeBytes { connection.receive($0, at: 10) }
    connection.advance(to: 19)
    #expect(!connection.isClosed)
    connection.advance(to: 20.1)
    #expect(connection.isClosed)
    connection.end()
    #expect(output.summary.listeners == 0)
  }

  @Test("what serve.yaml says of Foxglove")
  func parsing() throws {
    func parse(_ entry: String) throws -> OutputSettings? {
      try ServeFile.parse("schema: 1\noutputs:\n  - \(entry)\n", file: "serve.yaml").outputs.first
    }
    let output = try parse(
      "{protocol: foxglove, interval: 0.01, positions: exact, origins: ['https://view.example:8443']}"
    )
    #expect(output?.port == 8_765 && output?.positions == .exact)
    #expect(
      output?.kind
        == .foxglove(FoxgloveSettings(interval: 0.01, origins: ["https://view.example:8443"])))
    for entry in [
      "{protocol: foxglove, transport: udp}", "{protocol: foxglove, interval: 0}",
      "{protocol: foxglove, origins: [view.example]}", "{protocol: foxglove, talker: II}",
      "{protocol: foxglove, origins: ['https://a/b']}", "{protocol: foxglove, bucket: b}",
      "{protocol: gpsd, origins: ['https://a']}",
    ] { #expect(throws: (any Error).self, "\(entry)") { try parse(entry) } }
  }
}
