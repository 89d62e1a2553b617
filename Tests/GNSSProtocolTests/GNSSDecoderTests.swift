import GNSSProtocol
import SensorTypes
import Testing

struct GNSSDecoderTests {
  private func sentence(_ content: String) -> [UInt8] { Stream.sentence(content) }

  private func fixes(_ bytes: [UInt8]) -> [GNSSFix] { Stream.fixes(bytes) }

  @Test("RMC, GGA, GSA and VTG of one time are one epoch")
  func epoch() throws {
    let bytes =
      sentence("GPRMC,123519.00,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W")
      + sentence("GPGGA,123519.00,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
      + sentence("GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1")
      + sentence("GPVTG,084.4,T,087.5,M,022.4,N,041.5,K")
    let all = fixes(bytes)
    #expect(all.count == 1)
    let fix = try #require(all.first)
    #expect(fix.mode == .threeDimensional)
    #expect(abs(try #require(fix.latitude) - 48.1173) < 1e-9)
    #expect(abs(try #require(fix.longitude) - (11 + 31.0 / 60)) < 1e-9)
    #expect(fix.altitude == 545.4)
    #expect(abs(try #require(fix.ellipsoidalAltitude) - 592.3) < 1e-9)
    #expect(abs(try #require(fix.speed) - 22.4 * 1852 / 3600) < 1e-9)
    #expect(fix.course == 84.4)
    #expect(fix.satellitesUsed == 8)
    #expect(fix.pdop == 2.5 && fix.hdop == 1.3 && fix.vdop == 2.1)
    // 1994-03-23 12:35:19 UTC.
    #expect(fix.utc == 764_426_119)
  }

  @Test("south and west are negative; a void position is none")
  func hemispheres() throws {
    let fix = try #require(
      fixes(sentence("GNRMC,000001,A,3354.900,S,15112.600,W,0.0,,211126,,")).first)
    #expect(abs(try #require(fix.latitude) + 33.915) < 1e-9)
    #expect(abs(try #require(fix.longitude) + 151.21) < 1e-9)
    #expect(fix.course == nil)
    let void = try #require(fixes(sentence("GNRMC,000001,V,,,,,,,211126,,")).first)
    #expect(void.mode == .none)
    #expect(void.latitude == nil && void.speed == nil)
  }

  @Test(
    "fields that cannot be are left out, and never trap",
    arguments: [
      "GPRMC,,A,,,,,,,,,", "GPRMC,999999,A,9999.9,N,99999.9,E,x,y,999999,,",
      "GPGGA,123519,4860.0,N,18100.0,E,99999999999999999999,,,,,,,", "GPGSA,A,9,,,,,,,,,,,,,,,",
      "GPVTG,,,,,,,", "GPZDA,,,,,", "GPZDA,120000,99,99,99999,,", "GP", "GPRMC",
      "GPGST,1,2,3,4,5,-6,-7,-8",
    ])
  func hostile(content: String) {
    for fix in fixes(sentence(content)) {
      #expect(fix.latitude == nil)
      #expect(fix.utc == nil)
    }
  }

  @Test("midnight between the date and the next epoch")
  func midnight() throws {
    let bytes =
      sentence("GPRMC,235959,A,4807.038,N,01131.000,E,1,2,311226,,")
      + sentence("GPGGA,000000,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
    let all = fixes(bytes)
    #expect(all.count == 2)
    #expect(try #require(all[1].utc) - #require(all[0].utc) == 1)
  }

  @Test("NAV-PVT, byte by byte from the interface description")
  func pvt() throws {
    var payload = [UInt8](repeating: 0, count: 92)
    func put(_ value: Int, _ offset: Int, _ size: Int) {
      for index in 0..<size {
        payload[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
      }
    }
    put(2026, 4, 2)
    put(11, 6, 1)
    put(21, 7, 1)
    put(3, 8, 1)
    put(4, 9, 1)
    put(5, 10, 1)
    put(0x07, 11, 1)
    put(-250_000_000, 16, 4)
    put(3, 20, 1)
    put(0x01, 21, 1)
    put(12, 23, 1)
    put(-1_234_567_890, 24, 4)
    put(525_163_000, 28, 4)
    put(80_500, 32, 4)
    put(36_250, 36, 4)
    put(1_500, 40, 4)
    put(2_500, 44, 4)
    put(-300, 56, 4)
    put(1_400, 60, 4)
    put(9_000_000, 64, 4)
    put(120, 68, 4)
    put(250_000, 72, 4)
    put(150, 76, 2)
    let frame = UBXMessages.frame(messageClass: 1, id: 7, payload: payload)
    let fix = try #require(fixes(frame).first)
    #expect(fix.mode == .threeDimensional)
    #expect(abs(try #require(fix.longitude) + 123.456789) < 1e-9)
    #expect(abs(try #require(fix.latitude) - 52.5163) < 1e-9)
    #expect(fix.altitude == 36.25 && fix.ellipsoidalAltitude == 80.5)
    #expect(fix.horizontalAccuracy == 1.5 && fix.verticalAccuracy == 2.5)
    #expect(abs(try #require(fix.verticalSpeed) - 0.3) < 1e-12)
    #expect(abs(try #require(fix.speed) - 1.4) < 1e-12)
    #expect(abs(try #require(fix.speedAccuracy) - 0.12) < 1e-12)
    #expect(abs(try #require(fix.course) - 90) < 1e-9)
    #expect(abs(try #require(fix.courseAccuracy) - 2.5) < 1e-9)
    #expect(fix.accuracySource == .receiver)
    // 2026-11-21 03:04:05 less a quarter of a second.
    #expect(fix.utc == 1_795_230_244.75)
  }

  @Test("a configuration message, byte by byte")
  func configuration() {
    // CFG-RATE, 200 ms, from the protocol description: class 06, id 08, six bytes.
    #expect(
      UBXMessages.legacyRate(milliseconds: 200) == [
        0xB5, 0x62, 0x06, 0x08, 0x06, 0x00, 0xC8, 0x00, 0x01, 0x00, 0x00, 0x00, 0xDD, 0x68,
      ])
    // CFG-VALSET of CFG-RATE-MEAS = 200 into RAM: version 0, layer 1, key 0x30210001, two bytes.
    let valset = UBXMessages.rate(milliseconds: 200)
    #expect(
      Array(valset[..<16]) == [
        0xB5, 0x62, 0x06, 0x8A, 0x0A, 0x00, 0x00, 0x01, 0x00, 0x00, 0x01, 0x00, 0x21, 0x30, 0xC8,
        0x00,
      ])
  }
}
