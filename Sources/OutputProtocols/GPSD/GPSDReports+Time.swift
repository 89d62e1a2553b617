// When a receiver's epochs were, as TOFF and PPS.

package import SensorTypes

extension GPSDReports {
  /// How far the UTC of an epoch may be from a whole second, in seconds, for its pulse to be the one of that second: receivers measure their
  /// epochs a little beside it.
  private static let pulseTolerance = 0.01

  /// The second that an epoch belongs to.
  static func second(of utc: Double) -> Double { (utc + pulseTolerance).rounded(.down) }

  /// Returns a TOFF, and a PPS where a pulse tells the moment of the epoch: what programs may set a clock by.
  ///
  /// There is neither while the system's clock is not set; of a time that no satellites have a part in, or whose date the receiver has not said
  /// itself; in a leap second; from a simulated board; and of a receiver that is not on a line of this machine: over a network nobody knows how
  /// late its messages are.
  package func times(of location: LocationEstimate) -> [GPSDServerReport] {
    let fix = location.fix
    guard receiver.hasPrefix("/dev/"), !location.isSimulated, location.isMeasured, fix.isValid,
      fix.mode > .none, fix.weeksAdded == 0, !fix.isLeapSecond, let utc = fix.utc
    else { return [] }
    var reports: [GPSDServerReport] = []
    if let offset = offset(real: utc, at: fix.received) { reports.append(timeOffset(offset)) }
    let second = utc.rounded()
    // An epoch between two seconds has no pulse of its own.
    guard abs(utc - second) <= Self.pulseTolerance,
      let edge = fix.pulseTime?.advanced(bySeconds: second - utc),
      let offset = offset(real: second, at: edge)
    else { return reports }
    return reports + [pulse(offset)]
  }

  private func offset(real: Double, at time: Timestamp) -> GPSDTimeOffset? {
    guard let clock = utc(of: time), let real = Self.moment(real), let clock = Self.moment(clock)
    else { return nil }
    return GPSDTimeOffset(real: real, clock: clock)
  }

  /// Seconds since 1970 as whole ones and nanoseconds; `nil` before, and where they are not finite.
  private static func moment(_ utc: Double) -> GPSDTimeOffset.Moment? {
    guard (0..<1e11).contains(utc) else { return nil }
    let whole = utc.rounded(.down)
    let nanoseconds = ((utc - whole) * 1e9).rounded()
    return nanoseconds < 1e9 ? (Int(whole), Int(nanoseconds)) : (Int(whole) + 1, 0)
  }
}
