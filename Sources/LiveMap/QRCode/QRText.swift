/// A QR code as text: a character shows two modules, one above the other.
package enum QRText {
  /// The width of the light border that readers need, in modules.
  static let quietZone = 4

  /// Returns the number of columns of a line.
  package static func width(of code: QRCode) -> Int { code.size + 2 * quietZone }

  /// Returns the lines of a code. The characters draw the light modules, which suits a dark terminal.
  ///
  /// - Parameter isColoured: Whether both colours are set by escape sequences, so that a light terminal shows the same.
  package static func lines(of code: QRCode, isColoured: Bool) -> [String] {
    let all = -quietZone..<(code.size + quietZone)
    return stride(from: all.lowerBound, to: all.upperBound, by: 2).map { row in
      let line = all.map { column in
        character(
          above: code.isDark(row: row, column: column),
          // The lower half of the last line is empty, because the number of rows is odd.
          below: row + 1 < all.upperBound ? code.isDark(row: row + 1, column: column) : true)
      }
      let text = String(line)
      return isColoured ? "\u{1B}[97;40m\(text)\u{1B}[0m" : text
    }
  }

  private static func character(above: Bool, below: Bool) -> Character {
    switch (above, below) {
    case (false, false): "\u{2588}"
    case (false, true): "\u{2580}"
    case (true, false): "\u{2584}"
    case (true, true): " "
    }
  }
}
