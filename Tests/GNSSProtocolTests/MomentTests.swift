import GNSSProtocol
import SensorTypes
import Testing

/// Each moment once, whole, in order and of its own day, when sentences lag, clocks step, and days meet.
struct MomentTests {
  private static let place = "4807.038,N,01131.000,E"

  private func clock(_ second: Double) -> String {
    let whole = Int(second)
    let digits = [whole / 3_600, whole / 60 % 60, whole % 60].map {
      ($0 < 10 ? "0" : "") + String($0)
    }
    let hundredths = Int((100 * (second - Double(whole))).rounded())
    return digits.joined() + "." + (hundredths < 10 ? "0" : "") + String(hundredths)
  }

  private func rmc(_ second: Double, _ date: String = "221126", _ talker: String = "GP") -> [UInt8]
  {
    Stream.sentence("\(talker)RMC,\(clock(second)),A,\(Self.place),22.4,84.4,\(date),,")
  }

  private func gga(_ second: Double, _ talker: String = "GP", altitude: Double = 545.4) -> [UInt8] {
    Stream.sentence("\(talker)GGA,\(clock(second)),\(Self.place),1,08,0.9,\(altitude),M,46.9,M,,")
  }

  private func epoch(_ second: Double, _ date: String = "221126") -> [UInt8] {
    gga(second) + rmc(second, date)
  }

  private func seconds(_ range: Range<Int>) -> [Double] { range.map { Double($0) } }

  private static let orders = [true, false]
  // 2026-11-22 00:00 UTC.
  private static let day = 1_795_305_600.0

  @Test(
    "live, an RMC that is an epoch ahead of the GGA costs the first epochs a part, and then none")
  func ahead() {
    var bytes: [UInt8] = []
    for time in seconds(10..<40) { bytes += rmc(time + 1) + gga(time) }
    let fixes = Stream.fixes(bytes)
    let times = fixes.compactMap(\.timeOfDay)
    #expect(Set(times).count == times.count && times.sorted() == seconds(10..<41))
    // The first three tell the decoder; the last has no GGA.
    for fix in fixes.dropFirst(3).dropLast() {
      #expect(fix.speed != nil && fix.altitude != nil, "\(fix)")
    }
    #expect(fixes.dropFirst(2).map(\.timeOfDay) == seconds(12..<41))
  }

  @Test("live, two receivers on one wire, half a second apart, come whole after the first second")
  func twoReceivers() {
    var bytes: [UInt8] = []
    for time in seconds(10..<30) {
      bytes += gga(time) + gga(time + 0.5, "GN") + rmc(time) + rmc(time + 0.5, "221126", "GN")
    }
    let fixes = Stream.fixes(bytes)
    #expect(fixes.compactMap(\.timeOfDay) == (0..<40).map { 10 + Double($0) / 2 })
    #expect(fixes.dropFirst(2).allSatisfy { $0.speed != nil && $0.altitude != nil })
  }

  @Test(
    "a clock that is put back by some seconds loses no epoch and changes no order",
    arguments: orders, [2, 3, 5, 9])
  func steps(endsByRule: Bool, back: Int) {
    let times = seconds(100..<120) + seconds((120 - back)..<150)
    for dated in [true, false] {
      var bytes: [UInt8] = []
      for time in times { bytes += dated ? epoch(time) : gga(time) }
      let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
      #expect(fixes.map(\.timeOfDay) == times, "\(dated)")
    }
  }

  @Test("an epoch that is said twice in the same words is one", arguments: orders)
  func echo(endsByRule: Bool) {
    // Of GGA (0) and RMC (1).
    for order in [[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1]] {
      var bytes: [UInt8] = []
      for time in seconds(100..<120) {
        for sentence in order { bytes += sentence == 0 ? gga(time) : rmc(time) }
      }
      let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
      #expect(fixes.map(\.timeOfDay) == seconds(100..<120), "\(order)")
      #expect(fixes.allSatisfy { $0.altitude != nil && $0.speed != nil }, "\(order)")
    }
  }

  @Test("the same times of another day are other epochs, and lend nothing", arguments: orders)
  func days(endsByRule: Bool) {
    // One fix a day, at noon.
    var noon: [UInt8] = []
    var expected: [Double] = []
    for day in 0..<5 {
      noon += gga(43_200, altitude: 500 + Double(day)) + rmc(43_200, "\(22 + day)1126")
      expected.append(Self.day + 43_200 + Double(day) * 86_400)
    }
    let daily = Stream.fixes(noon, endsByRule: endsByRule)
    #expect(daily.map(\.utc) == expected)
    #expect(daily.map(\.altitude) == [500, 501, 502, 503, 504])
    let flat = epoch(43_200) + rmc(43_200, "231126") + rmc(43_200, "241126")
    #expect(
      Stream.fixes(flat, endsByRule: endsByRule).map { $0.altitude != nil } == [true, false, false])
    // A day's log behind another's, a few seconds earlier by the time of day.
    for back in 0..<8 {
      let (first, second) = (seconds(100..<110), seconds((109 - back)..<130))
      var bytes: [UInt8] = []
      for time in first { bytes += epoch(time) }
      for time in second { bytes += epoch(time, "241126") }
      let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
      let times = first.map { Self.day + $0 } + second.map { Self.day + 172_800 + $0 }
      #expect(fixes.map(\.utc) == times)
      #expect(fixes.allSatisfy { $0.altitude != nil && $0.speed != nil })
    }
  }

  @Test(
    "an epoch without a date is of the day that brings it nearest to the last date",
    arguments: orders)
  func nearestDay(endsByRule: Bool) {
    // The time of a date of 2026-11-22, the time of the epoch, and seconds from the beginning of
    // that day to the epoch.
    let cases: [(date: Double, time: Double, seconds: Double)] = [
      (0, 86_399, -1), (1, 86_390, -10), (3_600, 82_800, -3_600), (0, 1, 1), (0, 43_199, 43_199),
      (86_399, 0, 86_400), (86_390, 10, 86_410), (82_800, 3_600, 90_000), (86_399, 86_398, 86_398),
    ]
    for (date, time, seconds) in cases {
      let bytes = Stream.sentence("GPZDA,\(clock(date)),22,11,2026,,") + gga(time)
      let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
      #expect(fixes.map(\.utc) == [Self.day + seconds], "\(time) after a date of \(date)")
    }
    let dated = Stream.sentence("GPZDA,000000,22,11,2026,,")
    let night = dated + gga(86_398) + gga(86_399) + gga(0) + gga(1)
    let told = Stream.fixes(night, endsByRule: endsByRule)
    #expect(told.map(\.utc) == [-2, -1, 0, 1].map { Self.day + $0 })
  }

  @Test(
    "an epoch before midnight keeps its day where the date is said a second ahead",
    arguments: orders)
  func dateAhead(endsByRule: Bool) {
    // Seconds from 2026-11-22 00:00 UTC: each epoch behind the date of the second after it.
    let seconds = -3..<3
    var bytes: [UInt8] = []
    for second in seconds {
      let (ahead, day) = ((86_401 + second) % 86_400, second + 1 < 0 ? 21 : 22)
      bytes += Stream.sentence("GPZDA,\(clock(Double(ahead))),\(day),11,2026,,")
      bytes += gga(Double((86_400 + second) % 86_400))
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    #expect(fixes.map(\.utc) == seconds.map { Self.day + Double($0) })
    // An RMC that is the first of its day, and a GGA of the second before.
    let sentences = rmc(0, "231126") + gga(86_399)
    let both = Stream.fixes(sentences, endsByRule: endsByRule).compactMap(\.utc)
    #expect(both.sorted() == [Self.day + 86_399, Self.day + 86_400])
  }

  @Test("24:00:00 ends the day that it dates, in ZDA too")
  func daysEnd() {
    let bytes =
      gga(86_399) + Stream.sentence("GPZDA,235959,22,11,2026,,")
      + Stream.sentence("GPGGA,240000.00,\(Self.place),1,08,0.9,545.4,M,46.9,M,,")
      + Stream.sentence("GPZDA,240000.00,22,11,2026,,") + gga(1)
    #expect(
      Stream.fixes(bytes, endsByRule: false).map(\.utc) == [
        Self.day + 86_399, Self.day + 86_400, Self.day + 86_401,
      ])
  }

  // MARK: Weeks that have rolled over

  private func fixes(_ bytes: [UInt8], earliest: Double, latest: Double? = nil) -> [GNSSFix] {
    var decoder = GNSSDecoder(earliest: earliest, latest: latest)
    return Stream.events(bytes, by: &decoder).compactMap {
      if case .epoch(let fix, _) = $0 { fix } else { nil }
    }
  }

  // 2025-01-01 and 2026-11-24.
  private static let (earliest, today) = (1_735_689_600.0, 1_795_478_400.0)

  @Test("without a fix, and of a simulator, a date is told as it is said")
  func noFix() {
    let cold = fixes(
      Stream.sentence("GPRMC,000010,V,,,,,,,060180,,,N"), earliest: Self.earliest)
    #expect(cold.map(\.utc) == [315_964_810] && cold.map(\.weeksAdded) == [0])
    let simulated = fixes(
      Stream.sentence("GPRMC,123510,A,\(Self.place),1,90,080407,,,S"), earliest: Self.earliest)
    #expect(simulated.map(\.weeksAdded) == [0])
    // 2007-04-08 12:35:10 and 1024 weeks: 2026-11-22.
    let measured = fixes(
      Stream.sentence("GPRMC,123510,A,\(Self.place),1,90,080407,,,A"), earliest: Self.earliest)
    #expect(measured.map(\.utc) == [Self.day + 45_310] && measured.map(\.weeksAdded) == [1_024])
  }

  @Test("a date is not moved into the future: one that cannot be is left out")
  func future() {
    let bytes = Stream.sentence("GPRMC,123510,A,\(Self.place),1,90,080412,,,A")
    // 2012-04-08; 1024 weeks later is 2031-11-23.
    let undated = fixes(bytes, earliest: Self.earliest, latest: Self.today)
    #expect(undated.map(\.utc) == [nil] && undated.map(\.timeOfDay) == [45_310])
    #expect(
      fixes(bytes, earliest: Self.earliest, latest: Self.today + 6 * 366 * 86_400).map(\.weeksAdded)
        == [1_024])
    var decoder = GNSSDecoder(earliest: Self.earliest)
    decoder.setLatest(Self.today)
    let later = Stream.events(bytes, by: &decoder)
    #expect(
      later.contains { if case .epoch(let fix, _) = $0 { fix.utc == nil } else { false } })
  }

  @Test("by GPS time the leap seconds are those of the true day")
  func leapSeconds() {
    // NAV-SOL of GPS week 1422 (2007-04-08), 1 s into it, on the equator; a receiver of then means week 2446, 2026-11-22.
    let bytes = Stream.message(
      1, 6, length: 52,
      [
        (0, 4, 1_000), (8, 2, 1_422), (10, 1, 3), (11, 1, 0x0F), (12, 4, 637_823_700), (47, 1, 8),
      ])
    // 14 leap seconds then, 18 now (IERS Bulletin C).
    let long = 1_175_990_400.0 + 1 - 14
    #expect(fixes(bytes, earliest: 0).map(\.utc) == [long])
    let today = Self.day + 1 - 18
    #expect(fixes(bytes, earliest: Self.earliest, latest: Self.today).map(\.utc) == [today])
  }

  // MARK: Two protocols

  private func less(_ milliseconds: Int) -> [UInt8] {
    let place: [(Int, Int, Int)] = [
      (0, 4, milliseconds), (4, 4, 130_000_000), (8, 4, 520_000_000), (20, 4, 1_500),
    ]
    let time: [(Int, Int, Int)] = [
      (0, 4, milliseconds), (8, 4, milliseconds % 1_000 * 1_000_000), (12, 2, 2026), (14, 1, 11),
      (15, 1, 22), (16, 1, 3), (18, 1, milliseconds / 1_000), (19, 1, 7),
    ]
    return Stream.message(1, 2, length: 28, place) + Stream.message(1, 0x21, length: 20, time)
  }

  @Test(
    "UBX that says less, five times as often as NMEA, fills in between; each moment once, in order",
    arguments: orders, [true, false])
  func rarerNMEA(endsByRule: Bool, nmeaFirst: Bool) {
    var bytes: [UInt8] = []
    for fifth in 0..<50 {
      let sentences = fifth % 5 == 0 ? epoch(10_800 + Double(fifth) / 5) : []
      bytes += nmeaFirst ? sentences + less(fifth * 200) : less(fifth * 200) + sentences
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    let fifths = fixes.compactMap { $0.timeOfDay.map { Int((($0 - 10_800) * 5).rounded()) } }
    #expect(fifths == Array(0..<50))
    for (fifth, fix) in zip(fifths, fixes) {
      #expect((fix.speed != nil) == (fifth % 5 == 0), "\(fifth) \(fix)")
    }
  }

  @Test("UBX that says less is told from where NMEA ends, and until it begins", arguments: orders)
  func handover(endsByRule: Bool) {
    var bytes: [UInt8] = []
    for second in 0..<30 {
      if (10..<20).contains(second) { bytes += epoch(10_800 + Double(second)) }
      bytes += less(second * 1_000)
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    #expect(fixes.compactMap(\.timeOfDay) == seconds(10_800..<10_830))
    #expect(fixes.map { $0.speed != nil } == (0..<30).map { (10..<20).contains($0) })
  }
}
