import GNSSProtocol
import SensorTypes
import Testing

/// UBX and NMEA of one receiver: no epoch twice, and none lost.
struct UBXBesideNMEATests {
  private static let orders = [true, false]

  // NAV-STATUS and NAV-POSLLH of the epoch at 03:00 and so many seconds.
  private func state(_ second: Int) -> [UInt8] {
    Stream.message(1, 3, length: 16, [(0, 4, second * 1_000), (4, 1, 3), (5, 1, 0x0D)])
  }

  private func posllh(_ second: Int) -> [UInt8] {
    Stream.message(
      1, 2, length: 28,
      [(0, 4, second * 1_000), (4, 4, 130_000_000), (8, 4, 520_000_000), (20, 4, 1_500)])
  }

  private func utc(_ second: Int) -> [UInt8] {
    Stream.message(
      1, 0x21, length: 20,
      [
        (0, 4, second * 1_000), (12, 2, 2026), (14, 1, 11), (15, 1, 22), (16, 1, 3),
        (18, 1, second), (19, 1, 7),
      ])
  }

  @Test(
    "NMEA beside UBX that says less: each moment once, by NMEA", arguments: [1, 2, 3, 4], orders)
  func lessUBX(kind: Int, endsByRule: Bool) {
    let bytes = (0..<10).flatMap { second -> [UInt8] in
      let less =
        switch kind {
        case 1: state(second)
        case 2: posllh(second)
        case 3: posllh(second) + utc(second)
        default: state(second) + posllh(second) + utc(second)
        }
      return Stream.gga("03000\(second)") + Stream.rmc("03000\(second)") + less
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    #expect(fixes.map(\.timeOfDay) == (0..<10).map { 10_800 + Double($0) })
    #expect(fixes.allSatisfy { $0.altitude == 545.4 && $0.speed != nil })
  }

  @Test("UBX that says less is told where there is no NMEA, but no state without a place")
  func onlyUBX() {
    let fixes = Stream.fixes((0..<5).flatMap { state($0) + posllh($0) })
    #expect(fixes.count == 5 && fixes.allSatisfy { $0.latitude == 52 })
    #expect(Stream.fixes((0..<5).flatMap { state($0) }).isEmpty)
    let none = (0..<5).flatMap { Stream.message(1, 3, length: 16, [(0, 4, $0 * 1_000)]) }
    #expect(Stream.fixes(none).count == 5)
  }

  @Test("UBX that stops, NMEA that goes on: none is swallowed, none is twice", arguments: orders)
  func ubxStops(endsByRule: Bool) {
    let bytes = (0..<20).flatMap { second in
      let time = "0300\(second < 10 ? "0" : "")\(second)"
      return Stream.gga(time) + Stream.rmc(time) + (second < 8 ? Stream.pvt(second: second) : [])
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    #expect(fixes.map(\.timeOfDay) == (0..<20).map { 10_800 + Double($0) })
    #expect(fixes[7].latitude == 52 && fixes[8].latitude != 52)
  }

  @Test("NMEA five times as often as UBX: each moment once, in order", arguments: orders)
  func fiveToOne(endsByRule: Bool) {
    let bytes = (0..<50).flatMap { fifth in
      let time = "0300\(fifth / 5 < 10 ? "0" : "")\(fifth / 5).\(fifth % 5 * 2)"
      return Stream.gga(time) + Stream.rmc(time)
        + (fifth % 5 == 0 ? Stream.pvt(second: fifth / 5) : [])
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    #expect(fixes.count == 50)
    for (index, fix) in fixes.enumerated() {
      #expect(abs((fix.timeOfDay ?? 0) - 10_800 - Double(index) / 5) < 1e-6)
      #expect((fix.latitude == 52) == (index % 5 == 0))
    }
  }

  @Test("position and velocity from the centre of the earth are a fix's too")
  func earthCentred() throws {
    // At 0 N 0 E on the equator, moving north-east: by hand, x is up, y east, z north.
    let bytes =
      Stream.message(1, 1, length: 20, [(0, 4, 1_000), (4, 4, 637_823_700)])
      + Stream.message(1, 0x11, length: 20, [(0, 4, 1_000), (4, 4, 50), (8, 4, 300), (12, 4, 400)])
      + utc(1)
    #expect(Stream.fixes(bytes).isEmpty)
    let fix = try #require(Stream.fixes(bytes + state(1)).first)
    #expect(abs(try #require(fix.latitude)) < 1e-9)
    #expect(abs(try #require(fix.longitude)) < 1e-9)
    #expect(abs(try #require(fix.ellipsoidalAltitude) - 100) < 1e-3)
    #expect(abs(try #require(fix.speed) - 5) < 1e-9)
    #expect(abs(try #require(fix.verticalSpeed) - 0.5) < 1e-9)
    #expect(abs(try #require(fix.course) - 36.869_897_646) < 1e-6)
  }
}
