// Which way is up on something that rolls: the accelerometer, carried over the waves by the gyro.

import LinearAlgebra
import SensorTypes

/// The direction away from the earth's middle in the body frame.
///
/// With a gyro the direction is carried by it and drawn to the accelerometer's with a time constant of
/// several seconds, which averages a vessel's swaying; without one the accelerometer is taken at its word.
/// A value that is told everything; it allocates nothing.
struct UpTracker: Sendable, Hashable {
  /// Long against a wave, short against a gyro's drift, seconds.
  static let timeConstant = 4.0
  /// A pause longer than this begins anew, seconds.
  static let longestPause = 0.5

  /// What the gyro says of a board that does not turn, rad/s.
  var bias = Vector3.zero
  /// How long the direction is left to settle before it says anything of the bias, seconds.
  var settling = 2 * timeConstant
  /// By how much the accelerometer turned the direction in all, and in how long: over many waves that is the
  /// gyro's bias.
  private(set) var drawn = Vector3.zero
  private(set) var seconds = 0.0

  private var up: Vector3?
  private var time: Timestamp?
  private var age = 0.0

  /// Takes what was felt at a moment, body frame, and returns up; `nil` without a force to go by.
  mutating func take(force: Vector3?, rate: Vector3?, at now: Timestamp) -> Vector3? {
    let felt = force?.normalized
    defer { time = now }
    guard let old = up, let time, let rate, rate.isFinite else {
      up = felt
      age = 0
      return felt
    }
    let step = now.seconds(since: time)
    guard step >= 0, step < Self.longestPause else {
      up = felt
      age = 0
      return felt
    }
    var next = old - step * (rate - bias).cross(old)
    if let felt {
      age += step
      // A mean over what there is, until there is more than the time constant.
      let gain = min(1, step / min(Self.timeConstant, max(age, step)))
      if age > settling {
        drawn += gain * next.cross(felt)
        seconds += step
      }
      next += gain * (felt - next)
    }
    up = next.normalized
    return up
  }
}
