// Text as bytes: numbers and times in the forms that JSON, XML, tables and sentences share. Made by hand because a
// line an epoch must be cheap.

extension [UInt8] {
  package mutating func append(text: String) {
    let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { append(contentsOf: $0) }
    if isDone == nil { append(contentsOf: text.utf8) }
  }

  /// Appends a number with at most `digits` decimals, without the trailing zeros.
  package mutating func append(fixed value: Double, digits: Int) {
    append(FixedDecimal(short: value, digits: digits), or: value)
  }

  /// Appends a number with just so many decimals.
  package mutating func append(steady value: Double, digits: Int) {
    append(FixedDecimal(steady: value, digits: digits), or: value)
  }

  /// Appends so many units of the last of `places` decimals, with zeros ahead up to `width` digits in all.
  package mutating func append(decimal units: UInt64, places: Int = 0, width: Int = 0) {
    append(FixedDecimal(units: units, places: places, width: width))
  }

  private mutating func append(_ number: FixedDecimal?, or value: Double) {
    if let number { append(number) } else { append(text: "\(value)") }
  }

  private mutating func append(_ number: FixedDecimal) {
    append(upTo: number.size) { number.write(to: $0) }
  }

  /// Appends what `write` writes into memory for so many bytes, and counts.
  private mutating func append(upTo size: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { text in
      guard let memory = text.baseAddress else { return }
      append(contentsOf: UnsafeBufferPointer(start: memory, count: write(memory)))
    }
  }

  /// Appends UTC as `2026-11-21T03:04:05.678Z`; nothing, and false, for what is beyond four digits of years.
  ///
  /// - Parameter isLeapSecond: Whether the moment lies in a leap second, whose number is that of the second behind it. It is
  ///   written as the 60th second of its minute (RFC 3339, section 5.7).
  @discardableResult
  package mutating func append(iso8601 seconds: Double, isLeapSecond: Bool = false) -> Bool {
    guard let date = CivilDate(isLeapSecond ? seconds - 1 : seconds) else { return false }
    append(upTo: CivilDate.size) { date.write(to: $0, isLeapSecond: isLeapSecond) }
    return true
  }
}

/// Formats numbers. Values that are not finite, or have more than 15 digits, are formatted as Swift does.
package enum DecimalText {
  /// Returns a number with at most `digits` decimals, without trailing zeros. Zero has no sign.
  package static func short(_ value: Double, _ digits: Int) -> String {
    var bytes: [UInt8] = []
    bytes.append(fixed: value, digits: digits)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns a number with exactly `digits` decimals, for columns. Zero has no sign.
  package static func steady(_ value: Double, _ digits: Int) -> String {
    var bytes: [UInt8] = []
    bytes.append(steady: value, digits: digits)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A moment of UTC by the Gregorian calendar, to the millisecond.
package struct CivilDate {
  /// Years 1 to 9999.
  package let year: Int
  /// 1 to 12.
  package let month: Int
  /// 1 to 31.
  package let day: Int
  package let milliseconds: UInt64

  /// The moment so many seconds after the beginning of 1970; `nil` outside of the years that four digits name.
  package init?(_ seconds: Double) {
    // The first and the last moment of those years.
    guard seconds >= -62_135_596_800, seconds < 253_402_300_799.999 else { return nil }
    let exact = seconds * 1_000
    let whole = Int64(exact)
    // Halves away from zero.
    let fraction = exact - Double(whole)
    let total = fraction >= 0.5 ? whole + 1 : fraction <= -0.5 ? whole - 1 : whole
    let (quotient, rest) = total.quotientAndRemainder(dividingBy: 86_400_000)
    let days = Int(rest < 0 ? quotient - 1 : quotient)
    milliseconds = UInt64(rest < 0 ? rest + 86_400_000 : rest)
    // Counted from the first of March of the year 0, a leap day ends its year, and all centuries but each fourth
    // have the same length.
    let day = days + 719_468
    let century = (4 * day + 3) / 146_097
    let ofCentury = day - century * 146_097 / 4
    let yearOfCentury = (4 * ofCentury + 3) / 1_461
    let ofYear = ofCentury - yearOfCentury * 1_461 / 4
    // From March on months have 31, 30, 31, 30, 31 days and again: 153 in five.
    let months = (5 * ofYear + 2) / 153
    self.day = ofYear - (153 * months + 2) / 5 + 1
    month = months < 10 ? months + 3 : months - 9
    year = century * 100 + yearOfCentury + (months < 10 ? 0 : 1)
  }

  /// The bytes that `write` writes.
  static let size = 24

  /// Writes the moment as `2026-11-21T03:04:05.678Z`, and returns the number of bytes, `size`.
  ///
  /// - Parameter isLeapSecond: Whether it lies in the leap second behind it.
  func write(to memory: UnsafeMutablePointer<UInt8>, isLeapSecond: Bool) -> Int {
    var place = memory
    func put(_ number: UInt64, _ width: Int, _ divider: UInt8) {
      var rest = number
      for index in (0..<width).reversed() {
        place[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      place[width] = divider
      place += width + 1
    }
    put(UInt64(year), 4, UInt8(ascii: "-"))
    put(UInt64(month), 2, UInt8(ascii: "-"))
    put(UInt64(day), 2, UInt8(ascii: "T"))
    put(milliseconds / 3_600_000, 2, UInt8(ascii: ":"))
    put(milliseconds / 60_000 % 60, 2, UInt8(ascii: ":"))
    put(milliseconds / 1_000 % 60 + (isLeapSecond ? 1 : 0), 2, UInt8(ascii: "."))
    put(milliseconds % 1_000, 3, UInt8(ascii: "Z"))
    return place - memory
  }
}
