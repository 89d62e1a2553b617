/// The check sum of RTCM 3 frames: CRC-24Q (RTCM 10403.3, section 4.2), polynomial 0x1864CFB, begun with 0.
enum CRC24Q {
  private static let table: [UInt32] = (0..<256).map { index in
    var value = UInt32(index) << 16
    for _ in 0..<8 {
      value <<= 1
      if value & 0x100_0000 != 0 { value ^= 0x186_4CFB }
    }
    return value
  }

  /// Returns the check sum of bytes, in the lower 24 bits.
  static func sum(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
    table.withUnsafeBufferPointer { table in
      bytes.reduce(0) { sum, byte in
        (sum << 8 & 0xFF_FFFF) ^ table[Int(UInt8(truncatingIfNeeded: sum >> 16) ^ byte)]
      }
    }
  }
}
