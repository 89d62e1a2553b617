// What a gyro misses while the rate lies beyond its range.

import LinearAlgebra
import SensorTypes

/// The swings beyond the gyro's range that are not over yet, one for each axis.
struct ClippedRotation: Sendable, Hashable, Codable {
  var x = ClippedSwing()
  var y = ClippedSwing()
  var z = ClippedSwing()
  /// What the newest rate has mended, body frame, radians.
  var mended = Vector3.zero

  var isOpen: Bool { x.time > 0 || y.time > 0 || z.time > 0 }

  subscript(axis: Int) -> ClippedSwing {
    get { axis == 0 ? x : axis == 1 ? y : z }
    set {
      switch axis {
      case 0: x = newValue
      case 1: y = newValue
      default: z = newValue
      }
    }
  }
}

/// How long an axis of the gyro has been clipped, how steeply the rate came there, and what the board has turned by since.
struct ClippedSwing: Sendable, Hashable, Codable {
  /// Seconds; 0 for an axis that is not clipped.
  var time = 0.0
  /// Of the rate where it came to the end of the range, rad/s^2.
  var slope = 0.0
  /// Sum of the rates, body frame, radians.
  var turned = Vector3.zero
  /// The end of the range that the rate has reached, rad/s.
  var top = 0.0
  /// Standard deviation that the attitude has been given for this swing already, radians.
  var doubted = 0.0

  /// What is between a parabola with `slope` at both ends and its flat top, radians.
  var parabola: Double { slope * time * time / 6 }

  /// An angle about the axis that was clipped, as it lay in the middle of the swing, in the body frame of now, radians.
  func turn(_ angle: Double, about axis: Int) -> Vector3 {
    var turn = Vector3.zero
    turn[axis] = top < 0 ? -angle : angle
    return Quaternion(rotationVector: -0.5 * turned).rotate(turn)
  }
}

extension ErrorStateFilter {
  /// Turns the attitude by what a swing has gone beyond the range, once that is over.
  ///
  /// The rate is taken for a parabola over the flat top: entered and left at a slope `s`, for a time `t`, it encloses
  /// `s t^2 / 6`, which is at most half of what the top itself turned by. A rate that comes back from beyond the top, because
  /// the chip has a wider range by then, has risen to there evenly. Half of the angle is one sigma. It was missed in the
  /// middle of the swing, and what the board has turned by since then turns it along.
  mutating func integrateClipped(
    _ rate: Vector3, previous: Vector3, _ clipped: ClippedAxes, _ dt: Double,
    _ c: AttitudeConstants
  ) {
    block.isRateClipped = true
    for axis in 0..<3 {
      let (now, before) = (rate[axis], previous[axis])
      let isBeyond = clipped.contains(axis: axis)
      if clipping[axis].time > 0, !isBeyond || (now < 0) != (clipping[axis].top < 0) {
        end(axis, at: now, before, dt, c)
      }
      guard isBeyond else { continue }
      if clipping[axis].time == 0 {
        clipping[axis].slope = max(abs(rateChange[axis]), abs(now - before)) / dt
      }
      clipping[axis].time += dt
      clipping[axis].turned += rate * dt
      clipping[axis].top = now
    }
  }

  private mutating func end(
    _ axis: Int, at now: Double, _ before: Double, _ dt: Double, _ c: AttitudeConstants
  ) {
    var swing = clipping[axis]
    let excess = now / swing.top - 1
    let angle: Double
    if excess > 0 {
      angle = 0.5 * excess * abs(swing.top) * swing.time
    } else {
      swing.time += dt
      swing.slope = max(swing.slope, abs(now - before) / dt)
      angle = min(swing.parabola, c.integration.clippedShare * abs(swing.top) * swing.time)
    }
    doubt(&swing, axis, angle: max(angle, excess > 0 ? 0 : swing.parabola), c)
    let missed = swing.turn(angle, about: axis)
    strapdown.turn(by: missed)
    clipping.mended += missed
    clipping[axis] = ClippedSwing()
  }

  /// Makes attitude less sure by a swing that is not over yet.
  mutating func doubtClipped(_ c: AttitudeConstants) {
    for axis in 0..<3 where clipping[axis].time > 0 {
      var swing = clipping[axis]
      doubt(&swing, axis, angle: swing.parabola, c)
      clipping[axis] = swing
    }
  }

  /// Gives the attitude what is left of the deviation that belongs to an angle; a whole turn is as bad as more.
  private mutating func doubt(
    _ swing: inout ClippedSwing, _ axis: Int, angle: Double, _ c: AttitudeConstants
  ) {
    let deviation = min(c.integration.clippedDeviation * angle, .pi)
    guard deviation > swing.doubted else { return }
    let rest = (deviation * deviation - swing.doubted * swing.doubted).squareRoot()
    swing.doubted = deviation
    var error = ErrorVector.zero
    error[vector: ErrorVector.attitude] = strapdown.attitude.rotate(swing.turn(rest, about: axis))
    covariance.add(common: error)
  }
}
