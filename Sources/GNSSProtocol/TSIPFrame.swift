/// The frame of a packet of Trimble's TSIP: DLE, an identifier, data in which each DLE is doubled, DLE, ETX (Trimble Copernicus
/// manual, appendix A). It has no check sum.
enum TSIPFrame {
  static let (dle, etx) = (UInt8(0x10), UInt8(0x03))
  /// The most that is waited for, with doubled bytes: position reports need at most 142 of them.
  static let longest = 400
  /// The bytes from which on a plausible packet is hardly one by chance: a 0x41, the shortest with a time.
  static let longLength = 14
  /// The most bytes of identifier and data together.
  static let longestContent = 200

  /// What bytes are that begin with a DLE.
  enum TSIPVerdict: Sendable, Equatable {
    case incomplete
    /// The bytes that were looked at.
    case garbage(length: Int)
    /// A packet, and the length of all of it.
    case whole(length: Int)
  }

  static func check(_ bytes: UnsafeBufferPointer<UInt8>) -> TSIPVerdict {
    guard bytes.count > 1 else { return .incomplete }
    guard bytes[1] != dle, bytes[1] != etx else { return .garbage(length: 1) }
    var index = 2
    while index + 1 < min(bytes.count, longest) {
      guard bytes[index] == dle else {
        index += 1
        continue
      }
      if bytes[index + 1] == etx { return .whole(length: index + 2) }
      guard bytes[index + 1] == dle else { return .garbage(length: index) }
      index += 2
    }
    return bytes.count < longest ? .incomplete : .garbage(length: index)
  }

  /// What a whole packet says; `nil` for one that is not read, or not plausible.
  static func report(of packet: Range<Int>, in lexer: PacketLexer) -> TSIPReport? {
    lexer.withBytes(packet) { bytes in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longestContent) { content in
        var count = 0
        var index = 1
        while index < bytes.count - 2 {
          guard count < longestContent else { return nil }
          content[count] = bytes[index]
          count += 1
          // A DLE in the data is said twice.
          index += bytes[index] == dle ? 2 : 1
        }
        return TSIPReport(UnsafeBufferPointer(rebasing: content[..<count]))
      }
    }
  }
}

/// Plausible packets of TSIP in a row without a gap. No tuple: Swift 6.0.3 mistakes one with labels for one without.
struct TSIPRow: Sendable {
  /// Where the last one ends.
  var end = -1
  /// Whether one of them is long.
  var hasLong = false
}
