/// A QR code (ISO/IEC 18004) of some bytes: byte mode, versions 1 to 10, levels L and M.
package struct QRCode: Equatable, Sendable {
  /// The version, from 1 to 10.
  let version: Int
  /// The mask pattern, from 0 to 7.
  let mask: Int
  /// The modules row by row, without the quiet zone; dark is `true`.
  private let modules: [Bool]

  /// The number of modules of a side.
  var size: Int { 17 + 4 * version }

  /// Encodes bytes in the smallest version that holds them.
  ///
  /// - Parameters:
  ///   - bytes: At most 271 bytes at level L, 213 at level M.
  ///   - mask: The mask pattern, from 0 to 7; the one with the least penalty if `nil`.
  /// - Returns: `nil` if version 10 is too small.
  package init?(_ bytes: [UInt8], level: ErrorCorrectionLevel = .low, mask: Int? = nil) {
    let fitting = (1...QRLayout.largestVersion).lazy.map { QRLayout(version: $0, level: level) }
      .first { $0.dataCodewords >= QRCodewords.count(of: bytes.count, version: $0.version) }
    guard let layout = fitting else { return nil }
    let codewords = QRCodewords.all(of: bytes, layout: layout)
    let empty = QRMatrix(layout: layout, codewords: codewords)
    let candidates = (mask.map { [$0] } ?? Array(0..<8)).map { ($0, empty.masked(by: $0)) }
    guard let best = candidates.min(by: { $0.1.penalty < $1.1.penalty }) else { return nil }
    version = layout.version
    self.mask = best.0
    modules = best.1.modules
  }

  /// Returns whether a module is dark. Modules outside of the code belong to the quiet zone and are light.
  func isDark(row: Int, column: Int) -> Bool {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
    return modules[row * size + column]
  }
}

/// The share of the code that may be unreadable.
package enum ErrorCorrectionLevel: Sendable {
  /// About 7 %.
  case low
  /// About 15 %.
  case medium
}
