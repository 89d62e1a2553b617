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
}
