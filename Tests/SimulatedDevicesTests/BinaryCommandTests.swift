// The twins of receivers that are set by binary messages: SkyTraq's and Allystar's.

import LinearAlgebra
import Testing

@testable import SimulatedDevices

@Suite("Receiver twins with binary commands")
struct BinaryCommandTests {
  private static func bytes(_ hex: String) -> [UInt8] {
    hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
  }

  /// A command of SkyTraq in its frame, by the definition of its check sum.
  private static func skyTraq(_ payload: [UInt8]) -> [UInt8] {
    var sum: UInt8 = 0
    for byte in payload { sum ^= byte }
    return [0xA0, 0xA1, 0, UInt8(payload.count)] + payload + [sum, 0x0D, 0x0A]
  }

  /// A command of Allystar in its frame: that of UBX behind other first bytes.
  private static func allystar(_ id: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [0xF1, 0xD9] + ubxFrame(0x06, id, payload).dropFirst(2)
  }

  /// What the twin says to a message, besides its sentences.
  private func answers(_ twin: inout ReceiverTwin, to message: [UInt8], at now: Double) -> [UInt8] {
    twin.say(message, at: now)
    let heard = twin.listen(from: now, to: now + 600)
    var rest: [UInt8] = []
    var isSentence = false
    for byte in heard {
      if byte == UInt8(ascii: "$") { isSentence = true }
      if !isSentence { rest.append(byte) }
      if byte == 10 { isSentence = false }
    }
    return rest
  }

  // Captured of a Venus 8.
  @Test("SkyTraq: the answers that were captured, byte by byte")
  func captured() {
    var twin = ReceiverTwin.started(.skyTraq, .uart, baudRate: 115_200)
    _ = twin.listen(from: -5_000, to: 500)
    for (index, (message, answer)) in [
      (
        "A0 A1 00 02 02 01 03 0D 0A",
        "A0 A1 00 02 83 02 81 0D 0A A0 A1 00 0E 80 01 00 02 00 4A 00 01 07 1B 00 0E 07 15 C8 0D 0A"
      ),
      (
        "A0 A1 00 0F 64 02 01 00 00 01 00 00 00 00 00 00 00 00 00 66 0D 0A",
        "A0 A1 00 03 83 64 02 E5 0D 0A"
      ),
      ("A0 A1 00 03 0E 0A 00 04 0D 0A", "A0 A1 00 02 83 0E 8D 0D 0A"),
      ("A0 A1 00 04 64 17 05 00 76 0D 0A", "A0 A1 00 03 83 64 17 F0 0D 0A"),
      ("A0 A1 00 04 05 00 05 00 00 0D 0A", "A0 A1 00 02 83 05 86 0D 0A"),
    ].enumerated() {
      #expect(
        answers(&twin, to: Self.bytes(message), at: 1_000 + 1_000 * Double(index))
          == Self.bytes(answer), "\(message)")
    }
    #expect(twin.configuration.epochPeriod == 100 && twin.configuration.dynamicModel == 5)
    // GGA and GLL, as the captured command has it.
    let lines = nmeaSentences(twin.listen(from: 7_000, to: 8_000))
    #expect(Set(lines.map { $0.prefix(5) }) == ["GNGGA", "GNGLL"] && lines.count >= 18)
  }

  @Test("SkyTraq: what is out of range, unknown or damaged is refused, or not heard")
  func skyTraqRefuses() {
    var twin = ReceiverTwin.started(.skyTraq, .uart, baudRate: 115_200)
    _ = twin.listen(from: -5_000, to: 500)
    var now = 1_000.0
    for payload: [UInt8] in [
      [0x0E, 3, 0], [0x0E, 10], [0x0E, 10, 2], [0x64, 0x17, 6, 0], [0x64, 0x17, 10, 0],
      [0x64, 0x99], [0x05, 0, 9, 0], [0x05, 1, 5, 0], [0x09, 3, 0], [0x08, 1, 1],
      [0x64, 0x21, 36, 1, 0],
      [0x55],
    ] {
      let hasSubidentifier = payload[0] == 0x64
      #expect(
        answers(&twin, to: Self.skyTraq(payload), at: now)
          == Self.skyTraq([0x84, payload[0]] + (hasSubidentifier ? [payload[1]] : [])), "\(payload)"
      )
      now += 700
    }
    var damaged = Self.skyTraq([0x02, 1])
    damaged[6] ^= 1
    for message in [damaged, Self.skyTraq([]), [0xA0, 0xA1, 0xFF, 0xFF], [0xA0, 0xA0, 0xA1]] {
      #expect(answers(&twin, to: message, at: now).isEmpty)
      now += 700
    }
    twin.powerOn(at: ms(now))
    _ = twin.listen(from: now, to: now + 500)
    (twin.refusedCommands, twin.silentCommands) = ([0x0E00], [0x6402])
    #expect(
      answers(&twin, to: Self.skyTraq([0x0E, 5, 0]), at: now + 1_000) == Self.skyTraq([0x84, 0x0E]))
    #expect(
      answers(
        &twin, to: Self.skyTraq([0x64, 2] + [UInt8](repeating: 0, count: 13)), at: now + 2_000
      ).isEmpty)
    #expect(twin.configuration.epochPeriod == 1_000)
  }

  @Test("SkyTraq Venus 6: no sub-identifiers, not in what it takes nor in what it answers")
  func venus6() {
    var twin = ReceiverTwin.started(.skyTraqVenus6, .uart, baudRate: 115_200)
    _ = twin.listen(from: -5_000, to: 500)
    for (index, (payload, answer)) in [
      ([0x64, 0x17, 1, 0], [0x84, 0x64]), ([0x09, 1, 0], [0x84, 0x09]), ([0x09, 1], [0x83, 0x09]),
      ([0x08, 1, 1, 5, 0, 1, 0, 0, 0], [0x83, 0x08]),
    ].enumerated() as EnumeratedSequence<[([UInt8], [UInt8])]> {
      #expect(
        answers(&twin, to: Self.skyTraq(payload), at: 1_000 * Double(index + 1))
          == Self.skyTraq(answer), "\(payload)")
    }
    let kinds = Set(nmeaSentences(twin.listen(from: 6_000, to: 8_000)).map { $0.prefix(5) })
    #expect(kinds == ["GNGGA", "GNGSA", "GNRMC"])
  }

  // The form of a PX1172RH's: `$PSTI,036,003832.000,290322,244.28,2.77,0.00,R*5D`.
  @Test("SkyTraq with two antennas: PSTI,036 behind the sentences once it is asked for")
  func heading() throws {
    var twin = ReceiverTwin(
      .skyTraq, link: .uart, source: ReceiverTwin.testWorld, baudRate: 115_200, antennas: -0.25,
      isExact: true)
    twin.powerOn(at: ms(-5_000))
    #expect(!nmeaSentences(twin.listen(from: -5_000, to: 900)).contains { $0.hasPrefix("PSTI") })
    #expect(
      answers(&twin, to: Self.skyTraq([0x64, 0x21, 36, 1, 0]), at: 1_100)
        == Self.skyTraq([0x83, 0x64, 0x21]))
    let lines = nmeaSentences(twin.listen(from: 1_710, to: 2_500))
    let line = try #require(lines.last)
    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
    #expect(fields.count == 8 && fields[0] == "PSTI" && fields[1] == "036" && fields[7] == "R")
    let truth = ReceiverTwin.testWorld.truth(at: ms(2_000)).heading - 0.25 * 180 / Double.pi
    let said = try #require(Double(fields[4]))
    #expect(abs((said - truth).remainder(dividingBy: 360)) < 0.01, "\(said), \(truth)")
  }

  // The specification's examples, and DATAGNSS's lists.
  @Test("Allystar: ACK and NAK name the message; what it does not have is passed over")
  func allystar() {
    var twin = ReceiverTwin.started(.allystar, .uart)
    #expect(twin.baudRate == 115_200)
    _ = twin.listen(from: -5_000, to: 500)
    let (ack, nak) = ("F1 D9 05 01 02 00 06 01 0F 38", "F1 D9 05 00 02 00 06 01 0E 33")
    for (index, (message, answer)) in [
      ("F1 D9 06 01 03 00 F0 04 02 00 19", ack), ("F1 D9 06 01 03 00 F0 01 01 FC 12", ack),
      ("F1 D9 06 01 03 00 F0 08 01 03 20", ack), ("F1 D9 06 01 03 00 F0 07 00 01 1D", ack),
      // RTCM 1005, which a TAU1201 does not have, and a rate without its number.
      ("F1 D9 06 01 03 00 F8 05 00 07 31", nak), ("F1 D9 06 01 02 00 F0 00 F9 11", nak),
      (
        "F1 D9 06 42 14 00 00 05 05 00 C8 00 00 00 60 EA 00 00 D0 07 00 00 C8 00 00 00 17 CE",
        "F1 D9 05 01 02 00 06 42 50 79"
      ),
      // CFG-PWRCTL2, which it does not have, and a damaged one of what it has.
      ("F1 D9 06 44 10 00 00 00 01 00 05 00 00 00 C8 00 00 00 00 00 00 00 28 2E", ""),
      ("F1 D9 06 01 03 00 F0 01 00 FB 12", ""),
    ].enumerated() {
      #expect(
        answers(&twin, to: Self.bytes(message), at: 1_000 + 1_000 * Double(index))
          == Self.bytes(answer), "\(message)")
    }
    #expect(twin.configuration.epochPeriod == 200)
    let kinds = Set(nmeaSentences(twin.listen(from: 11_000, to: 13_000)).map { $0.prefix(5) })
    #expect(kinds == ["GNGGA", "GNGLL", "GNGSA", "GNRMC", "GNGST"])
  }

  @Test("Allystar: who it is; another rate of the line at once and without an answer")
  func allystarLine() {
    var twin = ReceiverTwin.started(.allystar, .uart)
    _ = twin.listen(from: -5_000, to: 500)
    let version = answers(&twin, to: Self.bytes("F1 D9 0A 04 00 00 0E 34"), at: 1_000)
    #expect(version.count == 40 && version.starts(with: Self.bytes("F1 D9 0A 04 20 00")))
    #expect(String(decoding: version[6..<19], as: UTF8.self) == "3.018.aab95e7")
    #expect(String(decoding: version[22..<29], as: UTF8.self) == "HD8040D")
    #expect(
      answers(
        &twin, to: Self.bytes("F1 D9 06 00 08 00 01 00 00 00 80 25 00 00 B4 0F"), at: 2_000
      ).isEmpty)
    #expect(twin.baudRate == 9_600)
    #expect(
      answers(&twin, to: Self.allystar(0x00, [0, 0, 0, 0, 1, 0, 0, 0]), at: 5_000)
        == Self.bytes("F1 D9 05 00 02 00 06 00 0D 32"))
  }

  @Test("Allystar TAU951M: five positions a second as delivered, 1 or 5 by CFG-PWRCTL2")
  func allystarRTK() {
    var twin = ReceiverTwin.started(.allystarRTK, .uart)
    _ = twin.listen(from: -5_000, to: 500)
    #expect(twin.configuration.epochPeriod == 200)
    let ack = Self.bytes("F1 D9 05 01 02 00 06 44 52 7B")
    #expect(
      answers(
        &twin,
        to: Self.bytes("F1 D9 06 44 10 00 00 00 01 00 01 00 00 00 E8 03 00 00 00 00 00 00 47 13"),
        at: 1_000) == ack)
    #expect(twin.configuration.epochPeriod == 1_000)
    let wrong: [UInt8] = [0, 0, 1, 0, 10, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0]
    #expect(
      answers(&twin, to: Self.allystar(0x44, wrong), at: 2_000)
        == Self.bytes("F1 D9 05 00 02 00 06 44 51 76"))
  }
}
