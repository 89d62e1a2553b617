// Days and seconds as receivers count them.

/// Seconds from one time of day to the next that is nearest: from -43200 to 43200.
func secondsOfDay(from a: Double, to b: Double) -> Double {
  let difference = b - a
  if difference > 43_200 { return difference - 86_400 }
  return difference < -43_200 ? difference + 86_400 : difference
}

/// Days since 1970-01-01 of a date of the Gregorian calendar, or `nil` for one that is none.
func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
  guard (1...12).contains(month), (1...9999).contains(year) else { return nil }
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  let length =
    switch month {
    case 2: isLeap ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  guard (1...length).contains(day) else { return nil }
  // Years that begin in March, so that the leap day is the last.
  let y = month <= 2 ? year - 1 : year
  let era = y / 400
  let yearOfEra = y - era * 400
  let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}
