#if FUZZ
  // The fuzzers are a package of their own, which sees no package declarations.
  @testable import GNSSProtocol
  @testable import OutputProtocols
#else
  import GNSSProtocol
  import OutputProtocols
#endif

/// What holds of whatever the peers of outputs say: clients, servers, brokers and devices of a bus.
package enum OutputChecks {
  /// Checks one conversation. The first byte says which, the rest is what the peer says.
  package static func output(_ bytes: [UInt8]) -> [String] {
    guard let first = bytes.first else { return [] }
    let rest = Array(bytes.dropFirst())
    switch first % 9 {
    case 0: return gpsd(rest)
    case 1: return request(rest)
    case 2: return answer(rest)
    case 3: return webSocketServer(rest)
    case 4: return webSocketClient(rest)
    case 5: return broker(rest)
    case 6: return signalKClientOfOurs(rest)
    case 7: return signalKServer(rest)
    default: return bus(rest)
    }
  }

  // MARK: What the checks share

  /// Returns the bytes in pieces of an even size.
  static func pieces(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map {
      Array(bytes[$0..<min($0 + size, bytes.count)])
    }
  }

  /// The sizes of pieces in which the same bytes have to say the same.
  static func sizes(_ bytes: [UInt8]) -> [Int] {
    [max(1, bytes.count), 1 + Int(bytes.first ?? 0) % 13]
  }

  /// Whether a text can be shown to a person as it is.
  static func isPrintable(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
  }

  /// Whether a text is one object of JSON.
  static func isObject(_ text: some Sequence<UInt8>) -> Bool {
    Array(text).withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes)
      var isObject = false
      scanner.object { _, _ in isObject = true }
      return isObject && scanner.isAtEnd()
    }
  }

  // MARK: HTTP

  /// The request of a web browser, a scraper or somebody else.
  private static func request(_ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    let whole = HTTPRequestHead.read(bytes)
    // What was said once is not taken back when more comes.
    for count in stride(from: 0, to: bytes.count, by: 1 + bytes.count / 16) {
      switch HTTPRequestHead.read(Array(bytes[..<count])) {
      case .incomplete: continue
      case let progress where progress != whole:
        failures.append("another request comes of the same bytes in pieces")
      default: continue
      }
    }
    var status = HTTPStatus.notFound
    switch whole {
    case .incomplete:
      if bytes.count >= HTTPRequestHead.longest + 4 { failures.append("a head without an end") }
    case .wrong(let refusal): status = refusal
    case .complete(let head):
      if head.method.isEmpty || head.path.first != "/" || head.path.contains("?") {
        failures.append("a request of nothing")
      }
      let host = (head.fields["host"] ?? "").lowercased()
      let isOurs = ["localhost", "[::1]", "127."].contains { host.hasPrefix($0) }
      if head.isForThisMachine, !isOurs || host.utf8.contains(where: { "@/ ".utf8.contains($0) }) {
        failures.append("'\(host)' counts as this machine")
      }
      let size = HTTPRequestHead.length(of: bytes) ?? 0
      if !(16...HTTPRequestHead.longest + 4).contains(size) || size > bytes.count {
        failures.append("a head of \(size) bytes")
      }
    }
    return failures + repeated(status, bytes)
  }

  /// Whether an answer of ours is read as what it is.
  private static func repeated(_ status: HTTPStatus, _ body: [UInt8]) -> [String] {
    var reader = HTTPAnswerReader(limit: max(1, body.count))
    guard case .answer(let answer) = reader.take(status.answer(body)),
      answer.head.status == status.rawValue, answer.body == body
    else { return ["an answer of ours cannot be read"] }
    return []
  }

  /// The answer of a server that we ask.
  private static func answer(_ bytes: [UInt8]) -> [String] {
    let limit = 4_096
    let found = sizes(bytes).map { size in
      var reader = HTTPAnswerReader(limit: limit)
      for piece in pieces(bytes, of: size) {
        let progress = reader.take(piece)
        if progress != .unfinished { return progress }
      }
      return reader.ended()
    }
    var failures: [String] = []
    if found[0] != found[1] { failures.append("another answer comes of the same bytes in pieces") }
    switch found[0] {
    case .unfinished: failures.append("an answer that does not end")
    case .foreign(let words):
      if !isPrintable(words) || words.utf8.count > 100 { failures.append("words of a stranger") }
    case .answer(let answer):
      if !(200...599).contains(answer.head.status) { failures.append("a status of no answer") }
      if answer.body.count > min(limit, bytes.count) { failures.append("more than has come") }
      if !isPrintable(answer.head.words) || answer.head.words.utf8.count > 60 {
        failures.append("words of a stranger")
      }
    }
    return failures
  }

  // MARK: WebSocket

  private static let limits = {
    var limits = WebSocketLimits()
    (limits.message, limits.output) = (2_048, 4_096)
    return limits
  }()
  /// A frame that is added to output that is not full: a pong or a close frame with its mask.
  private static let longestControl = 131

  /// The frames of a client, as they are and with masks, since a fuzzer finds none that fit.
  private static func webSocketServer(_ bytes: [UInt8]) -> [String] {
    [bytes, masked(bytes)].flatMap { bytes in
      let found = sizes(bytes).map { size in
        var socket = WebSocketServer(limits: limits)
        return (pieces(bytes, of: size).flatMap { socket.receive($0) }, socket.takeOutput())
      }
      var failures = check(found[0].0, bytes)
      if found[0].0 != found[1].0 || found[0].1 != found[1].1 {
        failures.append("another conversation comes of the same frames in pieces")
      }
      if found[0].1.count > limits.output + longestControl { failures.append("endless answers") }
      // What we write is read at the other end.
      var client = opened()
      for case .failed(let words) in client.receive(found[0].1) {
        failures.append("our frames: \(words)")
      }
      for case .text(let text) in found[0].0 {
        var client = opened()
        if client.receive(WebSocketServer.frame(text: text)) != [.text(text)] {
          failures.append("our text cannot be read")
        }
      }
      return failures
    }
  }

  /// What a server answers to a handshake, and its frames behind one that fits.
  private static func webSocketClient(_ bytes: [UInt8]) -> [String] {
    [([] as [UInt8], bytes), (agreement, bytes)].flatMap { (head, bytes) -> [String] in
      let found = sizes(bytes).map { size in
        var socket = asked()
        let events = pieces(head + bytes, of: size).flatMap { socket.receive($0) }
        return (events, socket.takeOutput())
      }
      var failures = check(found[0].0, bytes)
      if found[0].0 != found[1].0 || found[0].1 != found[1].1 {
        failures.append("another conversation comes of the same bytes in pieces")
      }
      if found[0].1.count > limits.output + longestControl { failures.append("endless answers") }
      var server = WebSocketServer(limits: limits)
      for case .failed(let words) in server.receive(found[0].1) {
        failures.append("our frames: \(words)")
      }
      return failures
    }
  }

  private static func check(_ events: [WebSocketEvent], _ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    for (index, event) in events.enumerated() {
      switch event {
      case .text(let text):
        if String(validating: text, as: UTF8.self) == nil { failures.append("text of no UTF-8") }
        if text.count > min(limits.message, bytes.count) { failures.append("a text that is long") }
      case .binary(let data):
        if data.count > min(limits.message, bytes.count) { failures.append("a message too long") }
      case .closed(let code, let reason):
        if !(1000...4999).contains(code) || !isPrintable(reason) || reason.utf8.count > 100 {
          failures.append("an end of nothing")
        }
        if index < events.count - 1 { failures.append("something behind the end") }
      case .failed(let words):
        if !isPrintable(words) || words.utf8.count > 200 { failures.append("words of a stranger") }
        if index < events.count - 1 { failures.append("something behind a failure") }
      case .refused(_, let words):
        if !isPrintable(words) || words.utf8.count > 60 { failures.append("words of a stranger") }
      case .opened, .pong: break
      }
    }
    return failures
  }

  /// A client that has asked for a WebSocket; its request is taken.
  private static func asked() -> WebSocketClient {
    var client = WebSocketClient(nonce: [UInt8](0..<16), limits: limits) { 0x1234_5678 }
    client.open(host: "boat.example", path: "/")
    _ = client.takeOutput()
    return client
  }

  private static func opened() -> WebSocketClient {
    var client = asked()
    _ = client.receive(agreement)
    return client
  }

  /// The answer that fits what `asked()` asks.
  private static let agreement = agreement(to: "AAECAwQFBgcICQoLDA0ODw==")

  /// Returns the answer to a handshake with a key.
  static func agreement(to key: String) -> [UInt8] {
    let lines = [
      "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Accept: \(WebSocketClient.accept(key))", "", "",
    ]
    return Array(lines.joined(separator: "\r\n").utf8)
  }

  /// The same frames, each with a mask of zeros.
  private static func masked(_ bytes: [UInt8]) -> [UInt8] {
    var (rest, result) = (bytes[...], [UInt8]())
    while rest.count >= 2 {
      let head = Array(rest.prefix(2))
      rest = rest.dropFirst(2)
      let size = [126: 2, 127: 8][Int(head[1] & 0x7F)] ?? 0
      let extended = rest.prefix(size)
      rest = rest.dropFirst(extended.count)
      result += [head[0], head[1] | 0x80] + extended + [0, 0, 0, 0]
      let length =
        size == 0 ? UInt64(head[1] & 0x7F) : extended.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let payload = rest.prefix(Int(clamping: length))
      result += payload
      rest = rest.dropFirst(payload.count)
    }
    return result + rest
  }
}
