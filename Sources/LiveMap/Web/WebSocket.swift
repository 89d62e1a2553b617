// WebSockets (RFC 6455): the handshake, the frames of a server, and the reader of a client's frames.

import FoundationEssentials
import OutputProtocols

/// The handshake of a WebSocket and the frames of its server.
enum WebSocket {
  /// Close code: the server stops.
  static let goingAway: UInt16 = 1001
  /// Close code: the client has violated the protocol.
  static let protocolError: UInt16 = 1002
  /// Close code: a text is not valid UTF-8.
  static let invalidText: UInt16 = 1007
  /// Close code: a message is too big.
  static let tooBig: UInt16 = 1009
  /// Close code: the server has no place for another client.
  static let tryAgainLater: UInt16 = 1013

  /// Returns the response to a handshake; `nil` if the request is not a valid handshake.
  static func handshake(_ request: WebRequest) -> WebResponse? {
    guard request.method == "GET", !request.isHTTP10, !request.hasBody,
      request.lists("websocket", in: "upgrade"), request.lists("upgrade", in: "connection"),
      request.headers["sec-websocket-version"] == "13",
      let key = request.headers["sec-websocket-key"], Data(base64Encoded: key)?.count == 16
    else { return nil }
    var response = WebResponse(.switchingProtocols)
    response.headers = [
      ("Upgrade", "websocket"), ("Connection", "Upgrade"),
      ("Sec-WebSocket-Accept", accept(key: key)),
    ]
    return response
  }

  /// Returns the value of `Sec-WebSocket-Accept` for a client's key.
  static func accept(key: String) -> String {
    let digest = SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
    return Data(digest).base64EncodedString()
  }

  /// Returns the frame of a text message.
  static func text(_ text: String) -> [UInt8] { frame(1, Array(text.utf8)) }

  /// Returns a close frame. Only the first 123 bytes of the reason fit into it.
  static func close(code: UInt16, reason: String = "") -> [UInt8] {
    var reason = reason
    while reason.utf8.count > 123 { reason.removeLast() }
    return frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason.utf8)
  }

  /// Returns the frame that answers a ping.
  static func pong(_ payload: [UInt8]) -> [UInt8] { frame(10, payload) }

  private static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = [0x80 | opcode]
    frame.reserveCapacity(payload.count + 10)
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
}

/// Reads the frames of a client: texts, pings and what closes the connection.
struct WebSocketReader {
  /// The maximum length of a message, in bytes.
  static let payloadLimit = 4_096

  // The head of the frame, at most 14 bytes.
  private var head: [UInt8] = []
  /// The payload of the frame, if it is a control frame, which has at most 125 bytes, or part of a text.
  private var payload: [UInt8] = []
  /// The frames of a text that is not complete.
  private var message: [UInt8] = []
  private var messageCount = 0
  private var left = 0
  private var isInPayload = false
  private var isInMessage = false
  private var isText = false

  /// Takes bytes.
  ///
  /// - Returns: What has come, in order, up to the first frame that closes the connection.
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> [WebSocketFrame] {
    var frames: [WebSocketFrame] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      if isInPayload {
        let count = min(left, rest.count)
        if isControl || isText { payload += rest.prefix(count) }
        left -= count
        rest = rest.dropFirst(count)
      } else {
        head.append(rest.removeFirst())
        guard head.count >= 2 else { continue }
        // Clients have to mask their frames.
        guard head[1] & 0x80 != 0 else { return frames + [.close(WebSocket.protocolError)] }
        guard head.count == headLength else { continue }
        if let code = begin() { return frames + [.close(code)] }
      }
      guard isInPayload, left == 0, let frame = end() else { continue }
      frames.append(frame)
      if case .close = frame { return frames }
    }
    return frames
  }

  private var opcode: UInt8 { head[0] & 0x0F }
  private var isFinal: Bool { head[0] & 0x80 != 0 }
  private var isControl: Bool { opcode >= 8 }

  private var headLength: Int {
    let extra =
      switch head[1] & 0x7F {
      case 126: 2
      case 127: 8
      default: 0
      }
    return 2 + extra + 4
  }

  // Called when a head is complete. Returns a close code if the frame is not allowed.
  private mutating func begin() -> UInt16? {
    // These bits belong to extensions, which are not supported.
    guard head[0] & 0x70 == 0 else { return WebSocket.protocolError }
    var length = UInt64(head[1] & 0x7F)
    if length >= 126 {
      length = head[2..<(head.count - 4)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    switch opcode {
    case 0: guard isInMessage else { return WebSocket.protocolError }
    case 1, 2:
      guard !isInMessage else { return WebSocket.protocolError }
      (isText, message, messageCount) = (opcode == 1, [], 0)
    case 8, 9, 10: guard isFinal, length < 126 else { return WebSocket.protocolError }
    default: return WebSocket.protocolError
    }
    guard length <= UInt64(Self.payloadLimit) else { return WebSocket.tooBig }
    if !isControl {
      isInMessage = !isFinal
      messageCount += Int(length)
      guard messageCount <= Self.payloadLimit else { return WebSocket.tooBig }
    }
    left = Int(length)
    isInPayload = true
    return nil
  }

  // Called when a frame is complete.
  private mutating func end() -> WebSocketFrame? {
    defer {
      head.removeAll(keepingCapacity: true)
      payload.removeAll(keepingCapacity: true)
      isInPayload = false
    }
    let mask = Array(head.suffix(4))
    let plain = payload.enumerated().map { $1 ^ mask[$0 % 4] }
    switch opcode {
    case 8:
      guard plain.count >= 2 else {
        return .close(plain.isEmpty ? 1000 : WebSocket.protocolError)
      }
      let code = UInt16(plain[0]) << 8 | UInt16(plain[1])
      return .close((1000..<5000).contains(code) ? code : WebSocket.protocolError)
    case 9: return .ping(plain)
    case 10: return nil
    default:
      guard isText else { return nil }
      message += plain
      guard isFinal else { return nil }
      defer { message = [] }
      guard String(validating: message, as: UTF8.self) != nil else {
        return .close(WebSocket.invalidText)
      }
      return .text(message)
    }
  }
}

/// A frame, or the frames of a message, that the server has to react to.
enum WebSocketFrame: Equatable {
  case text([UInt8])
  case ping([UInt8])
  /// The client closes the connection, or has violated the protocol. The server closes it with this code.
  case close(UInt16)
}
