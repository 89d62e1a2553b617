// The client's side of a WebSocket (RFC 6455), without I/O.

import GNSSProtocol

/// What a WebSocket's server has done.
package enum WebSocketEvent: Sendable, Hashable {
  /// The server has agreed: messages may be sent.
  case opened
  /// The server does not agree: its status in HTTP, and its words for it, which may be empty.
  case refused(status: Int, words: String)
  case text([UInt8])
  case binary([UInt8])
  /// The answer to a ping.
  case pong
  /// The server has closed it, with its code (1005 if it has none) and its reason, printable and at most 100 characters long.
  case closed(code: Int, reason: String)
  /// The server does not keep to the protocol, in words. Nothing more is read.
  case failed(String)
}

/// What is accepted of a WebSocket's server.
package struct WebSocketLimits: Sendable, Hashable {
  /// Bytes of a message.
  package var message = 65_536
  /// Frames of a message.
  package var frames = 64
  /// Bytes that wait to be written. Pings of a server that does not read its pongs end the connection.
  package var output = 262_144

  package init() {}
}

/// Close codes of a WebSocket (RFC 6455, section 7.4.1).
package enum WebSocketCloseCode {
  package static let normal: UInt16 = 1000
  package static let protocolError: UInt16 = 1002
  package static let invalidText: UInt16 = 1007
  package static let tooBig: UInt16 = 1009
}

/// A WebSocket to a server, from its handshake to its end.
///
/// It asks for no extension, and for no sub-protocol but the one that it is made with. What is to be written lies in `takeOutput()`, what has come is given to `receive(_:)`.
package struct WebSocketClient: Sendable {
  private enum Phase: Sendable, Hashable {
    /// The head of the server's answer is awaited.
    case handshake
    case open
    /// A close frame was sent, that of the server is awaited.
    case closing
    case over
  }

  private let key: String
  private let limits: WebSocketLimits
  private let makeMask: @Sendable () -> UInt32
  private let subprotocol: String?
  private var phase = Phase.handshake
  private var headReader = HTTPHeadReader()
  private var interim = 0
  private var frames: WebSocketFrameReader
  private var output: [UInt8] = []

  /// Makes a WebSocket that is not yet asked for.
  ///
  /// - Parameters:
  ///   - nonce: 16 bytes that nobody can foresee.
  ///   - subprotocol: The sub-protocol that is asked for, or `nil` for none.
  ///   - makeMask: Returns a number that nobody can foresee, for each frame another one.
  package init(
    nonce: [UInt8], limits: WebSocketLimits = WebSocketLimits(), subprotocol: String? = nil,
    makeMask: @escaping @Sendable () -> UInt32
  ) {
    key = Base64.encoded(nonce)
    (self.limits, self.subprotocol, self.makeMask) = (limits, subprotocol, makeMask)
    frames = WebSocketFrameReader(limits)
  }

  /// Whether messages may be sent.
  package var isOpen: Bool { phase == .open }
  /// The number of bytes that wait to be written.
  package var waitingCount: Int { output.count }

  /// Asks the server for it.
  ///
  /// - Parameters:
  ///   - host: The server as its user names it: `HOST`, or `HOST:PORT`.
  ///   - fields: Further header fields, such as `Authorization`.
  package mutating func open(
    host: String, path: String, fields: [(name: String, value: String)] = []
  ) {
    var own = [
      ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
      ("Sec-WebSocket-Key", key),
    ]
    if let subprotocol { own.append(("Sec-WebSocket-Protocol", subprotocol)) }
    output += HTTPRequest.bytes("GET", path, host: host, fields: own + fields)
  }

  /// Returns what is to be written now.
  package mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// Sends a text. Returns whether it is sent: the connection is open, and has room.
  @discardableResult
  package mutating func send(text: String) -> Bool {
    guard phase == .open, output.count < limits.output else { return false }
    write(.text, Array(text.utf8))
    return true
  }

  /// Asks the server whether it is there.
  package mutating func ping() { if phase == .open { write(.ping, []) } }

  /// Closes the connection. What comes until the server has closed it is left out.
  package mutating func close(_ code: UInt16 = WebSocketCloseCode.normal, reason: String = "") {
    guard phase == .open else { return }
    phase = .closing
    var reason = reason
    while reason.utf8.count > 123 { reason.removeLast() }
    write(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason.utf8)
  }

  /// Takes bytes of the server. Returns what they say, up to the end of the connection.
  package mutating func receive(_ bytes: [UInt8]) -> [WebSocketEvent] {
    var events: [WebSocketEvent] = []
    var rest = bytes[...]
    while !rest.isEmpty, phase != .over {
      if phase == .handshake {
        switch headReader.take(&rest) {
        case .unfinished: return events
        case .foreign(let words): events.append(fail("it answers with \(words)", code: nil))
        case .head(let head): if let event = check(head) { events.append(event) }
        }
        continue
      }
      switch frames.take(&rest) {
      case nil: return events
      case .failure(let failure): events.append(fail(failure.words, code: failure.code))
      case .success(let frame): if let event = react(to: frame) { events.append(event) }
      }
    }
    return events
  }

  // MARK: Handshake

  /// Returns the value of `Sec-WebSocket-Accept` that belongs to a key (RFC 6455, section 4.2.2).
  package static func accept(_ key: String) -> String {
    Base64.encoded(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }

  /// Looks whether the server has agreed (RFC 6455, section 4.1).
  private mutating func check(_ head: HTTPHead) -> WebSocketEvent? {
    // Something may come before an answer.
    if head.status < 200, head.status != 101 {
      interim += 1
      guard interim > HTTPHeadReader.mostInterim else { return nil }
      return fail("\(interim) answers came before an answer (status \(head.status))", code: nil)
    }
    guard head.status == 101 else {
      phase = .over
      return .refused(status: head.status, words: head.words)
    }
    guard head.lists("websocket", in: "upgrade"), head.lists("upgrade", in: "connection") else {
      return fail("it changes to another protocol", code: nil)
    }
    guard head.values("sec-websocket-accept") == [Self.accept(key)] else {
      return fail("its answer is to another handshake", code: nil)
    }
    guard head.values("sec-websocket-extensions").isEmpty,
      head.values("sec-websocket-protocol").allSatisfy({ $0 == subprotocol })
    else { return fail("it uses an extension that nobody asked for", code: nil) }
    phase = .open
    return .opened
  }

  // MARK: Frames

  private mutating func react(to frame: WebSocketIncoming) -> WebSocketEvent? {
    if case .close(let code, let reason) = frame {
      if phase == .open {
        // The answer repeats the code; a missing one (1005) stays missing.
        write(.close, code == 1005 ? [] : [UInt8(code >> 8), UInt8(code & 0xFF)])
      }
      phase = .over
      return .closed(code: code, reason: reason)
    }
    guard phase == .open else { return nil }
    switch frame {
    case .text(let bytes): return .text(bytes)
    case .binary(let bytes): return .binary(bytes)
    case .pong: return .pong
    case .ping(let payload):
      guard output.count < limits.output else {
        return fail("it takes nothing", code: nil)
      }
      write(.pong, payload)
      return nil
    case .close: return nil
    }
  }

  private mutating func fail(_ words: String, code: UInt16?) -> WebSocketEvent {
    if let code, phase == .open { write(.close, [UInt8(code >> 8), UInt8(code & 0xFF)]) }
    phase = .over
    return .failed(words)
  }

  private mutating func write(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
    Self.append(opcode, payload, mask: makeMask(), to: &output)
  }

  /// Appends a frame of a client, whose payload is masked (RFC 6455, section 5.3).
  static func append(
    _ opcode: WebSocketOpcode, _ payload: [UInt8], mask: UInt32, to bytes: inout [UInt8]
  ) {
    bytes.reserveCapacity(bytes.count + payload.count + 14)
    bytes.append(0x80 | opcode.rawValue)
    switch payload.count {
    case 0..<126: bytes.append(0x80 | UInt8(payload.count))
    case 126..<65_536: bytes += [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      bytes.append(0xFF)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
      }
    }
    let key = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: mask >> UInt32($0)) }
    bytes += key
    for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index & 3]) }
  }
}
