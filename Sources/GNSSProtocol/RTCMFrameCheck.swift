/// The frame of RTCM 3 (RTCM 10403.3, section 4): 0xD3, six reserved bits (0), ten bits of length, the content, and CRC-24Q.
enum RTCMFrameCheck {
  static let preamble: UInt8 = 0xD3
  /// The bytes around the content: three before it, three behind.
  private static let overhead = 6

  /// What bytes are that begin with the preamble.
  enum RTCMVerdict: Sendable, Equatable {
    case incomplete
    case garbage
    /// The length that it claims.
    case badChecksum(length: Int)
    /// A frame, and the length of all of it.
    case whole(length: Int)
  }

  static func check(_ bytes: UnsafeBufferPointer<UInt8>) -> RTCMVerdict {
    if bytes.count > 1, bytes[1] & 0xFC != 0 { return .garbage }
    guard bytes.count >= 3 else { return .incomplete }
    let length = (Int(bytes[1]) << 8 | Int(bytes[2])) + overhead
    guard bytes.count >= length else { return .incomplete }
    let end = length - 3
    let sent = UInt32(bytes[end]) << 16 | UInt32(bytes[end + 1]) << 8 | UInt32(bytes[end + 2])
    let isRight = CRC24Q.sum(UnsafeBufferPointer(rebasing: bytes[..<end])) == sent
    return isRight ? .whole(length: length) : .badChecksum(length: length)
  }
}
