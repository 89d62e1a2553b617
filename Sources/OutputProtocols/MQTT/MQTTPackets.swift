// Packets that a client sends (OASIS MQTT 5.0, section 3).

/// CONNECT: what a client says first.
package struct MQTTConnect: Sendable {
  package var identifier: String
  /// The longest time in seconds between two packets of the client.
  package var keepAlive: UInt16 = 30
  /// Whether the broker forgets an earlier session.
  package var startsClean = true
  /// For how many seconds the broker keeps the session without a connection.
  package var sessionExpiry: UInt32 = 0
  /// The number of messages of quality 1 that the broker may send ahead.
  package var receiveMaximum: UInt16 = 65_535
  /// The largest packet in bytes that the client takes; `nil` for no limit.
  package var maximumPacketSize: UInt32?
  /// What the broker publishes when the connection breaks.
  package var will: MQTTMessage?
  /// How many seconds the broker waits with it.
  package var willDelay: UInt32 = 0
  package var user: String?
  package var password: [UInt8]?

  package init(identifier: String) { self.identifier = identifier }

  package var bytes: [UInt8] {
    var body: [UInt8] = []
    body.append(counted: "MQTT".utf8)
    body.append(5)
    var flags: UInt8 = startsClean ? 0x02 : 0
    if let will { flags |= 0x04 | min(will.quality, 2) << 3 | (will.isRetained ? 0x20 : 0) }
    if password != nil { flags |= 0x40 }
    if user != nil { flags |= 0x80 }
    body.append(flags)
    body.append(two: keepAlive)
    var properties: [UInt8] = []
    if sessionExpiry > 0 { properties.append(.sessionExpiry, four: sessionExpiry) }
    if receiveMaximum < 65_535 { properties.append(.receiveMaximum, two: max(1, receiveMaximum)) }
    if let maximumPacketSize { properties.append(.maximumPacketSize, four: maximumPacketSize) }
    body.append(variable: properties.count)
    body += properties
    body.append(counted: identifier.utf8)
    if let will {
      var properties: [UInt8] = []
      if willDelay > 0 { properties.append(.willDelay, four: willDelay) }
      body.append(variable: properties.count)
      body += properties
      body.append(counted: will.topic.utf8)
      body.append(counted: will.payload)
    }
    if let user { body.append(counted: user.utf8) }
    if let password { body.append(counted: password) }
    return MQTTPackets.packet(0x10, body)
  }
}

/// The other packets of a client.
package enum MQTTPackets {
  /// A message. Its identifier is written if its quality is not 0.
  package static func publish(
    _ message: MQTTMessage, identifier: UInt16, isRepeated: Bool = false
  ) -> [UInt8] {
    let quality = min(message.quality, 1)
    var body: [UInt8] = []
    body.reserveCapacity(message.topic.utf8.count + message.payload.count + 5)
    body.append(counted: message.topic.utf8)
    if quality > 0 { body.append(two: identifier) }
    body.append(0)
    body += message.payload
    let flags = (isRepeated && quality > 0 ? 8 : 0) | quality << 1 | (message.isRetained ? 1 : 0)
    return packet(0x30 | flags, body)
  }

  /// A subscription.
  ///
  /// - Parameter options: The options byte of section 3.8.3.1: the highest quality in the lowest two bits.
  package static func subscribe(
    _ filters: [(topic: String, options: UInt8)], identifier: UInt16
  ) -> [UInt8] {
    var body: [UInt8] = []
    body.append(two: identifier)
    body.append(0)
    for (topic, options) in filters {
      body.append(counted: topic.utf8)
      body.append(options)
    }
    return packet(0x82, body)
  }

  /// The answer to a message of quality 1.
  package static func acknowledge(_ identifier: UInt16) -> [UInt8] {
    [0x40, 2, UInt8(identifier >> 8), UInt8(identifier & 0xFF)]
  }

  package static let ping: [UInt8] = [0xC0, 0]

  /// The end. With the code 0 the broker does not publish the last will.
  package static func disconnect(_ code: UInt8 = 0) -> [UInt8] {
    code == 0 ? [0xE0, 0] : [0xE0, 1, code]
  }

  static func packet(_ header: UInt8, _ body: [UInt8]) -> [UInt8] {
    var packet = [header]
    packet.reserveCapacity(body.count + 5)
    packet.append(variable: body.count)
    packet += body
    return packet
  }
}
