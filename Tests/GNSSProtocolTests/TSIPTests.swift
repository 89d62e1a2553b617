import SensorTypes
import Testing

@testable import GNSSProtocol

/// Trimble's TSIP: what packets that a script packs from the maker's documents come to, and what is none of it.
struct TSIPTests {
  private typealias Packets = TSIPPackets

  private static let utc = 1_795_429_038.0

  private func isNear(_ value: Double?, _ expected: Double, _ tolerance: Double = 1e-9) -> Bool {
    value.map { abs($0 - expected) <= tolerance } ?? false
  }

  /// The fixes of a stream behind two packets that show what it speaks.
  private func fixes(_ bytes: [UInt8]) -> [GNSSFix] {
    Stream.fixes(Packets.velocity + Packets.velocity + bytes)
  }

  @Test("0x8F-20 is an epoch by itself")
  func lastFix() throws {
    let fix = try #require(fixes(Packets.lastFix).first)
    #expect(isNear(fix.latitude, 37.389, 5e-8) && isNear(fix.longitude, -122.036, 5e-8))
    #expect(fix.ellipsoidalAltitude == 12.5 && fix.altitude == nil)
    #expect(fix.mode == .threeDimensional && fix.satellitesUsed == 5 && fix.kind == nil)
    #expect(isNear(fix.speed, 5) && isNear(fix.course, 143.130_102_354, 1e-8))
    #expect(isNear(fix.verticalSpeed, 0.25) && fix.utc == Self.utc)
    #expect(isNear(fix.timeOfDay, 37_038) && fix.horizontalAccuracy == nil)
    func changed(_ offset: Int, _ byte: UInt8) throws -> GNSSFix {
      try #require(fixes(Packets.changed(Packets.lastFix, [(offset, [byte])])).first)
    }
    #expect(try changed(27, 0x04).mode == .twoDimensional)
    #expect(try changed(27, 0x02).kind == .differential)
    #expect(isNear(try changed(24, 1).speed, 20))
    let none = try changed(27, 0x01)
    #expect(none.mode == .none && none.latitude == nil && none.kind == FixKind.none)
    let overflow = try #require(
      fixes(Packets.changed(Packets.lastFix, [(2, [0x80, 0])])).first)
    #expect(overflow.speed == nil && overflow.course == nil && overflow.latitude != nil)
    // The report of corrections says which kind it is.
    #expect(fixes(Packets.corrected + Packets.lastFix).first?.kind == .differential)
  }

  @Test("position, velocity, satellites, time and corrections of one second are one epoch")
  func parts() throws {
    let fixes = Stream.fixes((0..<10).flatMap(Packets.epoch), chunk: 5)
    // The first packet shows what it speaks; its position is not read.
    #expect(fixes.count == 9)
    for (index, fix) in fixes.enumerated() {
      #expect(isNear(fix.latitude, 37.389) && isNear(fix.longitude, -122.036))
      #expect(isNear(fix.speed, 5) && isNear(fix.course, 143.130_102_354, 1e-8))
      #expect(fix.verticalSpeed == 0.25 && fix.satellitesUsed == 5)
      #expect(fix.pdop == 2.5 && fix.hdop == 1.5 && fix.vdop == 2)
      #expect(fix.mode == .threeDimensional && fix.kind == .differential)
      // Above the ellipsoid or the sea: by a setting that it does not tell.
      #expect(fix.altitude == nil && fix.ellipsoidalAltitude == nil)
      #expect(fix.utc == Self.utc + Double(index + 1), "\(index)")
    }
  }

  @Test("the time of a fix is by GPS or by UTC, whichever is near the reported time")
  func times() throws {
    for (time, expected) in [(123_454, -2.0), (123_436, -2), (123_438, 0), (123_410, nil)]
      as [(Float, Double?)]
    {
      let place = Packets.changed(Packets.single, [(16, Packets.single(time))])
      let fix = try #require(fixes(Packets.gpsTime + place + Packets.corrected).first)
      #expect(fix.utc == expected.map { Self.utc + $0 }, "\(time)")
      #expect(isNear(fix.latitude, 37.389, 1e-5))
    }
    // Without a report of the time there is none.
    #expect(fixes(Packets.single + Packets.corrected).first?.utc == nil)
    // Across the end of a week.
    let end = Packets.changed(Packets.gpsTime, [(0, Packets.single(1))])
    let place = Packets.changed(Packets.single, [(16, Packets.single(604_799))])
    let fix = try #require(fixes(end + place + Packets.corrected).first)
    #expect(fix.utc == Self.utc - 123_456 - 1)
  }

  @Test("a velocity of another moment, and a receiver that has no fix")
  func losses() throws {
    let late = Packets.changed(Packets.velocity, [(16, Packets.single(123_457))])
    #expect(fixes(Packets.position + late + Packets.corrected).first?.speed == nil)
    let none = fixes(Packets.noSatellites + Packets.noSatellites)
    #expect(none.count == 2 && none.allSatisfy { $0.kind == FixKind.none && $0.latitude == nil })
    // Without the report of corrections the next position ends it.
    let next = Packets.changed(Packets.position, [(32, Packets.single(123_457))])
    let both = fixes(Packets.position + Packets.velocity + next)
    #expect(both.count == 2 && both[0].speed != nil && both[1].speed == nil)
    #expect(both.allSatisfy { $0.kind == nil && $0.mode == .twoDimensional })
  }

  @Test("a timing receiver gives the time alone, and its place only where it measures it")
  func timing() throws {
    let both = Packets.timing + Packets.timingPlace
    let timeOnly = try #require(fixes(both).first)
    #expect(timeOnly.kind == .timeOnly && timeOnly.latitude == nil && timeOnly.utc == Self.utc)
    let surveying = Packets.changed(Packets.timingPlace, [(1, [4])])
    let fix = try #require(fixes(Packets.timing + surveying).first)
    #expect(isNear(fix.latitude, 37.389) && isNear(fix.longitude, -122.036))
    #expect(fix.mode == .threeDimensional && fix.kind == nil && fix.utc == Self.utc)
    let lost = Packets.changed(Packets.timingPlace, [(12, [8])])
    #expect(fixes(Packets.timing + lost).first?.kind == FixKind.none)
    // By GPS time, without UTC's offset, not set.
    for (flags, utc) in [(0x00, Self.utc - 18), (0x08, nil), (0x05, nil)] as [(UInt8, Double?)] {
      let timing = Packets.changed(Packets.timing, [(9, [flags])])
      #expect(fixes(timing + Packets.timingPlace).first?.utc == utc, "\(flags)")
    }
  }

  @Test("one packet is not believed, two in a row are, wherever reads split")
  func twoInARow() {
    func kinds(_ bytes: [UInt8], chunk: Int = 64) -> [PacketProtocol] {
      var lexer = PacketLexer()
      var kinds: [PacketProtocol] = []
      for start in stride(from: 0, to: bytes.count, by: chunk) {
        bytes[start..<min(bytes.count, start + chunk)].withUnsafeBytes {
          lexer.append($0, at: Timestamp(nanoseconds: 0))
        }
        while let packet = lexer.next(at: Timestamp(nanoseconds: 0)) { kinds.append(packet.kind) }
      }
      return kinds
    }
    let all = [
      Packets.gpsTime, Packets.position, Packets.single, Packets.velocity, Packets.satellites,
      Packets.lastFix, Packets.timing, Packets.timingPlace,
    ]
    for packet in all {
      #expect(kinds(packet).isEmpty)
      for chunk in [1, 2, 7, 64] { #expect(kinds(packet + packet, chunk: chunk) == [.tsip]) }
      // Something in between, be it a byte or a sentence.
      #expect(kinds(packet + [0] + packet).isEmpty)
      // Short packets prove nothing, and do not part long ones.
      let short = Packets.healthy + Packets.corrected
      #expect(kinds(short + packet + short).isEmpty && kinds(short + short).isEmpty)
      #expect(kinds(packet + short + packet + short) == [.tsip, .tsip, .tsip])
      #expect(kinds(packet + PacketLexerTests.gga + packet) == [.nmea])
      // In a packet that is not believed a sentence is found.
      for place in packet.indices {
        let mixed = packet[..<place] + PacketLexerTests.gga + packet[place...]
        #expect(kinds(Array(mixed)).contains(.nmea), "\(place)")
      }
    }
    // Once it speaks it, packets that are not read pass as well; a sentence ends that.
    let version = Packets.framed([0x45, 1, 2, 3])
    let speaks = Packets.gpsTime + Packets.gpsTime
    #expect(kinds(speaks + version + Packets.lastFix) == [.tsip, .tsip, .tsip])
    #expect(kinds(speaks + PacketLexerTests.gga + version + Packets.lastFix) == [.tsip, .nmea])
  }

  @Test("values that cannot be make no packet of TSIP")
  func implausible() {
    let wrong: [[UInt8]] = [
      Packets.changed(Packets.gpsTime, [(0, Packets.single(-1))]),
      Packets.changed(Packets.gpsTime, [(6, Packets.single(17.5))]),
      Packets.changed(Packets.position, [(0, Packets.double(1.6))]),
      Packets.changed(Packets.position, [(8, Packets.double(.nan))]),
      Packets.changed(Packets.position, [(16, Packets.double(1e6))]),
      Packets.changed(Packets.single, [(16, Packets.single(604_800))]),
      Packets.changed(Packets.velocity, [(0, Packets.single(.infinity))]),
      Packets.changed(Packets.satellites, [(0, [0x44])]),
      Packets.changed(Packets.satellites, [(1, Packets.single(-1))]),
      Packets.changed(Packets.corrected, [(0, [4])]), Packets.changed(Packets.healthy, [(0, [99])]),
      Packets.changed(Packets.lastFix, [(27, [0x80])]),
      Packets.changed(Packets.lastFix, [(12, [0x7F])]),
      Packets.changed(Packets.lastFix, [(8, [0xFF])]),
      Packets.changed(Packets.timing, [(12, [24])]), Packets.changed(Packets.timing, [(14, [13])]),
      Packets.changed(Packets.timingPlace, [(36, [0x7F])]),
      // A byte too few, and Garmin's frame: size, data, and a sum that makes all of it zero.
      Packets.framed([0x46, 0]), Packets.framed([0x82, 0, 0x7E]),
      Packets.framed([0x46, 0, 0xBA]),
    ]
    for packet in wrong {
      // It parts two that would be a row.
      var lexer = PacketLexer()
      (Packets.gpsTime + packet + Packets.gpsTime).withUnsafeBytes {
        lexer.append($0, at: Timestamp(nanoseconds: 0))
      }
      while lexer.next(at: Timestamp(nanoseconds: 0)) != nil {}
      #expect(lexer.counters.packets == 0, "\(packet)")
    }
  }

  @Test("a megabyte of noise, and of noise that is full of its frames, is none of it")
  func noise() {
    var dice = Dice(seed: 5)
    var lexer = PacketLexer()
    for round in 0..<512 {
      let chunk: [UInt8] = (0..<2_048).map { _ in
        let byte = UInt8(dice.next(256))
        // In every other round half of all bytes are the frame's.
        guard round % 2 == 1, dice.next(2) == 0 else { return byte }
        return [0x10, 0x03, 0x82, 0x46, 0x41, 0x8F, 0x20][dice.next(7)]
      }
      chunk.withUnsafeBytes { lexer.append($0, at: Timestamp(nanoseconds: Int64(round))) }
      while let packet = lexer.next(at: Timestamp(seconds: Double(round) * 2)) {
        #expect(packet.kind != .tsip)
      }
    }
    #expect(!lexer.speaksTSIP)
  }
}
