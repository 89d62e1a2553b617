@testable import LiveMap
import Testing

@Suite struct WebSocketTests {
  @Test("the example of RFC 6455, 1.3")
  func accept() {
    #expect(WebSocket.accept(key: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
  }

  static func request(_ changes: [String: String?] = [:]) -> WebRequest {
    var request = WebRequest(
      method: "GET", path: "/live",
      headers: [
        "host": "localhost", "upgrade": "websocket", "connection": "keep-alive, Upgrade",
        "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ])
    for (name, value) in changes { request.headers[name] = value }
    return request
  }

  @Test func handshakes() throws {
    let response = try #require(WebSocket.handshake(Self.request()))
    #expect(response.status == .switchingProtocols)
    #expect(response.header("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    let text = String(decoding: response.encodedUpgrade(), as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n") && text.hasSuffix("\r\n\r\n"))
    for changes: [String: String?] in [
      ["upgrade": nil], ["upgrade": "h2c"], ["connection": nil], ["connection": "close"],
      ["sec-websocket-version": "8"], ["sec-websocket-version": nil], ["sec-websocket-key": nil],
      ["sec-websocket-key": "abc"], ["sec-websocket-key": "dGhlIHNhbXBsZSBub25j"],
      ["content-length": "3"],
    ] {
      #expect(WebSocket.handshake(Self.request(changes)) == nil)
    }
    var other = Self.request()
    other.method = "POST"
    #expect(WebSocket.handshake(other) == nil)
  }

  @Test("the frames of RFC 6455, 5.7, and the three forms of a length")
  func frames() {
    #expect(WebSocket.text("Hello") == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
    #expect(WebSocket.close(code: 1001, reason: "x") == [0x88, 0x03, 0x03, 0xE9, 0x78])
    #expect(WebSocket.pong([1]) == [0x8A, 0x01, 0x01])
    func start(_ count: Int) -> [UInt8] {
      Array(WebSocket.text(String(repeating: "a", count: count)).prefix(10))
    }
    #expect(start(125).prefix(3) == [0x81, 125, 0x61])
    #expect(start(126).prefix(5) == [0x81, 126, 0, 126, 0x61])
    #expect(start(65_535).prefix(5) == [0x81, 126, 0xFF, 0xFF, 0x61])
    #expect(start(65_536) == [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0])
    // A control frame has at most 125 bytes.
    #expect(WebSocket.close(code: 1001, reason: String(repeating: "a", count: 200)).count == 127)
  }

  /// A client's frame; the length can be another one than the payload's.
  static func frame(
    _ first: UInt8, _ payload: [UInt8] = [], mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
  ) -> [UInt8] {
    let length: [UInt8] =
      payload.count < 126
      ? [0x80 | UInt8(payload.count)]
      : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    return [first] + length + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  /// What a reader makes of bytes, in pieces of a certain length.
  static func frames(_ bytes: [UInt8], by count: Int) -> [WebSocketFrame] {
    var reader = WebSocketReader()
    var frames: [WebSocketFrame] = []
    for start in stride(from: 0, to: bytes.count, by: count) {
      let piece = bytes[start..<min(bytes.count, start + count)]
      frames += piece.withUnsafeBytes { reader.take($0) }
      if case .close? = frames.last { break }
    }
    return frames
  }

  @Test(arguments: [1, 3, 1_000])
  func whatAClientSays(count: Int) {
    let (text, hello) = (Self.frame(0x81, Array("Hello".utf8)), Array("Hello".utf8))
    let long = Self.frame(0x82, [UInt8](repeating: 7, count: 4_096))
    #expect(Self.frames(text + long, by: count) == [.text(hello)])
    #expect(
      Self.frames(text + Self.frame(0x89, [1, 2, 3]) + text, by: count)
        == [.text(hello), .ping([1, 2, 3]), .text(hello)])
    // In pieces, with a ping between them.
    let pieces = Self.frame(0x01, [1]) + Self.frame(0x89, [9]) + Self.frame(0x80, [2])
    #expect(Self.frames(pieces, by: count) == [.ping([9]), .text([1, 2])])
    #expect(Self.frames(long + Self.frame(0x88, [0x03, 0xE8]), by: count) == [.close(1000)])
    #expect(Self.frames(Self.frame(0x88) + text, by: count) == [.close(1000)])
    // A pong that nobody asked for.
    #expect(Self.frames(Self.frame(0x8A, [1]) + text, by: count) == [.text(hello)])
    #expect(Self.frames(Self.frame(0x81), by: count) == [.text([])])
  }

  @Test func aTextInPiecesIsNoLongerThanOneFrame() {
    let part = [UInt8](repeating: 0x61, count: 2_048)
    let whole = Self.frame(0x01, part) + Self.frame(0x80, part)
    #expect(Self.frames(whole, by: 4_096) == [.text(part + part)])
    let more = Self.frame(0x01, part) + Self.frame(0x00, part) + Self.frame(0x80, [0x61])
    #expect(Self.frames(more, by: 4_096) == [.close(1009)])
  }

  @Test(
    arguments: [
      ([0x81, 0x01, 0x61], 1002), (Self.frame(0x91), 1002), (Self.frame(0xC1), 1002),
      (Self.frame(0x83), 1002), (Self.frame(0x8B), 1002), (Self.frame(0x80), 1002),
      (Self.frame(0x01) + Self.frame(0x81), 1002), (Self.frame(0x09), 1002),
      (Self.frame(0x89, [UInt8](repeating: 0, count: 126)), 1002), (Self.frame(0x88, [3]), 1002),
      (Self.frame(0x88, [0, 5]), 1002),
      (Self.frame(0x82, [UInt8](repeating: 0, count: 4_097)), 1009),
      ([0x82, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], 1009),
      ([0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], 1009),
    ] as [([UInt8], UInt16)])
  func whatAClientMustNotSay(bytes: [UInt8], code: UInt16) {
    #expect(Self.frames(bytes, by: 1) == [.close(code)])
    #expect(Self.frames(bytes, by: .max / 2) == [.close(code)])
  }
}
