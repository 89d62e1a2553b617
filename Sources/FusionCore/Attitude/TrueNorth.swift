// From magnetic to true heading: one pure function.

import LinearAlgebra
public import SensorTypes

/// Combines a magnetic heading with declination.
public enum TrueNorth {
  /// The angle from true to magnetic north at a place and a date.
  public struct Declination: Sendable, Hashable {
    /// Radians, positive where magnetic north lies east of true north.
    public var angle: Double
    /// One sigma in radians: the model's own, and what the position's age and error add.
    public var deviation: Double

    /// Makes a declination.
    public init(angle: Double, deviation: Double) {
      self.angle = angle
      self.deviation = deviation
    }
  }

  /// `estimate` with its true heading, or with the reason why it has none.
  ///
  /// True heading is magnetic heading plus declination. The estimate has one accuracy for both
  /// headings, so the declination's uncertainty (1.96 sigma) is added to it in squares. A heading
  /// that is not to be trusted has no true heading either: its own reason is the reason.
  /// - Parameters:
  ///   - estimate: What the attitude estimator says.
  ///   - declination: The model's word, or why there is none (`positionUnknown`, `dateUnknown`,
  ///     `modelInvalid`). A value that is not finite counts as `modelInvalid`.
  public static func apply(
    _ declination: Result<Declination, NoData>, to estimate: HeadingEstimate
  ) -> HeadingEstimate {
    var result = estimate
    result.trueHeading = nil
    result.declination = nil
    switch declination {
    case .failure(let reason):
      result.trueReason = reason
    case .success(let declination):
      guard declination.angle.isFinite, declination.deviation.isFinite else {
        result.trueReason = .modelInvalid("the declination is not a number")
        return result
      }
      guard let accuracy = estimate.accuracy else {
        result.trueReason = estimate.reason ?? .notYet
        return result
      }
      var heading = (estimate.magneticHeading + declination.angle)
        .truncatingRemainder(dividingBy: 2 * .pi)
      if heading < 0 { heading += 2 * .pi }
      result.trueHeading = heading < 2 * .pi ? heading : 0
      result.declination = declination.angle
      let deviation = 1.96 * declination.deviation
      result.accuracy = min(hypot(accuracy, deviation), .pi)
      // The other parts of `accuracy` are known only by their sum.
      if deviation > accuracy { result.limit = .declination }
      result.trueReason = nil
    }
    return result
  }
}
