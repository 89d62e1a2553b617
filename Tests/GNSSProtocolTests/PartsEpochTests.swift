// Epochs in several UBX messages, as receivers without NAV-PVT send them: when one is whole, and when it is told.

import GNSSProtocol
import SensorTypes
import Testing

@Suite struct PartsEpochTests {
  private static let order: [UInt8] = [0x02, 0x04, 0x06, 0x12, 0x21]

  /// The messages of an epoch (u-blox 6 receiver description, GPS.G6-SW-10018) at 52 N 13 E.
  private func epoch(_ second: Int, _ parts: [UInt8] = order, hasFix: Bool = true) -> [UInt8] {
    parts.flatMap { id in
      // The second of the GPS week that begins on 2026-11-22.
      let time = (0, 4, (3 * 3_600 + second + 18) * 1_000)
      return switch id {
      case 0x02:
        Stream.message(
          1, id, length: 28,
          [
            time, (4, 4, hasFix ? 130_000_000 : 0), (8, 4, hasFix ? 520_000_000 : 0),
            (12, 4, 80_000),
            (16, 4, 36_000), (20, 4, 1_500), (24, 4, 2_500),
          ])
      case 0x04: Stream.message(1, id, length: 18, [time, (6, 2, 150), (10, 2, 120), (12, 2, 90)])
      case 0x06:
        Stream.message(
          1, id, length: 52,
          [
            time, (8, 2, 2_446), (10, 1, hasFix ? 3 : 0), (11, 1, hasFix ? 0x0D : 0),
            (12, 4, 383_000_000),
            (16, 4, 88_000_000), (20, 4, 500_000_000), (24, 4, 290), (40, 4, 12), (44, 2, 150),
            (47, 1, 9),
          ])
      case 0x12:
        Stream.message(
          1, id, length: 36,
          [time, (20, 4, 140), (24, 4, 9_000_000), (28, 4, 12), (32, 4, 250_000)])
      default:
        Stream.message(
          1, id, length: 20,
          [
            time, (12, 2, 2026), (14, 1, 11), (15, 1, 22), (16, 1, 3), (17, 1, second / 60),
            (18, 1, second % 60), (19, 1, hasFix ? 7 : 0),
          ])
      }
    }
  }

  /// For each of some stretches of bytes, the epochs that are told before the next one comes.
  private func told(_ stretches: [[UInt8]], endsByRule: Bool = true) -> [[GNSSFix]] {
    var decoder = GNSSDecoder(endsByRule: endsByRule)
    return stretches.map { bytes in
      bytes.withUnsafeBytes { decoder.append($0, at: Timestamp(nanoseconds: 7)) }
      var fixes: [GNSSFix] = []
      while let event = decoder.next() {
        if case .epoch(let fix, isPVT: let isWhole) = event {
          #expect(isWhole)
          fixes.append(fix)
        }
      }
      return fixes
    }
  }

  @Test("an epoch is told with the message that was the last one three times in a row")
  func rule() throws {
    let fixes = told((1...10).map { epoch($0) })
    // The first ones wait for the next one's beginning, and one of them is told together with the first prompt one.
    #expect(fixes.map(\.count) == [0, 1, 1, 1, 2, 1, 1, 1, 1, 1])
    #expect(fixes.flatMap { $0 }.map(\.timeOfDay) == (1...10).map { 10_800 + Double($0) })
    let fix = try #require(fixes.last?.first)
    #expect(fix.latitude == 52 && fix.longitude == 13 && fix.altitude == 36)
    #expect(
      fix.ellipsoidalAltitude == 80 && fix.horizontalAccuracy == 1.5 && fix.verticalAccuracy == 2.5)
    #expect(fix.speed.map { abs($0 - 1.4) < 1e-9 } == true)
    #expect(fix.course.map { abs($0 - 90) < 1e-9 } == true)
    #expect(
      fix.hdop.map { abs($0 - 0.9) < 1e-9 } == true && fix.vdop.map { abs($0 - 1.2) < 1e-9 } == true
    )
    #expect(fix.satellitesUsed == 9 && fix.mode == .threeDimensional && fix.isValid)
    #expect(fix.kind == .autonomous && fix.accuracySource == .receiver)
  }

  @Test("in a file each epoch ends with the next one's beginning")
  func file() {
    let fixes = told((1...8).map { epoch($0) }, endsByRule: false)
    #expect(fixes.map(\.count) == [0, 1, 1, 1, 1, 1, 1, 1])
  }

  @Test("a lost message delays its epoch, and loses none", arguments: order)
  func lost(id: UInt8) {
    let stretches = (1...16).map { second in
      second == 9 ? epoch(second, Self.order.filter { $0 != id }) : epoch(second)
    }
    var decoder = GNSSDecoder()
    var times: [Double?] = []
    for bytes in stretches {
      bytes.withUnsafeBytes { decoder.append($0, at: Timestamp(nanoseconds: 7)) }
      while let event = decoder.next() {
        if case .epoch(let fix, isPVT: _) = event { times.append(fix.timeOfDay) }
      }
    }
    #expect(times == (1...16).map { 10_800 + Double($0) })
  }

  @Test("a message that comes behind the last one is the last one from then on")
  func later() {
    let orders = (1...14).map {
      $0 < 8 ? [0x02, 0x06, 0x12, 0x21] : [0x02, 0x06, 0x12, 0x21, 0x04] as [UInt8]
    }
    let fixes = told(zip(1..., orders).map { epoch($0, $1) }).flatMap { $0 }
    #expect(fixes.map(\.timeOfDay) == (1...14).map { 10_800 + Double($0) })
    // One epoch is told before its new last message.
    #expect(fixes.map { $0.hdop == nil } == (1...14).map { $0 < 9 })
  }

  @Test("a receiver without time and place tells whole epochs too")
  func withoutFix() {
    let fixes = told((1...8).map { epoch($0, hasFix: false) }).flatMap { $0 }
    #expect(fixes.count == 8)
    #expect(fixes.allSatisfy { $0.mode == .none && $0.latitude == nil && $0.utc == nil })
  }
}
