// Packets that a broker sends (OASIS MQTT 5.0, section 3).

/// Why the bytes of a broker cannot be used.
package enum MQTTPacketError: Error, Hashable, Sendable {
  /// They are no packet of MQTT 5.
  case malformed(String)
  /// They are one that may not come here.
  case broken(String)
  /// The packet has more bytes than this client takes.
  case tooLarge(Int)

  /// The reason code that the broker is told.
  package var code: UInt8 {
    switch self {
    case .malformed: 0x81
    case .broken: 0x82
    case .tooLarge: 0x95
    }
  }

  /// The error in words.
  package var words: String {
    switch self {
    case .malformed(let words), .broken(let words): "the broker does not keep to MQTT 5: \(words)"
    case .tooLarge(let count): "the broker sends a packet of \(count) bytes, which nobody asked for"
    }
  }
}

/// A packet from a broker.
package enum MQTTArrival: Hashable, Sendable {
  /// The answer to CONNECT.
  case answer(MQTTAnswer)
  case message(MQTTMessage, identifier: UInt16?)
  /// The answer to a message of quality 1.
  case acknowledgement(UInt16, code: UInt8)
  case subscribed(UInt16, codes: [UInt8])
  case pong
  case end(code: UInt8)
}

/// The answer of a broker to CONNECT: its limits, if it accepts the client.
package struct MQTTAnswer: Hashable, Sendable {
  package var code: UInt8 = 0
  /// Whether the broker has kept the session.
  package var hasSession = false
  /// Whether the broker answers in the form of MQTT 3.1.1.
  package var isOlderVersion = false
  /// The number of messages of quality 1 that may be unacknowledged.
  package var receiveMaximum = 65_535
  /// The largest packet in bytes, or `nil` for no limit.
  package var maximumPacketSize: Int?
  package var maximumQuality: UInt8 = 2
  package var canRetain = true
  /// The keep-alive time in seconds that the broker asks for; `nil` for the client's own.
  package var keepAlive: Int?
}

/// Finds packets in the bytes of a connection. What waits for its end is no longer than the largest packet.
package struct MQTTPacketReader: Sendable {
  /// The largest packet in bytes behind its fixed header: a broker is told so, and has little to say here.
  package static let limit = 8_192

  private var bytes: [UInt8] = []
  private var start = 0

  package init() {}

  /// Takes bytes, of which `next()` has to be called until it returns `nil`.
  package mutating func append(_ more: some Collection<UInt8>) {
    bytes.removeFirst(start)
    start = 0
    bytes.append(contentsOf: more)
  }

  /// Returns the next packet, or `nil` if none is whole.
  package mutating func next() throws(MQTTPacketError) -> MQTTArrival? {
    guard let (header, body) = try nextBody() else { return nil }
    var fields = MQTTFields(body)
    let arrival = try Self.packet(header, &fields)
    guard fields.isAtEnd else { throw .malformed("a packet is longer than its fields") }
    return arrival
  }

  private mutating func nextBody() throws(MQTTPacketError) -> (UInt8, ArraySlice<UInt8>)? {
    guard start < bytes.count else { return nil }
    // Before its end is waited for: what is another protocol never ends.
    guard bytes[start] >> 4 == 3 || bytes[start] & 0x0F == 0 else {
      throw .malformed("a packet has reserved flags")
    }
    guard let body = try MQTTFields.body(of: bytes, from: start, limit: Self.limit) else {
      return nil
    }
    defer { start = body.upperBound }
    return (bytes[start], bytes[body])
  }

  private static func packet(
    _ header: UInt8, _ fields: inout MQTTFields
  ) throws(MQTTPacketError) -> MQTTArrival {
    let flags = header & 0x0F
    switch header >> 4 {
    case 2: return .answer(try answer(&fields))
    case 3: return try message(flags, &fields)
    case 4:
      let identifier = try fields.two()
      let code = try reason(&fields)
      return .acknowledgement(identifier, code: code)
    case 9:
      let identifier = try fields.two()
      _ = try fields.properties([.reasonString, .userProperty])
      let codes = Array(fields.rest())
      guard !codes.isEmpty else { throw .malformed("a SUBACK has no reason code") }
      return .subscribed(identifier, codes: codes)
    case 13: return .pong
    case 14:
      return .end(
        code: try reason(&fields, [.sessionExpiry, .reasonString, .userProperty, .serverReference]))
    default: throw .broken("a packet of type \(header >> 4) comes unasked")
    }
  }

  /// A reason code with its properties: a packet without them says that all is well.
  private static func reason(
    _ fields: inout MQTTFields, _ allowed: Set<MQTTProperty> = [.reasonString, .userProperty]
  ) throws(MQTTPacketError) -> UInt8 {
    guard !fields.isAtEnd else { return 0 }
    let code = try fields.byte()
    if !fields.isAtEnd { _ = try fields.properties(allowed) }
    return code
  }

  private static func answer(_ fields: inout MQTTFields) throws(MQTTPacketError) -> MQTTAnswer {
    let flags = try fields.byte()
    guard flags & 0xFE == 0 else { throw .malformed("a CONNACK has reserved flags") }
    var answer = MQTTAnswer()
    answer.hasSession = flags == 1
    answer.code = try fields.byte()
    // MQTT 3.1.1 has no properties here, and codes of its own.
    guard !fields.isAtEnd else {
      answer.isOlderVersion = true
      return answer
    }
    let properties = try fields.properties([
      .sessionExpiry, .receiveMaximum, .maximumQuality, .retainAvailable, .maximumPacketSize,
      .assignedIdentifier, .topicAliasMaximum, .reasonString, .userProperty, .wildcardsAvailable,
      .identifiersAvailable, .sharingAvailable, .serverKeepAlive, .responseInformation,
      .serverReference, .authenticationMethod, .authenticationData,
    ])
    answer.receiveMaximum = properties[.receiveMaximum] ?? 65_535
    answer.maximumPacketSize = properties[.maximumPacketSize]
    answer.maximumQuality = UInt8(clamping: properties[.maximumQuality] ?? 2)
    answer.canRetain = properties[.retainAvailable] != 0
    answer.keepAlive = properties[.serverKeepAlive]
    guard answer.receiveMaximum > 0, answer.maximumPacketSize != 0, answer.maximumQuality <= 2
    else { throw .broken("a CONNACK has a limit that leaves nothing") }
    return answer
  }

  private static func message(
    _ flags: UInt8, _ fields: inout MQTTFields
  ) throws(MQTTPacketError) -> MQTTArrival {
    let quality = flags >> 1 & 3
    guard quality < 3 else { throw .malformed("a message has the quality 3") }
    // Messages of quality 2 have a conversation that nobody asked for here.
    guard quality < 2 else { throw .broken("a message has the quality 2, which is not subscribed") }
    let topic = try fields.text()
    guard !topic.isEmpty, !topic.contains(where: { $0 == "+" || $0 == "#" }) else {
      throw .broken("a message has no topic")
    }
    var identifier: UInt16?
    if quality > 0 {
      let number = try fields.two()
      guard number > 0 else { throw .broken("a message has the identifier 0") }
      identifier = number
    }
    _ = try fields.properties([
      .payloadFormat, .messageExpiry, .contentType, .responseTopic, .correlationData,
      .subscriptionIdentifier, .userProperty,
    ])
    let message = MQTTMessage(
      topic: topic, payload: Array(fields.rest()), quality: quality, isRetained: flags & 1 == 1)
    return .message(message, identifier: identifier)
  }
}
