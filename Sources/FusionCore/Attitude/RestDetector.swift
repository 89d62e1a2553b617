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

  /// What the field says of the same stillness: its half-second mean, how its samples scatter about that (square),
  /// what the mean was when the watch began, and for how long it has been watched since.
  private var field: Vector3?
  private var fieldScatter = 0.0
  private var fieldAnchor: Vector3?
  private var watched = 0.0
  /// The mean rate then, and how well the bias was known, rad/s.
  private var watchRate = Vector3.zero
  private var watchDoubt = 0.0

  /// A force that stays this close (m/s^2) to what it was when stillness began is gravity. A vehicle that
  /// gently sets off turns nothing and shakes nothing: the force is all that tells.
  static let steadyThreshold = 0.025
  static let timeConstant = 0.5
  static let rateThreshold = 2 * Double.pi / 180
  static let forceThreshold = 0.5
  static let duration = 1.5
  static let quietDuration = 0.2
  /// The least that a mean field has moved when it is said to have, uT.
  static let fieldThreshold = 0.4
  /// The field's watch begins anew after so long, seconds: a chip drifts with its temperature.
  static let longestWatch = 20.0
  /// So much longer than a turn went unnoticed rest is not believed again, and at most so long, seconds.
  static let mistrust = 2.0
  static let longestMistrust = 20.0
  /// What a bias wanders by within a watch, rad/s.
  static let wander = 0.05 * Double.pi / 180

  /// Whether the board lies still.
  var isResting: Bool { quiet >= Self.duration }

  /// Whether neither rate nor force has changed for a while: at rest, whatever the bias is thought to be.
  var isCalm: Bool { calm >= Self.duration }

  /// Whether it has lain still for a moment: enough to lean on, not to be sure of.
  var isQuiet: Bool { quiet >= Self.quietDuration }

  /// Whether it lies still or rolls on without being accelerated.
  var isSteady: Bool { isResting && anchor != nil }

  /// A turn so slow that it passed for rest.
  struct SlowTurn {
    /// Radians a second.
    var rate: Double
  }

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
    // Below zero rest is not believed yet; what moves is beyond that doubt.
    quiet = isStill ? min(quiet + dt, 10) : 0
  }

  /// Takes one field sample, body frame, uT, of a field that is the earth's. A ship that swings at her anchor, or
  /// begins a turn, is as still to gyro and accelerometer as one that lies in a dock, and her turning would be
  /// learned as the gyro's bias; the field turns with her.
  ///
  /// - Parameters:
  ///   - horizontal: The horizontal field, uT.
  ///   - deviation: How well the gyro's bias is known, one sigma, rad/s.
  /// - Returns: The turn that was taken for rest, where there was one: it is none any more.
  mutating func update(
    field new: Vector3, _ dt: Double, horizontal: Double, deviation: Double
  ) -> SlowTurn? {
    guard let old = field, dt < 1 else {
      (field, fieldAnchor) = (new, nil)
      return nil
    }
    let mean = old + (new - old) * (dt / (Self.timeConstant + dt))
    field = mean
    let memory = 4 * Self.timeConstant
    fieldScatter += ((new - mean).lengthSquared - fieldScatter) * (dt / (memory + dt))
    guard quiet >= Self.duration || quiet < 0, let held = fieldAnchor,
      watched < Self.longestWatch
    else {
      watched = 0
      (watchRate, watchDoubt) = (rate ?? .zero, 3 * deviation + Self.wander)
      fieldAnchor = quiet >= Self.duration || quiet < 0 ? mean : nil
      return nil
    }
    watched += dt
    let moved = (mean - held).lengthSquared
    // Of two means of n samples: sixteen times twice the square over n.
    let noise = 16 * fieldScatter * dt / Self.timeConstant
    guard moved > Self.fieldThreshold * Self.fieldThreshold + noise else { return nil }
    let turn = SlowTurn(rate: moved.squareRoot() / horizontal / watched)
    let stretch = mean.length - held.length
    let time = watched
    let change = ((rate ?? .zero) - watchRate).length
    fieldAnchor = nil
    // A turn leaves the field as strong as it was, and the gyro has felt it begin or end, unless its bias is so
    // little known that the whole of it is in there. The rest is iron that moves.
    guard turn.rate < watchDoubt + 2 * change, 4 * stretch * stretch < moved else { return nil }
    let isNews = quiet > 0
    quiet = -min(Self.mistrust * time, Self.longestMistrust)
    return isNews ? turn : nil
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
