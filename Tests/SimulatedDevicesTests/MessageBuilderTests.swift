import Testing

@testable import SimulatedDevices

@Suite("Message encoding")
struct MessageBuilderTests {
  @Test("computes the checksums of published NMEA sentences")
  func nmea() {
    for (body, end) in [
      ("GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,", "*47\r\n"),
      ("GPGLL,5057.970,N,00146.110,E,142451,A", "*27\r\n"),
    ] as [(StaticString, String)] {
      var builder = MessageBuilder()
      builder.beginNMEA(body)
      builder.endNMEA()
      #expect(String(decoding: builder.bytes, as: UTF8.self) == "$\(body)\(end)")
    }
  }

  @Test("computes the checksums of published UBX frames")
  func ubx() {
    var builder = MessageBuilder()
    builder.beginUBX(0x0A, 0x04)
    builder.endUBX()
    #expect(builder.bytes == [0xB5, 0x62, 0x0A, 0x04, 0x00, 0x00, 0x0E, 0x34])
    builder.writeAcknowledge(true, 0x06, 0x01)
    #expect(builder.bytes == [0xB5, 0x62, 0x05, 0x01, 0x02, 0x00, 0x06, 0x01, 0x0F, 0x38])
    builder.writeAcknowledge(false, 0x06, 0x01)
    #expect(builder.bytes == [0xB5, 0x62, 0x05, 0x00, 0x02, 0x00, 0x06, 0x01, 0x0E, 0x33])
  }

  @Test("writes decimals rounded, with sign and leading zeros")
  func decimals() {
    var builder = MessageBuilder()
    builder.beginNMEA("X")
    builder.field(-3.14159, decimals: 2)
    builder.field(0.999, decimals: 2)
    builder.field(7, decimals: 0, integerDigits: 3)
    builder.field(-0.004, decimals: 2)
    builder.field(nil, decimals: 1)
    #expect(String(decoding: builder.bytes, as: UTF8.self) == "$X,-3.14,1.00,007,0.00,")
  }

  @Test("knows the calendar and the GPS week")
  func calendar() {
    let noon = CivilTime(milliseconds: 1_774_526_400_250)
    #expect([noon.year, noon.month, noon.day] == [2026, 3, 26])
    #expect([noon.hour, noon.minute, noon.second, noon.millisecond] == [12, 0, 0, 250])
    // A Thursday: four days, twelve hours and 18 leap seconds into the week.
    #expect(noon.timeOfWeek == ((4 * 24 + 12) * 3600 + 18) * 1000 + 250)
    let leap = CivilTime(milliseconds: 951_782_400_000)
    #expect([leap.year, leap.month, leap.day] == [2000, 2, 29])
    let early = CivilTime(milliseconds: -1)
    #expect([early.year, early.month, early.day, early.hour] == [1969, 12, 31, 23])
  }
}
