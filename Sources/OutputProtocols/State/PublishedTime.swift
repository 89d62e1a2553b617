// UTC of the moments at which values of a board were true.

package import SensorTypes

/// UTC of moments near the present one, by the system's clock where that is set, else by the newest epoch of a receiver.
package struct PublishedTime: Sendable {
  private let now: Timestamp
  private let clock: ClockReading
  private let fix: GNSSFix?

  /// Makes it for one moment.
  ///
  /// - Parameter clock: What the system's clock shows at `now`.
  package init(_ state: PublishedState, at now: Timestamp, clock: ClockReading) {
    (self.now, self.clock, fix) = (now, clock, state.location(at: now)?.fix)
  }

  /// Seconds since 1970 at a moment; `nil` where neither the clock nor a receiver says the date.
  package func utc(of time: Timestamp) -> Double? {
    if clock.isSet { return clock.seconds + time.seconds(since: now) }
    guard let fix, !fix.isLeapSecond, let utc = fix.utc else { return nil }
    return utc + time.seconds(since: fix.moment())
  }
}
