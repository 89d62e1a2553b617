import Foundation
import GNSSProtocol
import SensorTypes
import Testing

/// Septentrio's binary format: what blocks that a script packs from the maker's document come to.
struct SBFTests {
  private typealias Blocks = SBFBlocks

  private func fix(_ bytes: [UInt8]) throws -> GNSSFix { try #require(Stream.fixes(bytes).last) }

  private func isNear(_ value: Double?, _ expected: Double, _ tolerance: Double = 1e-9) -> Bool {
    value.map { abs($0 - expected) <= tolerance } ?? false
  }

  @Test("a PVTGeodetic is a whole epoch, with its kind, corrections, heights and accuracies")
  func position() throws {
    let fix = try fix(Blocks.pvt)
    #expect(isNear(fix.latitude, 50.848, 1e-12) && isNear(fix.longitude, 4.7292, 1e-12))
    // The height is ellipsoidal, the geoid 45.5 m above it.
    #expect(fix.ellipsoidalAltitude == 148.25 && fix.altitude == 102.75)
    #expect(fix.mode == .threeDimensional && fix.kind == .rtkFixed && fix.isValid)
    #expect(fix.corrections == FixCorrections(age: 1.5, station: 1_234))
    #expect(fix.satellitesUsed == 23 && fix.speed == 5 && fix.course == 306.875)
    #expect(fix.verticalSpeed == 0.25)
    // Twice the root mean square of 4 cm: 1.4142 cm an axis, and 1.51 times that. Two sigma of 6 cm.
    #expect(isNear(fix.horizontalAccuracy, 1.51 * 0.02 / 2.0.squareRoot()))
    #expect(fix.verticalAccuracy == 0.03 && fix.accuracySource == .receiver)
    // 2026-11-23 10:17:36 of GPS time, 18 s ahead.
    #expect(fix.utc == 1_795_429_056 - 18 && isNear(fix.timeOfDay, 37_038))
  }

  @Test(
    "modes",
    arguments: [
      (1, FixKind.autonomous), (2, .differential), (3, .timeOnly), (4, .rtkFixed), (5, .rtkFloat),
      (6, .differential), (7, .rtkFixed), (8, .rtkFloat), (10, .precisePoint), (0, .none),
    ] as [(UInt64, FixKind)])
  func modes(mode: UInt64, kind: FixKind) throws {
    let fix = try fix(Blocks.changed(Blocks.pvt, [(14, 1, mode)]))
    #expect(fix.kind == kind)
    let hasPlace = kind != .timeOnly && kind != .none
    #expect((fix.latitude != nil) == hasPlace && (fix.mode == .threeDimensional) == hasPlace)
    #expect((fix.speed != nil) == hasPlace && (fix.horizontalAccuracy != nil) == hasPlace)
    // SBAS's satellite is no station.
    #expect(fix.corrections?.station == (hasPlace && mode != 1 && mode != 6 ? 1_234 : nil))
    // Still determining its place it measures it; with an assumed height in two dimensions.
    let surveying = try self.fix(Blocks.changed(Blocks.pvt, [(14, 1, mode | 0x40)]))
    #expect(surveying.kind == kind && surveying.mode == fix.mode)
    let flat = try self.fix(Blocks.changed(Blocks.pvt, [(14, 1, mode | 0x80)]))
    #expect(flat.mode == (hasPlace ? .twoDimensional : .none))
  }

  @Test("an error, a mode without a meaning, an integrity test that failed")
  func errors() throws {
    for error in UInt64(1)...10 {
      let fix = try fix(Blocks.changed(Blocks.pvt, [(15, 1, error)]))
      #expect(fix.latitude == nil && fix.mode == .none && fix.kind == FixKind.none)
    }
    let unnamed = try fix(Blocks.changed(Blocks.pvt, [(14, 1, 9)]))
    #expect(unnamed.kind == nil && unnamed.latitude != nil)
    for (alert, isValid) in [(0, true), (1, true), (2, false), (5, false)] as [(UInt64, Bool)] {
      #expect(try fix(Blocks.changed(Blocks.pvt, [(84, 1, alert)])).isValid == isValid)
    }
  }

  @Test("values that stand for none")
  func missing() throws {
    let none8 = (-2e10).bitPattern
    let none4 = UInt64(Float(-2e10).bitPattern)
    for offset in [16, 24] {
      let fix = try fix(Blocks.changed(Blocks.pvt, [(offset, 8, none8)]))
      #expect(fix.latitude == nil && fix.longitude == nil && fix.mode == .none)
    }
    #expect(try fix(Blocks.changed(Blocks.pvt, [(16, 8, Double.nan.bitPattern)])).latitude == nil)
    #expect(try fix(Blocks.changed(Blocks.pvt, [(32, 8, none8)])).ellipsoidalAltitude == nil)
    let fix = try fix(
      Blocks.changed(
        Blocks.pvt,
        [
          (40, 4, none4), (44, 4, none4), (52, 4, none4), (56, 4, none4), (74, 1, 255),
          (76, 2, 65_535), (78, 2, 65_535), (90, 2, 65_535), (92, 2, 65_535),
        ]))
    #expect(fix.altitude == nil && fix.ellipsoidalAltitude == 148.25)
    #expect(fix.speed == nil && fix.verticalSpeed == nil && fix.course == nil)
    #expect(fix.satellitesUsed == nil && fix.corrections == nil)
    #expect(fix.horizontalAccuracy == nil && fix.verticalAccuracy == nil)
    // Several stations have no number; the age stays.
    let several = try self.fix(Blocks.changed(Blocks.pvt, [(76, 2, 65_534)]))
    #expect(several.corrections == FixCorrections(age: 1.5))
    for stamp in [[(8, 4, 0xFFFF_FFFF)], [(12, 2, 65_535)]] as [[(Int, Int, UInt64)]] {
      let fix = try self.fix(Blocks.changed(Blocks.pvt, stamp))
      #expect(fix.utc == nil && fix.timeOfDay == nil && fix.latitude != nil)
    }
  }

  @Test("older firmware sends less, and a block that is too short nothing")
  func revisions() throws {
    let old = try fix(Blocks.cut(Blocks.pvt, to: 88))
    #expect(old.kind == .rtkFixed && old.horizontalAccuracy == nil && old.altitude == 102.75)
    #expect(old.accuracySource == .worstCase)
    for length in stride(from: 8, to: 84, by: 4) {
      #expect(Stream.fixes(Blocks.cut(Blocks.pvt, to: length)).isEmpty, "\(length)")
    }
  }

  @Test("blocks of one moment are one epoch, which waits for what came before")
  func parts() throws {
    let parts = [Blocks.posCov, Blocks.velCov, Blocks.dop]
    for order in [
      [Blocks.pvt] + parts, parts + [Blocks.pvt], [parts[0], Blocks.pvt, parts[2], parts[1]],
    ] {
      let bytes = (0..<4).flatMap { second in
        order.flatMap { Blocks.at(123_456_000 + 1_000 * UInt64(second), $0) }
      }
      let fixes = Stream.fixes(bytes, chunk: 7)
      #expect(fixes.map(\.utc) == (0..<4).map { 1_795_429_038 + Double($0) })
      for fix in fixes.dropFirst() {
        #expect(isNear(fix.horizontalAccuracy, 1.51 * 2e-4.squareRoot(), 1e-8))
        #expect(isNear(fix.verticalAccuracy, 0.02, 1e-8))
        #expect(fix.pdop == 1.5 && fix.hdop == 0.8 && fix.vdop == 1.3)
        // 0.6 to the north and -0.8 to the east: 0.36 * 0.04 + 0.64 * 0.01, and the other way round.
        #expect(isNear(fix.speedAccuracy, 0.0208.squareRoot(), 1e-8))
        #expect(isNear(fix.courseAccuracy, 0.0292.squareRoot() / 5 * 180 / .pi, 1e-6))
      }
    }
  }

  @Test("the end of an epoch's blocks ends it, and one that lacks its position is none")
  func ends() throws {
    let epoch = Blocks.pvt + Blocks.dop + Blocks.endOfPVT
    var decoder = GNSSDecoder()
    var count = 0
    for second in 0..<5 {
      for block in [Blocks.pvt, Blocks.dop, Blocks.endOfPVT] {
        Blocks.at(UInt64(second) * 1_000, block).withUnsafeBytes {
          decoder.append($0, at: Timestamp(nanoseconds: 0))
        }
        while let event = decoder.next() { if case .epoch = event { count += 1 } }
      }
      // The first is out with its position, the others with their ends.
      #expect(count == second + 1)
    }
    #expect(Stream.fixes(epoch).count == 1)
    #expect(Stream.fixes(Blocks.dop + Blocks.posCov + Blocks.endOfPVT).isEmpty)
    // Before it knows the time, each position is another epoch.
    let unknown = Blocks.changed(Blocks.pvt, [(8, 4, 0xFFFF_FFFF), (12, 2, 0xFFFF), (14, 1, 0)])
    #expect(Stream.fixes(unknown + unknown + unknown).count == 3)
    #expect(Stream.fixes(Blocks.pvt + Blocks.pvt).count == 1)
  }

  @Test("leap seconds are the receiver's word, once it has said them")
  func leapSeconds() throws {
    let bytes = Blocks.receiverTime + Blocks.pvt
    #expect(try fix(bytes).utc == 1_795_429_039)
    let unknown = Blocks.changed(Blocks.receiverTime, [(20, 1, 0x80)])
    #expect(try fix(unknown + Blocks.pvt).utc == 1_795_429_038)
  }

  @Test("NMEA of the same epochs is not told twice")
  func besideNMEA() {
    // 10:17:30 UTC is 123,468 s of the week.
    let bytes = (0..<6).flatMap { (second: Int) -> [UInt8] in
      let time = "10173\(second).00"
      let block = Blocks.at(123_468_000 + UInt64(second) * 1_000, Blocks.pvt)
      return Stream.rmc(time) + Stream.gga(time) + block
    }
    let all = Stream.fixes(bytes)
    let times = all.compactMap { $0.timeOfDay.map { Int($0.rounded()) } }
    #expect(times.count == all.count && Set(times).count == times.count, "\(times)")
    #expect(all.count { $0.kind == .rtkFixed } >= 5)
  }

  @Test("AttEuler is the heading of the antennas, with its accuracies, roll and pitch")
  func attitude() throws {
    let bytes = (0..<3).flatMap { second in
      Blocks.at(UInt64(second) * 1_000, Blocks.att)
        + Blocks.at(UInt64(second) * 1_000, Blocks.attCov)
    }
    let headings = Stream.headings(bytes)
    #expect(headings.count == 3)
    for (index, said) in headings.enumerated() {
      #expect(said.trueHeading == 123.5 && said.pitch == -2.25 && said.roll == 1.5)
      #expect(said.source == .antennas && said.magneticHeading == nil)
      // The first is out before anybody knows that accuracies come.
      #expect(said.accuracy == (index == 0 ? nil : 0.25))
      #expect(said.pitchAccuracy == (index == 0 ? nil : 0.5))
      #expect(said.rollAccuracy == (index == 0 ? nil : 1))
    }
    // Accuracies of another moment are not taken, and what waits for them comes with the next one.
    let lost =
      Blocks.att + Blocks.attCov + Blocks.at(1_000, Blocks.att) + Blocks.at(2_000, Blocks.att)
    #expect(Stream.headings(lost).map(\.accuracy) == [nil, nil, nil])
  }

  @Test("an attitude by float ambiguities, with an error or none at all is no heading")
  func noAttitude() throws {
    func headings(_ fields: [(Int, Int, UInt64)]) -> [ReceiverHeading] {
      Stream.headings(Blocks.changed(Blocks.att, fields))
    }
    // Two antennas have no roll.
    let two = try #require(headings([(16, 2, 2)]).first)
    #expect(two.trueHeading == 123.5 && two.pitch == -2.25 && two.roll == nil)
    for mode in [0, 1, 3, 5, 0x104] as [UInt64] { #expect(headings([(16, 2, mode)]).isEmpty) }
    for error in [1, 4, 0x80] as [UInt64] { #expect(headings([(15, 1, error)]).isEmpty) }
    for value in [Float(-2e10), 361, -1, .nan, .infinity] {
      #expect(headings([(20, 4, UInt64(value.bitPattern))]).isEmpty)
    }
    let level = try #require(headings([(24, 4, UInt64(Float(-2e10).bitPattern))]).first)
    #expect(level.pitch == nil && level.roll == 1.5)
  }

  @Test("a block is found wherever reads split, and a damaged one is none and hides none")
  func lexer() {
    let stream = PacketLexerTests.gga + Blocks.pvt + Blocks.att + PacketLexerTests.gga
    var lexer = PacketLexer()
    func kinds(_ chunks: [[UInt8]]) -> [PacketProtocol] {
      lexer = PacketLexer()
      var kinds: [PacketProtocol] = []
      for chunk in chunks {
        chunk.withUnsafeBytes { lexer.append($0, at: Timestamp(nanoseconds: 0)) }
        while let packet = lexer.next(at: Timestamp(nanoseconds: 0)) { kinds.append(packet.kind) }
      }
      return kinds
    }
    let expected: [PacketProtocol] = [.nmea, .sbf(block: 4_007), .sbf(block: 5_938), .nmea]
    for cut in 0...stream.count {
      #expect(kinds([Array(stream[..<cut]), Array(stream[cut...])]) == expected)
      #expect(lexer.counters.garbage == 4)
    }
    #expect(kinds(stream.map { [$0] }) == expected)
    for index in Blocks.att.indices where index != 6 && index != 7 {
      var damaged = Blocks.att
      damaged[index] ^= 0x01
      #expect(!kinds([damaged + Blocks.pvt + [10]]).contains(.sbf(block: 5_938)), "byte \(index)")
      #expect(kinds([damaged + Blocks.pvt + [10]]).contains(.sbf(block: 4_007)), "byte \(index)")
    }
    // Lengths that no block has: not of fours, too short, longer than is waited for.
    for length in [0, 4, 43, 45, 4_100, 65_532] as [UInt64] {
      let wrong = Blocks.changed(Blocks.att, [(6, 2, length)])
      #expect(kinds([wrong + Blocks.pvt]) == [.sbf(block: 4_007)], "\(length)")
    }
  }
}
