// Receivers: checksums against published vectors, configuration, pace of the line.

import LinearAlgebra
import SensorTypes
import Testing

@testable import SimulatedDevices

/// A frame with its checksum by the closed form of Fletcher's sums.
private func frame(_ messageClass: UInt8, _ identity: UInt8, _ payload: [UInt8]) -> [UInt8] {
  let body =
    [messageClass, identity, UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)] + payload
  var a = 0
  var b = 0
  for (index, byte) in body.enumerated() {
    a += Int(byte)
    b += Int(byte) * (body.count - index)
  }
  return [0xB5, 0x62] + body + [UInt8(a & 0xFF), UInt8(b & 0xFF)]
}

private func keyed(_ key: UInt32, _ value: [UInt8]) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: key >> (8 * UInt32($0))) } + value
}

/// The UBX messages in a stretch of bytes, with sound checksums only.
private func messages(_ bytes: [UInt8]) -> [(UInt8, UInt8, [UInt8])] {
  var found: [(UInt8, UInt8, [UInt8])] = []
  var index = 0
  while index + 8 <= bytes.count {
    guard bytes[index] == 0xB5, bytes[index + 1] == 0x62 else {
      index += 1
      continue
    }
    let length = Int(bytes[index + 4]) | Int(bytes[index + 5]) << 8
    let end = index + 8 + length
    guard end <= bytes.count else { break }
    let payload = Array(bytes[(index + 6)..<(end - 2)])
    let whole = Array(bytes[index..<end])
    if frame(bytes[index + 2], bytes[index + 3], payload) == whole {
      found.append((bytes[index + 2], bytes[index + 3], payload))
    }
    index = end
  }
  return found
}

/// The NMEA sentences in a stretch of bytes whose checksums are right, without `$`, `*` and checksum.
private func sentences(_ bytes: [UInt8]) -> [String] {
  String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").compactMap { line in
    guard line.first == "$", let star = line.lastIndex(of: "*") else { return nil }
    let body = line[line.index(after: line.startIndex)..<star]
    let sum = body.utf8.reduce(0, ^)
    return Int(line[line.index(after: star)...], radix: 16) == Int(sum) ? String(body) : nil
  }
}

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

@Suite("Receiver twin")
struct ReceiverTwinTests {
  private let world = SimulatedWorld(
    .init(latitude: -33.85, longitude: -70.65),
    trajectory: Trajectory(segments: [.init(duration: 4, speed: 2), .init(duration: 60)]),
    start: ms(0))

  private func receiver(
    _ model: ReceiverTwinModel, _ link: ReceiverTwin.Link, baudRate: Int? = nil
  ) -> ReceiverTwin {
    var twin = ReceiverTwin(model, link: link, source: world, baudRate: baudRate)
    twin.powerOn(at: ms(-5000))
    return twin
  }

  /// Reads all that arrives until `end`, looking every 10 ms.
  private func listen(_ twin: inout ReceiverTwin, from: Double, to end: Double) -> [UInt8] {
    var bytes: [UInt8] = []
    for now in stride(from: from, through: end, by: 10) {
      twin.advance(to: ms(now))
      while let byte = twin.takeByte(at: ms(now)) { bytes.append(byte) }
    }
    return bytes
  }

  private func say(_ bytes: [UInt8], to twin: inout ReceiverTwin, at now: Double) {
    for byte in bytes { twin.receive(byte, at: ms(now)) }
  }

  @Test("sends NMEA once a second by default, at the pace of its line")
  func nmea() throws {
    var twin = receiver(.nmea, .uart)
    _ = listen(&twin, from: 0, to: 900)
    var counts: [Int] = []
    var bytes: [UInt8] = []
    for now in stride(from: 1000.0, to: 2000, by: 10) {
      let piece = listen(&twin, from: now, to: now)
      counts.append(piece.count)
      bytes += piece
    }
    // 9600 baud is 9.6 bytes in 10 ms; the first comes 40 ms after the epoch.
    #expect((counts.max() ?? 0) <= 10)
    #expect(counts.prefix(4).allSatisfy { $0 == 0 })
    let lines = sentences(bytes)
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
    let lines = sentences(listen(&twin, from: 0, to: 1000))
    let rmc = try #require(lines.first { $0.hasPrefix("GPRMC") })
    #expect(rmc == "GPRMC,,V,,,,,,,,,,N")
    let gga = try #require(lines.first { $0.hasPrefix("GPGGA") })
    #expect(gga == "GPGGA,,,,,,0,00,99.99,,,,,,")
  }

  @Test("takes VALSET: NAV-PVT at 10 Hz and no NMEA")
  func valueSet() throws {
    var twin = receiver(.ubloxM9, .uart)
    _ = listen(&twin, from: 0, to: 1500)
    let payload: [UInt8] =
      [0, 1, 0, 0] + keyed(0x2091_0007, [1]) + keyed(0x1074_0002, [0])
      + keyed(0x3021_0001, [100, 0])
    say(frame(0x06, 0x8A, payload), to: &twin, at: 1510)
    let answers = messages(listen(&twin, from: 1510, to: 1560))
    #expect(answers.contains { $0.0 == 0x05 && $0.1 == 0x01 && $0.2 == [0x06, 0x8A] })
    let bytes = listen(&twin, from: 1600, to: 2595)
    #expect(sentences(bytes).isEmpty)
    let fixes = messages(bytes).filter { $0.0 == 0x01 && $0.1 == 0x07 }
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
    let truth = world.truth(at: ms(2500))
    #expect(abs(Double(number(60)) * 1e-3 - truth.speed) < 0.25)
    #expect(number(32) - number(36) == 45_700)
    #expect(number(40) == 1600)
  }

  @Test("tells its satellites as often as it is told to, by key and by CFG-MSG")
  func satellites() throws {
    var twin = receiver(.ubloxM9, .uart)
    _ = listen(&twin, from: 0, to: 1500)
    let payload: [UInt8] =
      [0, 1, 0, 0] + keyed(0x2091_0007, [1]) + keyed(0x2091_0016, [2]) + keyed(0x1074_0002, [0])
    say(frame(0x06, 0x8A, payload), to: &twin, at: 1510)
    let heard = messages(listen(&twin, from: 1510, to: 5900))
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

    var older = receiver(.ubloxM8, .uart, baudRate: 38_400)
    _ = listen(&older, from: 0, to: 900)
    #expect(messages(listen(&older, from: 900, to: 1900)).allSatisfy { $0.1 != 0x35 })
    say(frame(0x06, 0x01, [0x01, 0x35, 1]), to: &older, at: 1910)
    let again = messages(listen(&older, from: 1910, to: 3900)).filter { $0.1 == 0x35 }
    #expect(again.count == 2)
  }

  @Test(
    "refuses as its generation does", arguments: [ReceiverTwinModel.ubloxM8, .ubloxM9, .ubloxM10])
  func generations(model: ReceiverTwinModel) {
    func verdict(_ message: [UInt8]) -> UInt8? {
      var twin = receiver(model, .uart)
      _ = listen(&twin, from: 0, to: 900)
      say(message, to: &twin, at: 910)
      return messages(listen(&twin, from: 910, to: 960)).first { $0.0 == 0x05 }?.1
    }
    let valueSet = frame(0x06, 0x8A, [0, 1, 0, 0] + keyed(0x2091_0007, [1]))
    #expect(verdict(valueSet) == (model == .ubloxM8 ? 0 : 1))
    // CFG-RATE to 200 ms, as published.
    let rate: [UInt8] = [
      0xB5, 0x62, 0x06, 0x08, 0x06, 0x00, 0xC8, 0x00, 0x01, 0x00, 0x01, 0x00, 0xDE, 0x6A,
    ]
    #expect(verdict(rate) == (model == .ubloxM10 ? 0 : 1))
    let message = frame(0x06, 0x01, [0x01, 0x07, 0x01])
    #expect(verdict(message) == (model == .ubloxM10 ? 0 : 1))
    // An unknown key spoils the whole message; a broken checksum is not heard.
    #expect(verdict(frame(0x06, 0x8A, [0, 1, 0, 0] + keyed(0x20FF_0007, [1]))) == 0)
    #expect(verdict(Array(rate.dropLast()) + [0x00]) == nil)
  }

  @Test("is configured by CFG-MSG and CFG-RATE, and forgets it with its power")
  func legacy() {
    var twin = receiver(.ubloxM8, .uart)
    #expect(twin.baudRate == 9600)
    _ = listen(&twin, from: 0, to: 900)
    for identity in [0x00, 0x01, 0x02, 0x04, 0x05] as [UInt8] {
      say(frame(0x06, 0x01, [0xF0, identity, 0]), to: &twin, at: 910)
    }
    say(frame(0x06, 0x01, [0x01, 0x07, 0, 1, 0, 0, 0, 0]), to: &twin, at: 910)
    say(frame(0x06, 0x08, [0xC8, 0, 1, 0, 1, 0]), to: &twin, at: 910)
    let bytes = listen(&twin, from: 1010, to: 2005)
    #expect(sentences(bytes).isEmpty)
    #expect(messages(bytes).filter { $0.0 == 1 }.count == 5)
    twin.powerOn(at: ms(2010))
    #expect(sentences(listen(&twin, from: 2010, to: 4500)).count >= 10)
  }

  /// A sentence with its check sum, as a host sends it.
  private func command(_ body: String) -> [UInt8] {
    let sum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    return Array("$\(body)*\(sum.count == 1 ? "0" : "")\(sum)\r\n".utf8)
  }

  /// What a receiver of sentences answers, besides its epochs.
  private func answers(_ twin: inout ReceiverTwin, to body: String, at now: Double) -> [String] {
    say(command(body), to: &twin, at: now)
    return sentences(listen(&twin, from: now, to: now + 150)).filter { line in
      !["RMC", "VTG", "GGA", "GSA", "GLL"].contains { line.dropFirst(2).hasPrefix($0) }
    }
  }

  // MT3339's PMTK command packet: 0 invalid, 1 not supported, 2 valid and failed, 3 done.
  @Test("MediaTek: every command is acknowledged with its flag, but for the rate of the line")
  func mediaTek() {
    // A line on which answers do not wait behind epochs.
    var twin = receiver(.mediaTek, .uart, baudRate: 115_200)
    #expect(sentences(listen(&twin, from: -5000, to: -4500)) == ["PMTK011,MTKGPS", "PMTK010,001"])
    for (index, (body, answer)) in [
      ("PMTK605", "PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0"),
      ("PMTK220,200", "PMTK001,220,3"), ("PMTK220,99", "PMTK001,220,2"),
      ("PMTK220,10001", "PMTK001,220,2"), ("PMTK886,4", "PMTK001,886,3"),
      ("PMTK886,5", "PMTK001,886,2"), ("PMTK999", "PMTK001,999,1"), ("PMTKxyz", "PMTK001,0,0"),
      ("PMTK314,0,1,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "PMTK001,314,3"),
      ("PMTK314,0,1,0,1", "PMTK001,314,2"), ("PMTK161,1", "PMTK001,161,2"),
    ].enumerated() {
      #expect(answers(&twin, to: body, at: Double(index) * 1_000 + 500) == [answer], "\(body)")
    }
    #expect(twin.configuration.epochPeriod == 200 && twin.configuration.dynamicModel == 4)
    let lines = sentences(listen(&twin, from: 12_000, to: 13_000))
    #expect(Set(lines.map { $0.prefix(5) }) == ["GPRMC", "GPGGA"])
    say(Array("$PMTK220,1000*00\r\n".utf8), to: &twin, at: 13_000)
    #expect(twin.configuration.epochPeriod == 200)
    #expect(answers(&twin, to: "PMTK251,38400", at: 13_100).isEmpty && twin.baudRate == 38_400)
  }

  @Test("MediaTek in standby says nothing, and any byte wakes it with its settings")
  func standby() {
    // A line on which answers do not wait behind epochs.
    var twin = receiver(.mediaTek, .uart, baudRate: 115_200)
    _ = listen(&twin, from: 0, to: 1_500)
    #expect(answers(&twin, to: "PMTK220,500", at: 1_500) == ["PMTK001,220,3"])
    #expect(answers(&twin, to: "PMTK161,0", at: 2_200).first == "PMTK001,161,3")
    #expect(listen(&twin, from: 3_000, to: 60_000).isEmpty && twin.isAsleep)
    say([0xFF], to: &twin, at: 60_100)
    #expect(!twin.isAsleep && twin.configuration.epochPeriod == 500)
    #expect(sentences(listen(&twin, from: 60_100, to: 63_000)).count >= 8)
  }

  // LC29H's protocol specification: 0 done, 1 under way, 3 not supported, 4 wrong parameter.
  @Test("Airoha: results, and the module's name beside the chip's")
  func airoha() {
    var twin = receiver(.airoha, .uart)
    #expect(twin.baudRate == 115_200)
    _ = listen(&twin, from: 0, to: 400)
    for (index, (body, expected)) in [
      ("PAIR050,200", ["PAIR001,050,1", "PAIR001,050,0"]),
      ("PAIR050,5000", ["PAIR001,050,1", "PAIR001,050,4"]),
      ("PAIR062,5,0", ["PAIR001,062,0"]), ("PAIR062,6,0", ["PAIR001,062,4"]),
      ("PAIR062,0,21", ["PAIR001,062,4"]), ("PAIR080,1", ["PAIR001,080,0"]),
      ("PAIR080,2", ["PAIR001,080,4"]), ("PAIR999", ["PAIR001,999,3"]),
      ("PQTMVERNO", ["PQTMVERNO,LC29HAANR11A03S,2022/08/31,14:22:50"]),
    ].enumerated() {
      #expect(answers(&twin, to: body, at: Double(index) * 1_000 + 500) == expected, "\(body)")
    }
    let chip = answers(&twin, to: "PAIR021", at: 10_500)
    #expect(chip.count == 2 && chip[0] == "PAIR001,021,0" && chip[1].hasPrefix("PAIR021,AG3335M_"))
    #expect(twin.configuration.epochPeriod == 200 && twin.configuration.dynamicModel == 1)
    let kinds = Set(
      sentences(listen(&twin, from: 11_000, to: 12_000)).map {
        $0.suffix(from: $0.index($0.startIndex, offsetBy: 2)).prefix(3)
      })
    #expect(!kinds.contains("VTG") && kinds.contains("RMC"))
  }

  // CASIC's receiver protocol: nothing is acknowledged; what cannot be is passed over.
  @Test("CASIC: commands without answers, but for the names")
  func casic() {
    var twin = receiver(.casic, .uart)
    _ = listen(&twin, from: 0, to: 900)
    #expect(
      answers(&twin, to: "PCAS06,0", at: 1_500) == ["GPTXT,01,01,02,SW=URANUS5,V5.3.0.0"])
    #expect(
      answers(&twin, to: "PCAS06,1", at: 2_500) == ["GPTXT,01,01,02,HW=ATGM336H,0004090746370"])
    for (index, body) in [
      "PCAS02,500", "PCAS02,300", "PCAS11,3", "PCAS11,9", "PCAS01,5", "PCAS01,9",
    ]
    .enumerated() {
      #expect(answers(&twin, to: body, at: Double(index) * 1_000 + 3_500).isEmpty)
    }
    #expect(twin.configuration.epochPeriod == 500 && twin.configuration.dynamicModel == 3)
    #expect(twin.baudRate == 115_200)
  }

  @Test("u-blox sleeps by RXM-PMREQ of its generation, and wakes as from a power cut")
  func powerRequest() {
    let short = frame(0x02, 0x41, [0, 0, 0, 0, 2, 0, 0, 0])
    let long = frame(0x02, 0x41, [0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0])
    for (model, sleepsBy) in [
      (ReceiverTwinModel.ubloxM8, [short, long]), (.ubloxM9, [long]), (.ubloxM10, [long]),
    ] {
      for request in [short, long] {
        var twin = receiver(model, .uart)
        _ = listen(&twin, from: 0, to: 900)
        say(frame(0x06, 0x24, [1, 0, 4] + [UInt8](repeating: 0, count: 33)), to: &twin, at: 900)
        #expect(twin.configuration.dynamicModel == (model == .ubloxM10 ? 0 : 4))
        say(request, to: &twin, at: 950)
        #expect(twin.isAsleep == sleepsBy.contains(request), "\(model)")
        guard twin.isAsleep else { continue }
        #expect(listen(&twin, from: 1_000, to: 20_000).isEmpty)
        say([0xFF], to: &twin, at: 20_000)
        #expect(!twin.isAsleep && twin.configuration.dynamicModel == 0)
        #expect(!sentences(listen(&twin, from: 20_000, to: 23_000)).isEmpty)
      }
    }
  }

  @Test("tells its version and changes the rate of its line")
  func version() throws {
    var twin = receiver(.ubloxM9, .uart)
    _ = listen(&twin, from: 0, to: 500)
    say([0xB5, 0x62, 0x0A, 0x04, 0x00, 0x00, 0x0E, 0x34], to: &twin, at: 600)
    let version = try #require(messages(listen(&twin, from: 600, to: 700)).first)
    #expect(version.0 == 0x0A && version.1 == 0x04 && (version.2.count - 40) % 30 == 0)
    #expect(String(decoding: version.2, as: UTF8.self).contains("PROTVER=32.01"))
    say(
      frame(0x06, 0x8A, [0, 1, 0, 0] + keyed(0x4052_0001, [0x00, 0xC2, 0x01, 0x00])), to: &twin,
      at: 700)
    #expect(twin.baudRate == 115_200)
    say(frame(0x06, 0x8B, [0, 0, 0, 0] + keyed(0x4052_0001, [])), to: &twin, at: 710)
    let value = messages(listen(&twin, from: 710, to: 780)).first { $0.0 == 6 }
    #expect(value?.2.suffix(4) == [0x00, 0xC2, 0x01, 0x00])
  }

  @Test("loses whole messages, not halves, when nobody reads")
  func overrun() {
    var twin = receiver(.ubloxM9, .uart)
    twin.advance(to: ms(3_600_000))
    #expect(twin.available(at: ms(3_600_000)) <= 4096)
    var bytes: [UInt8] = []
    while let byte = twin.takeByte(at: ms(3_600_000)) { bytes.append(byte) }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(sentences(bytes).count == text.split(separator: "\r\n").count)
    // And goes on with fresh ones.
    let fresh = sentences(listen(&twin, from: 3_600_000, to: 3_601_500))
    #expect(fresh.contains { $0.hasPrefix("GNRMC,130001.00") })
  }

  @Test("gives its stream through DDC's three registers")
  func ddc() {
    var twin = DDCReceiverTwin(ReceiverTwin(.ubloxM9, link: .i2c, source: world))
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
    #expect(sentences(bytes).map { $0.prefix(5) } == ["GNRMC", "GNVTG", "GNGGA", "GNGSA", "GNGLL"])
    #expect(twin.read(0xFD, count: 2, now: ms(1100)) == [0, 0])
    // A write of two bytes or more is a message, its first byte included.
    let poll: [UInt8] = [0x62, 0x0A, 0x04, 0x00, 0x00, 0x0E, 0x34]
    poll.withUnsafeBytes { twin.write(0xB5, from: $0, now: ms(1200)) }
    #expect(twin.read(0xFF, count: 4, now: ms(1300)) == [0xB5, 0x62, 0x0A, 0x04])
  }

  @Test("loses over DDC what nobody fetches for a second and a half, and nothing younger")
  func unfetched() {
    var twin = DDCReceiverTwin(ReceiverTwin(.ubloxM9, link: .i2c, source: world))
    twin.powerOn(at: ms(-5000))
    let count = twin.read(0xFD, count: 2, now: ms(4600))
    let waiting = Int(count[0]) << 8 | Int(count[1])
    // Of nine epochs the last: that of the fourth second; the third is older than 1.5 s.
    let text = sentences(twin.read(0xFF, count: waiting, now: ms(4600)))
    #expect(text.map { $0.prefix(5) } == ["GNRMC", "GNVTG", "GNGGA", "GNGSA", "GNGLL"])
  }
}
