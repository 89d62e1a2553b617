// The broker's end of a connection, with packets written by hand from OASIS MQTT 5.0, section 3.

import SensorTypes
import Testing

@testable import OutputProtocols

@Suite struct MQTTListenerTests {
  /// A clean start, a will of quality 1 that is retained, 30 seconds, the identifier "a", a delay of 5 s, topic "t", payload "off".
  private static let connect: [UInt8] =
    [0x10, 32, 0, 4] + Array("MQTT".utf8) + [5, 0x2E, 0, 30, 5, 0x11, 0, 0, 0x0E, 0x10, 0, 1]
    + Array("a".utf8) + [5, 0x18, 0, 0, 0, 5, 0, 1] + Array("t".utf8) + [0, 3] + Array("off".utf8)

  @Test("it accepts a client, its will, its subscription and its messages")
  func conversation() throws {
    var listener = MQTTListener()
    var packet = Self.connect
    packet[1] = UInt8(packet.count - 2)
    let will = MQTTMessage(topic: "t", payload: Array("off".utf8), quality: 1, isRetained: true)
    // Byte by byte, as a network may bring them.
    var events: [MQTTListener.MQTTClientEvent] = []
    for byte in packet { events += try listener.receive([byte]) }
    #expect(events == [.will(will)])
    #expect(listener.takeOutput(100) == [0x20, 3, 0, 0, 0])
    #expect(
      try listener.receive([0x82, 8, 0, 9, 0, 0, 2, 0x68, 0x61, 1]) == [.subscription("ha")])
    #expect(listener.takeOutput(3) == [0x90, 4, 0] && listener.takeOutput(100) == [9, 0, 1])
    // Quality 0, then quality 1 with the identifier 258, retained.
    let first: [UInt8] = [0x30, 6, 0, 1, 0x78, 0, 0x31, 0x32]
    let second: [UInt8] = [0x33, 7, 0, 1, 0x79, 1, 2, 0, 0x33]
    #expect(
      try listener.receive(first + second) == [
        .message(MQTTMessage(topic: "x", payload: Array("12".utf8))),
        .message(
          MQTTMessage(topic: "y", payload: Array("3".utf8), quality: 1, isRetained: true)),
      ])
    #expect(listener.takeOutput(100) == [0x40, 2, 1, 2])
    #expect(try listener.receive([0xC0, 0]).isEmpty && listener.takeOutput(9) == [0xD0, 0])
    #expect(try listener.receive([0xE0, 0]).isEmpty && listener.outputCount == 0)
  }

  @Test("it reads what this package's client says, and the client takes its answers")
  func client() throws {
    var listener = MQTTListener()
    let will = MQTTMessage(topic: "l/state", payload: Array("offline".utf8), isRetained: true)
    var client = MQTTClient(
      MQTTClientOptions(identifier: "board", will: will, subscriptions: ["ha/status"]))
    let now = Timestamp(seconds: 100)
    client.connect(credentials: nil, at: now)
    var events: [MQTTListener.MQTTClientEvent] = []
    func turn() throws {
      let sent = client.withOutput { Array($0) }
      client.dropOutput(sent.count)
      events += try listener.receive(sent)
      try client.receive(listener.takeOutput(1_000), at: now)
    }
    try turn()
    #expect(client.isOpen && events == [.will(will)])
    let message = MQTTMessage(topic: "x", payload: [0x31], quality: 1, isRetained: true)
    client.publish(message, at: now)
    try turn()
    try turn()
    #expect(events.contains(.subscription("ha/status")) && events.contains(.message(message)))
    #expect(client.unacknowledged == 0)
  }

  @Test("packets that are none are errors")
  func hostile() {
    for bytes: [UInt8] in [
      [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0x30, 0xFF, 0xFF, 0xFF, 0x7F], [0x30, 2, 0, 9],
      [0x10, 6, 0, 4, 0x4D, 0x51, 0x54, 0x54], [0x82, 1, 0],
    ] {
      var listener = MQTTListener()
      #expect(throws: MQTTPacketError.self) { try listener.receive(bytes) }
    }
  }
}
