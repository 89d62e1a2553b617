package import SensorTypes

/// The accuracy of positions that a receiver carries on by dead reckoning without a word on how well it knows them.
///
/// The circle begins with that of the last measured position and grows with the time since then and with the way since then.
/// Nobody knows how a receiver reckons: one with inertial sensors and wheel ticks drifts by 2 to 10 % of the way (u-blox NEO-M8U and
/// NEO-M8L data sheets), one without carries the last velocity on, past the next bend. Both accuracies are marked as assumed.
package struct ReckonedCircle: Sendable {
  /// The growth of the circle in m/s, for what the carrier may have changed of its motion.
  private static let rate = 1.0
  /// The growth of the circle with the way.
  private static let share = 0.2
  /// The same for the height: roads climb by less than 10 %.
  private static let climb = (rate: 0.2, share: 0.05)
  /// The longest step between two positions that is taken for motion, in seconds.
  private static let longestStep = 3_600.0

  private var start: (horizontal: Double, vertical: Double)?
  private var last: GNSSFix?
  private var elapsed = 0.0
  private var way = 0.0

  /// Makes a circle that has seen no position yet.
  package init() {}

  /// Fills in the accuracies of a reckoned position without any, and notes where one begins.
  package mutating func complete(_ fix: inout GNSSFix) {
    guard fix.mode > .none, fix.latitude != nil else { return }
    defer { last = fix }
    guard fix.kind == .deadReckoning else {
      let known = AccuracyModel.completed(fix)
      start = (
        known.horizontalAccuracy ?? AccuracyModel.worst(of: fix.kind),
        known.verticalAccuracy ?? 2 * AccuracyModel.worst(of: fix.kind)
      )
      (elapsed, way) = (0, 0)
      return
    }
    if let last, let step = Self.step(from: last, to: fix), step > 0, step < Self.longestStep {
      elapsed += step
      way += step * (fix.speed ?? last.speed ?? 0)
    }
    guard fix.horizontalAccuracy == nil else { return }
    let begin =
      start ?? (AccuracyModel.worst(of: nil), 2 * AccuracyModel.worst(of: nil))
    fix.horizontalAccuracy = Self.length(begin.horizontal, Self.rate * elapsed + Self.share * way)
    fix.accuracySource = .worstCase
    if fix.mode == .threeDimensional, (fix.altitude ?? fix.ellipsoidalAltitude) != nil {
      fix.verticalAccuracy =
        fix.verticalAccuracy
        ?? Self.length(begin.vertical, Self.climb.rate * elapsed + Self.climb.share * way)
    }
  }

  /// Seconds between two positions by the receiver's clock, or else by their arrival.
  private static func step(from a: GNSSFix, to b: GNSSFix) -> Double? {
    if let before = a.utc, let after = b.utc { return after - before }
    if let before = a.timeOfDay, let after = b.timeOfDay {
      return after < before - 43_200 ? after - before + 86_400 : after - before
    }
    return b.received.seconds(since: a.received)
  }

  private static func length(_ a: Double, _ b: Double) -> Double { (a * a + b * b).squareRoot() }
}
