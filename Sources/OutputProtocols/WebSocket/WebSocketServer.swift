// The server's side of a WebSocket (RFC 6455) behind its handshake, without I/O.

/// A WebSocket of a client, from its handshake to its end.
///
/// Frames of messages are made by `frame(text:)` and `frame(binary:)`. What answers the client, pongs and a last frame, lies in
/// `takeOutput()`.
package struct WebSocketServer: Sendable {
  private var unmasker = WebSocketUnmasker()
  private var frames: WebSocketFrameReader
  private let limits: WebSocketLimits
  private var output: [UInt8] = []
  private var isOver = false

  package init(limits: WebSocketLimits = WebSocketLimits()) {
    self.limits = limits
    frames = WebSocketFrameReader(limits)
  }

  /// Returns the value of `Sec-WebSocket-Accept` for a client's key (RFC 6455, section 4.2.2); `nil` if the key is not one of 16 bytes.
  package static func accept(_ key: String) -> String? {
    let letters = Array(key.utf8)
    guard letters.count == 24, letters.suffix(2) == Array("==".utf8)[...],
      letters.dropLast(2).allSatisfy(isBase64)
    else { return nil }
    return WebSocketClient.accept(key)
  }

  private static func isBase64(_ letter: UInt8) -> Bool {
    switch letter {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"): true
    default: false
    }
  }

  /// Returns the frame of a text.
  package static func frame(text: [UInt8]) -> [UInt8] { frame(.text, text) }

  /// Returns the frame of a binary message.
  package static func frame(binary: [UInt8]) -> [UInt8] { frame(.binary, binary) }

  /// Returns the frame that closes the connection.
  package static func frame(closing code: UInt16) -> [UInt8] {
    frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)])
  }

  private static func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(payload.count + 10)
    frame.append(0x80 | opcode.rawValue)
    switch payload.count {
    case 0..<126: frame.append(UInt8(payload.count))
    case 126..<65_536: frame += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      frame.append(127)
      for shift in stride(from: 56, through: 0, by: -8) {
        frame.append(UInt8(truncatingIfNeeded: payload.count >> shift))
      }
    }
    return frame + payload
  }

  /// Returns what is to be written now.
  package mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// Takes bytes of the client. Returns what they say, up to the end of the connection.
  package mutating func receive(_ bytes: [UInt8]) -> [WebSocketEvent] {
    guard !isOver else { return [] }
    var events: [WebSocketEvent] = []
    let (plain, isMasked) = unmasker.take(bytes)
    var rest = plain[...]
    while !rest.isEmpty, !isOver {
      switch frames.take(&rest) {
      case nil: break
      case .failure(let violation): events.append(fail(violation.code, violation.words))
      case .success(let message): if let event = react(to: message) { events.append(event) }
      }
    }
    if !isMasked, !isOver {
      events.append(fail(WebSocketCloseCode.protocolError, "it does not mask its frames"))
    }
    return events
  }

  private mutating func react(to message: WebSocketIncoming) -> WebSocketEvent? {
    switch message {
    case .text(let text): return .text(text)
    case .binary(let bytes): return .binary(bytes)
    case .pong: return .pong
    case .ping(let payload):
      guard output.count < limits.output else {
        return fail(WebSocketCloseCode.protocolError, "it takes nothing")
      }
      output += Self.frame(.pong, payload)
      return nil
    case .close(let code, let reason):
      // The answer repeats the code; a missing one (1005) stays missing.
      output += code == 1005 ? Self.frame(.close, []) : Self.frame(closing: UInt16(code))
      isOver = true
      return .closed(code: code, reason: reason)
    }
  }

  private mutating func fail(_ code: UInt16, _ words: String) -> WebSocketEvent {
    output += Self.frame(closing: code)
    isOver = true
    return .failed(words)
  }
}

/// Takes the mask from a client's frames (RFC 6455, section 5.3), so that they can be read as those of a server.
struct WebSocketUnmasker: Sendable {
  /// The head of the frame with its mask, at most 14 bytes.
  private var head: [UInt8] = []
  private var mask: [UInt8] = []
  /// The bytes of the payload that are yet to come.
  private var left: UInt64 = 0
  private var place = 0
  private var isBroken = false

  /// Returns the bytes of the same frames without their masks, and whether all of them had one.
  mutating func take(_ bytes: [UInt8]) -> ([UInt8], isMasked: Bool) {
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    for byte in bytes where !isBroken {
      if left > 0 {
        plain.append(byte ^ mask[place & 3])
        place += 1
        left -= 1
        continue
      }
      head.append(byte)
      guard head.count >= 2 else { continue }
      isBroken = head[1] & 0x80 == 0
      guard !isBroken, head.count == headLength + 4 else { continue }
      let length = head[1] & 0x7F
      left = length < 126 ? UInt64(length) : head[2..<headLength].reduce(0) { $0 << 8 | UInt64($1) }
      plain += [head[0], length] + head[2..<headLength]
      (mask, place) = (Array(head.suffix(4)), 0)
      head.removeAll(keepingCapacity: true)
    }
    return (plain, !isBroken)
  }

  /// The number of bytes of the head without the mask.
  private var headLength: Int {
    switch head[1] & 0x7F {
    case 126: 4
    case 127: 10
    default: 2
    }
  }
}
