/// Blocks of Septentrio's binary format as `Tests/binary-receivers.py` packs them from the maker's document, all of one moment.
enum SBFBlocks {
  static let pvt = block(
    "2440fb2da74f600000ca5b078e090400a45c9c091d66ec3fbc464a455921b53f00000000008862400000364200004040"
      + "000080c00000803e00709943000000000000c03f0000003f00001700d204960001000000010100009001040006000000"
  )
  static let att = block(
    "2440ee8e32172c0000ca5b078e090e00040000000000f742000010c00000c03f000000000000000000000000")
  static let attCov = block(
    "2440c4be3317280000ca5b078e0900000000803d0000803e0000803f000000000000000000000000")
  static let dop = block(
    "24400ffca10f200000ca5b078e09170096005a00500082000000c03f00002040")
  static let posCov = block(
    "244027a91217380000ca5b078e09040017b7d13852499d3917b7d1390000000000000000000000000000000000000000"
      + "0000000000000000")
  static let velCov = block(
    "244000b81417380000ca5b078e0904000ad7233d0ad7233cec51b83d0000000000000000000000000000000000000000"
      + "0000000000000000")
  static let receiverTime = block(
    "2440d1db1a17180000ca5b078e091a0b170a111211070000")
  static let endOfPVT = block(
    "244089352117100000ca5b078e090000")

  /// A minute of epochs with headings, at places of their own.
  static let stream: [UInt8] = (0..<60).flatMap { (second: Int) -> [UInt8] in
    let north = (0.887 + Double(second) * 1e-7).bitPattern
    let blocks = [
      changed(pvt, [(16, 8, north)]), posCov, velCov, dop, att, attCov, endOfPVT,
    ]
    let all = second % 10 == 0 ? [changed(receiverTime, [(20, 1, 18)])] + blocks : blocks
    return all.flatMap { at(123_456_000 + 1_000 * UInt64(second), $0) }
  }

  private static func block(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
  }

  /// A block with other bytes of its body, and a check sum that fits; `fields` are offset from its beginning, bytes and value.
  static func changed(_ block: [UInt8], _ fields: [(Int, Int, UInt64)]) -> [UInt8] {
    var block = block
    for (offset, size, value) in fields {
      for index in 0..<size {
        block[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
      }
    }
    return checked(block)
  }

  /// A block of another length.
  static func cut(_ block: [UInt8], to length: Int) -> [UInt8] {
    changed(Array(block[..<length]), [(6, 2, UInt64(length))])
  }

  /// The block of another time of week, milliseconds.
  static func at(_ milliseconds: UInt64, _ block: [UInt8]) -> [UInt8] {
    changed(block, [(8, 4, milliseconds)])
  }

  private static func checked(_ block: [UInt8]) -> [UInt8] {
    var crc: UInt16 = 0
    for byte in block[4...] {
      for bit in stride(from: 7, through: 0, by: -1) {
        let top = (crc >> 15) ^ UInt16(byte >> bit & 1)
        crc = (crc << 1) ^ (top == 0 ? 0 : 0x1021)
      }
    }
    return block[..<2] + [UInt8(crc & 255), UInt8(crc >> 8)] + block[4...]
  }
}
