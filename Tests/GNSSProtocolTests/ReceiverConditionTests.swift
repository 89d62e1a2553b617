// Antenna, interference, spoofing and the next leap second, from UBX and TXT.

import GNSSProtocol
import SensorTypes
import Testing

@Suite struct ReceiverConditionTests {
  /// The conditions that are told, in order.
  private func conditions(_ bytes: [UInt8]) -> [ReceiverCondition] {
    var decoder = GNSSDecoder()
    bytes.withUnsafeBytes { decoder.append($0, at: Timestamp(nanoseconds: 7)) }
    var found: [ReceiverCondition] = []
    while let event = decoder.next() {
      if event == .condition { found.append(decoder.condition) }
    }
    return found
  }

  private func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  // The next messages were written by pyubx2 1.2.58 from field names and values.

  @Test("MON-HW: an open antenna, and interference with a position")
  func hardware() throws {
    let zeros = String(repeating: "00", count: 37)
    let found = conditions(
      bytes("b5620a093c00" + String(repeating: "00", count: 16) + "5f000000040108" + zeros + "bb8a")
    )
    #expect(found.count == 1)
    #expect(found.first?.antenna == .open && found.first?.interference == .noticeable)
    #expect(found.first?.spoofing == nil && found.first?.leapSecond == nil)
  }

  @Test("MON-RF: the worst of two bands")
  func radio() {
    let found = conditions(
      bytes(
        "b5620a38340000020000" + "00010201" + String(repeating: "00", count: 20) + "01030300"
          + String(repeating: "00", count: 20) + "83ed"))
    #expect(found.count == 1)
    #expect(found.first?.antenna == .shorted && found.first?.interference == .severe)
  }

  @Test("NAV-STATUS: spoofing is suspected")
  func status() {
    let found = conditions(bytes("b56201031000e80300000301005000000000000000005319"))
    #expect(found.count == 1 && found.first?.spoofing == .suspected && found.first?.antenna == nil)
  }

  @Test(
    "SEC-SIG in both versions",
    arguments: [
      "b56227090c000100000007000000070000004bff", "b56227090800023f0001fc0918019891",
    ])
  func security(message: String) {
    let found = conditions(bytes(message))
    #expect(found.count == 1)
    #expect(found.first?.interference == .severe && found.first?.spoofing == .detected)
  }

  @Test("NAV-TIMELS: a second that is inserted at the end of 2026")
  func leapSecond() {
    let found = conditions(
      bytes("b56201261800007099140000000002120201005e1a0093090500000000038fc5"))
    #expect(found.count == 1)
    #expect(
      found.first?.leapSecond == ReceiverCondition.LeapSecond(change: 1, midnight: 1_798_761_600))
  }

  /// NAV-TIMELS with some fields.
  private func event(
    change: Int = 1, seconds: Int = 1_000, day: Int = 5, source: Int = 2, valid: Int = 3
  ) -> [UInt8] {
    Stream.message(
      1, 0x26, length: 24,
      [
        (8, 1, 2), (9, 1, 18), (10, 1, source), (11, 1, change), (12, 4, seconds), (16, 2, 2_451),
        (18, 2, day), (23, 1, valid),
      ])
  }

  @Test("no leap second is one that is over, not valid, of zero seconds, or on no day")
  func noLeapSecond() {
    for message in [
      event(change: 0), event(seconds: 0), event(seconds: -5), event(valid: 1), event(day: 0),
      event(day: 8),
      event(change: 37),
    ] {
      #expect(conditions(message).isEmpty)
    }
    #expect(conditions(event(change: -1)).first?.leapSecond?.change == -1)
    // BeiDou counts its days from 0.
    #expect(conditions(event(day: 4, source: 4)).first?.leapSecond?.midnight == 1_798_761_600)
    // One that is announced and then no more.
    #expect(conditions(event() + event(change: 0)).map { $0.leapSecond != nil } == [true, false])
  }

  @Test("a state that is not known is none, and a message that is too short says nothing")
  func unknown() {
    #expect(conditions(Stream.message(0x0A, 0x09, length: 60, [(20, 1, 1)])).isEmpty)
    for length in [0, 1, 20, 59] {
      #expect(
        conditions(Stream.message(0x0A, 0x09, length: length, length > 20 ? [(20, 1, 3)] : []))
          .isEmpty)
    }
    // MON-RF with fewer bytes than blocks, and of another version.
    #expect(conditions(Stream.message(0x0A, 0x38, length: 20, [(1, 1, 255), (6, 1, 3)])).isEmpty)
    #expect(
      conditions(Stream.message(0x0A, 0x38, length: 28, [(0, 1, 1), (1, 1, 1), (6, 1, 3)])).isEmpty)
    #expect(
      conditions(Stream.message(0x0A, 0x38, length: 28, [(1, 1, 255), (6, 1, 3)])).first?.antenna
        == .shorted)
    // A detection that is switched off detects nothing.
    #expect(
      conditions(Stream.message(0x27, 0x09, length: 12, [(0, 1, 1), (4, 1, 6), (8, 1, 6)])).isEmpty)
  }

  @Test("the text of the antenna, once for each change")
  func text() {
    func sentences(_ contents: String...) -> [ReceiverCondition.Antenna?] {
      conditions(contents.flatMap { Stream.sentence($0) }).map(\.antenna)
    }
    // As a u-blox receiver, a Quectel L80 and a CASIC receiver write them.
    #expect(
      sentences(
        "GNTXT,01,01,02,ANTSTATUS=INIT", "GNTXT,01,01,02,ANTSTATUS=OK",
        "GNTXT,01,01,02,ANTSTATUS=OK",
        "GPTXT,01,01,02,ANTSTATUS=OPEN", "GPTXT,01,01,01,ANTENNA SHORT",
        "GPTXT,01,01,01,ANTENNA OPEN",
        "GPTXT,01,01,01,ANTENNA OK", "GNTXT,01,01,02,ANTSTATUS=DONTKNOW") == [
          .connected, .open, .shorted, .open, .connected, nil,
        ])
    // GlobalTop: shorted, an active one, the one on the module.
    #expect(
      sentences("PGTOP,11,1", "PGTOP,11,3", "PGTOP,11,2", "PGTOP,12,1") == [
        .shorted, .connected, nil,
      ])
    #expect(sentences("GNTXT,01,01,02,ANTSUPERV=AC SD PDoS SR", "GNTXT,01,01,02,ANTSTATUS").isEmpty)
  }
}
