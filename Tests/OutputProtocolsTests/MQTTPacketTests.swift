// Packets of MQTT 5 against the examples and tables of the OASIS standard (MQTT 5.0, 7 March 2019), and bytes that are none.

import Testing

@testable import OutputProtocols

struct MQTTPacketTests {
  private static func arrivals(_ bytes: [UInt8]) throws -> [MQTTArrival] {
    var reader = MQTTPacketReader()
    reader.append(bytes)
    var arrivals: [MQTTArrival] = []
    while let arrival = try reader.next() { arrivals.append(arrival) }
    return arrivals
  }

  private static func error(_ bytes: [UInt8]) -> MQTTPacketError? {
    do {
      _ = try arrivals(bytes)
      return nil
    } catch {
      return error as? MQTTPacketError
    }
  }

  @Test(
    "a variable byte integer, at the limits of table 1-1",
    arguments: [
      (0, [0x00]), (127, [0x7F]), (128, [0x80, 0x01]), (16_383, [0xFF, 0x7F]),
      (16_384, [0x80, 0x80, 0x01]), (2_097_151, [0xFF, 0xFF, 0x7F]),
      (2_097_152, [0x80, 0x80, 0x80, 0x01]), (268_435_455, [0xFF, 0xFF, 0xFF, 0x7F]),
    ] as [(Int, [UInt8])])
  func variable(value: Int, written: [UInt8]) throws {
    var bytes: [UInt8] = []
    bytes.append(variable: value)
    #expect(bytes == written)
    var fields = MQTTFields(written[...])
    #expect(try fields.variable() == value && fields.isAtEnd)
  }

  @Test("a text of section 1.5.4.1: A and U+2A6D4")
  func text() throws {
    var bytes: [UInt8] = []
    bytes.append(counted: "A\u{2A6D4}".utf8)
    #expect(bytes == [0x00, 0x05, 0x41, 0xF0, 0xAA, 0x9B, 0x94])
    var fields = MQTTFields(bytes[...])
    #expect(try fields.text() == "A\u{2A6D4}")
  }

  @Test("the variable header of the CONNECT of section 3.1.2.12")
  func connect() {
    var packet = MQTTConnect(identifier: "c")
    (packet.keepAlive, packet.sessionExpiry) = (10, 10)
    packet.will = MQTTMessage(topic: "w", payload: [0x6F], quality: 1)
    (packet.user, packet.password) = ("u", [0x70])
    let header: [UInt8] = [
      0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x05, 0xCE, 0x00, 0x0A, 0x05, 0x11, 0x00, 0x00, 0x00,
      0x0A,
    ]
    // Client identifier, properties, topic and payload of the will, user name, password.
    let payload: [UInt8] = [0, 1, 0x63, 0, 0, 1, 0x77, 0, 1, 0x6F, 0, 1, 0x75, 0, 1, 0x70]
    #expect(packet.bytes == [0x10, UInt8(header.count + payload.count)] + header + payload)
    packet.startsClean = false
    packet.will?.isRetained = true
    (packet.user, packet.password) = (nil, nil)
    #expect(packet.bytes[9] == 0x2C)
  }

  @Test("the limits that a client states, and the delay of its will")
  func limits() {
    var packet = MQTTConnect(identifier: "")
    (packet.receiveMaximum, packet.maximumPacketSize) = (8, 8_192)
    packet.will = MQTTMessage(topic: "w", payload: [])
    packet.willDelay = 5
    #expect(
      packet.bytes == [
        0x10, 0x20, 0, 4, 0x4D, 0x51, 0x54, 0x54, 5, 0x06, 0, 30, 8, 0x21, 0, 8, 0x27, 0, 0, 0x20,
        0, 0, 0, 5, 0x18, 0, 0, 0, 5, 0, 1, 0x77, 0, 0,
      ])
  }

  @Test("the PUBLISH of section 3.3.2.4, and the SUBSCRIBE of sections 3.8.2.2 and 3.8.3.1")
  func publish() {
    let message = MQTTMessage(topic: "a/b", payload: [0x78], quality: 1, isRetained: true)
    let body: [UInt8] = [0x00, 0x03, 0x61, 0x2F, 0x62, 0x00, 0x0A, 0x00, 0x78]
    #expect(MQTTPackets.publish(message, identifier: 10) == [0x33, 9] + body)
    #expect(MQTTPackets.publish(message, identifier: 10, isRepeated: true) == [0x3B, 9] + body)
    let plain = MQTTMessage(topic: "a/b", payload: [0x78])
    #expect(
      MQTTPackets.publish(plain, identifier: 0, isRepeated: true)
        == [0x30, 7, 0x00, 0x03, 0x61, 0x2F, 0x62, 0x00, 0x78])
    #expect(
      MQTTPackets.subscribe([("a/b", 1), ("c/d", 2)], identifier: 10) == [
        0x82, 15, 0x00, 0x0A, 0x00, 0x00, 0x03, 0x61, 0x2F, 0x62, 0x01, 0x00, 0x03, 0x63, 0x2F,
        0x64, 0x02,
      ])
    #expect(MQTTPackets.ping == [0xC0, 0x00] && MQTTPackets.disconnect() == [0xE0, 0x00])
    #expect(MQTTPackets.disconnect(0x95) == [0xE0, 1, 0x95])
    #expect(MQTTPackets.acknowledge(0x0102) == [0x40, 2, 1, 2])
  }

  @Test("what a broker answers to CONNECT, in both versions")
  func answers() throws {
    var answer = MQTTAnswer()
    answer.hasSession = true
    (answer.receiveMaximum, answer.maximumPacketSize, answer.keepAlive) = (20, 1_000, 60)
    (answer.maximumQuality, answer.canRetain) = (1, false)
    let properties: [UInt8] = [
      0x21, 0, 20, 0x27, 0, 0, 3, 0xE8, 0x13, 0, 60, 0x24, 1, 0x25, 0, 0x22, 0, 10,
      // A reason string, and two user properties.
      0x1F, 0, 2, 0x6F, 0x6B, 0x26, 0, 1, 0x61, 0, 1, 0x62, 0x26, 0, 0, 0, 0,
    ]
    let packet = [0x20, UInt8(properties.count + 3), 1, 0, UInt8(properties.count)] + properties
    #expect(try Self.arrivals(packet) == [.answer(answer)])
    // Mosquitto 2.0.11: CONNACK with Topic Alias Maximum 10 and Receive Maximum 20.
    let usual = try Self.arrivals([0x20, 9, 0, 0, 6, 0x22, 0, 10, 0x21, 0, 20])
    var expected = MQTTAnswer()
    expected.receiveMaximum = 20
    #expect(usual == [.answer(expected)])
    var older = MQTTAnswer()
    (older.code, older.isOlderVersion) = (1, true)
    #expect(try Self.arrivals([0x20, 2, 0, 1]) == [.answer(older)])
  }

  @Test("messages and answers of a broker, however the network divides them")
  func divided() throws {
    let message = MQTTMessage(topic: "homeassistant/status", payload: Array("online".utf8))
    let packets =
      MQTTPackets.publish(message, identifier: 0) + [0x40, 2, 0, 7] + [0x40, 3, 0, 8, 0x10]
      + [0x40, 4, 0, 9, 0x87, 0] + [0x90, 4, 0, 1, 0, 0x00] + [0xD0, 0] + [0xE0, 0]
      + [0xE0, 2, 0x8B, 0]
    let expected: [MQTTArrival] = [
      .message(message, identifier: nil), .acknowledgement(7, code: 0),
      .acknowledgement(8, code: 0x10), .acknowledgement(9, code: 0x87),
      .subscribed(1, codes: [0]), .pong, .end(code: 0), .end(code: 0x8B),
    ]
    #expect(try Self.arrivals(packets) == expected)
    for size in [1, 2, 3, 7] {
      var reader = MQTTPacketReader()
      var arrivals: [MQTTArrival] = []
      for start in stride(from: 0, to: packets.count, by: size) {
        reader.append(packets[start..<min(start + size, packets.count)])
        while let arrival = try reader.next() { arrivals.append(arrival) }
      }
      #expect(arrivals == expected, "\(size)")
    }
    let one = MQTTPackets.publish(
      MQTTMessage(topic: "t", payload: [], quality: 1, isRetained: true), identifier: 3)
    #expect(
      try Self.arrivals(one) == [
        .message(
          MQTTMessage(topic: "t", payload: [], quality: 1, isRetained: true), identifier: 3)
      ])
  }

  @Test(
    "bytes that are no packet are an error, and not one of them is trusted",
    arguments: [
      // Lengths of five bytes, reserved flags, types that come unasked.
      [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], [0x41, 2, 0, 1], [0x10, 0], [0x00, 0], [0xF0, 0],
      [0x50, 2, 0, 1], [0x36, 5, 0, 1, 0x61, 0, 1],
      // CONNACK: too short, reserved flags, a property twice, one that may not stand there, limits of 0.
      [0x20, 1, 0], [0x20, 3, 2, 0, 0], [0x20, 9, 0, 0, 6, 0x21, 0, 1, 0x21, 0, 1],
      [0x20, 6, 0, 0, 3, 0x23, 0, 1], [0x20, 6, 0, 0, 3, 0x21, 0, 0],
      [0x20, 8, 0, 0, 5, 0x27, 0, 0, 0, 0], [0x20, 5, 0, 0, 2, 0x24, 3], [0x20, 4, 0, 0, 1, 0x21],
      // PUBLISH: a topic that ends too late, is empty, has a wildcard, a NUL, or is no UTF-8; quality 2 and 3; identifier 0.
      [0x30, 3, 0, 9, 0x61], [0x30, 3, 0, 0, 0], [0x30, 4, 0, 1, 0x23, 0], [0x30, 4, 0, 1, 0, 0],
      [0x30, 4, 0, 1, 0xFF, 0], [0x34, 6, 0, 1, 0x61, 0, 1, 0], [0x32, 6, 0, 1, 0x61, 0, 0, 0],
      [0x30, 2, 0, 1], [0x30, 5, 0, 1, 0x61, 4, 0],
      // SUBACK without a code, PINGRESP with a body, DISCONNECT with too much.
      [0x90, 3, 0, 1, 0], [0xD0, 1, 0], [0xE0, 3, 0, 0, 0],
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) {
    let error = Self.error(bytes)
    #expect(error != nil)
    #expect(error?.code == 0x81 || error?.code == 0x82)
  }

  @Test("a packet that is too large is refused by its length")
  func tooLarge() {
    #expect(Self.error([0x30, 0x81, 0x40]) == .tooLarge(8_193))
    #expect(Self.error([0x30, 0xFF, 0xFF, 0xFF, 0x7F]) == .tooLarge(268_435_455))
    #expect(Self.error([0x30, 0x80, 0x40]) == nil)
    // What is another protocol is known by its first byte.
    #expect(Self.error(Array("H".utf8)) == .malformed("a packet has reserved flags"))
  }

  @Test("no bytes whatever trap")
  func anything() {
    var random: UInt64 = 1
    func byte() -> UInt8 {
      random = random &* 6_364_136_223_846_793_005 &+ 1
      return UInt8(random >> 56)
    }
    let kinds: [UInt8] = [0x20, 0x30, 0x32, 0x33, 0x40, 0x90, 0xD0, 0xE0, 0xF0]
    for round in 0..<20_000 {
      let count = Int(byte() % 24)
      var bytes = [kinds[round % kinds.count], UInt8(count)]
      for _ in 0..<count { bytes.append(round % 3 == 0 ? byte() : byte() % 4) }
      _ = Self.error(bytes)
    }
  }
}
