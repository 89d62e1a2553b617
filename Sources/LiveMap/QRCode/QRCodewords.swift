/// The codewords of a QR code: data in byte mode, and Reed-Solomon codes over GF(256).
enum QRCodewords {
  /// Returns the number of data codewords that bytes need: four bits of mode, a count, the bytes.
  static func count(of bytes: Int, version: Int) -> Int {
    (4 + countBits(version: version) + 8 * bytes + 7) / 8
  }

  /// Returns all codewords in the order in which they are placed: the blocks are interleaved.
  static func all(of bytes: [UInt8], layout: QRLayout) -> [UInt8] {
    let data = data(of: bytes, layout: layout)
    var blocks: [ArraySlice<UInt8>] = []
    var rest = data[...]
    for count in layout.dataPerBlock {
      blocks.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    let corrections = blocks.map { correction(of: $0, count: layout.correctionPerBlock) }
    return interleaved(blocks.map(Array.init)) + interleaved(corrections)
  }

  private static func countBits(version: Int) -> Int { version < 10 ? 8 : 16 }

  private static func data(of bytes: [UInt8], layout: QRLayout) -> [UInt8] {
    var bits: [Bool] = []
    func append(_ value: Int, count: Int) {
      for shift in stride(from: count - 1, through: 0, by: -1) {
        bits.append(value >> shift & 1 == 1)
      }
    }
    append(0b0100, count: 4)
    append(bytes.count, count: countBits(version: layout.version))
    for byte in bytes { append(Int(byte), count: 8) }
    // The terminator is shorter if there is no room for it.
    append(0, count: min(4, layout.dataCodewords * 8 - bits.count))
    while bits.count % 8 != 0 { bits.append(false) }
    var data = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
    }
    var padding: UInt8 = 0xEC
    while data.count < layout.dataCodewords {
      data.append(padding)
      padding ^= 0xEC ^ 0x11
    }
    return data
  }

  private static func interleaved(_ blocks: [[UInt8]]) -> [UInt8] {
    let longest = blocks.map(\.count).max() ?? 0
    return (0..<longest).flatMap { place in
      blocks.compactMap { place < $0.count ? $0[place] : nil }
    }
  }

  /// Returns the remainder of the data, as a polynomial, divided by the generator with the roots 2^0 to 2^(count - 1).
  static func correction(of data: some Collection<UInt8>, count: Int) -> [UInt8] {
    var generator = [UInt8](repeating: 0, count: count - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<count {
      for place in generator.indices {
        generator[place] = product(generator[place], root)
        if place + 1 < count { generator[place] ^= generator[place + 1] }
      }
      root = product(root, 2)
    }
    var remainder = [UInt8](repeating: 0, count: count)
    for byte in data {
      let factor = byte ^ remainder[0]
      remainder = Array(remainder.dropFirst()) + [0]
      for place in remainder.indices { remainder[place] ^= product(generator[place], factor) }
    }
    return remainder
  }

  /// Returns the product in GF(256) with the polynomial x^8 + x^4 + x^3 + x^2 + 1.
  static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
    var result: UInt8 = 0
    for shift in stride(from: 7, through: 0, by: -1) {
      result = result << 1 ^ (result >> 7) * 0x1D
      result ^= (b >> UInt8(shift) & 1) * a
    }
    return result
  }
}
