// The fields of a sentence, read in order, as numbers: no strings, no allocation.

/// Walks through the comma-separated fields of a sentence.
struct FieldReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    position = 0
  }

  /// The next field; empty past the end.
  mutating func next() -> Slice<UnsafeBufferPointer<UInt8>> {
    let begin = min(position, bytes.count)
    var end = begin
    while end < bytes.count, bytes[end] != UInt8(ascii: ",") { end += 1 }
    position = end + 1
    return bytes[begin..<end]
  }

  /// Passes over `count` fields.
  mutating func skip(_ count: Int) {
    for _ in 0..<count { _ = next() }
  }

  /// How many fields are left.
  var remaining: Int {
    guard position <= bytes.count else { return 0 }
    var count = 1
    for index in position..<bytes.count where bytes[index] == UInt8(ascii: ",") { count += 1 }
    return count
  }

  /// The next field's last character as a hexadecimal digit; 0 where it is none.
  mutating func digit() -> UInt8 {
    guard let digit = next().last else { return 0 }
    switch digit {
    case 48...57: return digit - 48
    case 65...70: return digit - 55
    default: return 0
    }
  }

  /// The next field's first character.
  mutating func letter() -> UInt8? { next().first }

  /// The next field as a decimal number; `nil` when empty or anything else.
  mutating func number() -> Double? {
    // Nearly all are digits with a point at most: one pass finds their end, too.
    let begin = min(position, bytes.count)
    var index = begin
    var mantissa: Int64 = 0
    var point: Int?
    while index < bytes.count {
      let byte = bytes[index]
      if byte &- 48 < 10 {
        mantissa = mantissa &* 10 &+ Int64(byte &- 48)
      } else if byte == UInt8(ascii: "."), point == nil {
        point = index
      } else {
        break
      }
      index += 1
    }
    let decimals = point.map { index - $0 - 1 } ?? 0
    let digits = index - begin - (point == nil ? 0 : 1)
    guard 1...15 ~= digits, index == bytes.count || bytes[index] == UInt8(ascii: ",") else {
      return Self.number(next())
    }
    position = index + 1
    return decimals == 0 ? Double(mantissa) : Double(mantissa) / Self.powers[decimals]
  }

  /// The powers of ten, by their exponents.
  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]

  /// The next field as a whole number of less than ten digits; `nil` when empty or anything else.
  mutating func integer() -> Int? {
    let field = next()
    // Nearly all are a few digits.
    if let value = Self.digits(field) { return value }
    guard let value = Self.number(field), value == value.rounded(), abs(value) < 1e9 else {
      return nil
    }
    return Int(value)
  }

  /// The number that one to nine digits write; `nil` for everything else.
  private static func digits(_ field: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    guard 1...9 ~= field.count else { return nil }
    let bytes = field.base
    var value = 0
    for index in field.startIndex..<field.endIndex {
      let digit = bytes[index] &- 48
      guard digit < 10 else { return nil }
      value = value &* 10 &+ Int(digit)
    }
    return value
  }

  /// `hhmmss.ss` as seconds of the day; `nil` for what is no time, and no word of this sentence can be placed then.
  mutating func moment() -> SentenceTime? {
    let field = next()
    if field.isEmpty { return .unknown }
    guard field.count >= 6, let all = Self.number(field), (0..<1e6).contains(all) else {
      return nil
    }
    let whole = Int(all)
    let (hour, minute) = (whole / 10_000, whole / 100 % 100)
    let second = all - Double(whole / 100 * 100)
    // Some round the last fraction of a day up.
    let resolution = Self.resolution(field)
    if hour == 24, minute == 0, second < 1 { return .at(second, resolution: resolution) }
    guard hour < 24, minute < 60, second < 61 else { return nil }
    return .at(Double(hour * 3_600 + minute * 60) + second, resolution: resolution)
  }

  /// The last digit's worth in seconds.
  private static func resolution(_ field: Slice<UnsafeBufferPointer<UInt8>>) -> Double {
    switch field.last == UInt8(ascii: " ") ? 6 : field.count {
    case ...7: 1
    case 8: 0.1
    case 9: 0.01
    default: 0.001
    }
  }

  /// `ddmm.mmmm` and its hemisphere, as signed degrees.
  mutating func angle(negative: UInt8, positive: UInt8, limit: Double) -> Double? {
    let value = number()
    let hemisphere = letter()
    // In either case of letters.
    guard let value, value >= 0, value < 100 * (limit + 1),
      let side = hemisphere.map({ $0 & 0xDF }),
      side == negative || side == positive
    else { return nil }
    let degrees = (value / 100).rounded(.down)
    let result = degrees + (value - 100 * degrees) / 60
    // Sixty minutes are 59.99995 that were rounded.
    guard value - 100 * degrees <= 60, result <= limit else { return nil }
    return side == negative ? -result : result
  }

  /// A decimal number: digits with at most one point and a sign, and what blanks it was filled up with. Exactly rounded
  /// up to 15 digits.
  static func number(_ field: Slice<UnsafeBufferPointer<UInt8>>) -> Double? {
    let bytes = field.base
    var (index, end) = (field.startIndex, field.endIndex)
    while index < end, bytes[index] == UInt8(ascii: " ") { index += 1 }
    while index < end, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
    guard index < end else { return nil }
    let isNegative = bytes[index] == UInt8(ascii: "-")
    if isNegative || bytes[index] == UInt8(ascii: "+") { index += 1 }
    var mantissa: Int64 = 0
    var digits = 0
    // Where the point is, by the digits before it.
    var point: Int?
    while index < end {
      let byte = bytes[index]
      index += 1
      guard byte &- 48 < 10 else {
        guard byte == UInt8(ascii: "."), point == nil else { return nil }
        point = digits
        continue
      }
      // Digits past the fifteenth are below what a double holds; the whole part may not lose any.
      guard digits < 15 else {
        guard point != nil else { return nil }
        continue
      }
      mantissa = mantissa &* 10 &+ Int64(byte &- 48)
      digits += 1
    }
    guard digits > 0 else { return nil }
    var divisor = 1.0
    for _ in (point ?? digits)..<digits { divisor *= 10 }
    let value = Double(mantissa) / divisor
    return isNegative ? -value : value
  }
}
