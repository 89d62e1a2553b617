// What the pipeline knows of height: barometer, vertical acceleration, and the heights of fixes.

import FusionCore
import SensorTypes

/// Relative and absolute altitude of one board.
struct VerticalChannel: Sendable {
  /// Absolute altitude is published this often, seconds: its error does not change faster.
  private static let interval = 0.95

  private var relative = RelativeAltitudeEstimator()
  private var absolute = AbsoluteAltitudeEstimator()
  private var published: Timestamp?

  /// Takes the vertical acceleration of an attitude filter, where it has one.
  mutating func update(_ attitude: AttitudeEstimator, at time: Timestamp) {
    guard let acceleration = attitude.verticalAcceleration else { return }
    relative.update(
      verticalAcceleration: acceleration, isTurning: !attitude.isResting, at: time)
  }

  mutating func update(
    pressure: Double, temperature: Double, at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    guard let estimate = relative.update(pressure: pressure, temperature: temperature, at: time)
    else { return }
    publish(.altitude(estimate))
    guard let height = absolute.update(estimate) else { return }
    if let published {
      let since = time.seconds(since: published)
      if since >= 0 && since < Self.interval { return }
    }
    published = time
    publish(.absoluteAltitude(height))
  }

  /// Takes a fix whose accuracies are filled in.
  mutating func update(_ fix: GNSSFix) {
    guard fix.mode == .threeDimensional, let altitude = fix.altitude,
      let accuracy = fix.verticalAccuracy
    else { return }
    absolute.update(
      altitude: altitude, accuracy: accuracy, ellipsoidalAltitude: fix.ellipsoidalAltitude,
      at: fix.moment)
  }
}
