import SensorTypes

/// Lets something through at most so often.
struct Pace {
  /// Seconds between two.
  let interval: Double
  private var last: Timestamp?

  init(interval: Double) { self.interval = interval }

  /// Whether one may go at this moment; if so, it counts as gone. A clock that was set back makes nobody wait.
  mutating func admits(at now: Timestamp) -> Bool {
    if let last, now >= last, now.seconds(since: last) < interval - 1e-6 { return false }
    last = now
    return true
  }
}
