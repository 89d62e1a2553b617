package import SensorTypes

/// Finds the sensors whose error counters have risen since they were last reported.
///
/// The hub publishes a sensor when its state changes. A bus that is disturbed again and again
/// changes no state as long as the repeated transfers succeed.
package struct ErrorCounterMonitor {
  /// The least time between two reports, in seconds.
  package static let interval = 10.0

  private var reported: [Int: SensorCounters] = [:]
  private var next: Timestamp?

  package init() {}

  /// Notes that a sensor is being reported.
  package mutating func note(_ status: SensorStatus) {
    reported[status.index] = Self.errors(status)
  }

  /// Returns whether a report is due at this moment; the next one is due `interval` seconds later.
  package mutating func isDue(at now: Timestamp) -> Bool {
    guard let next else {
      self.next = now.advanced(bySeconds: Self.interval)
      return false
    }
    guard now >= next else { return false }
    self.next = now.advanced(bySeconds: Self.interval)
    return true
  }

  /// Returns the sensors to report, and notes them.
  package mutating func risen(_ sensors: [SensorStatus]) -> [SensorStatus] {
    let risen = sensors.filter { Self.errors($0) != reported[$0.index] ?? SensorCounters() }
    for status in risen { note(status) }
    return risen
  }

  private static func errors(_ status: SensorStatus) -> SensorCounters {
    var errors = status.counters
    // A sensor that is started and delivers is as it should be.
    (errors.samples, errors.starts) = (0, 0)
    return errors
  }
}
