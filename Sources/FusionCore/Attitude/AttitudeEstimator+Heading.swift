// What the attitude estimator publishes: heading, how far it may be off, or why there is none.

import LinearAlgebra
public import SensorTypes

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension AttitudeEstimator {
  /// Heading of the body's y axis at the newest sample, or why there is none.
  ///
  /// - Parameter now: The present moment; what is older than `lossTimeout` by then is lost.
  /// - Returns: A heading. With `accuracy` it is to be trusted; without, `reason` says why not
  ///   (`uncalibrated`, `magneticInterference`) and the value is what it would be.
  ///   A failure where there is no heading at all: `notYet`, `tiltUnknown`, `sensorLost`.
  public func heading(at now: Timestamp) -> Result<HeadingEstimate, NoData> {
    guard let fieldTime = state.fieldTime else { return .failure(.notYet) }
    guard now.seconds(since: fieldTime) <= Self.lossTimeout else {
      return .failure(.sensorLost("the magnetometer is silent"))
    }
    if state.mode != .level {
      guard let forceTime = state.forceTime else {
        return .failure(params.level ? .notYet : .tiltUnknown)
      }
      guard now.seconds(since: forceTime) <= Self.lossTimeout else {
        return .failure(.sensorLost("the accelerometer is silent"))
      }
    }
    guard let attitude else { return .failure(.notYet) }
    if state.mode == .inertial, !state.filter.hasNorth { return .failure(.notYet) }
    if state.mode == .starting, state.start.fieldCount == 0 { return .failure(.notYet) }

    var time = fieldTime
    if state.mode == .inertial || state.mode == .starting, let rateTime = state.rateTime {
      time = rateTime
    }
    var reason: NoData?
    if !state.quality.isCalibrated {
      reason = .uncalibrated
    } else if isMagneticallyDisturbed {
      reason = state.monitor.reason(residual: calibrationDeviation)
    }
    return .success(
      HeadingEstimate(
        time: time, magneticHeading: DirectAttitude.heading(of: attitude),
        accuracy: reason == nil ? accuracy(of: attitude) : nil, reason: reason, field: state.field,
        attitude: attitude))
  }

  /// Half the 95 % interval in radians: 1.96 times the root of the sum of what the filter's
  /// covariance, the calibration, the place's field and mounting leave open; at most half a turn.
  private func accuracy(of attitude: Quaternion) -> Double {
    let gradient = DirectAttitude.headingGradient(of: attitude)
    let field = attitude.rotate(state.field)
    let strength = max(field.length, 1)
    let horizontal = max(hypot(field.x, field.y), 0.02 * strength)
    var variance = coefficients.headingFloor * coefficients.headingFloor

    // What the calibration leaves open turns north by its eastward part, as far as turning has not
    // shown it since.
    let east = attitude.conjugate.rotate(Vector3(1, 0, 0))
    let residual = state.quality.residual
    let offset = max(0, east.dot(state.quality.offsetCovariance * east)) + residual * residual
    let hidden = state.mode == .inertial ? east.dot(state.filter.summary.hiddenIron * east) : 1
    variance += hidden * offset / (horizontal * horizontal)

    // The filter's first block is still being filled: heading is that of the means at the start.
    let isStarting = state.filter.isRunning && !state.filter.hasTakenField
    switch isStarting ? .starting : state.mode {
    case .inertial:
      variance +=
        coefficients.covarianceShare
        * max(0, gradient.dot(state.filter.summary.attitude * gradient))
      variance += tiltShare(state.filter.summary.tiltDoubt, gradient, field, horizontal)
    case .starting:
      // Two hundredths of a radian for one averaged field, and the tilt at the field's slope.
      let tilt = state.start.tiltDeviation(gravity: coefficients.gravity)
      variance += 0.0004 + tiltShare(tilt, gradient, field, horizontal)
    case .direct:
      let tilt = (0.0001 + 0.25 * state.direct.forceVariance / (params.gravity * params.gravity))
        .squareRoot()
      let trailing = state.direct.trailing
      variance += trailing * trailing + tiltShare(tilt, gradient, field, horizontal)
    case .level:
      // Level by word only: two degrees.
      let trailing = state.direct.trailing
      variance += trailing * trailing
      variance += tiltShare(2 * .pi / 180, Vector3(0, 0, -1), field, horizontal)
    case .none:
      variance += .pi * .pi
    }
    // What is held back of a change of calibration is known to be wrong by that much.
    return min(1.96 * variance.squareRoot() + abs(state.carry.angle), .pi)
  }

  /// Variance of heading by a tilt error (one sigma about each horizontal axis) when north is
  /// taken from the field of the same moment: tilt about north moves the vertical field eastwards.
  private func tiltShare(
    _ tilt: Double, _ gradient: Vector3, _ field: Vector3, _ horizontal: Double
  ) -> Double {
    let slope = field.z / horizontal
    let x = gradient.x
    let y = gradient.y + slope
    return tilt * tilt * (x * x + y * y)
  }
}
