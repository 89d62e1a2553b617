// Calendar date and time of day of a moment in UTC, and GPS week and time of week.

/// UTC, broken down to milliseconds.
struct CivilTime: Sendable, Hashable {
  var year: Int
  var month: Int
  var day: Int
  var hour: Int
  var minute: Int
  var second: Int
  var millisecond: Int
  /// Milliseconds into the GPS week; GPS time is 18 s ahead of UTC since 2017.
  var timeOfWeek: Int
  /// The GPS week, from 1980-01-06 on.
  var gpsWeek: Int

  /// Breaks down milliseconds since 1970-01-01.
  init(milliseconds: Int64) {
    let dayLength: Int64 = 86_400_000
    var days = milliseconds / dayLength
    var rest = milliseconds % dayLength
    if rest < 0 {
      rest += dayLength
      days -= 1
    }
    hour = Int(rest / 3_600_000)
    minute = Int(rest / 60_000 % 60)
    second = Int(rest / 1000 % 60)
    millisecond = Int(rest % 1000)
    // Years that begin in March have their leap day at the end; an era of 400 years has 146097 days.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
    year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    // 1980-01-06, a Sunday, is day 3657.
    let week = 7 * dayLength
    let sinceGPS = milliseconds - 3657 * dayLength + 18_000
    timeOfWeek = Int((sinceGPS % week + week) % week)
    gpsWeek = Int((sinceGPS - Int64(timeOfWeek)) / week)
  }
}
