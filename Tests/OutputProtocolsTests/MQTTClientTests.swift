// A client of MQTT against a broker that the test plays.

import SensorTypes
import Testing

@testable import OutputProtocols

struct MQTTClientTests {
  private static let accepted: [UInt8] = [0x20, 3, 0, 0, 0]
  private static let will = MQTTMessage(
    topic: "b/availability", payload: Array("offline".utf8), quality: 1, isRetained: true)

  private static func time(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

  private static func client() -> MQTTClient {
    MQTTClient(MQTTClientOptions(identifier: "boat", will: will, subscriptions: ["ha/status"]))
  }

  private static func output(_ client: inout MQTTClient) -> [UInt8] {
    let bytes = client.withOutput { Array($0) }
    client.dropOutput(bytes.count)
    return bytes
  }

  /// A client that a broker has accepted with some properties.
  private static func open(
    _ properties: [UInt8] = [], hasSession: Bool = false, _ client: MQTTClient = client(),
    at seconds: Double = 0
  ) throws -> MQTTClient {
    var client = client
    client.connect(credentials: nil, at: time(seconds))
    _ = output(&client)
    let count = UInt8(properties.count)
    try client.receive(
      [0x20, count + 3, hasSession ? 1 : 0, 0, count] + properties, at: time(seconds))
    return client
  }

  private static func failure(_ client: inout MQTTClient, _ bytes: [UInt8]) -> MQTTFailure? {
    do throws(MQTTFailure) {
      try client.receive(bytes, at: time(1))
      return nil
    } catch { return error }
  }

  private static func event(_ number: UInt8) -> MQTTMessage {
    MQTTMessage(topic: "e", payload: [number], quality: 1)
  }

  @Test("user and password go into the first packet, and the topic is subscribed once accepted")
  func connects() throws {
    var client = Self.client()
    client.connect(credentials: "me:a:b", at: Self.time(0))
    let first = Self.output(&client)
    var expected = MQTTConnect(identifier: "boat")
    (expected.sessionExpiry, expected.receiveMaximum) = (3_600, 8)
    (expected.maximumPacketSize, expected.will, expected.willDelay) = (8_192, Self.will, 5)
    (expected.user, expected.password) = ("me", Array("a:b".utf8))
    #expect(first == expected.bytes && !client.isOpen && !client.hasRoom(quality: 0))
    try client.receive(Self.accepted, at: Self.time(0.1))
    #expect(client.isOpen && client.hasRoom(quality: 1))
    #expect(
      Self.output(&client)
        == MQTTPackets.subscribe([("ha/status", 0x20)], identifier: 1))
    let message = MQTTMessage(topic: "ha/status", payload: Array("online".utf8))
    let other = MQTTMessage(topic: "other", payload: [1])
    try client.receive(
      [message, other].flatMap { MQTTPackets.publish($0, identifier: 0) }, at: Self.time(1))
    #expect(client.takeArrivals() == [message] && client.takeArrivals().isEmpty)
  }

  @Test("a broker that answers pings and acknowledges nothing is left after half a minute")
  func neverAcknowledges() throws {
    var client = try Self.open()
    client.publish(Self.event(1), at: Self.time(1))
    for second in 2..<31 {
      try client.advance(to: Self.time(Double(second)))
      try client.receive([0xD0, 0], at: Self.time(Double(second)))
      #expect(client.isOpen && (client.deadline ?? .distantFuture) <= Self.time(31))
    }
    #expect(throws: MQTTFailure.self) { try client.advance(to: Self.time(31)) }
    #expect(!client.isOpen && client.unacknowledged == 1)
  }

  @Test(
    "a broker takes as many unacknowledged messages as it says, and what it never answers is kept")
  func flow() throws {
    var client = try Self.open([0x21, 0, 2])
    _ = Self.output(&client)
    client.publish(Self.event(1), at: Self.time(1))
    client.publish(Self.event(2), at: Self.time(1))
    #expect(!client.hasRoom(quality: 1) && client.hasRoom(quality: 0))
    #expect(
      Self.output(&client)
        == MQTTPackets.publish(Self.event(1), identifier: 2)
        + MQTTPackets.publish(Self.event(2), identifier: 3))
    try client.receive([0x40, 2, 0, 3], at: Self.time(1))
    #expect(client.unacknowledged == 1 && client.hasRoom(quality: 1))
    // One for a message that is not under way changes nothing.
    try client.receive([0x40, 2, 0, 9], at: Self.time(1))
    #expect(client.unacknowledged == 1)

    client.lost()
    #expect(!client.isOpen && client.unacknowledged == 1)
    client.connect(credentials: nil, at: Self.time(2))
    // The session is to go on: Clean Start is 0.
    #expect(Self.output(&client)[9] & 0x02 == 0)
    var resumed = try Self.open(hasSession: true, client, at: 2)
    #expect(
      Self.output(&resumed).suffix(9).elementsEqual(
        MQTTPackets.publish(Self.event(1), identifier: 2, isRepeated: true)))
    var forgotten = try Self.open(hasSession: false, client, at: 2)
    #expect(
      Self.output(&forgotten).suffix(9).elementsEqual(
        MQTTPackets.publish(Self.event(1), identifier: 2)))
  }

  @Test("identifiers are never 0 and never one that is under way")
  func identifiers() throws {
    var client = try Self.open()
    client.publish(Self.event(0), at: Self.time(1))
    for _ in 0..<70_000 {
      _ = Self.output(&client)
      client.publish(Self.event(1), at: Self.time(1))
      let packet = Self.output(&client)
      let identifier = [packet[5], packet[6]]
      #expect(identifier != [0, 0] && identifier != [0, 2])
      try client.receive([0x40, 2] + identifier, at: Self.time(20 + Double(client.sent)))
    }
    #expect(client.unacknowledged == 1 && client.sent == 70_001)
  }

  @Test("limits of a broker: no quality 1, nothing retained, no large packets")
  func limits() throws {
    var plain = try Self.open([0x24, 0])
    _ = Self.output(&plain)
    plain.publish(Self.event(1), at: Self.time(1))
    #expect(Self.output(&plain) == [0x30, 5, 0, 1, 0x65, 0, 1] && plain.unacknowledged == 0)

    var forgetful = try Self.open([0x25, 0])
    _ = Self.output(&forgetful)
    forgetful.publish(Self.will, at: Self.time(1))
    #expect(Self.output(&forgetful).isEmpty && forgetful.refused == 1)
    #expect(forgetful.objection?.contains("retained") == true)

    var narrow = try Self.open([0x27, 0, 0, 0, 100])
    _ = Self.output(&narrow)
    narrow.publish(
      MQTTMessage(topic: "config", payload: [UInt8](repeating: 0, count: 100), quality: 1),
      at: Self.time(1))
    #expect(Self.output(&narrow).isEmpty && narrow.unacknowledged == 0)
    #expect(narrow.objection == "the broker takes 100 bytes at most, and config needs 116")
  }

  @Test("nothing more is taken while the network takes nothing")
  func stuck() throws {
    var client = try Self.open()
    let large = MQTTMessage(topic: "t", payload: [UInt8](repeating: 1, count: 10_000))
    var count = 0
    while client.hasRoom(quality: 0) {
      client.publish(large, at: Self.time(1))
      count += 1
    }
    #expect(count == 7 && client.outputCount < MQTTClient.mostOutput + 10_100)
  }

  @Test("a broker that refuses is said in words, without a word of its own")
  func refusals() {
    func words(_ bytes: [UInt8], credentials: String? = nil) -> MQTTFailure? {
      var client = Self.client()
      client.connect(credentials: credentials, at: Self.time(0))
      return Self.failure(&client, bytes)
    }
    let wrong = words([0x20, 3, 0, 0x87, 0], credentials: "me:secret")
    #expect(
      wrong?.words == "wrong user name or password, or this user may not connect (0x87)")
    #expect(wrong?.isRefusal == true)
    #expect(words([0x20, 3, 0, 0x86, 0])?.words.contains("'credentials' in serve.yaml") == true)
    #expect(words([0x20, 2, 0, 1])?.words.contains("does not speak MQTT 5") == true)
    #expect(words([0x20, 3, 0, 0x84, 0])?.words.contains("does not speak MQTT 5") == true)
    #expect(words([0x20, 3, 0, 0x9A, 0])?.words.contains("retained") == true)
    let echo = words(
      [0x20, 12, 0, 0x87, 9, 0x1F, 0, 6] + Array("secret".utf8), credentials: "me:secret")
    #expect(echo?.words.contains("secret") == false && echo?.words.contains("(0x87)") == true)
    for code in UInt8(0x80)...0xFF {
      let failure = words([0x20, 3, 0, code, 0])
      #expect(failure?.words.isEmpty == false && failure?.words.contains("\n") == false)
    }
    // A session that this client has not begun, and a packet before the answer.
    #expect(words([0x20, 3, 1, 0, 0]) != nil)
    #expect(words([0xD0, 0]) != nil)
  }

  @Test("the end of a connection is said, and that another board has the same name")
  func ends() throws {
    for (code, part, isRefusal) in [
      (UInt8(0x8B), "shutting down", false), (0x8E, "'boat'", true), (0x98, "operator", true),
      (0x00, "no reason", false),
    ] {
      var client = try Self.open()
      let failure = Self.failure(&client, [0xE0, 2, code, 0])
      #expect(failure?.words.contains(part) == true && failure?.isRefusal == isRefusal)
      #expect(!client.isOpen)
    }
  }

  @Test("a message that is refused is counted and said, and the connection goes on")
  func objections() throws {
    var client = try Self.open()
    _ = Self.output(&client)
    try client.receive([0x90, 4, 0, 1, 0, 0x87], at: Self.time(1))
    #expect(
      client.objection
        == "the broker does not let this client hear ha/status: not authorized (0x87)")
    client = try Self.open()
    client.publish(Self.event(1), at: Self.time(1))
    try client.receive([0x40, 4, 0, 2, 0x87, 0], at: Self.time(1))
    #expect(client.refused == 1 && client.unacknowledged == 0 && client.isOpen)
    #expect(client.objection == "the broker does not take e: not authorized (0x87)")
    client.lost()
    #expect(client.objection == nil)
  }

  @Test("malformed, endless and unasked bytes end the connection, and the broker is told why")
  func hostile() throws {
    for (bytes, code) in [
      ([0x30, 2, 0, 9] as [UInt8], UInt8(0x81)), ([0x20, 3, 0, 0, 0], 0x82),
      ([0x50, 2, 0, 1], 0x82),
      ([0x30, 0xFF, 0xFF, 0xFF, 0x7F], 0x95),
    ] {
      var client = try Self.open()
      _ = Self.output(&client)
      let failure = Self.failure(&client, bytes)
      #expect(failure?.isRefusal == true && failure?.words.isEmpty == false)
      #expect(Self.output(&client) == [0xE0, 1, code] && !client.isOpen)
      // What comes after is not looked at.
      #expect(Self.failure(&client, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) == nil)
    }
    var client = try Self.open()
    let message = MQTTPackets.publish(
      MQTTMessage(topic: "ha/status", payload: [UInt8](repeating: 0, count: 4_000)), identifier: 0)
    var failure: MQTTFailure?
    var count = 0
    while failure == nil, count < 1_000 {
      failure = Self.failure(&client, message)
      count += 1
    }
    #expect(failure?.words == "the broker sends more than was asked for" && count < 70)
    #expect(client.takeArrivals().count <= 32)
  }

  @Test("answers do not pile up for a broker that sends messages and reads nothing")
  func deaf() throws {
    var client = try Self.open()
    let message = MQTTPackets.publish(
      MQTTMessage(topic: "x", payload: [], quality: 1), identifier: 7)
    let burst = Array(repeating: message, count: 20_000).flatMap { $0 }
    var failure: MQTTFailure?
    for turn in 0..<20 where failure == nil {
      do throws(MQTTFailure) {
        // Each in a time of its own, so that it is no flood.
        try client.receive(burst, at: Self.time(1 + 11 * Double(turn)))
      } catch { failure = error }
    }
    #expect(failure?.words == "the broker sends messages and does not take the answers")
    #expect(client.outputCount < MQTTClient.mostAcknowledged + 10)
  }

  @Test("a silent broker is asked, and one that does not answer is gone")
  func silence() throws {
    var client = try Self.open()
    #expect(client.deadline == Self.time(24))
    try client.advance(to: Self.time(23.9))
    _ = Self.output(&client)
    try client.advance(to: Self.time(24))
    #expect(Self.output(&client) == MQTTPackets.ping && client.deadline == Self.time(34))
    try client.receive([0xD0, 0], at: Self.time(25))
    // Measurements that are sent do not show that they arrive.
    for second in 26..<55 {
      client.publish(MQTTMessage(topic: "m", payload: [1]), at: Self.time(Double(second)))
      try client.advance(to: Self.time(Double(second)))
      #expect(!Self.output(&client).suffix(2).elementsEqual(MQTTPackets.ping))
    }
    try client.advance(to: Self.time(55))
    #expect(Self.output(&client) == MQTTPackets.ping)
    #expect(throws: MQTTFailure(words: "the broker does not answer any more")) {
      try client.advance(to: Self.time(65))
    }
    var silent = Self.client()
    silent.connect(credentials: nil, at: Self.time(0))
    try silent.advance(to: Self.time(9))
    #expect(throws: MQTTFailure.self) { try silent.advance(to: Self.time(10)) }
    // A broker's shorter time holds.
    let short = try Self.open([0x13, 0, 10])
    #expect(short.deadline == Self.time(8))
    let none = try Self.open([0x13, 0, 0])
    #expect(none.deadline == Self.time(24))
  }

  @Test("the end is told: offline, then DISCONNECT")
  func leaves() throws {
    var client = try Self.open()
    _ = Self.output(&client)
    client.end()
    #expect(
      Self.output(&client)
        == MQTTPackets.publish(Self.will, identifier: 2) + MQTTPackets.disconnect())
    client.end()
    #expect(Self.output(&client).isEmpty && client.deadline == nil)
  }
}
