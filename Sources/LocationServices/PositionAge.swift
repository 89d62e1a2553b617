// How far the board may be from where it was.

package import SensorTypes

/// The newest position, and what it is worth now.
///
/// The position itself is not touched: it is true of its time, with the accuracy that it had then, and so it is
/// handed out everywhere. `uncertainty` is what age makes of it.
public struct KnownPosition: Hashable, Codable, Sendable {
  /// The position as it was measured.
  public var report: LocationReport
  /// Seconds since it was true.
  public var age: Double
  /// Radius around it that holds the board now in at least 68 % of cases, metres; `nil` where its accuracy was not
  /// known.
  public var uncertainty: Double?
}

extension LocationReport {
  /// The ratio of the radius that holds 68 % of a two-dimensional normal distribution to its sigma in each direction:
  /// sqrt(-2 ln 0.32).
  static let radiusOfSigma = 1.5096
  /// Where a receiver gives speed without its accuracy, one sigma in m/s; an assumption, ten times what receivers
  /// claim under open sky (0.05 m/s, u-blox M8 and M9 data sheets).
  static let assumedSpeedAccuracy = 0.5

  /// Radius around the position that holds the board at `time` in at least 68 % of cases, metres; `nil` where the
  /// accuracy is not known.
  ///
  /// The board goes on with its speed v, whichever way, while that wanders by w a second:
  ///
  ///     v t + sqrt(r^2 + c^2 (s^2 t^2 + w t^3 / 3)),  at most  r + vmax t
  ///
  /// with the accuracy r, the sigma s of the speed, the age t, and c from sigma to the 68 % radius. Where the board
  /// has got to by its speed counts in full, the rest as the independent errors that they are. Without a speed only
  /// the second holds: vmax, the dynamic model's, or the speed itself where that is greater.
  ///
  /// - Parameters:
  ///   - time: When; before the position's own time it is the accuracy itself.
  ///   - activity: How the board moves; `airborne` is the widest, then `other`.
  package func uncertainty(at time: Timestamp, activity: Activity = .other) -> Double? {
    guard let radius = horizontalAccuracy else { return nil }
    let age = time.seconds(since: self.time)
    guard age > 0 else { return radius }
    let dynamics = activity.dynamics
    let fastest = radius + max(dynamics.topSpeed, speed ?? 0) * age
    guard let speed else { return fastest }
    let c2 = Self.radiusOfSigma * Self.radiusOfSigma
    let deviation = speedAccuracy ?? Self.assumedSpeedAccuracy
    let spread = (deviation * deviation + dynamics.wander * age / 3) * age * age
    return min(speed * age + (radius * radius + c2 * spread).squareRoot(), fastest)
  }
}
