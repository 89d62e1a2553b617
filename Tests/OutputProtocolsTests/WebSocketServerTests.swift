// The server's side of a WebSocket, by the examples of RFC 6455 and against what a client may not do.

import Testing

@testable import OutputProtocols

struct WebSocketServerTests {
  /// A frame of a client.
  static func masked(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
    var frame: [UInt8] = []
    let kind = WebSocketOpcode(rawValue: opcode) ?? .text
    WebSocketClient.append(kind, payload, mask: 0x37FA_213D, to: &frame)
    if !isFinal { frame[0] &= 0x7F }
    return frame
  }

  @Test("the examples of RFC 6455, sections 1.3 and 5.7")
  func examples() {
    #expect(
      WebSocketServer.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    for key in [
      "", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQAA", "dGhlIHNhbXBsZSBub25j\r\n==",
    ] {
      #expect(WebSocketServer.accept(key) == nil)
    }
    var server = WebSocketServer()
    let hello: [UInt8] = [
      0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,
    ]
    #expect(server.receive(hello) == [.text(Array("Hello".utf8))])
    #expect(
      WebSocketServer.frame(text: Array("Hello".utf8)) == [0x81, 5, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
    #expect(
      WebSocketServer.frame(binary: [UInt8](repeating: 0, count: 256)).prefix(4) == [
        0x82, 126, 1, 0,
      ])
    #expect(
      WebSocketServer.frame(binary: [UInt8](repeating: 0, count: 65_536)).prefix(10)
        == [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0])
  }

  @Test("messages arrive in any pieces, and pings are answered")
  func pieces() {
    let bytes =
      Self.masked(1, Array("one".utf8)) + Self.masked(9, [1, 2])
      + Self.masked(2, [7], isFinal: false)
      + Self.masked(0, [UInt8](repeating: 8, count: 300)) + Self.masked(8, [3, 232])
    let wanted: [WebSocketEvent] = [
      .text(Array("one".utf8)), .binary([7] + [UInt8](repeating: 8, count: 300)),
      .closed(code: 1_000, reason: ""),
    ]
    for size in [1, 2, 3, 7, bytes.count] {
      var server = WebSocketServer()
      var events: [WebSocketEvent] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        events += server.receive(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(events == wanted)
      #expect(server.takeOutput() == [0x8A, 2, 1, 2, 0x88, 2, 3, 232])
      #expect(server.receive(Self.masked(1, [65])).isEmpty)
    }
  }

  @Test("what a client may not do ends the connection")
  func violations() {
    var limits = WebSocketLimits()
    limits.message = 1_000
    for (bytes, code) in [
      (WebSocketServer.frame(text: [65]), 1_002), (Self.masked(3, [65]), 1_002),
      (Self.masked(0, [65]), 1_002), (Self.masked(1, [0xFF]), 1_007),
      (Self.masked(2, [UInt8](repeating: 0, count: 1_001)), 1_009),
      ([0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], 1_009),
    ] as [([UInt8], Int)] {
      // A frame of a kind that there is not.
      var bytes = bytes
      if code == 1_002, bytes[1] & 0x80 != 0, bytes[0] == 0x81 { bytes[0] = 0x83 }
      var server = WebSocketServer(limits: limits)
      let events = server.receive(bytes)
      guard case .failed? = events.last else {
        Issue.record("\(bytes.prefix(4)): \(events)")
        continue
      }
      #expect(server.takeOutput() == [0x88, 2, UInt8(code >> 8), UInt8(code & 255)])
    }
  }
}
