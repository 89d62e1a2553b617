// Text in lines that a narrow terminal holds.

/// Breaks text between words.
enum Wrap {
  /// Lines of at most `width` characters, each behind `indent` spaces, which count; a longer word has a line
  /// of its own.
  static func lines(_ text: String, indent: Int = 0, width: Int = 79) -> [String] {
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
}
