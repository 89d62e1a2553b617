// The bytes of CBOR (RFC 8949), as far as the messages need them.

/// The first bytes of data items, RFC 8949 section 3.
enum CBORByte {
  static let unsigned: UInt8 = 0x00
  static let negative: UInt8 = 0x20
  static let text: UInt8 = 0x60
  static let array: UInt8 = 0x80
  static let map: UInt8 = 0xA0
  /// Added to `array` and `map`: the items follow up to a `stop`.
  static let indefinite: UInt8 = 0x1F
  static let no: UInt8 = 0xF4
  static let yes: UInt8 = 0xF5
  static let null: UInt8 = 0xF6
  static let float: UInt8 = 0xFA
  static let double: UInt8 = 0xFB
  static let stop: UInt8 = 0xFF
}

/// Writes data items one after the other. Arrays and maps have no count, so that nothing is kept until their end.
///
/// A container ends when the one around it goes on: `Encoder` has no call for the end.
final class CBORWriter {
  private(set) var bytes: [UInt8]
  /// The number of arrays and maps that have not ended.
  private(set) var depth = 0
  /// Whether a container was written to after the one around it had gone on. The bytes are of no use then.
  private(set) var isBroken = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Begins an array or a map.
  ///
  /// - Returns: The depth to resume before each of its items.
  func begin(_ kind: UInt8) -> Int {
    bytes.append(kind | CBORByte.indefinite)
    depth += 1
    return depth
  }

  /// Ends what was begun inside the container of this depth.
  func resume(_ depth: Int) {
    if depth > self.depth { isBroken = true }
    while self.depth > depth {
      bytes.append(CBORByte.stop)
      self.depth -= 1
    }
  }

  func write(_ byte: UInt8) { bytes.append(byte) }

  /// Writes items that are encoded already.
  func write(_ items: [UInt8]) { bytes += items }

  /// Returns the bytes, and keeps none.
  func takeBytes() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  func write(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      head(CBORByte.text, UInt64(utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  func write(_ value: Double) {
    bytes.append(CBORByte.double)
    append(value.bitPattern)
  }

  func write(_ value: Float) {
    bytes.append(CBORByte.float)
    append(value.bitPattern)
  }

  func write(_ value: some BinaryInteger) {
    if let positive = UInt64(exactly: value) {
      head(CBORByte.unsigned, positive)
    } else {
      // -1 - n is written for a negative n: its complement.
      head(CBORByte.negative, ~UInt64(bitPattern: Int64(truncatingIfNeeded: value)))
    }
  }

  /// Writes the first byte of an item with its argument, as short as it can be.
  private func head(_ kind: UInt8, _ argument: UInt64) {
    switch argument {
    case 0..<24: bytes.append(kind | UInt8(argument))
    case 24...0xFF:
      bytes.append(kind | 24)
      bytes.append(UInt8(argument))
    case 0x100...0xFFFF:
      bytes.append(kind | 25)
      append(UInt16(argument))
    case 0x1_0000...0xFFFF_FFFF:
      bytes.append(kind | 26)
      append(UInt32(argument))
    default:
      bytes.append(kind | 27)
      append(argument)
    }
  }

  private func append<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
