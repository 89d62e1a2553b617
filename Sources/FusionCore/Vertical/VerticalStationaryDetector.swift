// Detects that the board's height does not change. The estimator decides what follows.

import SensorTypes

/// Notices that the board stands still, and that it sets off.
///
/// Still is what feels quiet for two seconds while height and pressure hardly move. Where the pressure
/// alone begins to move, the board is unsettled until a door or the door's time says what that was.
struct VerticalStationaryDetector: Sendable, Hashable, Codable {
  /// Whether the board is known to stand still.
  private(set) var isStill = false
  /// Since when nothing speaks against it.
  private var since: Timestamp?
  /// Since when the pressure alone speaks against it: a door, or a slow quiet rise.
  private var unsettledSince: Timestamp?
  /// Measured height, low-passed by 1 and by 4 s: their difference is a slow climb rate.
  private var fastHeight = 0.0
  private var slowHeight = 0.0

  /// How much more is allowed to what stands still already.
  func slack(_ p: VerticalStationaryParameters) -> Double { isStill ? p.slack : 1 }

  /// What the pressure has done by itself, m, while that may yet prove to be a slow rise of the board.
  var slowRise: Double? { isStill || unsettledSince != nil ? fastHeight - slowHeight : nil }

  /// Takes a measured height, `dt` after the one before.
  mutating func follow(
    _ measured: Double, _ dt: Double, isOpen: Bool, _ p: VerticalStationaryParameters
  ) {
    if isOpen {
      // The rest of a step is no climb either.
      fastHeight += dt / (p.openTime + dt) * (measured - fastHeight)
      slowHeight = fastHeight
    } else {
      fastHeight += dt / (p.fastTime + dt) * (measured - fastHeight)
      slowHeight += dt / (p.slowTime + dt) * (measured - slowHeight)
    }
  }

  /// Judges, and says if the board has just set off: how much of the disturbance may have been height,
  /// one sigma in metres.
  /// - Parameters:
  ///   - isUnaccelerated: Whether neither accelerometer nor gyro feels anything.
  ///   - gained: Climb rate that acceleration has made in the last seconds, m/s.
  ///   - speed: The filter's climb rate, m/s.
  mutating func update(
    isUnaccelerated: Bool, gained: Double, speed: Double, at time: Timestamp,
    _ p: VerticalStationaryParameters
  ) -> Double? {
    let slack = slack(p)
    let isUnmoved = isUnaccelerated && abs(gained) < p.gained * slack
    let isLevel = abs(speed) < p.speed * slack && abs(fastHeight - slowHeight) < p.rise
    guard isUnmoved && isLevel else {
      since = nil
      if isStill { unsettledSince = time }
      isStill = false
      // Whoever sets off may have done so a little earlier. What only the pressure says may be a door:
      // that is a step before long.
      guard let unsettled = unsettledSince,
        !isUnmoved || time.seconds(since: unsettled) > p.doorTime
      else { return nil }
      unsettledSince = nil
      return isUnmoved ? p.swallowed : 0
    }
    guard let since else {
      self.since = time
      return nil
    }
    if time.seconds(since: since) >= p.duration { isStill = true }
    return nil
  }

  /// The height that is measured steps, and that is no climb: a door.
  /// - Parameter isUnmoved: Whether the board feels nothing and stood still before. Then it does so behind
  ///   the door, too.
  mutating func step(by step: Double, isUnmoved: Bool) {
    fastHeight += step
    slowHeight += step
    since = nil
    isStill = isUnmoved && (isStill || unsettledSince != nil)
    unsettledSince = nil
  }

  /// The accelerometer comes or goes: a pressure that moved has no door to prove any more.
  mutating func renew() { unsettledSince = nil }

  /// Begins anew, after a gap.
  mutating func restart(at measured: Double) {
    self = VerticalStationaryDetector()
    fastHeight = measured
    slowHeight = measured
  }
}
