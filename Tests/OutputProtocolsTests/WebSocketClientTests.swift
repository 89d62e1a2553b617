// The client's side of WebSockets, with the examples of RFC 6455.

import Testing

@testable import OutputProtocols

@Suite("a WebSocket client") struct WebSocketClientTests {
  /// The mask of the examples.
  private static let mask: UInt32 = 0x37FA_213D
  /// The key of the example of section 1.3, `dGhlIHNhbXBsZSBub25jZQ==`.
  private static let nonce = Array("the sample nonce".utf8)
  private static let agreement = """
    HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n
    """

  private static func client(_ limits: WebSocketLimits = WebSocketLimits()) -> WebSocketClient {
    var client = WebSocketClient(nonce: nonce, limits: limits) { mask }
    client.open(host: "server.example.com", path: "/chat")
    return client
  }

  private static func opened(_ limits: WebSocketLimits = WebSocketLimits()) throws
    -> WebSocketClient
  {
    var client = client(limits)
    _ = client.takeOutput()
    try #require(client.receive(Array(agreement.utf8)) == [.opened])
    return client
  }

  /// A frame of a server: its payload is not masked.
  private static func frame(_ first: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    switch payload.count {
    case 0..<126: [first, UInt8(payload.count)] + payload
    case 126..<65_536:
      [first, 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
    default:
      [first, 127, 0, 0, 0, 0, 0, UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 255)]
        + [UInt8(payload.count & 255)] + payload
    }
  }

  @Test("the vectors of RFC 3174 and FIPS 180-4")
  func digests() {
    func hexadecimal(_ text: String) -> String {
      SHA1.digest(of: Array(text.utf8)).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
    }
    #expect(hexadecimal("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(hexadecimal("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      hexadecimal("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
    #expect(
      hexadecimal(String(repeating: "a", count: 1_000_000))
        == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
  }

  @Test("the handshake of RFC 6455, 1.2 and 1.3")
  func handshake() {
    #expect(WebSocketClient.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    var client = Self.client()
    let request = String(decoding: client.takeOutput(), as: UTF8.self)
    #expect(request.hasPrefix("GET /chat HTTP/1.1\r\nHost: server.example.com\r\n"))
    #expect(request.contains("\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"))
    #expect(request.contains("\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"))
    #expect(request.contains("\r\nSec-WebSocket-Version: 13\r\n") && request.hasSuffix("\r\n\r\n"))
    let isSent = client.send(text: "early")
    #expect(!client.isOpen && !isSent)
    // In any pieces.
    var events: [WebSocketEvent] = []
    for byte in Self.agreement.utf8 { events += client.receive([byte]) }
    #expect(events == [.opened] && client.isOpen && client.waitingCount == 0)
  }

  @Test("nothing that is put into a header can begin another one")
  func injection() {
    var client = WebSocketClient(nonce: Self.nonce) { 0 }
    client.open(
      host: "a", path: "/", fields: [("Authorization", "Bearer x\r\nHost: evil\r\n\r\nGET /")])
    let lines = String(decoding: client.takeOutput(), as: UTF8.self).split(separator: "\r\n")
    #expect(lines.filter { $0.hasPrefix("Host") } == ["Host: a"])
  }

  @Test("a server that does not agree, or to something else")
  func disagreements() {
    let good = Self.agreement
    func answer(_ text: String) -> [WebSocketEvent] {
      var client = Self.client()
      let events = client.receive(Array(text.utf8))
      #expect(!client.isOpen)
      return events
    }
    #expect(
      answer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n") == [
        .refused(status: 401, words: "Unauthorized")
      ])
    for (old, new) in [
      ("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "S3pPLMBiTxaQ9kYGzzhZRbK+xOo="), ("websocket", "h2c"),
      ("Connection: Upgrade", "Connection: close"), ("Sec-WebSocket-Accept", "X"),
      ("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"),
      ("\r\n\r\n", "\r\nSec-WebSocket-Protocol: chat\r\n\r\n"), ("HTTP/1.1", "SSH-2.0"),
    ] {
      let events = answer(good.replacing(old, with: new))
      guard case .failed? = events.first, events.count == 1 else {
        Issue.record("\(new): \(events)")
        continue
      }
    }
    guard case .failed? = answer(String(repeating: "a", count: 9_000)).first,
      case .failed? = answer("HTTP/1.1 101 x\r\nA: " + String(repeating: "a", count: 9_000)).first
    else {
      Issue.record("a head without an end")
      return
    }
    #expect(answer("HTTP/1.1 100 Continue\r\n\r\n").isEmpty)
  }

  @Test("the frames of RFC 6455, 5.7")
  func frames() throws {
    let hello = Array("Hello".utf8)
    var client = try Self.opened()
    #expect(client.receive([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]) == [.text(hello)])
    #expect(client.receive([0x01, 0x03, 0x48, 0x65, 0x6C]) == [])
    #expect(client.receive([0x80, 0x02, 0x6C, 0x6F]) == [.text(hello)])
    // A ping, and the masked pong that answers it.
    #expect(client.receive([0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]) == [])
    #expect(
      client.takeOutput() == [
        0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,
      ])
    let long = [UInt8](repeating: 7, count: 256)
    #expect(client.receive([0x82, 0x7E, 0x01, 0x00] + long) == [.binary(long)])
    let longest = [UInt8](repeating: 8, count: 65_536)
    #expect(
      client.receive([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + longest) == [.binary(longest)])
    // A masked text.
    client.send(text: "Hello")
    #expect(
      client.takeOutput() == [
        0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,
      ])
    for (count, head) in [
      (125, [0x81, 0xFD]), (126, [0x81, 0xFE, 0, 126]), (65_535, [0x81, 0xFE, 255, 255]),
      (65_536, [0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0]),
    ] as [(Int, [UInt8])] {
      client.send(text: String(repeating: "a", count: count))
      let bytes = client.takeOutput()
      #expect(Array(bytes.prefix(head.count)) == head && bytes.count == head.count + 4 + count)
    }
  }

  @Test("control frames come between the frames of a message, and everything byte by byte")
  func pieces() throws {
    var client = try Self.opened()
    var events: [WebSocketEvent] = []
    let bytes =
      Self.frame(0x01, Array("a\u{E4}".utf8.prefix(2))) + Self.frame(0x8A)
      + Self.frame(0x89, [1]) + Self.frame(0x00) + Self.frame(0x80, Array("\u{E4}".utf8.suffix(1)))
    for byte in bytes { events += client.receive([byte]) }
    #expect(events == [.pong, .text(Array("a\u{E4}".utf8))])
    let pong = client.takeOutput()
    #expect(pong.prefix(2) == [0x8A, 0x81])
  }

  @Test("what breaks the protocol ends the connection, with the code that names it")
  func violations() throws {
    var limits = WebSocketLimits()
    (limits.message, limits.frames) = (1_000, 8)
    let big = [UInt8](repeating: 0x61, count: 600)
    let cases: [(UInt16, [UInt8])] = [
      // Masked; with bits of extensions; of unknown kinds.
      (1002, [0x81, 0x85, 0, 0, 0, 0, 1, 2, 3, 4, 5]), (1002, [0xC1, 0]), (1002, [0x91, 0]),
      (1002, [0x83, 0]), (1002, [0x8B, 0]),
      // Control frames in pieces or too long; lengths in too many bytes, and of 2^63.
      (1002, [0x09, 0]), (1002, [0x89, 126, 0, 126]), (1002, [0x81, 126, 0, 125]),
      (1002, [0x81, 127, 0, 0, 0, 0, 0, 0, 255, 255]),
      (1009, [0x82, 127, 128, 0, 0, 0, 0, 0, 0, 0]),
      (1009, [0x82, 127] + [UInt8](repeating: 255, count: 8)),
      // A message within another, and the rest of none.
      (1002, [0x01, 0, 0x81, 0]), (1002, [0x80, 0]), (1002, [0x00, 0]),
      // Too long: at once, together, and in nothing at all.
      (1009, [0x81, 126, 0x03, 0xE9]),
      (1009, Self.frame(0x01, big) + Self.frame(0x80, big)),
      (1009, Self.frame(0x01) + Array((0..<8).map { _ in Self.frame(0x00) }.joined())),
      // No UTF-8; close frames that are broken.
      (1007, Self.frame(0x81, [0xC3])), (1007, Self.frame(0x81, [0xED, 0xA0, 0x80])),
      (1002, Self.frame(0x88, [3])), (1002, Self.frame(0x88, [0x03, 0xED])),
      (1002, Self.frame(0x88, [0x03, 0xE7])), (1002, Self.frame(0x88, [0x03, 0xE8, 0xFF])),
    ]
    for (code, bytes) in cases {
      var client = try Self.opened(limits)
      let events = client.receive(bytes + Self.frame(0x81, [0x61]))
      guard case .failed? = events.last, events.count == 1 else {
        Issue.record("\(bytes.prefix(12)): \(events)")
        continue
      }
      let output = client.takeOutput()
      let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
      #expect(
        output == [0x88, 0x82] + mask + [UInt8(code >> 8) ^ mask[0], UInt8(code & 255) ^ mask[1]],
        "\(bytes.prefix(12))")
      let late = client.receive(Self.frame(0x81, [0x61]))
      #expect(!client.isOpen && late.isEmpty)
    }
  }

  @Test("a close is answered once, with its code, and its reason is for a person")
  func closing() throws {
    var client = try Self.opened()
    let reason = Array("bye\u{1B}[2J\n".utf8)
    #expect(
      client.receive(Self.frame(0x88, [0x03, 0xE9] + reason)) == [
        .closed(code: 1001, reason: "bye[2J")
      ])
    #expect(client.waitingCount == 8 && !client.isOpen)
    client.close()
    #expect(client.waitingCount == 8)

    var mute = try Self.opened()
    #expect(mute.receive([0x88, 0]) == [.closed(code: 1005, reason: "")])
    #expect(mute.takeOutput() == [0x88, 0x80, 0x37, 0xFA, 0x21, 0x3D])

    var own = try Self.opened()
    own.close(reason: String(repeating: "a", count: 200))
    let isSent = own.send(text: "late")
    #expect(own.waitingCount == 6 + 125 && !isSent)
    // What comes until the server has closed it is left out.
    #expect(own.receive(Self.frame(0x81, [0x61]) + Self.frame(0x89)) == [])
    #expect(own.receive(Self.frame(0x88, [0x03, 0xE8])) == [.closed(code: 1000, reason: "")])
    #expect(own.waitingCount == 6 + 125)
  }

  @Test("pings of a server that reads nothing end the connection")
  func flood() throws {
    var limits = WebSocketLimits()
    limits.output = 1_000
    var client = try Self.opened(limits)
    var events: [WebSocketEvent] = []
    for _ in 0..<100 {
      events += client.receive(Self.frame(0x89, [UInt8](repeating: 1, count: 100)))
    }
    guard case .failed? = events.last, events.count == 1 else {
      Issue.record("\(events)")
      return
    }
    #expect(client.waitingCount <= 1_200)
  }

  @Test("damaged bytes say the same in whatever pieces they come, and nothing grows without end")
  func damage() throws {
    var limits = WebSocketLimits()
    (limits.message, limits.output) = (2_000, 2_000)
    let sound =
      Self.frame(0x81, Array("{}".utf8)) + Self.frame(0x01, [0x61]) + Self.frame(0x89, [1, 2])
      + Self.frame(0x80, [0x62]) + Self.frame(0x82, [UInt8](repeating: 7, count: 300))
      + Self.frame(0x8A) + Self.frame(0x88, [0x03, 0xE8])
    var seed: UInt64 = 1
    func draw(_ count: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % count
    }
    for _ in 0..<2_000 {
      var bytes = Array(Self.agreement.utf8) + sound
      for _ in 0...draw(3) { bytes[draw(bytes.count)] = UInt8(draw(256)) }
      var (whole, pieces) = (Self.client(limits), Self.client(limits))
      let expected = whole.receive(bytes)
      var (events, rest): ([WebSocketEvent], ArraySlice<UInt8>) = ([], bytes[...])
      while !rest.isEmpty {
        let piece = rest.prefix(1 + draw(40))
        events += pieces.receive(Array(piece))
        rest = rest.dropFirst(piece.count)
      }
      #expect(events == expected && pieces.waitingCount == whole.waitingCount)
      #expect(whole.waitingCount < 4_000)
    }
  }
}
