// The variance of a heading, split by source of error.

import SensorTypes

/// The variance of a heading, rad^2, split into the parts that `HeadingLimit` names. The accuracy is 1.96 times the root of
/// their sum, and the largest part is its limit.
struct HeadingVariance: Sendable, Hashable {
  /// The mounting, the declared level, and the angle between a vehicle's course and its bow.
  var mounting = 0.0
  /// The offset and the residual that the magnetometer's calibration leaves.
  var calibration = 0.0
  /// The iron that bends the field.
  var iron = 0.0
  /// The tilt error that an acceleration causes.
  var acceleration = 0.0
  /// The drift of the gyro, and the error of north at the start.
  var gyro = 0.0
  /// A measured heading that contradicts.
  var antennas = 0.0
  /// The delay of an attitude without a gyro.
  var motion = 0.0
  /// The tilt errors that a steep forward axis turns into heading.
  var elevation = 0.0

  static func += (sum: inout Self, part: Self) {
    sum.mounting += part.mounting
    sum.calibration += part.calibration
    sum.iron += part.iron
    sum.acceleration += part.acceleration
    sum.gyro += part.gyro
    sum.antennas += part.antennas
    sum.motion += part.motion
    sum.elevation += part.elevation
  }

  static func * (variance: Self, factor: Double) -> Self {
    Self(
      mounting: variance.mounting * factor, calibration: variance.calibration * factor,
      iron: variance.iron * factor, acceleration: variance.acceleration * factor,
      gyro: variance.gyro * factor, antennas: variance.antennas * factor,
      motion: variance.motion * factor, elevation: variance.elevation * factor)
  }

  /// Moves a share of the gyro's part, 0 to 1, to the elevation's.
  mutating func moveToElevation(_ share: Double) {
    elevation += share * gyro
    gyro -= share * gyro
  }

  /// Moves a share of the tilt's parts, 0 to 1, to the elevation's.
  ///
  /// - Parameter floor: The tilt's part in the gyro's.
  mutating func moveToElevation(_ share: Double, of floor: Double) {
    elevation += share * (acceleration + floor)
    acceleration -= share * acceleration
    gyro -= share * floor
  }

  var total: Double {
    mounting + calibration + iron + acceleration + gyro + antennas + motion + elevation
  }

  /// Half the 95 % interval in radians: at most half a turn, and half a turn where the sum is not a number.
  ///
  /// - Parameter heldBack: The angle by which the heading is known to be wrong while a change of calibration is blended in,
  ///   in radians, of either sign.
  func halfWidth(heldBack: Double = 0) -> Double {
    let sum = total
    return sum.isFinite ? min(1.96 * sum.squareRoot() + abs(heldBack), .pi) : .pi
  }

  /// Returns the source of the largest part.
  ///
  /// - Parameter heldBack: The angle of `halfWidth(heldBack:)`, in radians. It counts as calibration if it exceeds 1.96
  ///   times the root of the largest part.
  func limit(heldBack: Double = 0) -> HeadingLimit {
    var (largest, limit) = (calibration, HeadingLimit.calibration)
    if iron > largest { (largest, limit) = (iron, .iron) }
    if acceleration > largest { (largest, limit) = (acceleration, .acceleration) }
    if gyro > largest { (largest, limit) = (gyro, .gyro) }
    if antennas > largest { (largest, limit) = (antennas, .antennas) }
    if motion > largest { (largest, limit) = (motion, .motion) }
    if elevation > largest { (largest, limit) = (elevation, .elevation) }
    if mounting > largest { (largest, limit) = (mounting, .mounting) }
    return abs(heldBack) > 1.96 * largest.squareRoot() ? .calibration : limit
  }
}
