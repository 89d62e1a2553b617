/// A number as so many units of its last decimal, to be written into memory that has room for it.
struct FixedDecimal {
  private let isNegative: Bool
  private let units: UInt64
  /// How many of its digits are decimals.
  private let places: Int
  /// The fewest digits; zeros stand ahead.
  private let width: Int

  /// Makes a whole number.
  init(_ value: Int) {
    self.init(isNegative: value < 0, units: UInt64(value.magnitude), places: 0)
  }

  /// Makes a number from units of the last of `places` decimals.
  init(units: UInt64, places: Int = 0, width: Int = 0) {
    self.init(isNegative: false, units: units, places: places, width: width)
  }

  /// Makes a number with exactly `digits` decimals; `nil` for one with more than 15 digits, and for what is not finite.
  init?(steady value: Double, digits: Int) {
    guard let units = Self.units(value, digits: digits) else { return nil }
    self.init(isNegative: value < 0 && units > 0, units: units, places: digits)
  }

  /// Makes a number with at most `digits` decimals, without zeros at their end; `nil` as for `steady`.
  init?(short value: Double, digits: Int) {
    // Nearly all are whole. None of less than seven digits has more than 15 with its decimals.
    if value.magnitude < 1e6, digits <= 9 {
      let whole = Int(value)
      if Double(whole) == value {
        self.init(whole)
        return
      }
    }
    guard var units = Self.units(value, digits: digits) else { return nil }
    var places = digits
    while places > 0, units % 10 == 0 {
      units /= 10
      places -= 1
    }
    self.init(isNegative: value < 0 && units > 0, units: units, places: places)
  }

  private init(isNegative: Bool, units: UInt64, places: Int, width: Int = 0) {
    (self.isNegative, self.units, self.places, self.width) = (isNegative, units, places, width)
  }

  /// The magnitude in units of the last decimal; `nil` for what has too many of them.
  private static func units(_ value: Double, digits: Int) -> UInt64? {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = value.magnitude * scale
    guard scaled < most else { return nil }
    // Rounded to the nearest, halves up. It is done by hand because not every processor has an instruction for it.
    let whole = Int64(scaled)
    let units = scaled - Double(whole) >= 0.5 ? whole + 1 : whole
    return Double(units) < most ? UInt64(units) : nil
  }

  /// Beyond it a number may have more digits than it is known to.
  private static let most = 9e15

  /// The bytes that it needs at most: sign, the digits of the largest number, point and zeros.
  var size: Int { 22 + max(0, places, width) }

  /// Writes it, and returns the number of bytes.
  func write(to memory: UnsafeMutablePointer<UInt8>) -> Int {
    if units < 10, places == 0, width <= 1, !isNegative {
      memory.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: units)
      return 1
    }
    let begin = isNegative ? 1 : 0
    let digits = max(Self.digits(of: units), places + 1, width)
    let length = begin + digits + (places > 0 ? 1 : 0)
    var (place, rest, decimals) = (length, units, places)
    func put(_ byte: UInt8) {
      place -= 1
      memory[place] = byte
    }
    // From the last digit on.
    while decimals > 0 {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
      decimals -= 1
    }
    if places > 0 { put(UInt8(ascii: ".")) }
    while place > begin {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    }
    if isNegative { put(UInt8(ascii: "-")) }
    return length
  }

  /// The number of a number's digits; 1 for zero.
  private static func digits(of value: UInt64) -> Int {
    var (rest, count) = (value, 1)
    while rest >= 10_000 {
      rest /= 10_000
      count += 4
    }
    return rest >= 1_000 ? count + 3 : rest >= 100 ? count + 2 : rest >= 10 ? count + 1 : count
  }
}
