/// The quantities that follow from a version and a level (ISO/IEC 18004, tables 1, 9 and E.1).
struct QRLayout {
  static let largestVersion = 10

  let version: Int
  let level: ErrorCorrectionLevel

  /// The number of modules of a side.
  var size: Int { 17 + 4 * version }

  /// The number of codewords, data and error correction.
  var codewords: Int { Self.codewordCounts[version - 1] }

  /// The number of error correction codewords of each block.
  var correctionPerBlock: Int { blocks.correction }

  /// The number of data codewords.
  var dataCodewords: Int { codewords - blocks.correction * blocks.count }

  /// The number of data codewords of each block, shorter ones first.
  var dataPerBlock: [Int] {
    let (short, longer) = dataCodewords.quotientAndRemainder(dividingBy: blocks.count)
    return (0..<blocks.count).map { $0 < blocks.count - longer ? short : short + 1 }
  }

  /// The centres of the alignment patterns, without those that would overlap a finder pattern.
  var alignmentCentres: [(row: Int, column: Int)] {
    let places = Self.alignmentPlaces[version - 1]
    guard let first = places.first, let last = places.last else { return [] }
    return places.flatMap { row in places.map { (row, $0) } }.filter { row, column in
      (row, column) != (first, first) && (row, column) != (first, last)
        && (row, column) != (last, first)
    }
  }

  /// Returns the 15 bits of the format information: level and mask as a BCH code, masked so that they are never all light.
  func formatBits(mask: Int) -> UInt32 {
    let data = (level == .low ? 0b01 : 0b00) << 3 | UInt32(mask)
    return (data << 10 | Self.remainder(of: data << 10, generator: 0x537)) ^ 0x5412
  }

  /// The 18 bits of the version information, a BCH code; `nil` below version 7.
  var versionBits: UInt32? {
    guard version >= 7 else { return nil }
    let data = UInt32(version) << 12
    return data | Self.remainder(of: data, generator: 0x1F25)
  }

  private static func remainder(of value: UInt32, generator: UInt32) -> UInt32 {
    let shift = generator.leadingZeroBitCount
    var value = value
    while value.leadingZeroBitCount <= shift {
      value ^= generator << UInt32(shift - value.leadingZeroBitCount)
    }
    return value
  }

  private var blocks: (correction: Int, count: Int) {
    (level == .low ? Self.lowBlocks : Self.mediumBlocks)[version - 1]
  }

  private static let codewordCounts = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346]
  private static let lowBlocks = [
    (7, 1), (10, 1), (15, 1), (20, 1), (26, 1), (18, 2), (20, 2), (24, 2), (30, 2), (18, 4),
  ]
  private static let mediumBlocks = [
    (10, 1), (16, 1), (26, 1), (18, 2), (24, 2), (16, 4), (18, 4), (22, 4), (22, 5), (26, 5),
  ]
  private static let alignmentPlaces = [
    [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46],
    [6, 28, 50],
  ]
}
