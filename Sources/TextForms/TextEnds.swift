// The ends of a text: what Foundation's string methods do, without Foundation.

extension StringProtocol {
  /// Returns the text without the spaces, of any width, and tabs at both ends.
  package func trimmingBlanks() -> String {
    trimming { $0 == "\t" || $0.properties.generalCategory == .spaceSeparator }
  }

  /// Returns the text without the white space at both ends, including line breaks.
  package func trimmingWhitespace() -> String { trimming(\.properties.isWhitespace) }

  // Scalar by scalar: a carriage return and a line feed are one character.
  private func trimming(_ isBlank: (Unicode.Scalar) -> Bool) -> String {
    guard let first = unicodeScalars.firstIndex(where: { !isBlank($0) }),
      let last = unicodeScalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(self[first..<unicodeScalars.index(after: last)])
  }

  /// Returns the text filled with spaces, or cut, to a number of characters.
  package func padded(to width: Int) -> String {
    String(prefix(width)) + String(repeating: " ", count: Swift.max(0, width - count))
  }
}
