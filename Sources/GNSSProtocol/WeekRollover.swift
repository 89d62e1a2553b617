import SensorTypes

/// Puts right the dates of a receiver whose week counter has rolled over.
///
/// Satellites tell the week modulo 1024, and a receiver that was made more than 19.6 years ago takes today for a day of
/// then (IS-GPS-200, 20.3.3.3.1.1).
struct WeekRollover: Sendable {
  /// Seconds since 1970-01-01 before which no fix can be.
  let earliest: Double
  /// And after which: a date that would be later has not rolled over, and cannot be. `nil` where nobody knows.
  var latest: Double?

  /// How many weeks, a multiple of 1024, a receiver has lost that dates a fix so: 0 for a date that can be, and where
  /// none that is so much later can.
  func weeks(lostBy utc: Double) -> Int {
    guard utc < earliest else { return 0 }
    let period = 1_024 * 7 * 86_400.0
    let count = ((earliest - utc) / period).rounded(.up)
    guard count <= 100, utc + count * period <= latest ?? .infinity else { return 0 }
    return 1_024 * Int(count)
  }
}

/// Seconds in so many weeks.
func seconds(weeks: Int) -> Double { Double(weeks) * 604_800 }

extension GNSSFix {
  /// Whether its date is one by satellites: without a fix it is that of a clock that may have just begun, and what a
  /// receiver does not vouch for may be simulated.
  var canBeDated: Bool { mode > .none && isValid }
}
