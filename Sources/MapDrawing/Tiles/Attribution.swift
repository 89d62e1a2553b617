// Whose map it is, as plain words.

enum Attribution {
  /// The longest that is shown, characters.
  private static let limit = 300

  /// The words of a text that may be HTML; nil where there are none.
  static func plain(_ html: String) -> String? {
    var text = ""
    var isTag = false
    // The text of a file is not to be believed: no more than could ever be shown is looked at.
    for character in html.prefix(8192) {
      switch character {
      case "<": isTag = true
      // Two words that only markup parts stay apart.
      case ">" where isTag: (isTag, text) = (false, text + " ")
      case _ where isTag: continue
      default: text.append(character)
      }
    }
    let words = withoutReferences(text).split(whereSeparator: \.isWhitespace)
    let line = words.joined(separator: " ").replacing(" ,", with: ",").replacing(" .", with: ".")
    guard !line.isEmpty else { return nil }
    return line.count > limit ? String(line.prefix(limit - 1)) + "…" : line
  }

  private static let names = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}", "copy": "©",
    "reg": "®", "trade": "™", "middot": "·", "ndash": "–", "mdash": "—", "hellip": "…",
  ]

  /// References to characters (`&copy;`, `&#169;`, `&#xA9;`) as the characters.
  private static func withoutReferences(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "&") {
      result += rest[..<start]
      rest = rest[start...]
      let body = rest.dropFirst().prefix(10)
      guard let end = body.firstIndex(of: ";"), let character = character(body[..<end]) else {
        result += "&"
        rest = rest.dropFirst()
        continue
      }
      result += character
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func character(_ name: Substring) -> String? {
    guard name.hasPrefix("#") else { return names[String(name)] }
    let digits = name.dropFirst()
    let isHex = digits.hasPrefix("x") || digits.hasPrefix("X")
    let number = isHex ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
  }
}
