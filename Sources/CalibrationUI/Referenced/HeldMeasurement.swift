import SensorTypes

/// The measurement of a board that somebody holds still: when it begins, and when it is over.
///
/// It waits for the receiver's first fix, for a while, and then for the first sample. What came until then is of a board that
/// was still being put in place, and is left out.
struct HeldMeasurement {
  /// What is to be done with what came.
  enum HeldPhase: Hashable {
    /// Has waited this long for the first fix; what came is left out.
    case awaitingFix(seconds: Double)
    /// Is about to begin; what came is left out.
    case beginning
    /// Has measured for this long.
    case measuring(seconds: Double)
    /// Has measured for long enough.
    case done
  }

  /// How long to wait for the first fix, in seconds.
  static let patience = 60.0

  private let start: Timestamp
  private let seconds: Double
  private var begun: Timestamp?

  /// - Parameters:
  ///   - seconds: How long to measure, in seconds.
  ///   - start: When the waiting begins, by the board's clock.
  init(seconds: Double, from start: Timestamp) { (self.seconds, self.start) = (seconds, start) }

  /// Goes on to a moment.
  ///
  /// - Parameters:
  ///   - awaitsFix: Whether a fix is needed that has not come yet.
  ///   - hasSamples: Whether a sample came since the moment before.
  mutating func phase(at now: Timestamp, awaitsFix: Bool, hasSamples: Bool) -> HeldPhase {
    let waited = now.seconds(since: start)
    if awaitsFix, waited < Self.patience { return .awaitingFix(seconds: waited) }
    guard let begun else {
      if hasSamples { begun = now }
      return .beginning
    }
    let measured = now.seconds(since: begun)
    return measured < seconds ? .measuring(seconds: measured) : .done
  }
}
