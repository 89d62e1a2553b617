// The fields of a message's payload, with their words for "not available".

/// Writes fields one behind the other, the lowest bit first.
///
/// Of a field of 4 bits and more the largest value says "not available", the next two "out of range" and "reserved". Values
/// that do not fit are written as not available: many displays know no other word.
struct NMEA2000Fields {
  private(set) var bytes: [UInt8] = []
  private var pending: UInt64 = 0
  private var pendingBits = 0

  /// Writes the lowest bits of a number.
  mutating func append(_ value: UInt64, bits: Int) {
    var (value, bits) = (value, bits)
    while bits > 0 {
      let taken = min(bits, 8 - pendingBits)
      pending |= (value & (1 << UInt64(taken) - 1)) << UInt64(pendingBits)
      pendingBits += taken
      value >>= UInt64(taken)
      bits -= taken
      if pendingBits == 8 {
        bytes.append(UInt8(truncatingIfNeeded: pending))
        (pending, pendingBits) = (0, 0)
      }
    }
  }

  /// Writes bits that are reserved, which are ones.
  mutating func reserved(_ bits: Int) { append(.max, bits: bits) }

  /// Writes an entry of a list, or all ones where it is not known.
  mutating func code(_ value: UInt8?, bits: Int) {
    append(value.map { UInt64($0) } ?? .max, bits: bits)
  }

  /// Writes a number without a sign in steps of `1 / perUnit`.
  mutating func unsigned(_ value: Double?, perUnit: Double, bits: Int) {
    guard let value, value.isFinite else { return append(.max, bits: bits) }
    let steps = (value * perUnit).rounded()
    let largest = (bits == 64 ? UInt64.max : 1 << UInt64(bits) - 1) - 3
    // A double below the largest value is at most 2048 short of it: none that is converted overflows.
    guard steps >= 0, steps < Double(largest) + 0.5 else { return append(.max, bits: bits) }
    append(min(UInt64(steps), largest), bits: bits)
  }

  /// Writes a number with a sign in steps of `1 / perUnit`.
  mutating func signed(_ value: Double?, perUnit: Double, bits: Int) {
    let none = UInt64.max >> UInt64(65 - bits)
    guard let value, value.isFinite else { return append(none, bits: bits) }
    let steps = (value * perUnit).rounded()
    let largest = Int64(none - 3)
    guard abs(steps) < Double(largest) * (1 - 1e-15) + 0.5 else { return append(none, bits: bits) }
    append(UInt64(bitPattern: Int64(steps)), bits: bits)
  }

  /// Writes text of a fixed length, filled up with 0xFF. Characters that are not printable ASCII become `?`.
  mutating func text(_ text: String, count: Int) {
    let characters = Array(text.unicodeScalars.prefix(count))
    for index in 0..<count {
      guard index < characters.count else {
        append(0xFF, bits: 8)
        continue
      }
      let value = characters[index].value
      append((0x20...0x7E).contains(value) ? UInt64(value) : UInt64(UInt8(ascii: "?")), bits: 8)
    }
  }

  /// Writes text with its length and encoding ahead: 1 for ASCII, 0 for UTF-16, of at most `limit` bytes.
  mutating func variableText(_ text: String, limit: Int) {
    let isASCII = text.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }
    var content: [UInt8] = []
    for scalar in text.unicodeScalars {
      let units = Array(String(scalar).utf16)
      let bytes =
        isASCII
        ? [UInt8(truncatingIfNeeded: scalar.value)]
        : units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
      guard content.count + bytes.count + 2 <= min(limit, 255) else { break }
      content += bytes
    }
    append(UInt64(content.count + 2), bits: 8)
    append(isASCII ? 1 : 0, bits: 8)
    for byte in content { append(UInt64(byte), bits: 8) }
  }
}
