import GNSSProtocol
import SensorTypes
import Testing

/// One fix an epoch: never half old and half new, never twice, none lost.
struct EpochTests {
  private func rmc(_ second: Int, speed: Double = 1, status: String = "A") -> [UInt8] {
    Stream.sentence(
      "GPRMC,0000\(second < 10 ? "0" : "")\(second),\(status),4807.038,N,01131.000,E,\(speed),90,221126,,"
    )
  }

  private func gga(_ second: Int, quality: Int = 1) -> [UInt8] {
    Stream.sentence(
      "GPGGA,0000\(second < 10 ? "0" : "")\(second),4807.038,N,01131.000,E,\(quality),08,0.9,\(500 + second),M,46.9,M,,"
    )
  }

  // A Magellan eXplorist writes a GLL's time to a thousandth and the others' to a hundredth.
  @Test("one moment in two precisions is one epoch, and epochs 10 ms apart are two")
  func precisions() {
    let place = Stream.place
    let both =
      Stream.sentence("GPGLL,\(place),014413.076,A")
      + Stream.sentence("GPGGA,014413.08,\(place),1,05,2.9,36.0,M,,M,,")
      + Stream.sentence("GPRMC,014413.08,A,\(place),0.0,0.0,010106,,")
    #expect(Stream.fixes(both).map(\.altitude) == [36])
    let fast = (0..<20).flatMap { Stream.gga("014413.\($0 / 10)\($0 % 10)") }
    #expect(Stream.fixes(fast).count == 20)
  }

  @Test("each epoch comes whole although the first of a minute is all that has more than RMC")
  func endings() {
    let bytes = (10..<40).flatMap { second in
      (second % 7 == 0 ? gga(second) : []) + rmc(second, speed: Double(second))
    }
    for endsByRule in [true, false] {
      let fixes = Stream.fixes(bytes, chunk: 1, endsByRule: endsByRule)
      #expect(fixes.map { $0.utc.map { Int($0) % 60 } } == (10..<40).map { $0 })
      for fix in fixes {
        let second = Double(Int(fix.utc ?? 0) % 60)
        #expect(abs((fix.speed ?? -1) - second * 1_852 / 3_600) < 1e-9)
      }
      #expect(fixes.filter { $0.altitude != nil }.count == 4)
    }
  }

  @Test("a receiver with a GSA for each constellation ends its epochs with the last of them")
  func severalOfAKind() {
    let bytes = (1...40).flatMap { second in
      gga(second)
        + Stream.sentence("GNGSA,A,2,07,30,,,,,,,,,,,1.5,0.9,1.2,1")
        + Stream.sentence("GNGSA,A,3,66,,,,,,,,,,,,1.5,0.9,1.2,2")
    }
    let fixes = Stream.fixes(bytes)
    #expect(fixes.count == 40 && fixes.allSatisfy { $0.mode == .threeDimensional })
  }

  @Test(
    "with the rule an epoch comes out with its last sentence, without it with the first of the next but one"
  )
  func latency() {
    for (endsByRule, expected) in [(true, 5), (false, 3)] {
      var decoder = GNSSDecoder(endsByRule: endsByRule)
      var count = 0
      for second in 1...5 {
        (gga(second) + rmc(second)).withUnsafeBytes {
          decoder.append($0, at: Timestamp(nanoseconds: 0))
        }
        while let event = decoder.next() { if case .epoch = event { count += 1 } }
      }
      // The rule takes three epochs to learn; then each is out with its RMC. Without it two are open.
      #expect(count == expected)
    }
  }

  @Test("a position that its receiver warns of is given with the warning, and none is none")
  func warnings() throws {
    let simulated = try #require(
      Stream.fixes(rmc(1, status: "V") + gga(1, quality: 8)).first)
    #expect(simulated.latitude != nil && simulated.mode == .threeDimensional)
    #expect(!simulated.isValid && simulated.speed == nil)
    let none = try #require(Stream.fixes(rmc(1, status: "V") + gga(1, quality: 0)).first)
    #expect(none.latitude == nil && none.mode == .none)
    let lone = try #require(Stream.fixes(rmc(1, status: "V")).first)
    #expect(lone.latitude == nil && lone.mode == .none)
  }

  @Test("UBX of the same epoch in two ways is one line, whichever comes first", arguments: [0, 1])
  func twoWays(order: Int) {
    // NAV-SOL with a 3D fix at the same time of week, somewhere.
    func solution(_ second: Int) -> [UInt8] {
      Stream.message(
        1, 6, length: 52,
        [
          (0, 4, second * 1_000), (8, 2, 2_400), (10, 1, 3), (11, 1, 0x0F), (12, 4, 383_000_000),
          (16, 4, 88_000_000), (20, 4, 500_000_000),
        ])
    }
    let bytes = (1...10).flatMap {
      order == 0 ? solution($0) + Stream.pvt(second: $0) : Stream.pvt(second: $0) + solution($0)
    }
    let fixes = Stream.fixes(bytes)
    #expect(fixes.count == 10)
    #expect(fixes.allSatisfy { $0.latitude == 52 })
  }

  @Test("finer digits are waited for once they come, and are the epoch's")
  func highPrecision() throws {
    func fine(_ second: Int) -> [UInt8] {
      Stream.message(
        1, 0x14, length: 36,
        [
          (4, 4, second * 1_000), (8, 4, 130_000_000), (12, 4, 520_000_001), (16, 4, 80_001),
          (20, 4, 36_001), (24, 1, -7), (25, 1, 42), (26, 1, 5), (27, 1, -5), (28, 4, 141),
          (32, 4, 202),
        ])
    }
    let bytes = (1...3).flatMap { Stream.pvt(second: $0) + fine($0) } + Stream.pvt(second: 4)
    let fixes = Stream.fixes(bytes)
    #expect(fixes.count == 4)
    // The first is out before anybody knows that more will come; the last has none.
    #expect(fixes.map { $0.latitude == 52 } == [true, false, false, true])
    let fix = fixes[1]
    #expect(abs(try #require(fix.latitude) - 52.000_000_142) < 1e-12)
    #expect(abs(try #require(fix.longitude) - 12.999_999_993) < 1e-12)
    #expect(abs(try #require(fix.ellipsoidalAltitude) - 80.001_5) < 1e-9)
    #expect(abs(try #require(fix.altitude) - 36.000_5) < 1e-9)
    #expect(abs(try #require(fix.horizontalAccuracy) - 0.014_1) < 1e-9)
    // The rest is the NAV-PVT's.
    #expect(abs(try #require(fix.speed) - 1.4) < 1e-9)
  }

  @Test("finer digits that fail to come, or come first, lose no epoch")
  func highPrecisionLost() {
    func fine(_ second: Int) -> [UInt8] {
      Stream.message(
        1, 0x14, length: 36,
        [
          (4, 4, second * 1_000), (8, 4, 130_000_000), (12, 4, 520_000_000), (24, 1, 1),
          (25, 1, 1), (28, 4, 100), (32, 4, 100),
        ])
    }
    let lost = [1, 2, 3, 4, 5].flatMap { Stream.pvt(second: $0) + ($0 % 2 == 1 ? fine($0) : []) }
    #expect(Stream.fixes(lost).map { $0.timeOfDay } == [1, 2, 3, 4, 5].map { 10_800 + $0 })
    let first = (1...3).flatMap { fine($0) + Stream.pvt(second: $0) }
    for fix in Stream.fixes(first) {
      #expect(fix.latitude != 52 && abs((fix.speed ?? 0) - 1.4) < 1e-9)
    }
  }

  @Test("a date that is said once goes along for days")
  func oneDate() {
    let sentences = (0..<60).map { hour in
      Stream.sentence(
        "GPGGA,\(hour % 24 < 10 ? "0" : "")\(hour % 24)0000,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"
      )
    }
    let bytes = Stream.sentence("GPZDA,000000,22,11,2026,,") + sentences.flatMap { $0 }
    // 2026-11-22 00:00 UTC, and an hour each.
    let hours: [Double?] = (0..<60).map { 1_795_305_600 + Double($0) * 3_600 }
    #expect(Stream.fixes(bytes).map(\.utc) == hours)
  }

  @Test(
    "a receiver whose weeks have rolled over is put right where an earliest day is known, and says so"
  )
  func rollover() throws {
    // 1999-03-23 and 1024 weeks are 2018-11-06; 2026-11-22 stays.
    let bytes =
      Stream.sentence("GPRMC,123510,A,4807.038,N,01131.000,E,1,90,230399,,")
      + Stream.sentence("GPRMC,123511,A,4807.038,N,01131.000,E,1,90,221126,,")
    func utc(_ earliest: Double?) throws -> [GNSSFix] {
      var decoder = GNSSDecoder(earliest: earliest)
      return Stream.events(bytes, by: &decoder).compactMap {
        if case .epoch(let fix, _) = $0 { fix } else { nil }
      }
    }
    let believed = try utc(nil)
    #expect(believed.map(\.weeksAdded) == [0, 0])
    #expect(believed.map(\.utc) == [922_192_510, 1_795_350_911])
    // 2010-01-01.
    let mended = try utc(1_262_304_000)
    #expect(mended.map(\.weeksAdded) == [1_024, 0])
    #expect(mended.map(\.utc) == [1_541_507_710, 1_795_350_911])
    // 2030-01-01: each once more.
    #expect(try utc(1_893_456_000).map(\.weeksAdded) == [2_048, 1_024])
  }

  @Test(
    "of several constellations' fixes the best counts", arguments: [[2, 3], [3, 2], [1, 3, 2]])
  func bestMode(modes: [Int]) throws {
    let bytes =
      gga(1) + modes.flatMap { Stream.sentence("GNGSA,A,\($0),07,30,,,,,,,,,,,1.5,0.9,1.2,1") }
    #expect(try #require(Stream.fixes(bytes).first).mode == .threeDimensional)
    let flat = gga(1) + Stream.sentence("GNGSA,A,2,07,30,,,,,,,,,,,1.5,0.9,1.2,1")
    #expect(try #require(Stream.fixes(flat).first).mode == .twoDimensional)
  }

  @Test("NMEA before the first UBX message is told, NMEA of the same epochs is not")
  func mixed() {
    let before = rmc(1) + gga(1) + rmc(2) + gga(2)
    let mixed = (0..<6).flatMap { k -> [UInt8] in
      Stream.sentence("GPRMC,03000\(k),A,4807.038,N,01131.000,E,1,90,221126,,")
        + Stream.pvt(second: k)
    }
    let fixes = Stream.fixes(before + mixed)
    #expect(fixes.count == 8)
    #expect(fixes.suffix(6).allSatisfy { $0.accuracySource == .receiver })
  }

  @Test("the date line, the poles, and days that the calendar has not")
  func edges() throws {
    func fix(_ place: String, _ date: String) throws -> GNSSFix {
      try #require(Stream.fixes(Stream.sentence("GNRMC,120000,A,\(place),0,0,\(date),,")).first)
    }
    let east = try fix("9000.000,N,18000.000,E", "290224")
    #expect(east.latitude == 90 && east.longitude == 180)
    // 2024-02-29 12:00 UTC.
    #expect(east.utc == 1_709_208_000)
    #expect(try fix("9000.000,S,18000.000,W", "010180").longitude == -180)
    #expect(try fix("9000.001,N,18000.000,W", "010180").latitude == nil)
    for date in ["290223", "310426", "320126", "000126", "010026", "011326"] {
      #expect(try fix("4807.0,N,01131.0,E", date).utc == nil, "\(date)")
    }
  }

  @Test("Garmin's height fills in where GGA has none, and u-blox's own sentence has its accuracies")
  func proprietary() throws {
    let garmin = try #require(
      Stream.fixes(
        Stream.sentence("GPGGA,120000,4807.038,N,01131.000,E,1,08,2.0,,M,,M,,")
          + Stream.sentence("PGRMZ,48,f,3")
      ).first)
    // 48 international feet.
    #expect(abs(try #require(garmin.altitude) - 14.630_4) < 1e-9)
    #expect(garmin.mode == .threeDimensional)
    // The example of u-blox's protocol description.
    let ublox = try #require(
      Stream.fixes(
        Stream.sentence(
          "PUBX,00,081350.00,4717.113210,N,00833.915187,E,546.589,G3,2.1,2.0,0.007,77.52,0.007,,0.92,1.19,0.77,9,0,0"
        )
      ).first)
    #expect(ublox.horizontalAccuracy == 2.1 && ublox.verticalAccuracy == 2)
    #expect(ublox.ellipsoidalAltitude == 546.589 && ublox.altitude == nil)
    #expect(ublox.mode == .threeDimensional)
    #expect(abs(try #require(ublox.speed) - 0.007 / 3.6) < 1e-12)
    #expect(ublox.verticalSpeed == -0.007 && ublox.accuracySource == .receiver)
  }
}
