// Reads a JSON text where it lies: no tree, no strings, no allocation but for numbers of absurd length.

/// A string of a JSON text, as it stands between its quotation marks.
package struct JSONText {
  package let bytes: Slice<UnsafeBufferPointer<UInt8>>

  /// A number that is the same for the same text, never 0.
  var fingerprint: UInt64 { Self.fingerprint(bytes) }

  /// FNV-1a, 64 bits.
  static func fingerprint(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return max(1, hash)
  }

  /// The text for a person: printable ASCII, at most `limit` characters; what is escaped or anything else is `?`.
  package func words(limit: Int = 100) -> String {
    var text = ""
    var isEscaped = false
    for byte in bytes.prefix(limit) {
      if !isEscaped, byte == UInt8(ascii: "\\") {
        isEscaped = true
        continue
      }
      let isPlain =
        (32...126).contains(byte) && (!isEscaped || byte == 34 || byte == 47 || byte == 92)
      text.unicodeScalars.append(isPlain ? Unicode.Scalar(byte) : "?")
      isEscaped = false
    }
    return text
  }

  /// A name without escapes is compared byte by byte.
  package static func ~= (name: StaticString, text: JSONText) -> Bool {
    let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    return text.bytes.elementsEqual(name)
  }
}

/// Walks through one JSON text (RFC 8259) and checks all of it.
///
/// A value that is not asked for is skipped. Values are nested 64 deep at most (gpsd's four), which the
/// standard leaves to a reader.
package struct JSONScanner {
  private static let depthLimit = 64
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  private var depth = 0
  /// Whether the text is none: then nothing that was read of it counts.
  package private(set) var hasFailed = false

  package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Whether the text was sound and has ended.
  package mutating func isAtEnd() -> Bool {
    skipSpace()
    return !hasFailed && position == bytes.count
  }

  /// Goes through an object; `member` may read the value of the key that it is given.
  package mutating func object(_ member: (inout JSONScanner, JSONText) -> Void) {
    list(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { scanner in
      guard let key = scanner.string() else { return scanner.fail() }
      guard scanner.take(UInt8(ascii: ":")) else { return scanner.fail() }
      scanner.skipSpace()
      let start = scanner.position
      member(&scanner, key)
      if scanner.position == start { scanner.skip() }
    }
  }

  /// Goes through an array; `element` may read the value it stands before.
  package mutating func array(_ element: (inout JSONScanner) -> Void) {
    list(from: UInt8(ascii: "["), to: UInt8(ascii: "]")) { scanner in
      scanner.skipSpace()
      let start = scanner.position
      element(&scanner)
      if scanner.position == start { scanner.skip() }
    }
  }

  private mutating func list(
    from open: UInt8, to close: UInt8, _ item: (inout JSONScanner) -> Void
  ) {
    guard take(open) else { return }
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else { return fail() }
    if take(close) { return }
    while !hasFailed {
      item(&self)
      if take(close) { return }
      if !take(UInt8(ascii: ",")) { fail() }
    }
  }

  /// The string here, or `nil` where something else stands, which stays where it is.
  package mutating func string() -> JSONText? {
    guard peek() == UInt8(ascii: "\"") else { return nil }
    position += 1
    let start = position
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        defer { position += 1 }
        return JSONText(bytes: bytes[start..<position])
      case UInt8(ascii: "\\"): position += escapeLength()
      case 0..<32: fail()
      default: position += 1
      }
      if hasFailed { return nil }
    }
    fail()
    return nil
  }

  private mutating func escapeLength() -> Int {
    guard position + 1 < bytes.count else {
      fail()
      return 0
    }
    switch bytes[position + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return 2
    case UInt8(ascii: "u"):
      let digits = bytes[(position + 2)..<min(bytes.count, position + 6)]
      if digits.count == 4, digits.allSatisfy(Self.isHexadecimal) { return 6 }
    default: break
    }
    fail()
    return 0
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }

  /// The number here, correctly rounded, or `nil` where something else stands. One beyond what a double holds
  /// is `nil` as well.
  package mutating func number() -> Double? {
    guard let first = peek(), first == UInt8(ascii: "-") || (48...57).contains(first) else {
      return nil
    }
    let start = position
    let isNegative = first == UInt8(ascii: "-")
    if isNegative { position += 1 }
    var mantissa: UInt64 = 0
    var isExact = true
    let whole = digits(into: &mantissa, &isExact)
    guard whole == 1 || (whole > 1 && bytes[position - whole] != UInt8(ascii: "0")) else {
      fail()
      return nil
    }
    var exponent = 0
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      let places = digits(into: &mantissa, &isExact)
      if places == 0 { fail() }
      exponent = -places
    }
    if position < bytes.count, bytes[position] | 32 == UInt8(ascii: "e") {
      exponent += self.exponent()
    }
    guard !hasFailed else { return nil }
    // Both factors are exact, so that one rounding is left (Clinger, "How to read floating point
    // numbers accurately").
    if isExact, mantissa <= 1 << 53, abs(exponent) <= 22 {
      let power = Self.powersOfTen[abs(exponent)]
      let value = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
      return isNegative ? -value : value
    }
    let value = Double(String(decoding: bytes[start..<position], as: UTF8.self))
    return value.flatMap { $0.isFinite ? $0 : nil }
  }

  private mutating func digits(into mantissa: inout UInt64, _ isExact: inout Bool) -> Int {
    let start = position
    while position < bytes.count, (48...57).contains(bytes[position]) {
      if mantissa > (UInt64.max - 9) / 10 {
        isExact = false
      } else {
        mantissa = mantissa * 10 + UInt64(bytes[position] - 48)
      }
      position += 1
    }
    return position - start
  }

  private mutating func exponent() -> Int {
    position += 1
    var isNegative = false
    if position < bytes.count, bytes[position] == 43 || bytes[position] == 45 {
      isNegative = bytes[position] == 45
      position += 1
    }
    var value: UInt64 = 0
    var isExact = true
    if digits(into: &value, &isExact) == 0 { fail() }
    let bounded = Int(min(value, 100_000))
    return isNegative ? -bounded : bounded
  }

  /// Passes over the value here, whatever it is.
  private mutating func skip() {
    switch peek() {
    case UInt8(ascii: "{"): object { _, _ in }
    case UInt8(ascii: "["): array { _ in }
    case UInt8(ascii: "\""): _ = string()
    case UInt8(ascii: "t"): word("true")
    case UInt8(ascii: "f"): word("false")
    case UInt8(ascii: "n"): word("null")
    default:
      let start = position
      _ = number()
      if position == start { fail() }
    }
  }

  /// Whether `true` stands here; anything else stays where it is.
  package mutating func isTrue() -> Bool {
    guard peek() == UInt8(ascii: "t") else { return false }
    word("true")
    return !hasFailed
  }

  private mutating func word(_ word: StaticString) {
    let count = word.utf8CodeUnitCount
    let expected = UnsafeBufferPointer(start: word.utf8Start, count: count)
    guard position + count <= bytes.count,
      bytes[position..<(position + count)].elementsEqual(expected)
    else { return fail() }
    position += count
  }

  private mutating func fail() {
    hasFailed = true
    position = bytes.count
  }

  private mutating func skipSpace() {
    while position < bytes.count {
      let byte = bytes[position]
      guard byte == 32 || byte == 9 || byte == 10 || byte == 13 else { return }
      position += 1
    }
  }

  private mutating func peek() -> UInt8? {
    skipSpace()
    return position < bytes.count ? bytes[position] : nil
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    position += 1
    return true
  }
}
