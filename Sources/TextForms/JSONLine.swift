// One JSON object a line. Written by hand because the order of keys and the form of numbers are part of
// the interface, and because a line a sample must be cheap.

/// Builds one object; keys come out in the order in which they were set.
package struct JSONLine {
  private var bytes: [UInt8] = []

  /// Makes an object that has nothing in it.
  package init() { bytes.append(UInt8(ascii: "{")) }

  /// Makes an object behind a text that it takes over, until `end` gives it back: no line needs memory of its own.
  package init(behind text: inout [UInt8]) {
    swap(&bytes, &text)
    bytes.append(UInt8(ascii: "{"))
  }

  /// Ends the object, and its line, in the text that it was begun behind.
  package mutating func end(into text: inout [UInt8]) {
    bytes.append(UInt8(ascii: "}"))
    bytes.append(UInt8(ascii: "\n"))
    swap(&bytes, &text)
  }

  /// A number; one that is not finite is left out, as JSON has none.
  package mutating func set(_ key: String, _ value: Double?, digits: Int) {
    guard let value, value.isFinite else { return }
    name(key)
    bytes.append(fixed: value, digits: digits)
  }

  /// `null`, for a key that is always there and has no value.
  package mutating func setNull(_ key: String) {
    name(key)
    bytes.append(text: "null")
  }

  package mutating func set(_ key: String, _ value: Int?) {
    guard let value else { return }
    name(key)
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.append(decimal: UInt64(value.magnitude))
  }

  package mutating func set(_ key: String, _ value: Bool) {
    name(key)
    bytes.append(text: value ? "true" : "false")
  }

  package mutating func set(_ key: String, _ value: String?) {
    guard let value else { return }
    name(key)
    quote(value)
  }

  /// UTC of a moment, seconds since 1970, which may lie in a leap second.
  package mutating func set(_ key: String, time: Double?, isLeapSecond: Bool = false) {
    guard let time, CivilDate(time) != nil else { return }
    name(key)
    quote(time: time, isLeapSecond: isLeapSecond)
  }

  /// Numbers in a row; one that is not finite leaves all of them out.
  package mutating func set(_ key: String, _ values: [Double]?, digits: Int) {
    guard let values, values.allSatisfy(\.isFinite) else { return }
    name(key)
    list(values, digits: digits)
  }

  package mutating func set(_ key: String, rows: [[Double]]?, digits: Int) {
    guard let rows, rows.allSatisfy({ $0.allSatisfy(\.isFinite) }) else { return }
    name(key)
    list(rows) { $0.list($1, digits: digits) }
  }

  /// Numbers in a row, `null` for what is none; all of them are left out where none is one.
  package mutating func set(_ key: String, orNull values: [Double?], digits: Int) {
    guard values.contains(where: { $0?.isFinite ?? false }) else { return }
    name(key)
    list(values) { line, value in
      if let value, value.isFinite {
        line.bytes.append(fixed: value, digits: digits)
      } else {
        line.bytes.append(text: "null")
      }
    }
  }

  /// Texts in a row, in the same way.
  package mutating func set(_ key: String, orNull values: [String?]) {
    guard values.contains(where: { $0 != nil }) else { return }
    name(key)
    list(values) { line, value in
      if let value { line.quote(value) } else { line.bytes.append(text: "null") }
    }
  }

  /// Moments of UTC in a row, seconds since 1970, in the same way.
  package mutating func set(_ key: String, times: [Double?]) {
    guard times.contains(where: { $0.map { CivilDate($0) != nil } ?? false }) else { return }
    name(key)
    list(times) { line, time in
      guard let time, CivilDate(time) != nil else { return line.bytes.append(text: "null") }
      line.quote(time: time)
    }
  }

  /// Texts in a row.
  package mutating func set(_ key: String, _ values: [String]) {
    name(key)
    list(values) { $0.quote($1) }
  }

  /// Objects in a row, each filled in by `fill`.
  package mutating func set<Element>(
    _ key: String, objects: [Element], _ fill: (inout JSONLine, Element) -> Void
  ) {
    name(key)
    list(objects) { line, element in
      line.bytes.append(UInt8(ascii: "{"))
      fill(&line, element)
      line.bytes.append(UInt8(ascii: "}"))
    }
  }

  package mutating func set(_ key: String, _ value: JSONLine) {
    name(key)
    bytes += value.bytes
    bytes.append(UInt8(ascii: "}"))
  }

  /// The finished line, without a newline.
  package var line: String { String(decoding: bytes, as: UTF8.self) + "}" }

  private mutating func list(_ values: [Double], digits: Int) {
    list(values) { $0.bytes.append(fixed: $1, digits: digits) }
  }

  private mutating func list<Element>(
    _ elements: [Element], _ write: (inout JSONLine, Element) -> Void
  ) {
    bytes.append(UInt8(ascii: "["))
    // No pairs of numbers and elements: of a type that is not known here the runtime looks a pair's up each time.
    var isFirst = true
    for element in elements {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      write(&self, element)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func name(_ key: String) {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
    quote(key)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    let isPlain = text.utf8.withContiguousStorageIfAvailable { text in
      guard text.allSatisfy(Self.isPlain) else { return false }
      bytes.append(contentsOf: text)
      return true
    }
    if isPlain != true {
      for scalar in text.unicodeScalars { escape(scalar) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether a byte of UTF-8 is printed as it is.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 32 && byte < 127 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private mutating func quote(time: Double, isLeapSecond: Bool = false) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(iso8601: time, isLeapSecond: isLeapSecond)
    bytes.append(UInt8(ascii: "\""))
  }

  /// A control character as JSON spells it.
  package static func escape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": bytes.append(text: "\\\"")
    case "\\": bytes.append(text: "\\\\")
    case "\n": bytes.append(text: "\\n")
    case "\r": bytes.append(text: "\\r")
    case "\t": bytes.append(text: "\\t")
    // JSON asks it of the first ones only; a terminal heeds the others as well.
    case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value):
      bytes.append(text: Self.escape(scalar))
    default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
  }
}
