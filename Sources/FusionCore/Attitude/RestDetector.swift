// Rest: the board lies still, so whatever the gyro says is its bias.

import LinearAlgebra

/// Notices that the board lies still.
///
/// Rest is 1.5 s during which both sensors stay near their own half-second means and the mean rate
/// is one that can be bias. The thresholds (2 deg/s, 0.5 m/s^2) are ten times a MEMS chip's noise
/// and below what a hand does.
struct RestDetector: Sendable, Hashable, Codable {
  /// Low-passed angular rate, rad/s, body frame.
  private(set) var rate: Vector3?
  private var force: Vector3?
  /// Seconds of stillness so far.
  private var quiet = 0.0

  /// Seconds for which nothing has changed, whatever the rate.
  private var calm = 0.0

  private var anchor: Vector3?

  /// A force that stays this close (m/s^2) to what it was when stillness began is gravity. A vehicle that
  /// gently sets off turns nothing and shakes nothing: the force is all that tells.
  static let steadyThreshold = 0.025
  static let timeConstant = 0.5
  static let rateThreshold = 2 * Double.pi / 180
  static let forceThreshold = 0.5
  static let duration = 1.5
  static let quietDuration = 0.2

  /// Whether the board lies still.
  var isResting: Bool { quiet >= Self.duration }

  /// Whether neither rate nor force has changed for a while: at rest, whatever the bias is thought to be.
  var isCalm: Bool { calm >= Self.duration }

  /// Whether it has lain still for a moment: enough to lean on, not to be sure of.
  var isQuiet: Bool { quiet >= Self.quietDuration }

  /// Whether it lies still or rolls on without being accelerated.
  var isSteady: Bool { isResting && anchor != nil }

  /// Forgets everything, after a gap.
  mutating func reset() { self = RestDetector() }

  /// Takes one angular rate.
  /// - Parameters:
  ///   - bias: The bias known so far.
  ///   - limit: How far from it a mean rate may be and still be bias, rad/s.
  mutating func update(rate new: Vector3, _ dt: Double, bias: Vector3, limit: Double) {
    guard let old = rate else {
      rate = new
      return
    }
    let mean = old + (new - old) * (dt / (Self.timeConstant + dt))
    rate = mean
    let isEven = (new - mean).lengthSquared < Self.rateThreshold * Self.rateThreshold
    calm = isEven ? min(calm + dt, 10) : 0
    let isStill = isEven && (mean - bias).lengthSquared < limit * limit
    quiet = isStill ? min(quiet + dt, 10) : 0
  }

  /// Takes one specific force, m/s^2.
  mutating func update(force new: Vector3, _ dt: Double) {
    guard let old = force else {
      force = new
      return
    }
    let mean = old + (new - old) * (dt / (Self.timeConstant + dt))
    force = mean
    if (new - mean).lengthSquared >= Self.forceThreshold * Self.forceThreshold {
      quiet = 0
      calm = 0
    }
    // The anchor is dropped when the force wanders off, and cast again with the next stillness.
    if quiet < Self.duration {
      anchor = mean
    } else if let held = anchor,
      (mean - held).lengthSquared > Self.steadyThreshold * Self.steadyThreshold
    {
      anchor = nil
    }
  }
}
