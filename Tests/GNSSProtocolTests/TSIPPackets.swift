import Foundation

/// Packets of Trimble's TSIP as `Tests/binary-receivers.py` packs them from the maker's documents, all of one moment: 37.389 N, 122.036 W
/// at 123,456 s of week 2446, which is 2026-11-23 10:17:18 UTC.
enum TSIPPackets {
  static let gpsTime = packet(
    "104147f12000098e419000001003")
  static let position = packet(
    "10843fe4e1c7ede61c64c0010a18be3311a04029000000000000405900000000000047f120001003")
  static let single = packet(
    "104a3f270e3fc00850c64148000042c8000047f120001003")
  static let velocity = packet(
    "105640400000c08000003e8000003f00000047f120001003")
  static let satellites = packet(
    "106d54402000003fc00000400000003f80000003101016181f1003")
  static let corrected = packet(
    "1082031003")
  static let healthy = packet(
    "104600001003")
  static let noSatellites = packet(
    "104608001003")
  static let lastFix = packet(
    "108f20000258fce00032075bca001a9675b1a9380631000030d4000001000512098e0000000000000000000000000000"
      + "000000000000000000001003")
  static let timing = packet(
    "108fab0001e240098e00120312110a170b07ea1003")
  static let timingPlace = packet(
    "108fac0700640000000000000000000000003fc000003e800000000800003f000000421a00003fe4e1c7ede61c64c001"
      + "0a18be3311a0402900000000000000000000000000001003")

  private static func packet(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
  }

  /// A packet with other bytes of its data, at an offset behind the identifier, most significant first.
  static func changed(_ packet: [UInt8], _ fields: [(Int, [UInt8])]) -> [UInt8] {
    var content: [UInt8] = []
    var index = 1
    while index < packet.count - 2 {
      content.append(packet[index])
      index += packet[index] == 0x10 ? 2 : 1
    }
    for (offset, bytes) in fields {
      for (place, byte) in bytes.enumerated() { content[1 + offset + place] = byte }
    }
    return framed(content)
  }

  static func framed(_ content: [UInt8]) -> [UInt8] {
    [0x10, content[0]] + content.dropFirst().flatMap { $0 == 0x10 ? [$0, $0] : [$0] } + [0x10, 3]
  }

  static func single(_ value: Float) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (24 - 8 * $0)) }
  }

  static func double(_ value: Double) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (56 - 8 * $0)) }
  }

  static func long(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  /// A second of a Lassen, so many seconds later.
  static func epoch(_ second: Int) -> [UInt8] {
    let time = single(123_456 + Float(second))
    return changed(position, [(32, time)]) + changed(velocity, [(16, time)]) + satellites
      + (second % 5 == 0 ? changed(gpsTime, [(0, time)]) : []) + healthy + corrected
  }

  /// A minute of epochs.
  static let stream: [UInt8] = (0..<60).flatMap { (second: Int) -> [UInt8] in
    let time = long(123_456_000 + 1_000 * UInt32(second))
    return satellites + changed(lastFix, [(8, time), (12, long(446_061_000 + UInt32(second)))])
  }
}
