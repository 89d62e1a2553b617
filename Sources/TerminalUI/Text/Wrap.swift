// Text in lines that a narrow terminal holds.

import TextForms

/// Breaks text between words.
package enum Wrap {
  /// Lines of at most `width` characters, each behind `indent` spaces, which count; a longer word has a line
  /// of its own.
  package static func lines(_ text: String, indent: Int = 0, width: Int = 79) -> [String] {
    var lines: [String] = []
    let margin = String(repeating: " ", count: indent)
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(margin + line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return line.isEmpty ? lines : lines + [margin + line]
  }

  /// A row of a report: its name in the first columns, and its text behind them.
  package static func rows(
    _ name: String, _ text: String, indent: Int = 16, width: Int = 79
  ) -> [String] {
    lines(text, indent: indent, width: width).enumerated().map { index, line in
      index == 0
        ? name.padded(to: indent) + line.dropFirst(indent)
        : line
    }
  }

  /// A line that is too long without the words that do not fit, and with dots in their place.
  package static func cut(_ line: String, width: Int) -> String {
    guard line.count > width else { return line }
    let room = line.prefix(max(0, width - 3))
    // A word that ends just there is whole.
    let isWhole = line.dropFirst(room.count).first == " "
    let end = isWhole ? room.endIndex : room.lastIndex(of: " ") ?? room.endIndex
    return room[..<end] + "..."
  }

  /// The text with its lines that are longer than `width` broken between words; the others stay as they are.
  static func fitting(_ text: String, width: Int) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      line.count <= width ? [String(line)] : lines(String(line), width: width)
    }.joined(separator: "\n")
  }
}
