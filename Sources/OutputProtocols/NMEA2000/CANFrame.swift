// A frame of the CAN bus.

/// A data frame of the CAN bus with an extended identifier (CAN 2.0B): 29 bits, and at most 8 bytes.
package struct CANFrame: Sendable, Hashable {
  /// The largest identifier.
  package static let largestIdentifier: UInt32 = 0x1FFF_FFFF
  /// The largest number of bytes.
  package static let capacity = 8

  /// The identifier, 29 bits, without SocketCAN's flags.
  package let identifier: UInt32
  /// The number of bytes, 0 to 8.
  package let count: Int
  /// The bytes as a little-endian number; zero above `count`.
  package let word: UInt64

  /// Makes a frame, or `nil` for an identifier of more than 29 bits or more than 8 bytes.
  package init?(identifier: UInt32, bytes: some Collection<UInt8>) {
    guard identifier <= Self.largestIdentifier, bytes.count <= Self.capacity else { return nil }
    var word: UInt64 = 0
    for byte in bytes.reversed() { word = word << 8 | UInt64(byte) }
    (self.identifier, self.word, count) = (identifier, word, bytes.count)
  }

  /// Makes a frame of the first bytes of a little-endian number, at most 8.
  package init(header: NMEA2000Header, word: UInt64, count: Int) {
    identifier = header.identifier & Self.largestIdentifier
    self.count = min(max(count, 0), Self.capacity)
    self.word = self.count == 8 ? word : word & (1 << (8 * UInt64(self.count)) - 1)
  }

  /// The bytes in the order in which they are sent.
  package var bytes: [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }

  /// Returns a byte, or `nil` where the frame has none.
  package func byte(_ index: Int) -> UInt8? {
    (0..<count).contains(index) ? UInt8(truncatingIfNeeded: word >> (8 * index)) : nil
  }

  /// Returns a little-endian number of `size` bytes from `start`, or `nil` where the frame is shorter.
  package func number(at start: Int, size: Int) -> UInt64? {
    guard start >= 0, size > 0, start + size <= count else { return nil }
    let shifted = word >> (8 * start)
    return size == 8 ? shifted : shifted & (1 << (8 * size) - 1)
  }
}
