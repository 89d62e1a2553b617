// Messages of binary protocols, read back from the bytes that are sent, for a person.

import TextForms

/// A message of a binary protocol as a person reads it: the names and values of its fields, all of them from its bytes.
package struct DecodedMessage: Sendable, Hashable {
  /// A field of a message.
  package struct DecodedField: Sendable, Hashable {
    package var name: String
    /// The value with its unit, or `notKnown`.
    package var value: String
  }

  /// The text of a field that has the protocol's word for a value that is not known.
  package static let notKnown = "not known"

  package var name: String
  package var fields: [DecodedField] = []

  init(_ name: String) { self.name = name }

  /// The message in one line.
  package var text: String {
    guard !fields.isEmpty else { return name }
    return "\(name): \(fields.map { "\($0.name) \($0.value)" }.joined(separator: ", "))"
  }

  /// Returns the value of the first field of a name, or `nil` if the message has none.
  package subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Appends a field. A value of `nil` is not known.
  mutating func append(_ name: String, _ value: String?) {
    fields.append(DecodedField(name: name, value: value ?? Self.notKnown))
  }
}

/// Numbers of decoded messages as text.
enum DecodedNumber {
  /// Returns a number with its unit; `nil` for one that is not finite.
  static func text(_ value: Double, _ digits: Int, _ unit: String) -> String? {
    guard value.isFinite else { return nil }
    let number = DecimalText.short(value, digits)
    return unit.isEmpty ? number : "\(number) \(unit)"
  }

  /// Returns a number of any size; `nil` for one that is not finite.
  ///
  /// - Parameter digits: The number of decimals of one that is neither very small nor very large, and of the mantissa of another.
  static func text(_ value: Double, _ digits: Int = 6) -> String? {
    guard value.isFinite else { return nil }
    if value == 0 || (1e-3..<1e9).contains(value.magnitude) {
      return DecimalText.short(value, digits)
    }
    var (mantissa, exponent) = (value, 0)
    while mantissa.magnitude >= 10 { (mantissa, exponent) = (mantissa / 10, exponent + 1) }
    while mantissa.magnitude < 1 { (mantissa, exponent) = (mantissa * 10, exponent - 1) }
    return "\(DecimalText.short(mantissa, digits))e\(exponent)"
  }

  /// Returns UTC in ISO 8601; `nil` beyond years of four digits.
  static func utc(_ seconds: Double) -> String? {
    var text: [UInt8] = []
    return text.append(iso8601: seconds) ? String(decoding: text, as: UTF8.self) : nil
  }
}

/// Reads numbers that follow each other in a message, the lowest bit and the lowest byte first.
struct BinaryFields {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// The number of bits that are left.
  var left: Int { 8 * bytes.count - position }

  /// Returns a number of 1 to 64 bits, or `nil` if the message is shorter.
  mutating func number(bits: Int) -> UInt64? {
    guard (1...64).contains(bits), bits <= left else { return nil }
    var (value, taken): (UInt64, Int) = (0, 0)
    while taken < bits {
      let (byte, offset) = (position / 8, position % 8)
      let count = min(8 - offset, bits - taken)
      let part = UInt64(bytes[byte] >> UInt8(offset)) & (1 << UInt64(count) - 1)
      value |= part << UInt64(taken)
      position += count
      taken += count
    }
    return value
  }

  /// Returns a number with a sign in two's complement, or `nil` if the message is shorter.
  mutating func signed(bits: Int) -> Int64? {
    number(bits: bits).map { Self.signed($0, bits: bits) }
  }

  static func signed(_ number: UInt64, bits: Int) -> Int64 {
    Int64(bitPattern: number << UInt64(64 - bits)) >> Int64(64 - bits)
  }

  /// Returns a number of IEEE 754 in 32 bits, or `nil` if the message is shorter.
  mutating func float() -> Float? {
    number(bits: 32).map { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) }
  }

  /// Returns a number of IEEE 754 in 64 bits, or `nil` if the message is shorter.
  mutating func double() -> Double? { number(bits: 64).map { Double(bitPattern: $0) } }

  /// Returns bytes, or `nil` if the message is shorter. Begins at the next whole byte.
  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    skip(toMultipleOf: 1, from: 0)
    guard count >= 0, 8 * count <= left else { return nil }
    defer { position += 8 * count }
    return bytes[position / 8..<position / 8 + count]
  }

  /// Goes on at a byte whose distance from another one is a multiple of a size.
  mutating func skip(toMultipleOf size: Int, from start: Int) {
    var byte = (position + 7) / 8
    while (byte - start) % size != 0 { byte += 1 }
    position = min(8 * byte, 8 * bytes.count)
  }
}
