// Receivers: their configuration, and the pace of the line.

import LinearAlgebra
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite("Receiver twin")
struct ReceiverTwinTests {
  @Test("sends NMEA once a second by default, at the pace of its line")
  func nmea() throws {
    var twin = ReceiverTwin.started(.nmea, .uart)
    _ = twin.listen(from: 0, to: 900)
    var counts: [Int] = []
    var bytes: [UInt8] = []
    for now in stride(from: 1000.0, to: 2000, by: 10) {
      let piece = twin.listen(from: now, to: now)
      counts.append(piece.count)
      bytes += piece
    }
    // 9600 baud is 9.6 bytes in 10 ms; the first comes 40 ms after the epoch.
    #expect((counts.max() ?? 0) <= 10)
    #expect(counts.prefix(4).allSatisfy { $0 == 0 })
    let lines = nmeaSentences(bytes)
    #expect(lines.map { $0.prefix(5) } == ["GPRMC", "GPVTG", "GPGGA", "GPGSA", "GPGST"])
    let rmc = try #require(lines.first).split(separator: ",", omittingEmptySubsequences: false)
    #expect(rmc[1] == "120001.00" && rmc[2] == "A" && rmc[9] == "260326")
    #expect(rmc[3].hasPrefix("3351.0") || rmc[3].hasPrefix("3350.99"))
    #expect(rmc[4] == "S" && rmc[6] == "W")
    let gga = lines[2].split(separator: ",", omittingEmptySubsequences: false)
    let altitude = try #require(Double(gga[9]))
    #expect(abs(altitude - 519) < 4)
    #expect(gga.count == 15)
  }

  @Test("says nothing it does not know while it has no fix")
  func noFix() throws {
    let world = SimulatedWorld(
      .init(), trajectory: Trajectory(segments: [.init(duration: 1, fix: false)]), start: ms(0))
    var twin = ReceiverTwin(.nmea, link: .uart, source: world)
    twin.powerOn(at: ms(-5000))
    let lines = nmeaSentences(twin.listen(from: 0, to: 1000))
    let rmc = try #require(lines.first { $0.hasPrefix("GPRMC") })
    #expect(rmc == "GPRMC,,V,,,,,,,,,,N")
    let gga = try #require(lines.first { $0.hasPrefix("GPGGA") })
    #expect(gga == "GPGGA,,,,,,0,00,99.99,,,,,,")
  }

  @Test("takes VALSET: NAV-PVT at 10 Hz and no NMEA")
  func valueSet() throws {
    var twin = ReceiverTwin.started(.ubloxM9, .uart)
    _ = twin.listen(from: 0, to: 1500)
    let payload: [UInt8] =
      [0, 1, 0, 0] + ubxKeyed(0x2091_0007, [1]) + ubxKeyed(0x1074_0002, [0])
      + ubxKeyed(0x3021_0001, [100, 0])
    twin.say(ubxFrame(0x06, 0x8A, payload), at: 1510)
    let answers = ubxMessages(twin.listen(from: 1510, to: 1560))
    #expect(answers.contains { $0.0 == 0x05 && $0.1 == 0x01 && $0.2 == [0x06, 0x8A] })
    let bytes = twin.listen(from: 1600, to: 2595)
    #expect(nmeaSentences(bytes).isEmpty)
    let fixes = ubxMessages(bytes).filter { $0.0 == 0x01 && $0.1 == 0x07 }
    #expect(fixes.count == 10)
    let p = try #require(fixes.last?.2)
    #expect(p.count == 92)
    func number(_ offset: Int) -> Int {
      Int(Int32(bitPattern: (0..<4).reduce(0) { $0 | UInt32(p[offset + $1]) << UInt32(8 * $1) }))
    }
    #expect(Int(p[4]) | Int(p[5]) << 8 == 2026)
    #expect(p[6] == 3 && p[7] == 26 && p[8] == 12 && p[20] == 3 && p[21] & 1 == 1)
    #expect(abs(Double(number(24)) * 1e-7 + 70.65) < 4e-5)
    #expect(abs(Double(number(28)) * 1e-7 + 33.85) < 6e-5)
    // 2.5 s into a quintic to 2 m/s over 4 s.
    let truth = ReceiverTwin.testWorld.truth(at: ms(2500))
    #expect(abs(Double(number(60)) * 1e-3 - truth.speed) < 0.25)
    #expect(number(32) - number(36) == 45_700)
    #expect(number(40) == 1600)
  }

  @Test("tells its satellites as often as it is told to, by key and by CFG-MSG")
  func satellites() throws {
    var twin = ReceiverTwin.started(.ubloxM9, .uart)
    _ = twin.listen(from: 0, to: 1500)
    let payload: [UInt8] =
      [0, 1, 0, 0] + ubxKeyed(0x2091_0007, [1]) + ubxKeyed(0x2091_0016, [2])
      + ubxKeyed(0x1074_0002, [0])
    twin.say(ubxFrame(0x06, 0x8A, payload), at: 1510)
    let heard = ubxMessages(twin.listen(from: 1510, to: 5900))
    let pvt = heard.filter { $0.0 == 0x01 && $0.1 == 0x07 }
    let skies = heard.filter { $0.0 == 0x01 && $0.1 == 0x35 }
    #expect(pvt.count == 4 && skies.count == 2)
    let sky = try #require(skies.first?.2)
    #expect(sky[4] == 1 && sky.count == 8 + 12 * Int(sky[5]))
    // Of its own epoch: the time of week is that of the NAV-PVT before it.
    #expect(pvt.contains { $0.2.prefix(4) == sky.prefix(4) })
    var names: Set<[UInt8]> = []
    var used = 0
    for start in stride(from: 8, to: sky.count, by: 12) {
      names.insert(Array(sky[start...(start + 1)]))
      let elevation = Int8(bitPattern: sky[start + 3])
      let azimuth = Int(sky[start + 4]) | Int(sky[start + 5]) << 8
      #expect(sky[start] <= 7 && sky[start + 2] <= 60)
      #expect((-91...90).contains(elevation) && (0..<360).contains(azimuth))
      // What is used is heard, and its place is known.
      guard sky[start + 8] & 0x08 != 0 else { continue }
      used += 1
      #expect(sky[start + 2] > 0 && elevation >= 0 && sky[start + 8] & 0x07 >= 4)
    }
    #expect(names.count == Int(sky[5]))
    let position = try #require(pvt.first?.2)
    #expect(used == Int(position[23]))

    var older = ReceiverTwin.started(.ubloxM8, .uart, baudRate: 38_400)
    _ = older.listen(from: 0, to: 900)
    #expect(ubxMessages(older.listen(from: 900, to: 1900)).allSatisfy { $0.1 != 0x35 })
    older.say(ubxFrame(0x06, 0x01, [0x01, 0x35, 1]), at: 1910)
    let again = ubxMessages(older.listen(from: 1910, to: 3900)).filter { $0.1 == 0x35 }
    #expect(again.count == 2)
  }

  @Test(
    "refuses as its generation does", arguments: [ReceiverTwinModel.ubloxM8, .ubloxM9, .ubloxM10])
  func generations(model: ReceiverTwinModel) {
    func verdict(_ message: [UInt8]) -> UInt8? {
      var twin = ReceiverTwin.started(model, .uart)
      _ = twin.listen(from: 0, to: 900)
      twin.say(message, at: 910)
      return ubxMessages(twin.listen(from: 910, to: 960)).first { $0.0 == 0x05 }?.1
    }
    let valueSet = ubxFrame(0x06, 0x8A, [0, 1, 0, 0] + ubxKeyed(0x2091_0007, [1]))
    #expect(verdict(valueSet) == (model == .ubloxM8 ? 0 : 1))
    // CFG-RATE to 200 ms, as published.
    let rate: [UInt8] = [
      0xB5, 0x62, 0x06, 0x08, 0x06, 0x00, 0xC8, 0x00, 0x01, 0x00, 0x01, 0x00, 0xDE, 0x6A,
    ]
    #expect(verdict(rate) == (model == .ubloxM10 ? 0 : 1))
    let message = ubxFrame(0x06, 0x01, [0x01, 0x07, 0x01])
    #expect(verdict(message) == (model == .ubloxM10 ? 0 : 1))
    // An unknown key spoils the whole message; a broken checksum is not heard.
    #expect(verdict(ubxFrame(0x06, 0x8A, [0, 1, 0, 0] + ubxKeyed(0x20FF_0007, [1]))) == 0)
    #expect(verdict(Array(rate.dropLast()) + [0x00]) == nil)
  }

  @Test(
    "tells its CFG-RATE in the 6 bytes of the interface description: period, ratio, time reference",
    arguments: [ReceiverTwinModel.ubloxM8, .ubloxM9])
  func rate(model: ReceiverTwinModel) {
    func told(_ twin: inout ReceiverTwin, at time: Double) -> [[UInt8]] {
      twin.say(ubxFrame(0x06, 0x08, []), at: time)
      return ubxMessages(twin.listen(from: time, to: time + 90))
        .filter { ($0.0, $0.1) == (0x06, 0x08) }.map(\.2)
    }
    var twin = ReceiverTwin.started(model, .uart)
    _ = twin.listen(from: 0, to: 900)
    #expect(told(&twin, at: 910) == [[0xE8, 0x03, 1, 0, 1, 0]])
    // 300 ms, every third.
    twin.say(ubxFrame(0x06, 0x08, [0x2C, 0x01, 3, 0, 1, 0]), at: 1_010)
    #expect(told(&twin, at: 1_100) == [[0x2C, 0x01, 3, 0, 1, 0]])
  }

  @Test("is configured by CFG-MSG and CFG-RATE, and forgets it with its power")
  func legacy() {
    var twin = ReceiverTwin.started(.ubloxM8, .uart)
    #expect(twin.baudRate == 9600)
    _ = twin.listen(from: 0, to: 900)
    for identity in [0x00, 0x01, 0x02, 0x04, 0x05] as [UInt8] {
      twin.say(ubxFrame(0x06, 0x01, [0xF0, identity, 0]), at: 910)
    }
    twin.say(ubxFrame(0x06, 0x01, [0x01, 0x07, 0, 1, 0, 0, 0, 0]), at: 910)
    twin.say(ubxFrame(0x06, 0x08, [0xC8, 0, 1, 0, 1, 0]), at: 910)
    let bytes = twin.listen(from: 1010, to: 2005)
    #expect(nmeaSentences(bytes).isEmpty)
    #expect(ubxMessages(bytes).filter { $0.0 == 1 }.count == 5)
    twin.powerOn(at: ms(2010))
    #expect(nmeaSentences(twin.listen(from: 2010, to: 4500)).count >= 10)
  }

  @Test(
    "generations 5 to 7 have the messages and the rates of their descriptions",
    arguments: [ReceiverTwinModel.ublox5, .ublox6, .ublox7])
  func olderGenerations(model: ReceiverTwinModel) throws {
    var twin = ReceiverTwin.started(model, .uart, baudRate: 115_200)
    _ = twin.listen(from: 0, to: 900)
    func verdict(_ message: [UInt8], at time: Double) -> UInt8? {
      twin.say(message, at: time)
      return ubxMessages(twin.listen(from: time, to: time + 30)).first { $0.0 == 0x05 }?.1
    }
    #expect(verdict(ubxFrame(0x06, 0x8A, [0, 1, 0, 0] + ubxKeyed(0x2091_0007, [1])), at: 910) == 0)
    #expect(verdict(ubxFrame(0x06, 0x01, [0x01, 0x35, 1]), at: 950) == 0)
    #expect(
      verdict(ubxFrame(0x06, 0x01, [0x01, 0x07, 1]), at: 1_000) == (model == .ublox7 ? 1 : 0))
    for (place, id) in ([0x02, 0x06, 0x12, 0x21, 0x30] as [UInt8]).enumerated() {
      #expect(verdict(ubxFrame(0x06, 0x01, [0x01, id, 1]), at: 1_150 + 40 * Double(place)) == 1)
    }
    let shortest: UInt8 = model == .ublox5 ? 250 : model == .ublox6 ? 200 : 100
    #expect(verdict(ubxFrame(0x06, 0x08, [shortest - 1, 0, 1, 0, 1, 0]), at: 1_350) == 0)
    #expect(verdict(ubxFrame(0x06, 0x08, [shortest, 0, 1, 0, 1, 0]), at: 1_400) == 1)
    let heard = ubxMessages(twin.listen(from: 1_450, to: 2_990)).filter { $0.0 == 0x01 }
    for (id, length) in [(0x02, 28), (0x06, 52), (0x12, 36), (0x21, 20)] as [(UInt8, Int)] {
      let messages = heard.filter { $0.1 == id }
      #expect(messages.count >= 1_500 / Int(shortest) - 1)
      #expect(messages.allSatisfy { $0.2.count == length })
    }
    let pvt = heard.filter { $0.1 == 0x07 }
    #expect(pvt.isEmpty == (model != .ublox7) && pvt.allSatisfy { $0.2.count == 84 })
    // NAV-SOL against NAV-POSLLH of its epoch, by the radius of curvature and the ellipsoid (NIMA TR8350.2).
    func number(_ p: [UInt8], _ offset: Int) -> Double {
      Double(Int32(bitPattern: (0..<4).reduce(0) { $0 | UInt32(p[offset + $1]) << UInt32(8 * $1) }))
    }
    let solution = try #require(heard.last { $0.1 == 0x06 }?.2)
    let place = try #require(heard.last { $0.1 == 0x02 && $0.2.prefix(4) == solution.prefix(4) }?.2)
    let (x, y, z) = (
      number(solution, 12) / 100, number(solution, 16) / 100, number(solution, 20) / 100
    )
    #expect(abs(atan2(y, x) * 180 / .pi - number(place, 4) * 1e-7) < 2e-7)
    // On the ellipsoid of the height h: (p / (N + h))^2 + (z / (N b^2 / a^2 + h))^2 = 1.
    let (a, b) = (6_378_137.0, 6_356_752.3142)
    let sine = sin(number(place, 8) * 1e-7 * .pi / 180)
    let normal = a * a / (a * a * (1 - sine * sine) + b * b * sine * sine).squareRoot()
    let height = number(place, 12) * 1e-3
    #expect(
      abs((x * x + y * y).squareRoot() - (normal + height) * (1 - sine * sine).squareRoot()) < 0.03)
    #expect(abs(z - (normal * b * b / (a * a) + height) * sine) < 0.03)
    #expect(solution[10] == 3 && solution[11] & 0x0D == 0x0D && solution[47] == 12)
    // 2026-03-26 is in GPS week 2411 (it began on 2026-03-22).
    #expect(Int(solution[8]) | Int(solution[9]) << 8 == 2_411)
  }

  @Test("u-blox sleeps by RXM-PMREQ of its generation, and wakes as from a power cut")
  func powerRequest() {
    let short = ubxFrame(0x02, 0x41, [0, 0, 0, 0, 2, 0, 0, 0])
    let long = ubxFrame(0x02, 0x41, [0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0])
    for (model, sleepsBy) in [
      (ReceiverTwinModel.ublox5, []), (.ublox6, [short]), (.ubloxM8, [short, long]),
      (.ubloxM9, [long]),
      (.ubloxM10, [long]),
    ] {
      for request in [short, long] {
        var twin = ReceiverTwin.started(model, .uart)
        _ = twin.listen(from: 0, to: 900)
        twin.say(ubxFrame(0x06, 0x24, [1, 0, 4] + [UInt8](repeating: 0, count: 33)), at: 900)
        #expect(twin.configuration.dynamicModel == (model == .ubloxM10 ? 0 : 4))
        twin.say(request, at: 950)
        #expect(twin.isAsleep == sleepsBy.contains(request), "\(model)")
        guard twin.isAsleep else { continue }
        #expect(twin.listen(from: 1_000, to: 20_000).isEmpty)
        twin.say([0xFF], at: 20_000)
        #expect(!twin.isAsleep && twin.configuration.dynamicModel == 0)
        #expect(!nmeaSentences(twin.listen(from: 20_000, to: 23_000)).isEmpty)
      }
    }
  }

  @Test("tells its version and changes the rate of its line")
  func version() throws {
    var twin = ReceiverTwin.started(.ubloxM9, .uart)
    _ = twin.listen(from: 0, to: 500)
    twin.say([0xB5, 0x62, 0x0A, 0x04, 0x00, 0x00, 0x0E, 0x34], at: 600)
    let version = try #require(ubxMessages(twin.listen(from: 600, to: 700)).first)
    #expect(version.0 == 0x0A && version.1 == 0x04 && (version.2.count - 40) % 30 == 0)
    #expect(String(decoding: version.2, as: UTF8.self).contains("PROTVER=32.01"))
    twin.say(
      ubxFrame(0x06, 0x8A, [0, 1, 0, 0] + ubxKeyed(0x4052_0001, [0x00, 0xC2, 0x01, 0x00])), at: 700)
    #expect(twin.baudRate == 115_200)
    twin.say(ubxFrame(0x06, 0x8B, [0, 0, 0, 0] + ubxKeyed(0x4052_0001, [])), at: 710)
    let value = ubxMessages(twin.listen(from: 710, to: 780)).first { $0.0 == 6 }
    #expect(value?.2.suffix(4) == [0x00, 0xC2, 0x01, 0x00])
  }

  @Test("loses whole messages, not halves, when nobody reads")
  func overrun() {
    var twin = ReceiverTwin.started(.ubloxM9, .uart)
    twin.advance(to: ms(3_600_000))
    #expect(twin.available(at: ms(3_600_000)) <= 4096)
    var bytes: [UInt8] = []
    while let byte = twin.takeByte(at: ms(3_600_000)) { bytes.append(byte) }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(nmeaSentences(bytes).count == text.split(separator: "\r\n").count)
    // And goes on with fresh ones.
    let fresh = nmeaSentences(twin.listen(from: 3_600_000, to: 3_601_500))
    #expect(fresh.contains { $0.hasPrefix("GNRMC,130001.00") })
  }

  @Test("gives its stream through DDC's three registers")
  func ddc() {
    var twin = DDCReceiverTwin(ReceiverTwin(.ubloxM9, link: .i2c, source: ReceiverTwin.testWorld))
    twin.powerOn(at: ms(-5000))
    // What came before the start waits: empty it first.
    while twin.read(0xFD, count: 2, now: ms(900)) != [0, 0] {
      _ = twin.read(0xFF, count: 255, now: ms(900))
    }
    #expect(twin.read(0xFF, count: 3, now: ms(900)) == [0xFF, 0xFF, 0xFF])
    let count = twin.read(0xFD, count: 2, now: ms(1100))
    let waiting = Int(count[0]) << 8 | Int(count[1])
    #expect(waiting > 200)
    // From 0xFD the pointer runs into the stream and stays there.
    let bytes = Array(twin.read(0xFD, count: waiting + 2, now: ms(1100)).dropFirst(2))
    #expect(
      nmeaSentences(bytes).map { $0.prefix(5) } == ["GNRMC", "GNVTG", "GNGGA", "GNGSA", "GNGLL"])
    #expect(twin.read(0xFD, count: 2, now: ms(1100)) == [0, 0])
    // A write of two bytes or more is a message, its first byte included.
    let poll: [UInt8] = [0x62, 0x0A, 0x04, 0x00, 0x00, 0x0E, 0x34]
    poll.withUnsafeBytes { twin.write(0xB5, from: $0, now: ms(1200)) }
    #expect(twin.read(0xFF, count: 4, now: ms(1300)) == [0xB5, 0x62, 0x0A, 0x04])
  }

  @Test("loses over DDC what nobody fetches for a second and a half, and nothing younger")
  func unfetched() {
    var twin = DDCReceiverTwin(ReceiverTwin(.ubloxM9, link: .i2c, source: ReceiverTwin.testWorld))
    twin.powerOn(at: ms(-5000))
    let count = twin.read(0xFD, count: 2, now: ms(4600))
    let waiting = Int(count[0]) << 8 | Int(count[1])
    // Of nine epochs the last: that of the fourth second; the third is older than 1.5 s.
    let text = nmeaSentences(twin.read(0xFF, count: waiting, now: ms(4600)))
    #expect(text.map { $0.prefix(5) } == ["GNRMC", "GNVTG", "GNGGA", "GNGSA", "GNGLL"])
  }
}
