import GNSSProtocol
import SensorTypes
import Testing

struct SkyTests {
  private func skies(_ bytes: [UInt8]) -> [[GNSSSatellite]] {
    var decoder = GNSSDecoder()
    var skies: [[GNSSSatellite]] = []
    for start in stride(from: 0, to: bytes.count, by: 64) {
      bytes[start..<min(bytes.count, start + 64)].withUnsafeBytes {
        decoder.append($0, at: Timestamp(nanoseconds: 0))
      }
      while let event = decoder.next() { if event == .sky { skies.append(decoder.satellites) } }
    }
    decoder.finish()
    while let event = decoder.next() { if event == .sky { skies.append(decoder.satellites) } }
    return skies
  }

  @Test("GSV of several talkers and signals, with GSA, is one sky an epoch")
  func sentences() throws {
    let epoch = { (second: Int) in
      Stream.sentence("GNRMC,12000\(second),A,4807.038,N,01131.000,E,1,90,221126,,")
        + Stream.sentence("GNGSA,A,3,07,30,,,,,,,,,,,1.5,0.9,1.2,1")
        + Stream.sentence("GNGSA,A,3,66,,,,,,,,,,,,1.5,0.9,1.2,2")
        + Stream.sentence("GPGSV,2,1,05,07,71,123,45,30,20,360,30,08,05,010,,41,30,200,33,1")
        + Stream.sentence("GPGSV,2,2,05,46,28,190,35,1")
        + Stream.sentence("GPGSV,1,1,01,07,71,123,48,6")
        + Stream.sentence("GLGSV,1,1,02,66,45,090,38,77,,,,1")
        + Stream.sentence("GAGSV,1,1,01,05,33,270,40,7")
    }
    let all = skies((1...4).flatMap(epoch))
    #expect(all.count == 4)
    for sky in all {
      #expect(
        sky.map { "\($0.system)\($0.number)" } == [
          "gps7", "gps30", "gps8", "sbas128", "sbas133", "glonass2", "glonass13", "galileo5",
        ])
      // Of two signals the stronger one.
      #expect(sky[0].carrierToNoise == 48 && sky[0].elevation == 71 && sky[0].azimuth == 123)
      #expect(sky[2].carrierToNoise == nil && sky[6].elevation == nil)
      #expect(sky.filter { $0.isUsed == true }.map(\.number) == [7, 30, 2])
    }
  }

  @Test("where a list of satellites in use is lost by its checksum, nobody knows how many are used")
  func lostList() throws {
    func epoch(_ second: Int, damaged: Bool) -> [UInt8] {
      var gps = Stream.sentence("GNGSA,A,3,07,30,,,,,,,,,,,1.5,0.9,1.2,1")
      if damaged { gps[14] = UInt8(ascii: "8") }
      return Stream.sentence("GNRMC,12000\(second),A,4807.038,N,01131.000,E,1,90,221126,,") + gps
        + Stream.sentence("GNGSA,A,3,66,,,,,,,,,,,,1.5,0.9,1.2,2")
        + Stream.sentence("GPGSV,1,1,02,07,71,123,45,30,20,360,30,1")
        + Stream.sentence("GLGSV,1,1,02,66,45,090,38,77,,,,1")
    }
    let all = skies((1...3).flatMap { epoch($0, damaged: $0 == 2) })
    #expect(all.map { sky in sky.count { $0.isUsed == true } } == [3, 0, 3])
    #expect(all[1].count == 4 && all[1].allSatisfy { $0.isUsed == nil })
  }

  @Test(
    "a GSA speaks of its own system: satellites of others are neither used nor unused",
    arguments: [
      // By the talker, by the system's number, by the numbers of the satellites.
      (
        ["GPGSA,A,3,07,,,,,,,,,,,,1.5,0.9,1.2"],
        "gps7+ gps8- sbas128- glonass2? galileo5? beidou3? qzss1?"
      ),
      (
        ["GLGSA,A,3,66,,,,,,,,,,,,1.5,0.9,1.2"],
        "gps7? gps8? sbas128? glonass2+ galileo5? beidou3? qzss1?"
      ),
      (
        ["GAGSA,A,3,,,,,,,,,,,,,1.5,0.9,1.2"],
        "gps7? gps8? sbas128? glonass2? galileo5- beidou3? qzss1?"
      ),
      (
        ["BDGSA,A,3,03,,,,,,,,,,,,1.5,0.9,1.2"],
        "gps7? gps8? sbas128? glonass2? galileo5? beidou3+ qzss1?"
      ),
      (
        ["GBGSA,A,3,,,,,,,,,,,,,1.5,0.9,1.2"],
        "gps7? gps8? sbas128? glonass2? galileo5? beidou3- qzss1?"
      ),
      (
        ["GQGSA,A,3,01,,,,,,,,,,,,1.5,0.9,1.2"],
        "gps7? gps8? sbas128? glonass2? galileo5? beidou3? qzss1+"
      ),
      (
        ["GNGSA,A,3,41,,,,,,,,,,,,1.5,0.9,1.2,1"],
        "gps7- gps8- sbas128+ glonass2? galileo5? beidou3? qzss1?"
      ),
      (
        ["GNGSA,A,3,,,,,,,,,,,,,1.5,0.9,1.2,3"],
        "gps7? gps8? sbas128? glonass2? galileo5- beidou3? qzss1?"
      ),
      (
        ["GNGSA,A,3,08,,,,,,,,,,,,1.5,0.9,1.2", "GNGSA,A,3,77,,,,,,,,,,,,1.5,0.9,1.2"],
        "gps7- gps8+ sbas128- glonass2- galileo5? beidou3? qzss1?"
      ),
      (
        ["GNGSA,A,3,,,,,,,,,,,,,1.5,0.9,1.2"],
        "gps7? gps8? sbas128? glonass2? galileo5? beidou3? qzss1?"
      ),
      ([], "gps7? gps8? sbas128? glonass2? galileo5? beidou3? qzss1?"),
    ] as [([String], String)])
  func oneSystem(uses: [String], expected: String) throws {
    let lists = [
      "GPGSV,1,1,03,07,71,123,45,08,05,010,,41,30,200,33", "GLGSV,1,1,01,66,45,090,38",
      "GAGSV,1,1,01,05,33,270,40,7", "GBGSV,1,1,01,03,33,270,40,1", "GQGSV,1,1,01,01,33,270,40,1",
    ]
    for order in [uses + lists, lists + uses] {
      let bytes = (1...3).flatMap { second in
        Stream.sentence("GNRMC,12000\(second),A,4807.038,N,01131.000,E,1,90,221126,,")
          + order.flatMap(Stream.sentence)
      }
      for sky in skies(bytes) {
        let said = sky.map { satellite in
          let use = satellite.isUsed.map { $0 ? "+" : "-" } ?? "?"
          return "\(satellite.system)\(satellite.number)\(use)"
        }
        #expect(said.joined(separator: " ") == expected)
      }
    }
  }

  @Test("what is used of a system is not carried into an epoch in which nothing is said of it")
  func systemsOfAnEpoch() throws {
    let bytes = (1...3).flatMap { (second: Int) -> [UInt8] in
      var sentences = [
        "GNRMC,12000\(second),A,4807.038,N,01131.000,E,1,90,221126,,",
        "GPGSA,A,3,07,,,,,,,,,,,,1.5,0.9,1.2",
      ]
      if second != 2 { sentences.append("GLGSA,A,3,66,,,,,,,,,,,,1.5,0.9,1.2") }
      sentences += ["GPGSV,1,1,01,07,71,123,45", "GLGSV,1,1,01,66,45,090,38"]
      return sentences.flatMap(Stream.sentence)
    }
    #expect(skies(bytes).map { $0.map(\.isUsed) } == [[true, true], [true, nil], [true, true]])
  }

  @Test("what is used is the newest epoch's, although the list of all comes seldom")
  func seldomLists() throws {
    let bytes = (1...6).flatMap { second in
      Stream.sentence("GNRMC,12000\(second),A,4807.038,N,01131.000,E,1,90,221126,,")
        + Stream.sentence("GNGSA,A,3,\(second > 3 ? "30" : "07"),,,,,,,,,,,,1.5,0.9,1.2,1")
        + (second == 6
          ? Stream.sentence("GPGSV,1,1,02,07,71,123,45,30,20,360,30,1") : [])
    }
    #expect(try #require(skies(bytes).last).filter { $0.isUsed == true }.map(\.number) == [30])
  }

  @Test("a receiver that has no time yet tells its sky too")
  func coldStart() {
    let round = Stream.sentence("GPGSV,1,1,01,07,71,123,45") + Stream.sentence("GPRMC,,V,,,,,,,,,")
    #expect(skies(round + round + round).count == 3)
  }

  @Test("a log that ends within an epoch tells the satellites that were said until then")
  func cutOff() throws {
    let epoch = Stream.sentence("GNRMC,120001,A,4807.038,N,01131.000,E,1,90,221126,,")
    let list = Stream.sentence("GPGSV,2,1,05,07,71,123,45,30,20,360,30,08,05,010,,41,30,200,33,1")
    let sky = try #require(skies(epoch + list).first)
    #expect(sky.map(\.number) == [7, 30, 8, 128])
    // North is 0, not 360.
    #expect(sky[1].azimuth == 0)
    let sat = Stream.message(
      1, 0x35, length: 8 + 12, [(5, 1, 1), (8, 1, 0), (9, 1, 5), (10, 1, 40), (11, 1, 60)])
    #expect(skies(Stream.pvt(second: 1) + sat).map { $0.map(\.number) } == [[5]])
    #expect(skies(Stream.pvt(second: 1)).isEmpty)
  }

  @Test(
    "lists that do not hold what they say",
    arguments: [
      "GPGSV,3,4,11,03,03,111,00", "GPGSV,0,0", "GPGSV", "GPGSV,1,1,01,99,99,999,999",
      "GPGSV,1,1,01,07", "GPGSV,-1,-1,-1,-1,-1,-1,-1", "GPGSA", "GPGSA,A,3,1,2",
    ])
  func hostile(content: String) {
    let all = skies(Stream.sentence(content) + Stream.sentence("GPGSV,1,1,01,07,71,123,45"))
    for satellite in all.flatMap({ $0 }) { #expect(satellite.number == 7) }
  }

  @Test("NAV-SAT, NAV-SIG and the older NAV-SVINFO, by the interface descriptions")
  func ubx() throws {
    // GPS 5: 40 dB-Hz, 60 deg up, south; used. Galileo 11: not heard, nothing known of its place.
    let sat = Stream.message(
      1, 0x35, length: 8 + 24,
      [
        (4, 1, 1), (5, 1, 2), (8, 1, 0), (9, 1, 5), (10, 1, 40), (11, 1, 60), (12, 2, 180),
        (16, 4, 0x0F), (20, 1, 2), (21, 1, 11), (22, 1, 0), (23, 1, -91), (24, 2, 0),
      ])
    let sig = Stream.message(
      1, 0x43, length: 8 + 16, [(5, 1, 1), (8, 1, 0), (9, 1, 5), (14, 1, 44), (18, 2, 0x08)])
    let both = try #require(skies(sat + sig + sat).first)
    #expect(both.count == 2)
    #expect(both[0].carrierToNoise == 44 && both[0].isUsed == true && both[0].azimuth == 180)
    #expect(both[1].carrierToNoise == nil && both[1].elevation == nil && both[1].isUsed == false)
    // SBAS 133 used, GLONASS slot 3, and one whose number is not known yet.
    let old = Stream.message(
      1, 0x30, length: 8 + 36,
      [
        (4, 1, 3), (9, 1, 133), (10, 1, 1), (12, 1, 33), (13, 1, 20), (14, 2, 90), (21, 1, 67),
        (24, 1, 25), (25, 1, 10), (33, 1, 255),
      ])
    let sky = try #require(skies(old).first)
    #expect(sky.map { "\($0.system)\($0.number)" } == ["sbas133", "glonass3"])
    #expect(sky.map(\.isUsed) == [true, false])
    // What is not heard, due north on the horizon, is nowhere.
    let nowhere = Stream.message(1, 0x35, length: 8 + 12, [(5, 1, 1), (9, 1, 5)])
    #expect(skies(nowhere).first?.first?.elevation == nil)
    #expect(skies(nowhere).first?.first?.azimuth == nil)
    // A count that promises more than there is.
    let short = Stream.message(1, 0x35, length: 8 + 12, [(5, 1, 200), (8, 1, 0), (9, 1, 5)])
    #expect(skies(short).first?.count == 1)
  }

  @Test("a receiver's name and number")
  func identity() {
    func text(_ text: String, at offset: Int) -> [(Int, Int, Int)] {
      text.utf8.enumerated().map { (offset + $0.offset, 1, Int($0.element)) }
    }
    let version = Stream.message(
      0x0A, 0x04, length: 100,
      text("ROM CORE 3.01 (107888)", at: 0) + text("00080000", at: 30)
        + text("FWVER=SPG 3.01", at: 40) + text("PROTVER=18.00", at: 70))
    let number = Stream.message(
      0x27, 0x03, length: 9,
      [(0, 1, 1), (4, 1, 0x01), (5, 1, 0x23), (6, 1, 0x45), (7, 1, 0x67), (8, 1, 0x89)])
    var decoder = GNSSDecoder()
    let events = Stream.events(version + number, by: &decoder)
    #expect(events.filter { $0 == .identity }.count == 2)
    #expect(decoder.identity.software == "ROM CORE 3.01 (107888)")
    #expect(decoder.identity.hardware == "00080000")
    #expect(decoder.identity.extensions == ["FWVER=SPG 3.01", "PROTVER=18.00"])
    #expect(decoder.identity.uniqueID == 0x01_2345_6789)
  }
}
