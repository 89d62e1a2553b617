/// A bound on how much of something may come in a time: so much at once, and a steady rate after that (a token bucket).
package struct RateLimit: Sendable {
  private let burst: Double
  private let perSecond: Double
  private var left: Double
  private var last: Timestamp?

  /// - Parameters:
  ///   - burst: The most that is taken at once.
  ///   - perSecond: The most that is taken per second in the long run.
  package init(burst: Double, perSecond: Double) {
    (self.burst, self.perSecond, left) = (burst, perSecond, burst)
  }

  /// Returns how much may be taken now; negative after more was taken than there was room for.
  package mutating func room(at now: Timestamp) -> Double {
    if let last { left = min(burst, left + perSecond * max(0, now.seconds(since: last))) }
    last = now
    return left
  }

  /// Counts what was taken.
  package mutating func take(_ amount: Double) { left -= amount }
}
