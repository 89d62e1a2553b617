// The records of an MCAP file (mcap.dev/spec, version 0): one byte of operation code, eight bytes of length, the content, little endian.

extension [UInt8] {
  mutating func append<Integer: FixedWidthInteger>(little value: Integer) {
    for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Appends a text with its length in four bytes.
  mutating func append(prefixed text: String) {
    append(little: UInt32(clamping: text.utf8.count))
    append(contentsOf: text.utf8)
  }
}

/// The operation codes of records.
enum MCAPOperation: UInt8 {
  case header = 0x01
  case footer = 0x02
  case schema = 0x03
  case channel = 0x04
  case message = 0x05
  case chunk = 0x06
  case messageIndex = 0x07
  case chunkIndex = 0x08
  case statistics = 0x0B
  case summaryOffset = 0x0E
  case dataEnd = 0x0F
}

enum MCAPRecord {
  /// The first and the last eight bytes of a file.
  static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

  /// Appends a record whose content `fill` appends.
  static func append(
    _ operation: MCAPOperation, to bytes: inout [UInt8], _ fill: (inout [UInt8]) -> Void
  ) {
    bytes.append(operation.rawValue)
    let place = bytes.count
    bytes.append(little: UInt64(0))
    fill(&bytes)
    let length = UInt64(bytes.count - place - 8)
    for byte in 0..<8 { bytes[place + byte] = UInt8(truncatingIfNeeded: length >> (8 * byte)) }
  }
}

/// CRC-32 as in Ethernet and zlib: reflected polynomial 0xEDB88320, initial value and final XOR all ones.
struct MCAPChecksum {
  private var rest: UInt32 = 0xFFFF_FFFF

  /// The checksum of what was added.
  var value: UInt32 { ~rest }

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      rest = Self.table[Int(UInt8(truncatingIfNeeded: rest) ^ byte)] ^ (rest >> 8)
    }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    var rest = UInt32(index)
    for _ in 0..<8 { rest = rest & 1 == 1 ? 0xEDB8_8320 ^ (rest >> 1) : rest >> 1 }
    return rest
  }
}
