// SkyTraq's and Allystar's binary messages, against bytes that others have published: captured exchanges with a Venus 8 and with
// HD8020 and HD9310, the specifications' own examples, and DATAGNSS's lists of commands.

import SensorTypes
import Testing

@testable import GNSSProtocol

struct BinaryReceiverTests {
  private func bytes(_ hex: String) -> [UInt8] {
    hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
  }

  private func heard(_ bytes: [UInt8]) -> (
    events: [GNSSEvent], identity: ReceiverIdentity, counters: PacketCounters
  ) {
    var decoder = GNSSDecoder()
    let events = Stream.events(bytes, by: &decoder)
    return (events, decoder.identity, decoder.counters)
  }

  private static let version =
    "A0 A1 00 0E 80 01 00 02 00 4A 00 01 07 1B 00 0E 07 15 C8 0D 0A"
  private static let acknowledged = "A0 A1 00 03 83 64 02 E5 0D 0A"
  private static let identity =
    "F1 D9 0A 04 20 00 32 2E 30 30 31 2E 38 36 36 66 33 62 32 00 00 00 48 44 38 30 32 30 2E 34 35 37 30 34 65 32 64 31 D2 44"

  @Test("SkyTraq: commands as they were published")
  func skyTraqCommands() {
    #expect(SkyTraqMessages.identityQuestion == bytes("A0 A1 00 02 02 01 03 0D 0A"))
    #expect(
      SkyTraqMessages.rate(milliseconds: 100) == bytes("A0 A1 00 03 0E 0A 00 04 0D 0A"))
    #expect(
      SkyTraqMessages.baudRate(115_200) == bytes("A0 A1 00 04 05 00 05 00 00 0D 0A"))
    #expect(
      SkyTraqMessages.dynamicModel(.airborne) == bytes("A0 A1 00 04 64 17 05 00 76 0D 0A"))
    // The published one has GGA, GSV and no other; ours differs in the intervals and so in the sum.
    let published = bytes("A0 A1 00 0F 64 02 01 00 00 01 00 00 00 00 00 00 00 00 00 66 0D 0A")
    #expect(SkyTraqMessages.frame(Array(published[4..<19])) == published)
    #expect(
      SkyTraqMessages.sentences
        == bytes("A0 A1 00 0F 64 02 01 01 05 00 01 00 00 00 00 00 00 01 00 63 0D 0A"))
    #expect(
      SkyTraqMessages.basicSentences == bytes("A0 A1 00 09 08 01 01 05 00 01 00 00 00 0C 0D 0A"))
    #expect(SkyTraqMessages.useNMEA == bytes("A0 A1 00 03 09 01 00 08 0D 0A"))
    #expect(SkyTraqMessages.heading == bytes("A0 A1 00 05 64 21 24 01 00 60 0D 0A"))
    #expect(SkyTraqMessages.dynamicModel(.stationary) == nil)
    for interval in [0, 3, 30, 300, 999, 2_000, -100] {
      #expect(SkyTraqMessages.rate(milliseconds: interval) == nil, "\(interval)")
    }
    #expect(SkyTraqMessages.baudRate(14_400) == nil)
  }

  @Test("SkyTraq: version, ACK and NACK, wherever the reads split, amid sentences")
  func skyTraqAnswers() {
    let gga = PacketLexerTests.gga
    let stream =
      gga + bytes("A0 A1 00 02 83 02 81 0D 0A") + bytes(Self.version) + gga
      + bytes(Self.acknowledged) + bytes("A0 A1 00 02 84 0E 8A 0D 0A")
    let (events, identity, counters) = heard(stream)
    #expect(
      identity.summary
        == SensorIdentity(name: "SkyTraq receiver", firmware: "2.0.74-1.7.27, revision 14.7.21"))
    #expect(identity.family == .skyTraq && counters.badChecksums == 0)
    #expect(counters.packets == 6)
    let told = events.filter { event in
      if case .answer = event { return true } else { return event == .identity }
    }
    #expect(
      told == [
        .answer(ReceiverAnswer(.skyTraq, 0x0200, .accepted)), .identity,
        .answer(ReceiverAnswer(.skyTraq, 0x6402, .accepted)),
        .answer(ReceiverAnswer(.skyTraq, 0x0E00, .refused)),
      ])
    var lexer = PacketLexer()
    for byte in stream {
      withUnsafeBytes(of: byte) { lexer.append($0, at: Timestamp(seconds: 1)) }
      while lexer.next(at: Timestamp(seconds: 1)) != nil {}
    }
    #expect(lexer.counters.packets == 6)
  }

  @Test("Allystar: commands as they were published")
  func allystarCommands() {
    #expect(AllystarMessages.identityQuestion == bytes("F1 D9 0A 04 00 00 0E 34"))
    #expect(
      AllystarMessages.sentences == [
        bytes("F1 D9 06 01 03 00 F0 05 01 00 1A"), bytes("F1 D9 06 01 03 00 F0 00 01 FB 10"),
        bytes("F1 D9 06 01 03 00 F0 02 01 FD 14"), bytes("F1 D9 06 01 03 00 F0 04 05 03 1C"),
        bytes("F1 D9 06 01 03 00 F0 01 00 FB 11"), bytes("F1 D9 06 01 03 00 F0 06 00 00 1B"),
        bytes("F1 D9 06 01 03 00 F0 07 00 01 1D"),
      ])
    #expect(AllystarMessages.accuracies == bytes("F1 D9 06 01 03 00 F0 08 01 03 20"))
    #expect(
      AllystarMessages.baudRate(115_200) == bytes("F1 D9 06 00 08 00 00 00 00 00 00 C2 01 00 D1 E0")
    )
    for (interval, published) in [
      (
        1_000,
        "F1 D9 06 42 14 00 00 01 05 00 E8 03 00 00 60 EA 00 00 D0 07 00 00 C8 00 00 00 36 AF"
      ),
      (
        500, "F1 D9 06 42 14 00 00 02 05 00 F4 01 00 00 60 EA 00 00 D0 07 00 00 C8 00 00 00 41 64"
      ),
      (
        200, "F1 D9 06 42 14 00 00 05 05 00 C8 00 00 00 60 EA 00 00 D0 07 00 00 C8 00 00 00 17 CE"
      ),
      (
        100, "F1 D9 06 42 14 00 00 0A 05 00 64 00 00 00 60 EA 00 00 D0 07 00 00 C8 00 00 00 B8 ED"
      ),
    ] {
      #expect(AllystarMessages.rate(milliseconds: interval, by: .power) == bytes(published))
    }
    for (interval, published) in [
      (1_000, "F1 D9 06 44 10 00 00 00 01 00 01 00 00 00 E8 03 00 00 00 00 00 00 47 13"),
      (200, "F1 D9 06 44 10 00 00 00 01 00 05 00 00 00 C8 00 00 00 00 00 00 00 28 2E"),
    ] {
      #expect(AllystarMessages.rate(milliseconds: interval, by: .powerRTK) == bytes(published))
    }
    for interval in [0, -200, 250, 2_000] {
      #expect(AllystarMessages.rate(milliseconds: interval, by: .power) == nil)
    }
    #expect(AllystarMessages.rate(milliseconds: 100, by: .powerRTK) == nil)
  }

  @Test("Allystar: version, ACK-ACK and ACK-NAK amid sentences and UBX")
  func allystarAnswers() {
    let (events, identity, counters) = heard(
      PacketLexerTests.gga + bytes(Self.identity) + PacketLexerTests.ack
        + bytes("F1 D9 05 01 02 00 06 40 4E 77") + bytes("F1 D9 05 00 02 00 06 01 0E 33"))
    #expect(counters.badChecksums == 0 && counters.packets == 5)
    #expect(
      identity.summary == SensorIdentity(name: "Allystar HD8020", firmware: "2.001.866f3b2"))
    #expect(identity.family == .allystar && identity.hardware == "HD8020.45704e2d1")
    let told = events.filter { event in
      if case .answer = event { return true } else { return event == .identity }
    }
    #expect(
      told == [
        .identity, .answer(ReceiverAnswer(.ubx, 0x0601, .accepted)),
        .answer(ReceiverAnswer(.allystar, 0x0640, .accepted)),
        .answer(ReceiverAnswer(.allystar, 0x0601, .refused)),
      ])
  }

  @Test("a damaged message costs itself, and what is behind it is read")
  func damaged() {
    for message in [Self.version, Self.acknowledged, Self.identity].map({ bytes($0) }) {
      for index in message.indices {
        var broken = message
        broken[index] ^= 0x01
        let (events, identity, _) = heard(broken + message + PacketLexerTests.gga)
        // A length that claims more than there is holds up what follows until it is late, or the end.
        #expect(
          events.contains { if case .epoch = $0 { true } else { false } }, "byte \(index)")
        if message.count > 15 { #expect(identity.family != nil, "byte \(index)") }
      }
    }
  }

  @Test(
    "lengths that no message has are garbage at once, others for a second at most",
    arguments: ["A0 A1 00 00", "A0 A1 08 01", "A0 A1 FF FF", "A0 A2", "F1 D9 0A 04 FF FF", "F1 D8"])
  func hostile(beginning: String) {
    var lexer = PacketLexer()
    let bytes = bytes(beginning) + PacketLexerTests.gga
    bytes.withUnsafeBytes { lexer.append($0, at: Timestamp(seconds: 5)) }
    #expect(lexer.next(at: Timestamp(seconds: 5))?.kind == .nmea)
    // The longest that is waited for.
    for start: [UInt8] in [[0xA0, 0xA1, 0x08, 0x00], [0xF1, 0xD9, 0x01, 0x30, 0x00, 0x10]] {
      var lexer = PacketLexer()
      (start + PacketLexerTests.gga).withUnsafeBytes {
        lexer.append($0, at: Timestamp(seconds: 5))
      }
      #expect(lexer.next(at: Timestamp(seconds: 6)) == nil)
      #expect(lexer.next(at: Timestamp(seconds: 6.001))?.kind == .nmea)
    }
  }

  @Test("short messages, and those that say nothing of the receiver, are messages")
  func others() {
    for payload: [UInt8] in [
      [0x83], [0x84], [0x80], [0x80, 1, 0, 2, 0, 0x4A, 0, 1, 7, 0x1B, 0, 14, 7], [0x86, 10],
      [0xA8] + [UInt8](repeating: 0, count: 58), [0x64, 0x8B, 2], [0],
    ] {
      #expect(heard(SkyTraqMessages.frame(payload)).events == [.message], "\(payload)")
    }
    for (messageClass, id, count) in [
      (0x05, 0, 1), (0x05, 1, 0), (0x05, 2, 2), (0x0A, 4, 31), (0x01, 0x30, 8), (0x06, 0x01, 3),
    ] as [(UInt8, UInt8, Int)] {
      let message = AllystarMessages.frame(
        messageClass: messageClass, id: id, payload: [UInt8](repeating: 6, count: count))
      #expect(heard(message).events == [.message], "\(messageClass) \(id)")
    }
    // A receiver that says neither chip nor version is one of Allystar's all the same.
    let silent = AllystarMessages.frame(
      messageClass: 0x0A, id: 4, payload: [UInt8](repeating: 0, count: 32))
    #expect(
      heard(silent).identity.summary == SensorIdentity(name: "Allystar receiver", firmware: nil))
  }
}
