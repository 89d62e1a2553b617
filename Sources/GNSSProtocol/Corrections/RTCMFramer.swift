// RTCM 3 messages in a stream of bytes.

/// A whole RTCM 3 frame whose check sum fits.
package struct RTCMFrame: Sendable, Hashable {
  /// The frame as it was sent, from its preamble to its check sum: 6 to 1029 bytes.
  package let bytes: [UInt8]

  /// The number of the message, 0 to 4095 (DF002), such as 1005 for a station's place; `nil` for a frame without content.
  package var number: Int? {
    bytes.count >= 8 ? Int(bytes[3]) << 4 | Int(bytes[4]) >> 4 : nil
  }
}

/// Finds RTCM 3 frames in a stream (RTCM 10403.3, section 4).
///
/// A frame is 0xD3, 6 reserved bits (0), 10 bits of length, the content and CRC-24Q. Whatever does not fit costs one byte, not its
/// claimed length, so that a frame behind it is found.
package struct RTCMFramer: Sendable {
  /// The length of the longest frame, in bytes.
  package static let longestFrame = 1_029

  private var buffer: [UInt8] = []
  private var credit = CheckCredit()
  /// The number of frames so far.
  package private(set) var frames: UInt64 = 0
  /// The number of bytes so far that belonged to no frame.
  package private(set) var rejected: UInt64 = 0

  package init() {}

  /// Takes bytes and calls `body` with each frame that they complete.
  ///
  /// Between calls less than one frame is kept.
  package mutating func take(_ bytes: some Sequence<UInt8>, _ body: (RTCMFrame) -> Void) {
    let before = buffer.count
    buffer.append(contentsOf: bytes)
    credit.arrived(buffer.count - before)
    var start = 0
    scan: while start < buffer.count {
      guard buffer[start] == RTCMFrameCheck.preamble, !credit.isUsedUp else {
        rejected &+= 1
        start += 1
        continue
      }
      let verdict = buffer.withUnsafeBufferPointer {
        RTCMFrameCheck.check(UnsafeBufferPointer(rebasing: $0[start...]))
      }
      switch verdict {
      case .whole(let length):
        frames &+= 1
        body(RTCMFrame(bytes: Array(buffer[start..<start + length])))
        start += length
      case .badChecksum(let length):
        credit.spend(length)
        rejected &+= 1
        start += 1
      case .garbage:
        rejected &+= 1
        start += 1
      case .incomplete: break scan
      }
    }
    buffer.removeFirst(start)
  }

  /// Forgets the beginning of a frame whose rest will not come; its bytes are counted as rejected.
  package mutating func restart() {
    rejected &+= UInt64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }
}
