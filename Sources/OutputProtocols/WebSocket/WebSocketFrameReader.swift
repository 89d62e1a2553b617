// Frames of a WebSocket server, read within limits (RFC 6455, section 5).

/// The kinds of frames.
enum WebSocketOpcode: UInt8, Sendable {
  case continuation = 0
  case text = 1
  case binary = 2
  case close = 8
  case ping = 9
  case pong = 10

  var isControl: Bool { rawValue >= 8 }
}

/// A whole message, or a control frame.
enum WebSocketIncoming: Sendable, Hashable {
  /// Valid UTF-8.
  case text([UInt8])
  case binary([UInt8])
  case ping([UInt8])
  case pong
  /// The code is 1005 if there is none.
  case close(code: Int, reason: String)
}

/// A violation of the protocol, with the close code that names it.
struct WebSocketViolation: Error, Hashable {
  var code: UInt16
  var words: String

  init(_ code: UInt16, _ words: String) { (self.code, self.words) = (code, words) }
}

/// Reads the frames of a server, and puts messages together.
struct WebSocketFrameReader: Sendable {
  private let limits: WebSocketLimits
  /// The head of the frame, at most 10 bytes.
  private var head: [UInt8] = []
  private var opcode = WebSocketOpcode.continuation
  private var isFinal = false
  /// The bytes of the payload that are yet to come, or `nil` while the head is not complete.
  private var left: Int?
  private var payload: [UInt8] = []
  /// The kind of the message of which a frame has come.
  private var messageKind: WebSocketOpcode?
  private var message: [UInt8] = []
  private var frameCount = 0

  init(_ limits: WebSocketLimits) { self.limits = limits }

  /// Takes bytes up to the end of a message or of a control frame. Returns `nil` if they do not reach it.
  mutating func take(_ rest: inout ArraySlice<UInt8>) -> Result<
    WebSocketIncoming, WebSocketViolation
  >? {
    while true {
      if let left {
        let piece = rest.prefix(left)
        rest = rest.dropFirst(piece.count)
        payload += piece
        self.left = left - piece.count
        guard left == piece.count else { return nil }
        if let result = end() { return result }
      } else {
        guard let byte = rest.popFirst() else { return nil }
        head.append(byte)
        guard head.count >= 2, head.count == headLength else { continue }
        if let failure = begin() { return .failure(failure) }
      }
    }
  }

  private var headLength: Int {
    switch head[1] & 0x7F {
    case 126: 4
    case 127: 10
    default: 2
    }
  }

  /// Reads a complete head.
  private mutating func begin() -> WebSocketViolation? {
    let broken = { WebSocketViolation(WebSocketCloseCode.protocolError, $0) }
    guard head[0] & 0x70 == 0 else { return broken("it uses an extension that nobody asked for") }
    guard let opcode = WebSocketOpcode(rawValue: head[0] & 0x0F) else {
      return broken("it sends a frame of an unknown kind")
    }
    guard head[1] & 0x80 == 0 else { return broken("it masks its frames") }
    var length = UInt64(head[1] & 0x7F)
    if length >= 126 {
      let least: UInt64 = length == 126 ? 126 : 65_536
      length = head[2...].reduce(0) { $0 << 8 | UInt64($1) }
      guard length >= least else { return broken("it sends a length in too many bytes") }
    }
    (self.opcode, isFinal) = (opcode, head[0] & 0x80 != 0)
    if opcode.isControl {
      guard isFinal, length < 126 else { return broken("it sends a control frame in pieces") }
    } else {
      guard (opcode == .continuation) == (messageKind != nil) else {
        return broken("it sends a message within another one")
      }
      frameCount += 1
      guard length <= UInt64(limits.message), message.count + Int(length) <= limits.message,
        frameCount <= limits.frames
      else {
        return WebSocketViolation(
          WebSocketCloseCode.tooBig, "it sends a message of more than \(limits.message) bytes")
      }
      if opcode != .continuation { messageKind = opcode }
    }
    left = Int(length)
    return nil
  }

  /// Ends a frame whose payload is complete. Returns `nil` for one that others follow.
  private mutating func end() -> Result<WebSocketIncoming, WebSocketViolation>? {
    defer {
      head.removeAll(keepingCapacity: true)
      payload.removeAll(keepingCapacity: true)
      left = nil
    }
    switch opcode {
    case .ping: return .success(.ping(payload))
    case .pong: return .success(.pong)
    case .close: return closing()
    case .continuation, .text, .binary: break
    }
    message += payload
    guard isFinal else { return nil }
    defer { (message, messageKind, frameCount) = ([], nil, 0) }
    guard messageKind == .text else { return .success(.binary(message)) }
    guard String(validating: message, as: UTF8.self) != nil else {
      return .failure(
        WebSocketViolation(WebSocketCloseCode.invalidText, "it sends a text that is not UTF-8"))
    }
    return .success(.text(message))
  }

  private func closing() -> Result<WebSocketIncoming, WebSocketViolation> {
    guard !payload.isEmpty else { return .success(.close(code: 1005, reason: "")) }
    let isBroken = WebSocketViolation(
      WebSocketCloseCode.protocolError, "it closes the connection with a broken frame")
    guard payload.count >= 2 else { return .failure(isBroken) }
    let code = Int(payload[0]) << 8 | Int(payload[1])
    // Those that may stand in a frame (RFC 6455, section 7.4, and the registry that it makes).
    guard (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999) ~= code,
      let reason = String(validating: payload[2...], as: UTF8.self)
    else { return .failure(isBroken) }
    return .success(.close(code: code, reason: HTTPHead.printable(reason, limit: 100)))
  }
}
