// One JSON object a line. Written by hand because the order of keys and the form of numbers are part of
// the interface, and because a line a sample must be cheap.

/// Builds one object; keys come out in the order in which they were set.
struct JSONLine {
  private(set) var text = "{"

  /// A number; one that is not finite is left out, as JSON has none.
  mutating func set(_ key: String, _ value: Double?, digits: Int) {
    guard let value, value.isFinite else { return }
    name(key)
    text += Self.fixed(value, digits: digits)
  }

  mutating func set(_ key: String, _ value: Int?) {
    guard let value else { return }
    name(key)
    text += String(value)
  }

  mutating func set(_ key: String, _ value: Bool) {
    name(key)
    text += value ? "true" : "false"
  }

  mutating func set(_ key: String, _ value: String?) {
    guard let value else { return }
    name(key)
    text += Self.quoted(value)
  }

  /// Numbers in a row; one that is not finite leaves all of them out.
  mutating func set(_ key: String, _ values: [Double]?, digits: Int) {
    guard let values, values.allSatisfy(\.isFinite) else { return }
    name(key)
    text += Self.list(values, digits: digits)
  }

  /// Rows of numbers.
  mutating func set(_ key: String, rows: [[Double]]?, digits: Int) {
    guard let rows, rows.allSatisfy({ $0.allSatisfy(\.isFinite) }) else { return }
    name(key)
    text += "[" + rows.map { Self.list($0, digits: digits) }.joined(separator: ",") + "]"
  }

  private static func list(_ values: [Double], digits: Int) -> String {
    "[" + values.map { fixed($0, digits: digits) }.joined(separator: ",") + "]"
  }

  mutating func set(_ key: String, _ value: JSONLine) {
    name(key)
    text += value.text + "}"
  }

  /// The finished line, without a newline.
  var line: String { text + "}" }

  private mutating func name(_ key: String) {
    if text.count > 1 { text += "," }
    text += Self.quoted(key) + ":"
  }

  /// A number with `digits` decimals, without the trailing zeros.
  static func fixed(_ value: Double, digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (value.magnitude * scale).rounded()
    guard scaled < 9e15, let units = UInt64(exactly: scaled) else { return "\(value)" }
    var text = String(units)
    if digits > 0 {
      if text.count <= digits {
        text = String(repeating: "0", count: digits + 1 - text.count) + text
      }
      text.insert(".", at: text.index(text.endIndex, offsetBy: -digits))
      while text.hasSuffix("0") { text.removeLast() }
      if text.hasSuffix(".") { text.removeLast() }
    }
    return value < 0 && units > 0 ? "-" + text : text
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      // JSON asks it of the first ones only; a terminal heeds the others as well.
      case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value):
        result += Terminal.escape(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
