/// GPS time minus UTC, for a receiver that has not said it.
enum LeapSeconds {
  /// From midnights on, in days of GPS time (IERS Bulletin C; IERS, Leap_Second.dat).
  private static let all: [(since: (year: Int, month: Int), seconds: Double)] = [
    ((2017, 1), 18), ((2015, 7), 17), ((2012, 7), 16), ((2009, 1), 15), ((2006, 1), 14),
    ((1999, 1), 13), ((1997, 7), 12), ((1996, 1), 11), ((1994, 7), 10), ((1993, 7), 9),
    ((1992, 7), 8), ((1991, 1), 7), ((1990, 1), 6), ((1988, 1), 5), ((1985, 7), 4), ((1983, 7), 3),
    ((1982, 7), 2), ((1981, 7), 1),
  ]

  /// At seconds of GPS time since 1980-01-06.
  static func before(gpsTime: Double) -> Double {
    for (since, seconds) in all {
      guard let day = daysSince1970(year: since.year, month: since.month, day: 1) else { continue }
      if gpsTime >= Double(day - gpsEpoch) * 86_400 + seconds { return seconds }
    }
    return 0
  }

  /// 1980-01-06 in days since 1970-01-01.
  static let gpsEpoch = 3_657

  /// UTC in seconds since 1970-01-01 of a GPS time, with as many leap seconds as the receiver has said.
  static func utc(gpsTime: Double, leapSeconds: Double?) -> Double {
    Double(gpsEpoch) * 86_400 + gpsTime - (leapSeconds ?? before(gpsTime: gpsTime))
  }
}
