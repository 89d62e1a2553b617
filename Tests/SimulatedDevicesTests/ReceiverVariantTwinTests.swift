// Receivers of u-blox that have what the plain one of their generation has not: a second antenna, a base mode.

import LinearAlgebra
import Testing

@testable import SimulatedDevices

/// Little-endian numbers of a payload.
private func number(_ payload: [UInt8], _ offset: Int, _ count: Int = 4) -> Int {
  let bits = (0..<count).reduce(UInt64(0)) {
    $0 | UInt64(payload[offset + $1]) << UInt64(8 * $1)
  }
  let unused = UInt64(64 - 8 * count)
  return Int(Int64(bitPattern: bits << unused) >> Int64(unused))
}

@Suite("Receiver twins with a second antenna or a base mode")
struct ReceiverVariantTwinTests {
  private static func verdict(_ twin: inout ReceiverTwin, _ items: [UInt8], at now: Double)
    -> UInt8?
  {
    twin.say(ubxFrame(0x06, 0x8A, [0, 1, 0, 0] + items), at: now)
    return ubxMessages(twin.listen(from: now, to: now + 100)).first { $0.0 == 0x05 }?.1
  }

  // u-blox X20 HDG 2.00 interface description UBXDOC-304424225-21470, NAV-DAHEADING.
  @Test(
    "a ZED-X20D gives the line of its antennas by NAV-DAHEADING; an M9 does not know the message")
  func antennas() throws {
    var twin = ReceiverTwin(
      .ubloxX20D, link: .uart, source: ReceiverTwin.testWorld, antennas: 0.5, isExact: true)
    twin.powerOn(at: ms(-5_000))
    _ = twin.listen(from: -5_000, to: 400)
    #expect(
      Self.verdict(&twin, ubxKeyed(0x2091_03E0, [1]) + ubxKeyed(0x1074_0002, [0]), at: 410) == 1)
    let heard = ubxMessages(twin.listen(from: 520, to: 3_400)).filter { $0.0 == 1 && $0.1 == 0x45 }
    #expect(heard.count == 3)
    let payload = try #require(heard.last?.2)
    #expect(payload.count == 60 && payload[0] == 2)
    let truth = ReceiverTwin.testWorld.truth(at: ms(3_000)).heading + 0.5 * 180 / Double.pi
    let said = Double(number(payload, 24)) * 1e-5
    #expect(abs((said - truth).remainder(dividingBy: 360)) < 0.01, "\(said), \(truth)")
    // A meter, in millimeters; 0.3 degrees; all that makes it valid.
    let (north, east) = (Double(number(payload, 8)), Double(number(payload, 12)))
    #expect(
      number(payload, 20) == 1_000 && abs((north * north + east * east).squareRoot() - 1_000) < 1)
    #expect(number(payload, 48) == 30_000 && number(payload, 56) == 0x57)

    twin.say([0xB5, 0x62, 0x0A, 0x04, 0x00, 0x00, 0x0E, 0x34], at: 3_500)
    let version = try #require(
      ubxMessages(twin.listen(from: 3_500, to: 3_700)).first { $0.0 == 0x0A }?.2)
    #expect(String(decoding: version, as: UTF8.self).contains("MOD=ZED-X20D"))
    // CFG-MSG is none of its commands.
    twin.say(ubxFrame(0x06, 0x01, [0x01, 0x07, 0x01]), at: 3_700)
    #expect(ubxMessages(twin.listen(from: 3_700, to: 3_800)).first { $0.0 == 0x05 }?.1 == 0)

    var other = ReceiverTwin.started(.ubloxM9, .uart)
    _ = other.listen(from: 0, to: 900)
    #expect(Self.verdict(&other, ubxKeyed(0x2091_03E0, [1]), at: 910) == 0)
  }

  // u-blox F9 HPG interface description UBX-21022436, CFG-TMODE and NAV-SVIN.
  @Test("a ZED-F9P surveys for its time and to its accuracy, and then solves for time alone")
  func survey() throws {
    var twin = ReceiverTwin(.ubloxF9P, link: .uart, source: ReceiverTwin.testWorld, isExact: true)
    twin.powerOn(at: ms(-5_000))
    _ = twin.listen(from: -5_000, to: 400)
    let survey =
      ubxKeyed(0x2003_0001, [1]) + ubxKeyed(0x4003_0010, [10, 0, 0, 0])
      + ubxKeyed(0x4003_0011, [0x20, 0x4E, 0, 0])
    let output =
      ubxKeyed(0x1074_0002, [0]) + ubxKeyed(0x2091_0007, [1]) + ubxKeyed(0x2091_0089, [1])
    #expect(Self.verdict(&twin, survey + output, at: 410) == 1)
    func heard(_ from: Double, _ to: Double) -> (pvt: [[UInt8]], survey: [[UInt8]]) {
      let messages = ubxMessages(twin.listen(from: from, to: to)).filter { $0.0 == 1 }
      return (messages.filter { $0.1 == 7 }.map(\.2), messages.filter { $0.1 == 0x3B }.map(\.2))
    }
    let begun = heard(520, 5_500)
    #expect(begun.pvt.allSatisfy { $0[20] == 3 })
    let report = try #require(begun.survey.last)
    #expect(report.count == 40 && report[36] == 0 && report[37] == 1)
    #expect(number(report, 8) == 5 && number(report, 32) == 5)
    // The same values once more do not begin it again.
    #expect(Self.verdict(&twin, survey, at: 5_510) == 1)
    _ = heard(5_620, 12_500)
    let over = heard(12_500, 15_500)
    #expect(over.pvt.count == 3 && over.pvt.allSatisfy { $0[20] == 5 && $0[21] & 1 == 1 })
    let end = try #require(over.survey.last)
    #expect(end[36] == 1 && end[37] == 0 && number(end, 8) == 10)
    #expect(number(end, 28) <= 20_000)
    // A place that stands still, whatever the board does.
    #expect(Set(over.pvt.map { Array($0[24..<36]) }).count == 1)
    #expect(over.pvt.allSatisfy { number($0, 60) == 0 })
    // Back to a rover.
    #expect(Self.verdict(&twin, ubxKeyed(0x2003_0001, [0]), at: 15_510) == 1)
    let rover = heard(15_620, 17_500)
    #expect(rover.pvt.allSatisfy { $0[20] == 3 })
    #expect(rover.survey.allSatisfy { $0[36] == 0 && $0[37] == 0 })
  }

  @Test(
    "a ZED-F9P holds a place that it was given; values out of range, and other receivers, refuse")
  func given() throws {
    var twin = ReceiverTwin.started(.ubloxF9P, .uart)
    _ = twin.listen(from: 0, to: 400)
    func word(_ value: Int32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * Int32($0))) }
    }
    let place =
      ubxKeyed(0x2003_0001, [2]) + ubxKeyed(0x2003_0002, [1])
      + ubxKeyed(0x4003_0009, word(-330_000_000)) + ubxKeyed(0x2003_000C, [0xFF])
      + ubxKeyed(0x4003_000A, word(111_234_567)) + ubxKeyed(0x2003_000D, [89])
      + ubxKeyed(0x4003_000B, word(56_543)) + ubxKeyed(0x2003_000E, [21])
    let output = ubxKeyed(0x1074_0002, [0]) + ubxKeyed(0x2091_0007, [1])
    #expect(Self.verdict(&twin, place + output, at: 410) == 1)
    let pvt = try #require(
      ubxMessages(twin.listen(from: 520, to: 2_500)).last { $0.0 == 1 && $0.1 == 7 }?.2)
    #expect(pvt[20] == 5 && number(pvt, 24) == 111_234_568 && number(pvt, 28) == -330_000_000)
    #expect(number(pvt, 32) == 565_432)
    for (index, items) in [
      ubxKeyed(0x2003_0001, [3]), ubxKeyed(0x2003_0002, [2]), ubxKeyed(0x2003_000C, [100]),
    ].enumerated() {
      #expect(Self.verdict(&twin, items, at: 2_600 + 200 * Double(index)) == 0)
    }
    for model in [ReceiverTwinModel.ubloxM9, .ubloxM10, .ubloxX20D] {
      var other = ReceiverTwin.started(model, .uart)
      _ = other.listen(from: 0, to: 900)
      #expect(Self.verdict(&other, ubxKeyed(0x2003_0001, [1]), at: 910) == 0)
    }
  }

  // Unicore Reference Commands Manual For N4 High Precision Products, MODE BASE.
  @Test("Unicore: MODE BASE with a time or a place, and GGA of quality 7 from then on")
  func unicore() throws {
    func answer(_ twin: inout ReceiverTwin, _ line: String, at now: Double) -> Bool {
      twin.say(Array("\(line)\r\n".utf8), at: now)
      let text = String(decoding: twin.listen(from: now, to: now + 150), as: UTF8.self)
      return text.contains("$command,\(line),response: OK*")
    }
    var twin = ReceiverTwin.started(.unicore, .uart)
    _ = twin.listen(from: 0, to: 300)
    #expect(answer(&twin, "GPGGA 1", at: 310))
    for (index, (line, isTaken)) in [
      ("MODE BASE", true), ("MODE BASE 7", true), ("MODE BASE 1 TIME 60", true),
      ("MODE BASE TIME 60 5", true), ("MODE BASE TIME 3601", false),
      ("MODE BASE TIME 60 11", false), ("MODE BASE TIME x", false), ("MODE BASE 4096", false),
      ("MODE BASE 1 2 3", false), ("MODE BASE 1 2 3 4 5", false),
      ("MODE BASE -2160489.0276 4383620.1006 4084738.1110", true), ("MODE BASE TIME 5 0", true),
    ].enumerated() {
      #expect(answer(&twin, line, at: Double(index) * 1_000 + 1_310) == isTaken, "\(line)")
    }
    func quality(_ from: Double, _ to: Double) -> [Substring] {
      nmeaSentences(twin.listen(from: from, to: to)).filter { $0.hasPrefix("GNGGA") }.map {
        $0.split(separator: ",", omittingEmptySubsequences: false)[6]
      }
    }
    // The survey of 5 s begins at 12.31 s.
    #expect(quality(12_500, 16_200).allSatisfy { $0 == "1" })
    _ = quality(16_200, 18_500)
    let after = quality(18_500, 21_200)
    #expect(after.count == 3 && after.allSatisfy { $0 == "7" })
    #expect(answer(&twin, "MODE ROVER", at: 21_310))
    #expect(quality(21_500, 24_000).allSatisfy { $0 == "1" })
    #expect(answer(&twin, "MODE BASE -2160489.0276 4383620.1006 4084738.1110", at: 24_310))
    let line = try #require(
      nmeaSentences(twin.listen(from: 24_500, to: 26_200)).last { $0.hasPrefix("GNGGA") })
    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
    // The manual gives the same place in both frames: 40.07 N, 116.23 E.
    #expect(fields[2].hasPrefix("40") && fields[4].hasPrefix("116") && fields[6] == "7", "\(line)")
  }
}
