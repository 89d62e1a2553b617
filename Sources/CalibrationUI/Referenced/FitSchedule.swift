/// When a calibration that is under way is fitted: about once a second, and on a slow board for at most a quarter of the
/// time.
struct FitSchedule {
  /// The shortest time from the beginning of one fit to that of the next, in seconds.
  private static let shortest = 0.9
  /// The same as a multiple of how long the first of the two took.
  private static let factor = 4.0

  private var next = 1.0

  /// Whether a fit is due at this age of the calibration, in seconds.
  func isDue(at age: Double) -> Bool { age >= next }

  /// Takes note of a fit.
  ///
  /// - Parameters:
  ///   - duration: How long it took, in seconds.
  ///   - age: The calibration's age when it began, in seconds.
  mutating func note(_ duration: Double, from age: Double) {
    next = age + max(Self.shortest, Self.factor * duration)
  }
}
