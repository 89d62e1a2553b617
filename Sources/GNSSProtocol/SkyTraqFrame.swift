/// The frame of a message in SkyTraq's binary protocol: A0 A1, the length of the payload in two bytes with the higher one first,
/// the payload, the exclusive or of its bytes, and 0D 0A (SkyTraq AN0028, "Binary message structure").
enum SkyTraqFrame {
  static let (first, second) = (UInt8(0xA0), UInt8(0xA1))
  /// The bytes around the payload: four before it, three behind.
  static let (header, overhead) = (4, 7)
  /// The longest payload that is waited for. Answers have at most 34 bytes, raw measurements of 60 channels 1,874.
  static let longest = 2_048

  /// What bytes are that begin with the first one.
  enum SkyTraqVerdict: Sendable, Equatable {
    case incomplete
    case garbage
    /// The length that it claims.
    case badChecksum(length: Int)
    /// A message, and the length of all of it.
    case whole(length: Int)
  }

  static func check(_ bytes: UnsafeBufferPointer<UInt8>) -> SkyTraqVerdict {
    if bytes.count > 1, bytes[1] != second { return .garbage }
    guard bytes.count >= header else { return .incomplete }
    let length = Int(bytes[2]) << 8 | Int(bytes[3])
    guard length > 0, length <= longest else { return .garbage }
    guard bytes.count >= length + overhead else { return .incomplete }
    let end = header + length
    // Without the right end it is not a frame, even if the check sum is right.
    guard bytes[end + 1] == 0x0D, bytes[end + 2] == 0x0A else { return .garbage }
    var sum: UInt8 = 0
    for index in header..<end { sum ^= bytes[index] }
    return sum == bytes[end] ? .whole(length: length + overhead) : .badChecksum(length: length)
  }
}
