// What stands in a datagram with NMEA 0183, and how it continues the one before.

/// The part of a datagram that is read, and whether a line ends before it and behind it.
struct DatagramPiece: Sendable, Hashable {
  var range: Range<Int>
  /// The sentence before has no line end, and this datagram begins another.
  var endsLineBefore: Bool
  /// Its last sentence is whole and has no line end.
  var endsLineBehind: Bool
}

/// Joins datagrams to lines.
///
/// Most programs send whole sentences, one or several a datagram, and some leave out the line end. A program that copies
/// a serial line (socat) cuts anywhere. So datagrams are joined as they come, and only a beginning (`$`, `!`, `\`) ends
/// the sentence before: then half a sentence whose other half was lost takes no whole one with it.
struct DatagramText: Sendable {
  /// What a datagram of IEC 61162-450 with sentences begins with, and what those of other content begin with (binary
  /// files, repeated files, NMEA 2000).
  private static let sentences: [UInt8] = Array("UdPbC\0".utf8)
  private static let others: [[UInt8]] = ["RaUdP\0", "RrUdP\0", "NkPgN\0"].map { Array($0.utf8) }

  /// Whether the last line has ended.
  private var isLineOver = true

  /// Takes a datagram of the sender that is followed; `nil` for one without text.
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> DatagramPiece? {
    guard !Self.others.contains(where: bytes.starts(with:)) else { return nil }
    let start = bytes.starts(with: Self.sentences) ? Self.sentences.count : 0
    guard start < bytes.count else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: bytes[start...])
    let begins = start > 0 || Self.isBeginning(body[0])
    let isWhole = Self.endsWithSum(body)
    defer { isLineOver = isWhole || Self.isLineEnd(body[body.count - 1]) }
    return DatagramPiece(
      range: start..<bytes.count, endsLineBefore: begins && !isLineOver, endsLineBehind: isWhole)
  }

  /// Another sender is followed from here on: returns whether a line has to be ended.
  mutating func changeSender() -> Bool {
    defer { isLineOver = true }
    return !isLineOver
  }

  /// Whether it holds a sentence with a position: RMC, GGA, GNS or GLL of any talker, or u-blox's NAV-PVT.
  static func hasPosition(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 7 else { return false }
    for index in 0..<bytes.count - 6 {
      switch bytes[index] {
      case UInt8(ascii: "$"):
        guard bytes[index + 6] == UInt8(ascii: ",") else { continue }
        switch (bytes[index + 3], bytes[index + 4], bytes[index + 5]) {
        case (UInt8(ascii: "R"), UInt8(ascii: "M"), UInt8(ascii: "C")),
          (UInt8(ascii: "G"), UInt8(ascii: "G"), UInt8(ascii: "A")),
          (UInt8(ascii: "G"), UInt8(ascii: "N"), UInt8(ascii: "S")),
          (UInt8(ascii: "G"), UInt8(ascii: "L"), UInt8(ascii: "L")):
          return true
        default: continue
        }
      case 0xB5:
        if bytes[index + 1] == 0x62, bytes[index + 2] == 0x01, bytes[index + 3] == 0x07 {
          return true
        }
      default: continue
      }
    }
    return false
  }

  private static func isBeginning(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") || byte == UInt8(ascii: "\\")
  }

  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 10 || byte == 13 }

  /// Whether the text ends with `*hh` of a sentence that is in it whole.
  private static func endsWithSum(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    guard count >= 4, bytes[count - 3] == UInt8(ascii: "*"), isDigit(bytes[count - 2]),
      isDigit(bytes[count - 1])
    else { return false }
    var index = count - 4
    while index >= 0 {
      let byte = bytes[index]
      if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") { return true }
      // Bytes of a binary message, which a line end would break.
      guard byte >= 32, byte < 127 else { return false }
      index -= 1
    }
    return false
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }
}
