// The broker's end of a connection of MQTT 5, for a person who has no broker (OASIS MQTT 5.0, section 3).

/// Takes every message of a client, and answers it as a broker does. It keeps and passes on nothing.
package struct MQTTListener: Sendable {
  /// What a client says.
  package enum MQTTClientEvent: Hashable, Sendable {
    /// What a broker publishes once the connection breaks.
    case will(MQTTMessage)
    case subscription(String)
    case message(MQTTMessage)
  }

  /// The largest packet in bytes behind its fixed header.
  private static let limit = 1_048_576

  private var bytes: [UInt8] = []
  private var output: [UInt8] = []

  package init() {}

  /// The number of bytes for the client.
  package var outputCount: Int { output.count }

  /// Returns at most a number of bytes for the client.
  package mutating func takeOutput(_ most: Int) -> [UInt8] {
    defer { output.removeFirst(min(max(most, 0), output.count)) }
    return Array(output.prefix(max(most, 0)))
  }

  /// Takes bytes of the client. Returns what they say.
  package mutating func receive(
    _ more: some Collection<UInt8>
  ) throws(MQTTPacketError) -> [MQTTClientEvent] {
    bytes += more
    var events: [MQTTClientEvent] = []
    while let (header, body) = try next() {
      var fields = MQTTFields(body[...])
      try read(header, &fields, &events)
    }
    return events
  }

  private mutating func next() throws(MQTTPacketError) -> (UInt8, [UInt8])? {
    guard let header = bytes.first,
      let body = try MQTTFields.body(of: bytes, from: 0, limit: Self.limit)
    else { return nil }
    defer { bytes.removeFirst(body.upperBound) }
    return (header, Array(bytes[body]))
  }

  private mutating func read(
    _ header: UInt8, _ fields: inout MQTTFields, _ events: inout [MQTTClientEvent]
  ) throws(MQTTPacketError) {
    switch header >> 4 {
    case 1:
      if let will = try Self.will(&fields) { events.append(.will(will)) }
      // CONNACK: accepted, without properties.
      output += [0x20, 3, 0, 0, 0]
    case 3:
      let topic = try fields.text()
      let quality = header >> 1 & 3
      if quality > 0 { output += MQTTPackets.acknowledge(try fields.two()) }
      _ = try fields.properties([])
      events.append(
        .message(
          MQTTMessage(
            topic: topic, payload: Array(fields.rest()), quality: quality,
            isRetained: header & 1 == 1)))
    case 8:
      let identifier = try fields.two()
      _ = try fields.properties([])
      var codes: [UInt8] = []
      while !fields.isAtEnd {
        events.append(.subscription(try fields.text()))
        codes.append(try fields.byte() & 3)
      }
      // SUBACK: granted as asked.
      var body: [UInt8] = []
      body.append(two: identifier)
      output += MQTTPackets.packet(0x90, body + [0] + codes)
    case 12: output += [0xD0, 0]
    default: break
    }
  }

  /// Reads the last will of CONNECT.
  private static func will(_ fields: inout MQTTFields) throws(MQTTPacketError) -> MQTTMessage? {
    guard try fields.text() == "MQTT", try fields.byte() == 5 else {
      throw .malformed("a CONNECT is not of MQTT 5")
    }
    let flags = try fields.byte()
    _ = try fields.two()
    _ = try fields.properties([.sessionExpiry, .receiveMaximum, .maximumPacketSize])
    _ = try fields.text()
    guard flags & 4 != 0 else { return nil }
    _ = try fields.properties([.willDelay])
    let topic = try fields.text()
    let payload = Array(try fields.counted())
    return MQTTMessage(
      topic: topic, payload: payload, quality: flags >> 3 & 3, isRetained: flags & 0x20 != 0)
  }
}
