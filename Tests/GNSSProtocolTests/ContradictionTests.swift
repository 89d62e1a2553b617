import GNSSProtocol
import SensorTypes
import Testing

/// Receivers that say one epoch in two ways, leave out its time, or speak while another does: no epoch twice, none of
/// another's parts, none lost.
struct ContradictionTests {
  private static let orders = [true, false]

  @Test("a position without a time is no other epoch's", arguments: orders)
  func foreign(endsByRule: Bool) {
    let bytes = (10..<16).flatMap { second in
      Stream.gga("1235\(second)") + Stream.gga("", place: "3300.000,S,15100.000,E")
        + Stream.rmc("1235\(second)")
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    for fix in fixes {
      #expect((fix.timeOfDay == nil) == (fix.latitude == -33), "\(fix)")
      #expect(fix.latitude != -33 || fix.speed == nil)
    }
    let times = fixes.compactMap(\.timeOfDay)
    #expect(times == times.sorted() && Set(times).count == 6 && times.count == 6)
  }

  private func gll(_ time: String, _ status: String? = "A", talker: String = "GP") -> [UInt8] {
    let end = status.map { ",\($0),A" } ?? ""
    return Stream.sentence("\(talker)GLL,\(Stream.place),\(time)\(end)")
  }

  private static let gst = "1.0,2.0,1.0,90.0,1.5,1.2,2.4"

  @Test(
    "a sentence that stays behind, at an old time, is dropped: each epoch once, whole, in order",
    arguments: orders)
  func stale(endsByRule: Bool) {
    let behind: [[UInt8]] = [
      gll("123510"), gll("123510.00"), Stream.sentence("GPGST,123510,\(Self.gst)"),
      // In whole seconds, of the epoch of the last one.
      gll("123509"),
    ]
    for sentence in behind {
      let bytes = (10..<30).flatMap { second in
        Stream.gga("1235\(second)") + sentence + Stream.rmc("1235\(second)")
      }
      let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
      let times = fixes.compactMap(\.timeOfDay).filter { $0 >= 45_310 }
      #expect(times == (0..<20).map { 45_310 + Double($0) }, "\(times)")
      #expect(
        fixes.filter { $0.altitude != nil && $0.speed != nil }.count >= 20 - (endsByRule ? 3 : 0))
    }
  }

  @Test(
    "times in tenths beside an RMC in whole seconds are ten epochs a second, each once",
    arguments: orders)
  func wholeSeconds(endsByRule: Bool) {
    let bytes = (0..<50).flatMap { tenth in
      Stream.gga("1235\(10 + tenth / 10).\(tenth % 10)") + Stream.rmc("1235\(10 + tenth / 10)")
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    let tenths = fixes.compactMap(\.timeOfDay).map { Int(($0 * 10).rounded()) }
    #expect(tenths == Array(453_100..<453_150))
  }

  @Test("a sentence that is said twice in an epoch takes nothing from it", arguments: orders)
  func twice(endsByRule: Bool) {
    for order in [[0, 0, 1], [1, 2, 1, 0], [1, 1, 0, 3], [3, 1, 1, 0]] {
      let bytes = (10..<30).flatMap { second -> [UInt8] in
        let time = "1235\(second)"
        let sentences = [
          Stream.rmc(time), Stream.gga(time), gll(time),
          Stream.sentence("GPGST,\(time),\(Self.gst)"),
        ]
        return order.flatMap { sentences[$0] }
      }
      let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
      #expect(fixes.map(\.timeOfDay) == (0..<20).map { 45_310 + Double($0) }, "\(order)")
      #expect(fixes.allSatisfy { $0.altitude == 545.4 && $0.speed != nil }, "\(order)")
    }
    // Of two places it is two receivers, and nothing is lent.
    let elsewhere = (10..<20).flatMap { second in
      Stream.gga("1235\(second)") + Stream.gga("1235\(second)", place: "3300.000,S,15100.000,E")
        + Stream.rmc("1235\(second)")
    }
    for fix in Stream.fixes(elsewhere, endsByRule: endsByRule) where (fix.latitude ?? 0) < 0 {
      #expect(fix.speed == nil)
    }
  }

  @Test(
    "speed and kind of fix count where they come before the place, and are none without one",
    arguments: orders)
  func placeLast(endsByRule: Bool) {
    let bytes = (10..<20).flatMap { second in
      Stream.sentence("GPGST,1235\(second),\(Self.gst)")
        + Stream.sentence("GPVTG,90.0,T,,M,10.0,N,18.5,K,A")
        + Stream.sentence("GPGSA,A,2,07,30,,,,,,,,,,,1.5,0.9,1.2") + Stream.gga("1235\(second)")
    }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    #expect(fixes.count == 10)
    for fix in fixes {
      #expect(fix.course == 90 && abs((fix.speed ?? 0) - 10 * 1_852 / 3_600) < 1e-9)
      #expect(fix.mode == .twoDimensional)
    }
    let none = Stream.fixes(
      Stream.gga("123510", "0", place: ",,,") + Stream.sentence("GPVTG,90.0,T,,M,10.0,N,18.5,K,A"),
      endsByRule: endsByRule)
    #expect(none.count == 1 && none[0].speed == nil && none[0].course == nil)
    let unmoved = Stream.fixes(
      Stream.gga("123510") + Stream.sentence("GPVTG,0.0,T,,M,0.0,N,0.0,K,N"), endsByRule: endsByRule
    )
    #expect(unmoved.count == 1 && unmoved[0].speed == nil && unmoved[0].course == nil)
  }

  @Test(
    "a warning counts, but that of one constellation which gives no place beside another's word",
    arguments: [
      (["GP A", "GL V"], true), (["GP V", "GL A"], true), (["GP V"], false),
      (["GP A", "GN V"], false),
      (["GP V", "GL V"], false), (["GP A", "GP V"], false), (["GP -"], true),
      (["GP A", "GP -"], true),
    ] as [([String], Bool)])
  func constellations(said: [String], isValid: Bool) {
    // The place is the one of the first that says A, or GN's.
    let giver = said.first { $0.hasSuffix("A") }.map { String($0.prefix(2)) } ?? "GN"
    let bytes =
      Stream.gga("123510", talker: giver)
      + said.flatMap { word -> [UInt8] in
        let status = String(word.suffix(1))
        let talker = String(word.prefix(2))
        guard status == "V" else {
          return gll("123510", status == "-" ? nil : status, talker: talker)
        }
        return Stream.sentence("\(talker)GLL,,,,,123510,V,N")
      }
    let fixes = Stream.fixes(bytes, endsByRule: false)
    #expect(fixes.count == 1 && fixes[0].latitude != nil)
    #expect(fixes.first?.isValid == isValid, "\(said)")
  }

  @Test("the day that a clock begins with is not the next fixes'", arguments: orders)
  func coldDate(endsByRule: Bool) {
    let bytes =
      Stream.sentence("GPRMC,123509,V,,,,,,,060180,,,N") + Stream.gga("123510")
      + Stream.gga("123511")
      + Stream.rmc("123512") + Stream.gga("123512") + Stream.gga("123513")
    // 1980-01-06 as it is said; 2024-03-23.
    let expected: [Double?] = [316_010_109, nil, nil, 1_711_197_312, 1_711_197_313]
    #expect(Stream.fixes(bytes, endsByRule: endsByRule).map(\.utc) == expected)
  }

  @Test("a Garmin's estimated errors are its accuracies where no GST says them", arguments: orders)
  func garmin(endsByRule: Bool) throws {
    let rme = Stream.sentence("PGRME,9.1,M,15.0,M,17.6,M")
    let bytes = (10..<20).flatMap { Stream.gga("1235\($0)") + Stream.rmc("1235\($0)") + rme }
    let fixes = Stream.fixes(bytes, endsByRule: endsByRule)
    #expect(fixes.count == 10)
    for fix in fixes {
      // Half of the errors are smaller: 1.1774 sigma of two axes, of which 68 % are within 1.5096; 0.6745 of one.
      #expect(abs(try #require(fix.horizontalAccuracy) - 9.1 * 1.5096 / 1.1774) < 0.05)
      #expect(abs(try #require(fix.verticalAccuracy) - 15 / 0.6745) < 0.1)
      #expect(fix.accuracySource == .receiver)
    }
    let both = try #require(
      Stream.fixes(Stream.gga("123510") + rme + Stream.sentence("GPGST,123510,\(Self.gst)")).first)
    let mean: Double = (1.5 * 1.5 + 1.2 * 1.2) / 2
    #expect(abs(try #require(both.horizontalAccuracy) - 1.51 * mean.squareRoot()) < 1e-9)
    #expect(both.verticalAccuracy == 2.4)
  }

  @Test("a course with 180 degrees of error is said with them")
  func unknownCourse() throws {
    let fix = try #require(
      Stream.fixes(
        Stream.message(
          1, 7, length: 92,
          [
            (0, 4, 10_000), (4, 2, 2026), (6, 1, 11), (7, 1, 22), (11, 1, 7), (10, 1, 10),
            (20, 1, 3),
            (21, 1, 1), (24, 4, 130_000_000), (28, 4, 520_000_000), (64, 4, 9_000_000),
            (72, 4, 18_000_000),
          ])
      ).first)
    #expect(abs(try #require(fix.course) - 90) < 1e-9)
    #expect(abs(try #require(fix.courseAccuracy) - 180) < 1e-9)
  }

  @Test("a time that is none takes its sentence along, and 24:00:00 is midnight")
  func badTimes() throws {
    let bad = Stream.fixes(
      Stream.gga("235959") + Stream.gga("256199", place: "4700.000,N,01100.000,E")
        + Stream.rmc("235959"))
    #expect(bad.count == 1 && bad[0].latitude != 47 && bad[0].speed != nil)
    let midnight = Stream.fixes(
      Stream.rmc("235959") + Stream.gga("235959")
        + Stream.gga("240000.00", place: "4800.000,N,01131.000,E")
        + Stream.gga("000001"), endsByRule: false)
    #expect(midnight.map(\.timeOfDay) == [86_399, 0, 1])
    let first = try #require(midnight.first?.utc)
    #expect(midnight.map { $0.utc.map { $0 - first } } == [0, 1, 2])
    #expect(midnight[1].latitude == 48)
    // The day that ends is the one that is dated.
    let dated = Stream.fixes(Stream.rmc("235959") + Stream.rmc("240000"), endsByRule: false).map(
      \.utc)
    #expect(dated.count == 2 && dated[1] == dated[0].map { $0 + 1 })
  }

  @Test(
    "a receiver that knows no time yet says in each round that it has no fix", arguments: orders)
  func cold(endsByRule: Bool) {
    let round =
      Stream.sentence("GPRMC,,V,,,,,,,,,,N") + Stream.sentence("GPGGA,,,,,,0,00,99.99,,,,,,")
      + Stream.sentence("GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99")
    let fixes = Stream.fixes(Array(repeatElement(round, count: 8).joined()), endsByRule: endsByRule)
    #expect(fixes.count == 8)
    #expect(fixes.allSatisfy { $0.mode == .none && $0.timeOfDay == nil && $0.latitude == nil })
    // Nor does one that restarts void the last fix that it had.
    let restarted = Stream.fixes(
      Stream.gga("123512") + Stream.rmc("123512") + round, endsByRule: endsByRule)
    #expect(restarted.count == 2)
    #expect(restarted[0].isValid && restarted[0].mode == .threeDimensional)
    #expect(restarted[0].satellitesUsed == 8 && restarted[1].mode == .none)
  }

  @Test("sixty minutes are a degree, and nothing beyond them is a place")
  func sixtyMinutes() throws {
    let fix = try #require(
      Stream.fixes(Stream.gga("120000", place: "4760.0000,N,01160.0000,W")).first)
    #expect(fix.latitude == 48 && fix.longitude == -12)
    let beyond = Stream.fixes(Stream.gga("120000", place: "4760.0001,N,01100.0,E"))
    #expect(beyond.count == 1 && beyond[0].latitude == nil)
  }

  @Test("a GNS of what one constellation has added takes nothing away")
  func constellations() {
    let bytes = (10..<16).flatMap { second in
      Stream.sentence("GNGNS,1235\(second),\(Stream.place),AA,14,0.9,545.4,46.9,,")
        + Stream.sentence("GPGNS,1235\(second),,,,,,8,,,,3.4,0000")
        + Stream.sentence("GLGNS,1235\(second),,,,,,6,,,,3.4,0000")
    }
    let fixes = Stream.fixes(bytes)
    #expect(fixes.count == 6)
    for fix in fixes {
      #expect(fix.mode == .threeDimensional && fix.altitude == 545.4 && fix.satellitesUsed == 14)
    }
  }

  @Test(
    "sentences of two minds about the fix make the same of it in either order",
    arguments: ["0", ""])
  func minds(quality: String) throws {
    let (motion, height) = (Stream.rmc("123510"), Stream.gga("123510", quality))
    let one = try #require(Stream.fixes(motion + height).first)
    let other = try #require(Stream.fixes(height + motion).first)
    #expect(one.latitude == other.latitude && one.latitude != nil)
    #expect(one.mode == other.mode && one.altitude == other.altitude)
    // Of a quality that was not said RMC's word is as good; of one that is none nothing is taken.
    #expect(one.altitude == (quality.isEmpty ? 545.4 : nil) && one.speed != nil)
    #expect(Stream.fixes(height).first?.latitude == nil)
  }

  @Test("what was typed in or is simulated is not vouched for", arguments: ["M", "S", "A", "E"])
  func modes(mode: String) throws {
    let fix = try #require(
      Stream.fixes(Stream.sentence("GPRMC,123510,A,\(Stream.place),1,90,230324,,,\(mode)")).first)
    #expect(fix.isValid == ["A", "E"].contains(mode) && fix.latitude != nil)
  }

  @Test("D is a status too; what RMC leaves out of speed and course VTG fills in")
  func parts() throws {
    let differential = try #require(
      Stream.fixes(Stream.rmc("123510", "D") + Stream.gga("123510", "2")).first)
    #expect(differential.isValid && differential.speed != nil && differential.course == 84.4)
    let vtg = Stream.sentence("GPVTG,77.0,T,,M,9.9,N,18.3,K,A")
    let filled = try #require(
      Stream.fixes(Stream.rmc("123510", motion: "22.4,") + vtg).first)
    #expect(filled.course == 77)
    #expect(abs((filled.speed ?? 0) - 22.4 * 1_852 / 3_600) < 1e-9)
  }

  @Test(
    "courses are turned into a circle; speeds and counts below nothing are none",
    arguments: [("-10.5", 349.5), ("365.5", 5.5), ("360", 0), ("-180", 180)])
  func ranges(_ said: String, _ course: Double) throws {
    let fix = try #require(
      Stream.fixes(
        Stream.rmc("123510", motion: "-22.4,\(said)")
          + Stream.sentence("GPGGA,123510,\(Stream.place),1,-5,0.9,545.4,M,46.9,M,,")
      ).first)
    #expect(fix.course == course && fix.speed == nil && fix.satellitesUsed == nil)
  }

  @Test("numbers that are filled up with blanks, and small letters for the sides of the earth")
  func blanks() throws {
    let fix = try #require(
      Stream.fixes(Stream.gga("123510", place: " 4807.038,n, 01131.000,w")).first)
    #expect(abs(try #require(fix.latitude) - 48.1173) < 1e-9)
    #expect(abs(try #require(fix.longitude) + 11.516_666_667) < 1e-8)
  }

  @Test("two receivers on one wire, half a second apart: each moment once, and whole")
  func twoReceivers() {
    let bytes = (10..<20).flatMap { second in
      Stream.gga("1235\(second).00") + Stream.gga("1235\(second).50", talker: "GN")
        + Stream.rmc("1235\(second).00")
        + Stream.rmc("1235\(second).50", talker: "GN")
    }
    let fixes = Stream.fixes(bytes, endsByRule: false)
    let times: [Double?] = (0..<20).map { 45_310 + Double($0) / 2 }
    #expect(fixes.map(\.timeOfDay) == times)
    #expect(fixes.allSatisfy { $0.speed != nil && $0.altitude != nil })
    let live = Stream.fixes(bytes).compactMap(\.timeOfDay)
    #expect(Set(live).count == live.count)
  }

  @Test("an RMC that is an epoch ahead of the GGA: each moment once, and whole")
  func ahead() {
    let bytes = (10..<20).flatMap { Stream.rmc("1235\($0 + 1)") + Stream.gga("1235\($0)") }
    let fixes = Stream.fixes(bytes, endsByRule: false)
    #expect(fixes.map(\.timeOfDay) == (0...10).map { 45_310 + Double($0) })
    #expect(fixes.dropFirst().dropLast().allSatisfy { $0.speed != nil && $0.altitude != nil })
    let live = Stream.fixes(bytes).compactMap(\.timeOfDay)
    #expect(Set(live).count == live.count)
  }

  @Test("a clock that goes back, and a log behind another: what comes stays in its order")
  func backwards() {
    let times = ["120000", "120001", "120002", "115000", "115001", "115002", "230000", "230001"]
    let fixes = Stream.fixes(times.flatMap { Stream.rmc($0) + Stream.gga($0) }, endsByRule: false)
    #expect(
      fixes.map(\.timeOfDay) == [
        43_200, 43_201, 43_202, 42_600, 42_601, 42_602, 82_800, 82_801,
      ])
  }
}
