import LinearAlgebra
package import SensorTypes

/// The accuracy of positions that a receiver carries on by dead reckoning and reports no accuracy for.
///
/// It begins with that of the last measured position and grows with the time and the distance since then. How a receiver does
/// it is not known: one with inertial sensors and wheel ticks drifts by 2 to 10 % of the distance (u-blox NEO-M8U and NEO-M8L data sheets), one
/// without carries the last velocity on, past the next bend. Both accuracies are marked as assumed.
package struct DeadReckoningAccuracy: Sendable {
  /// The growth with time in m/s, for what the carrier may have changed of its motion.
  private static let rate = 1.0
  /// The growth with the distance.
  private static let share = 0.2
  /// The same for the height: roads climb by less than 10 %.
  private static let climb = (rate: 0.2, share: 0.05)
  /// The seconds that an epoch without any time counts.
  private static let usualStep = 1.0
  /// The mean radius of the earth in meters.
  private static let earthRadius = 6_371_000.0

  /// The accuracies of the last measured position, or of none.
  private var start = Self.unknown
  private var last: GNSSFix?
  private var elapsed = 0.0
  private var distance = 0.0

  private static let unknown = (
    horizontal: AccuracyModel.worst(of: nil), vertical: 2 * AccuracyModel.worst(of: nil)
  )

  /// Makes one that has seen no position yet.
  package init() {}

  /// Fills in the accuracies of a dead-reckoned position without any, and notes where dead reckoning begins.
  package mutating func complete(_ fix: inout GNSSFix) {
    guard fix.mode > .none, fix.isValid, fix.latitude != nil else { return }
    defer { last = fix }
    guard fix.kind == .deadReckoning else {
      let known = AccuracyModel.completed(fix)
      start = (
        known.horizontalAccuracy ?? Self.unknown.horizontal,
        known.verticalAccuracy ?? Self.unknown.vertical
      )
      (elapsed, distance) = (0, 0)
      return
    }
    if let last {
      let step = Self.step(from: last, to: fix)
      if step < 0 {
        // The clock was put back, or another log has begun.
        (start, elapsed, distance) = (Self.unknown, 0, 0)
      } else {
        elapsed += step
        distance += max(step * (fix.speed ?? 0), Self.distance(from: last, to: fix))
      }
    }
    guard fix.horizontalAccuracy == nil else { return }
    fix.horizontalAccuracy = Self.length(
      start.horizontal, Self.rate * elapsed + Self.share * distance)
    fix.accuracySource = .worstCase
    if fix.mode == .threeDimensional, (fix.altitude ?? fix.ellipsoidalAltitude) != nil {
      fix.verticalAccuracy =
        fix.verticalAccuracy
        ?? Self.length(start.vertical, Self.climb.rate * elapsed + Self.climb.share * distance)
    }
  }

  /// Seconds between two positions, by the receiver's clock or else by their arrival.
  private static func step(from a: GNSSFix, to b: GNSSFix) -> Double {
    if let before = a.utc, let after = b.utc { return after - before }
    if let before = a.timeOfDay, let after = b.timeOfDay {
      return after < before - 43_200 ? after - before + 86_400 : after - before
    }
    let arrival = b.received.seconds(since: a.received)
    return arrival == 0 ? usualStep : arrival
  }

  /// Meters between two positions that lie near each other, and at least so many between others.
  private static func distance(from a: GNSSFix, to b: GNSSFix) -> Double {
    guard let latitude = a.latitude, let longitude = a.longitude, let otherLatitude = b.latitude,
      let otherLongitude = b.longitude
    else { return 0 }
    let degree = Double.pi / 180
    let turn = (otherLongitude - longitude).remainder(dividingBy: 360)
    return earthRadius * degree
      * length(otherLatitude - latitude, turn * cos(otherLatitude * degree))
  }

  private static func length(_ a: Double, _ b: Double) -> Double { (a * a + b * b).squareRoot() }
}
