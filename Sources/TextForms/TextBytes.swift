// Text as bytes: numbers and times in the forms that JSON, XML, tables and sentences share. Made by hand because a
// line an epoch must be cheap.

extension [UInt8] {
  package mutating func append(text: String) {
    let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { append(contentsOf: $0) }
    if isDone == nil { append(contentsOf: text.utf8) }
  }

  /// Appends a number with at most `digits` decimals, without the trailing zeros.
  package mutating func append(fixed value: Double, digits: Int) {
    guard var units = Self.units(value, digits: digits) else { return append(text: "\(value)") }
    if value < 0, units > 0 { append(UInt8(ascii: "-")) }
    var places = digits
    while places > 0, units % 10 == 0 {
      units /= 10
      places -= 1
    }
    append(decimal: units, places: places)
  }

  /// Appends a number with just so many decimals.
  package mutating func append(steady value: Double, digits: Int) {
    guard let units = Self.units(value, digits: digits) else { return append(text: "\(value)") }
    if value < 0, units > 0 { append(UInt8(ascii: "-")) }
    append(decimal: units, places: digits)
  }

  /// Appends so many units of the last of `places` decimals, with zeros ahead up to `width` digits in all.
  package mutating func append(decimal units: UInt64, places: Int = 0, width: Int = 0) {
    // The digits of the largest number, the point, and what the zeros need.
    let room = 21 + Swift.max(0, places, width)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { text in
      var (rest, digits, begin) = (units, 0, text.count)
      func put(_ byte: UInt8) {
        begin -= 1
        text.initializeElement(at: begin, to: byte)
      }
      // From the last digit on.
      while rest > 0 || digits <= places || digits < width {
        if digits == places, places > 0 { put(UInt8(ascii: ".")) }
        put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
        digits += 1
      }
      append(contentsOf: UnsafeMutableBufferPointer(rebasing: text[begin...]))
    }
  }

  /// Appends UTC as `2026-11-21T03:04:05.678Z`; nothing, and false, for what is beyond four digits of years.
  ///
  /// - Parameter isLeapSecond: Whether the moment lies in a leap second, whose number is that of the second behind it. It is
  ///   written as the 60th second of its minute (RFC 3339, section 5.7).
  @discardableResult
  package mutating func append(iso8601 seconds: Double, isLeapSecond: Bool = false) -> Bool {
    guard let date = CivilDate(isLeapSecond ? seconds - 1 : seconds) else { return false }
    append(decimal: UInt64(date.year), width: 4)
    append(UInt8(ascii: "-"))
    append(decimal: UInt64(date.month), width: 2)
    append(UInt8(ascii: "-"))
    append(decimal: UInt64(date.day), width: 2)
    append(UInt8(ascii: "T"))
    append(decimal: date.milliseconds / 3_600_000, width: 2)
    append(UInt8(ascii: ":"))
    append(decimal: date.milliseconds / 60_000 % 60, width: 2)
    append(UInt8(ascii: ":"))
    append(
      decimal: date.milliseconds % 60_000 + (isLeapSecond ? 1_000 : 0), places: 3, width: 5)
    append(UInt8(ascii: "Z"))
    return true
  }

  /// The magnitude in units of the last decimal; `nil` for what has too many of them.
  private static func units(_ value: Double, digits: Int) -> UInt64? {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (value.magnitude * scale).rounded()
    return scaled < 9e15 ? UInt64(exactly: scaled) : nil
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
    let total = Int64((seconds * 1_000).rounded())
    let days = Int((Double(total) / 86_400_000).rounded(.down))
    milliseconds = UInt64(total - Int64(days) * 86_400_000)
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
}
