// The fields of a sentence of NMEA 0183 (version 4.11), as bytes behind a text.

package import SensorTypes
import TextForms

/// UTC as sentences give it: the time of day, and the date where it is known.
package struct SentenceUTC: Sendable, Hashable {
  /// Seconds since midnight, 86,400 and more in a leap second; `nil` where the time is not known.
  package var timeOfDay: Double?
  /// A moment about the noon of the day in seconds since 1970; `nil` where the date is not known.
  package var noon: Double?

  /// Makes a time that is not known.
  package init() {}

  /// Makes the time of an epoch.
  package init(_ fix: GNSSFix) {
    guard let time = fix.timeOfDay ?? fix.utc.flatMap(Self.timeOfDay) else { return }
    (timeOfDay, noon) = (time, fix.utc.map { $0 - time + 43_200 })
  }

  /// Makes the time of a moment.
  ///
  /// - Parameter utc: Seconds since 1970.
  package init(utc: Double) {
    guard let time = Self.timeOfDay(utc) else { return }
    (timeOfDay, noon) = (time, utc - time + 43_200)
  }

  private static func timeOfDay(_ utc: Double) -> Double? {
    guard utc.magnitude < 1e12 else { return nil }
    return utc - (utc / 86_400).rounded(.down) * 86_400
  }
}

extension [UInt8] {
  /// The greatest number of characters of a sentence, from `$` to the end of its line.
  package static var sentenceLimit: Int { 82 }

  /// Begins a sentence.
  ///
  /// - Returns: The place at which it begins, for `endSentence(from:)`.
  package mutating func beginSentence(_ talker: String, _ formatter: String) -> Int {
    defer {
      append(UInt8(ascii: "$"))
      append(text: talker)
      append(text: formatter)
    }
    return count
  }

  /// Ends the sentence that begins at `start`: check sum and end of line.
  package mutating func endSentence(from start: Int) {
    let sum = self[(start + 1)...].reduce(0, ^)
    append(UInt8(ascii: "*"))
    for digit in [sum >> 4, sum & 15] {
      append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
    }
    append(text: "\r\n")
  }

  /// Appends a field of text, which has to be the standard's own characters.
  package mutating func append(field text: StaticString) {
    append(UInt8(ascii: ","))
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a field of one character.
  package mutating func append(letter: UInt8) {
    append(UInt8(ascii: ","))
    append(letter)
  }

  /// Appends a field with a number; an empty one for a number that is not known, not finite or of more than five digits.
  package mutating func append(
    field value: Double?, digits: Int, limit: Double = 1e5, signed: Bool = false
  ) {
    append(UInt8(ascii: ","))
    guard let value, value.magnitude < limit else { return }
    let start = count
    append(steady: value, digits: digits)
    if signed, self[start] != UInt8(ascii: "-") { insert(UInt8(ascii: "+"), at: start) }
  }

  /// Appends a field with degrees from 0 up to 360, which no rounding makes a full turn; an empty one for what is not known.
  package mutating func append(bearing degrees: Double?, digits: Int) {
    guard let degrees, degrees.magnitude < 1e5 else { return append(field: nil, digits: digits) }
    let turn = degrees.truncatingRemainder(dividingBy: 360)
    let bearing = turn < 0 ? turn + 360 : turn
    var half = 0.5
    for _ in 0..<digits { half /= 10 }
    append(field: bearing >= 360 - half ? 0 : bearing, digits: digits)
  }

  /// Appends a field with a whole number; an empty one for what is not known or not in the range.
  package mutating func append(count value: Int?, width: Int, in range: ClosedRange<Int>) {
    append(UInt8(ascii: ","))
    guard let value, range.contains(value) else { return }
    append(decimal: UInt64(value), width: width)
  }

  /// Appends a field `hhmmss` or, where the second is no whole one, `hhmmss.sss`.
  package mutating func append(time: SentenceUTC) {
    append(UInt8(ascii: ","))
    guard let time = time.timeOfDay, time >= 0, time < 86_401 else { return }
    // The end of a day is not rounded up to a leap second.
    let last: UInt64 = time < 86_400 ? 86_399_999 : 86_400_999
    let milliseconds = Swift.min(UInt64((time * 1_000).rounded()), last)
    // A leap second is the 61st of its minute.
    let minutes = Swift.min(milliseconds / 60_000, 1_439)
    append(decimal: minutes / 60 * 100 + minutes % 60, width: 4)
    let second = milliseconds - minutes * 60_000
    if second % 1_000 == 0 {
      append(decimal: second / 1_000, width: 2)
    } else {
      append(decimal: second, places: 3, width: 5)
    }
  }

  /// Appends a field `ddmmyy`.
  package mutating func append(dateOf time: SentenceUTC) {
    append(UInt8(ascii: ","))
    guard let date = time.noon.flatMap({ CivilDate($0.rounded(.down)) }) else { return }
    append(decimal: UInt64(date.day), width: 2)
    append(decimal: UInt64(date.month), width: 2)
    append(decimal: UInt64(date.year % 100), width: 2)
  }

  /// Appends the fields `ddmm.mmmmmm,N,dddmm.mmmmmm,E`, or four empty ones.
  ///
  /// - Parameter digits: The decimals of the minutes, 1 to 6.
  package mutating func append(
    place: (latitude: Double, longitude: Double)?, digits: Int
  ) {
    guard let place, place.latitude.magnitude <= 90, place.longitude.magnitude <= 180 else {
      return append(text: ",,,,")
    }
    append(angle: place.latitude, 2, digits, "S", "N")
    append(angle: place.longitude, 3, digits, "W", "E")
  }

  private mutating func append(
    angle: Double, _ width: Int, _ digits: Int, _ negative: StaticString, _ positive: StaticString
  ) {
    var degree: UInt64 = 60
    for _ in 0..<digits { degree *= 10 }
    // Units of the last place, carried into degrees as a whole.
    let units = UInt64((angle.magnitude * Double(degree)).rounded())
    append(UInt8(ascii: ","))
    append(decimal: units / degree, width: width)
    append(decimal: units % degree, places: digits, width: digits + 2)
    append(field: angle < 0 ? negative : positive)
  }
}
