/// The frame of a block of Septentrio's binary format (Septentrio PolaRx5TR reference guide, section 4.1).
enum SBFFrame {
  /// The byte behind the dollar that it begins with.
  static let second = UInt8(ascii: "@")
  /// The bytes before its body.
  static let header = 8
  /// The longest that is waited for: more than positions and attitudes need, less than raw measurements may take.
  static let longest = 4_096

  /// What bytes are that begin with the first two.
  enum SBFVerdict: Sendable, Equatable {
    case incomplete
    case garbage
    /// The length that it claims.
    case badChecksum(length: Int)
    /// A block, by its number without its revision, and the length of all of it.
    case whole(block: UInt16, length: Int)
  }

  static func check(_ bytes: UnsafeBufferPointer<UInt8>) -> SBFVerdict {
    guard bytes.count >= header else { return .incomplete }
    func number(_ offset: Int) -> UInt16 {
      UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8
    }
    let length = Int(number(6))
    guard length % 4 == 0, length >= header, length <= longest else { return .garbage }
    guard bytes.count >= length else { return .incomplete }
    // CRC-16-CCITT from 0, over all behind the check sum itself.
    var crc: UInt16 = 0
    for index in 4..<length {
      var mixed = crc >> 8 ^ UInt16(bytes[index])
      mixed ^= mixed >> 4
      crc = crc << 8 ^ mixed << 12 ^ mixed << 5 ^ mixed
    }
    guard crc == number(2) else { return .badChecksum(length: length) }
    return .whole(block: number(4) & 0x1FFF, length: length)
  }
}
