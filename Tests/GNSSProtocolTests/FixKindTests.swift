import GNSSProtocol
import SensorTypes
import Testing

/// How a position came about, in each protocol's words.
struct FixKindTests {
  private func kind(_ sentences: String...) throws -> FixKind? {
    try #require(Stream.fixes(sentences.flatMap { Stream.sentence($0) }).first).kind
  }

  private static let place = "4807.038,N,01131.000,E"

  @Test(
    "the quality of a GGA",
    arguments: zip(
      ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
      [
        FixKind.none, .autonomous, .differential, .preciseCode, .rtkFixed, .rtkFloat,
        .deadReckoning, .manual, .simulated, .differential,
      ]))
  func quality(number: String, kind: FixKind) throws {
    let fix = try #require(Stream.fixes(Stream.gga("123519", number)).first)
    #expect(fix.kind == kind)
    #expect(fix.isValid == (kind != .manual && kind != .simulated))
    #expect((fix.latitude != nil) == (kind != .none))
    guard number != "9", kind != .none else { return }
    #expect(kind.quality == Int(number))
  }

  @Test(
    "the mode of an RMC, a GNS, a GLL and a VTG",
    arguments: zip(
      ["A", "D", "R", "F", "E", "M", "S"],
      [
        FixKind.autonomous, .differential, .rtkFixed, .rtkFloat, .deadReckoning, .manual,
        .simulated,
      ]))
  func mode(letter: String, kind: FixKind) throws {
    let rmc = "GNRMC,123519,A,\(Self.place),0.0,0.0,230324,,,"
    #expect(try self.kind(rmc + letter) == kind)
    #expect(try self.kind("GNRMC,123519,A,\(Self.place),0.0,0.0,230324,,,\(letter),V") == kind)
    #expect(try self.kind("GNGNS,123519,\(Self.place),\(letter)N,08,0.9,545.4,46.9,,") == kind)
    #expect(try self.kind("GNGLL,\(Self.place),123519,A,\(letter)") == kind)
    #expect(
      try self.kind(
        "GNRMC,123519,A,\(Self.place),,,230324,,", "GNVTG,84.4,T,,M,22.4,N,,K,\(letter)")
        == kind)
    #expect(kind.mode == letter.utf8.first)
  }

  @Test("what the receiver does not report is not known")
  func unknown() throws {
    #expect(try kind("GPRMC,123519,A,\(Self.place),0.0,0.0,230324,,") == nil)
    #expect(try kind("GPGLL,\(Self.place),123519,A") == nil)
    // P is said of several frequencies, SBAS, precise point positioning and the encrypted code.
    #expect(try kind("GNRMC,123519,A,\(Self.place),0.0,0.0,230324,,,P") == nil)
    #expect(try kind("GPGGA,123519,\(Self.place),12,08,0.9,545.4,M,46.9,M,,") == nil)
  }

  @Test("sentences of one epoch that differ: the finer measurement, and a guess before any")
  func differing() throws {
    func rmc(_ mode: String) -> String { "GNRMC,123519,A,\(Self.place),0.0,0.0,230324,,,\(mode)" }
    func gga(_ quality: String) -> String {
      "GNGGA,123519,\(Self.place),\(quality),08,0.9,545.4,M,46.9,M,,"
    }
    #expect(try kind(gga("4"), rmc("A")) == .rtkFixed)
    #expect(try kind(gga("1"), rmc("D")) == .differential)
    #expect(try kind(rmc("R"), gga("2")) == .rtkFixed)
    #expect(try kind(gga("1"), rmc("E")) == .deadReckoning)
    #expect(try kind(gga("6"), rmc("A")) == .deadReckoning)
    #expect(try kind(gga("6"), rmc("S")) == .simulated)
    // A VTG has no time: it may be the next epoch's.
    #expect(try kind(gga("1"), "GNVTG,84.4,T,,M,22.4,N,,K,E") == .autonomous)
    #expect(try kind("GNGNS,123519,\(Self.place),ARFN,08,0.9,545.4,46.9,,") == .rtkFixed)
  }

  @Test("age and station of corrections, where there are any")
  func corrections() throws {
    func fix(_ content: String) throws -> GNSSFix {
      try #require(Stream.fixes(Stream.sentence(content)).first)
    }
    func gga(_ quality: String, _ corrections: String) -> String {
      "GNGGA,123519,\(Self.place),\(quality),08,0.9,545.4,M,46.9,M,\(corrections)"
    }
    #expect(try fix(gga("4", "1.5,0120")).corrections == FixCorrections(age: 1.5, station: 120))
    #expect(try fix(gga("2", ",0120")).corrections == FixCorrections(station: 120))
    #expect(try fix(gga("2", ",")).corrections == nil)
    // Zeros that some write where they have none.
    #expect(try fix(gga("1", "0.0,0000")).corrections == nil)
    for zeros in ["0.0,0000", ",0000", "0.0,"] {
      #expect(try fix(gga("2", zeros)).corrections == nil)
    }
    #expect(try fix(gga("4", "-1,5000")).corrections == nil)
    let gns = "GNGNS,123519,\(Self.place),RRN,08,0.9,545.4,46.9,2.0,0007"
    #expect(try fix(gns).corrections == FixCorrections(age: 2, station: 7))
  }

  @Test("PUBX,00")
  func pubx() throws {
    for (word, kind) in [
      ("G2", FixKind.autonomous), ("G3", .autonomous), ("D2", .differential), ("D3", .differential),
      ("DR", .deadReckoning), ("RK", .combined),
    ] {
      let sentence =
        "PUBX,00,123519.00,\(Self.place),590.0,\(word),2.1,2.0,0.0,77.5,0.0,,0.9,1.2,0.8,8,0,0"
      #expect(try self.kind(sentence) == kind, "\(word)")
    }
    // Time alone withdraws what other sentences call a position.
    let fix = try #require(
      Stream.fixes(
        Stream.gga("123519.00")
          + Stream.sentence(
            "PUBX,00,123519.00,\(Self.place),590.0,TT,2.1,2.0,0.0,77.5,0.0,,0.9,1.2,0.8,8,0,0")
      ).first)
    #expect(fix.kind == .timeOnly && fix.mode == .none && fix.latitude == nil && fix.speed == nil)
  }

  // u-blox F9 interface description, NAV-PVT: flags 0x02 is diffSoln, bits 6 and 7 are carrSoln.
  @Test("NAV-PVT and its parts")
  func pvt() throws {
    func fix(
      _ type: Int, _ flags: Int = 1, flags3: Int = 0, satellites: Int = 12
    ) throws -> GNSSFix {
      let fields = [
        (0, 4, 1_000), (4, 2, 2026), (6, 1, 11), (7, 1, 22), (11, 1, 7), (20, 1, type),
        (21, 1, flags), (23, 1, satellites), (24, 4, 130_000_000), (28, 4, 520_000_000),
        (40, 4, 1_500), (44, 4, 2_500), (76, 2, 150), (78, 2, flags3),
      ]
      return try #require(Stream.fixes(Stream.message(1, 7, length: 92, fields)).first)
    }
    for (type, flags, kind) in [
      (0, 0, FixKind.none), (1, 1, .deadReckoning), (2, 1, .autonomous), (3, 1, .autonomous),
      (3, 3, .differential), (3, 0x43, .rtkFloat), (3, 0x83, .rtkFixed), (4, 1, .combined),
      (4, 3, .combined), (4, 0x83, .rtkFixed), (5, 1, .timeOnly),
    ] {
      let fix = try fix(type, flags)
      #expect(fix.kind == kind)
      #expect((fix.latitude != nil) == (kind != .none && kind != .timeOnly))
    }
    #expect(try fix(3, flags3: 1).latitude == nil && fix(3, flags3: 1).kind == FixKind.none)
    #expect(try fix(3, satellites: 0x88).satellitesUsed == 8)
    // The 84 bytes of a u-blox 7 end in reserved ones.
    let short = Stream.message(
      1, 7, length: 84,
      [(11, 1, 7), (20, 1, 3), (21, 1, 1), (24, 4, 130_000_000), (28, 4, 520_000_000), (78, 2, 1)])
    #expect(try #require(Stream.fixes(short).first).latitude == 52)
    for (number, age) in [(0, nil), (1, 1.0), (3, 5), (11, 120), (15, 120)] {
      let corrections = try fix(3, 3, flags3: number << 1).corrections
      #expect(corrections == age.map { FixCorrections(age: $0) })
    }
    // NAV-POSLLH with NAV-STATUS, and with NAV-SOL.
    let place = Stream.message(
      1, 2, length: 28, [(0, 4, 1_000), (4, 4, 130_000_000), (8, 4, 520_000_000)])
    for (type, bits, finer, kind) in [
      (3, 1, 0, FixKind.autonomous), (3, 3, 0, .differential), (3, 3, 0x80, .rtkFixed),
      (3, 3, 0x40, .rtkFloat), (1, 1, 0, .deadReckoning), (5, 1, 0, .timeOnly),
    ] {
      let status = Stream.message(
        1, 3, length: 16, [(0, 4, 1_000), (4, 1, type), (5, 1, bits), (7, 1, finer)])
      let fix = try #require(Stream.fixes(place + status).first)
      #expect(fix.kind == kind)
      #expect((fix.latitude == nil) == (kind == .timeOnly))
    }
    let solution = Stream.message(
      1, 6, length: 52, [(0, 4, 1_000), (10, 1, 3), (11, 1, 3), (24, 4, 552), (40, 4, 18)])
    let solved = try #require(Stream.fixes(solution + place).first)
    #expect(solved.kind == .differential)
  }

  private func part(
    _ id: UInt8, _ length: Int, second: Int, _ more: [(Int, Int, Int)] = []
  ) -> [UInt8] {
    Stream.message(1, id, length: length, [(0, 4, second * 1_000)] + more)
  }

  private func place(second: Int) -> [UInt8] {
    part(2, 28, second: second, [(4, 4, 130_000_000), (8, 4, 520_000_000)])
  }

  private func status(second: Int, type: Int, isValid: Bool = true) -> [UInt8] {
    part(3, 16, second: second, [(4, 1, type), (5, 1, isValid ? 1 : 0)])
  }

  @Test("an epoch that has lost its NAV-STATUS has the fix type and the validity of the one before")
  func lostStatus() throws {
    for (type, count) in [(5, 0), (3, 2)] {
      let bytes = place(second: 1) + status(second: 1, type: type) + place(second: 2)
      #expect(Stream.fixes(bytes).filter { $0.latitude != nil }.count == count)
    }
    let doubted = Stream.fixes(
      place(second: 1) + status(second: 1, type: 2, isValid: false) + place(second: 2))
    #expect(doubted.map(\.isValid) == [false, false])
    #expect(doubted.map(\.mode) == [.twoDimensional, .twoDimensional])
    let reckoned = Stream.fixes(place(second: 1) + status(second: 1, type: 1) + place(second: 2))
    #expect(reckoned.map(\.kind) == [.deadReckoning, .deadReckoning])
    // A receiver that was asked once does not send it.
    let once = place(second: 1) + status(second: 1, type: 0) + (2..<30).flatMap(place(second:))
    #expect(Stream.fixes(once).filter { $0.latitude != nil }.count > 20)
  }

  @Test(
    "a first epoch without a fix type is a position only if the next one has none, or a position")
  func firstStatus() {
    func places(_ bytes: [UInt8]) -> Int {
      Stream.fixes(bytes).filter { $0.latitude != nil }.count
    }
    #expect(places(place(second: 1)) == 1)
    #expect(places(place(second: 1) + place(second: 2)) == 2)
    #expect(places(place(second: 1) + place(second: 2) + status(second: 2, type: 3)) == 2)
    #expect(places(place(second: 1) + place(second: 2) + status(second: 2, type: 0)) == 0)
    #expect(places(place(second: 1) + place(second: 2) + Stream.pvt(second: 3)) == 3)
  }

  // gpsd_json(5), "TPV".
  @Test("gpsd's status")
  func gpsd() throws {
    for (status, kind) in [
      ("", nil), (#","status":1"#, .autonomous), (#","status":2"#, .differential),
      (#","status":3"#, .rtkFixed), (#","status":4"#, .rtkFloat), (#","status":5"#, .deadReckoning),
      (#","status":6"#, .combined), (#","status":7"#, .timeOnly), (#","status":8"#, .simulated),
      (#","status":9"#, .preciseCode), (#","status":0"#, nil),
    ] as [(String, FixKind?)] {
      var listener = GPSDListener()
      listener.hear(
        #"{"class":"TPV","device":"/dev/a","mode":3,"time":"2026-11-22T07:14:42.000Z","lat":52.0,"lon":13.0,"#
          + #""altMSL":36.0,"dgpsAge":1.4,"dgpsSta":133\#(status)}"#, at: 1)
      listener.finish()
      let fix = try #require(listener.fixes.first)
      #expect(fix.kind == kind)
      #expect((fix.latitude != nil) == (kind != .timeOnly))
      let isCorrected = kind.map { $0 >= .differential || $0 == .combined } ?? false
      #expect(fix.corrections == (isCorrected ? FixCorrections(age: 1.4, station: 133) : nil))
    }
  }

  @Test("kinds are ordered, and only those with satellites in them are measured")
  func order() {
    #expect(FixKind.allCases.sorted() == FixKind.allCases)
    #expect(FixKind.allCases.filter(\.isMeasured).first == .combined)
  }
}
