// What the attitude estimator publishes: heading, how far it may be off, or why there is none.

import LinearAlgebra
import SensorTypes

extension EstimatorStorage {
  func heading(at now: Timestamp) -> Result<HeadingEstimate, NoData> {
    let c = coefficients
    let fieldAge = state.fieldTime.map { now.seconds(since: $0) }
    let timeout = c.limits.lossTimeout
    let hasField = fieldAge.map { $0 <= timeout } ?? false
    let hasCourse = hasCourse(at: now)
    guard hasField || hasCourse else {
      if fieldAge != nil { return .failure(.sensorLost("the magnetometer is silent")) }
      return .failure(
        state.courseTime == nil ? .notYet : .sensorLost("no course for minutes"))
    }
    if state.mode != .level {
      guard let forceTime = state.forceTime else {
        return .failure(params.level ? .notYet : .tiltUnknown)
      }
      guard now.seconds(since: forceTime) <= timeout else {
        return .failure(.sensorLost("the accelerometer is silent"))
      }
    }
    guard let attitude else { return .failure(.notYet) }
    if state.mode == .inertial, !state.filter.hasNorth { return .failure(.notYet) }
    if state.mode == .starting, state.start.attitude == nil {
      return .failure(.notYet)
    }

    var time = state.fieldTime ?? now
    if state.mode == .inertial || state.mode == .starting,
      let rateTime = state.rateTime
    {
      time = rateTime
    }
    var reason: NoData?
    if !hasField {
      // North is the course's: nothing is asked of a magnetometer.
    } else if !state.quality.isCalibrated {
      reason = .uncalibrated
    } else if state.monitor.disturbance != nil {
      reason = state.monitor.reason(residual: calibrationDeviation, c)
    }
    // What is wrong with the field does not matter where the course says where north is.
    let usedField = hasField && (reason == nil || !hasCourse) ? state.field : nil
    if hasCourse { reason = nil }
    return .success(
      HeadingEstimate(
        time: time, magneticHeading: DirectAttitude.heading(of: attitude),
        accuracy: reason == nil
          ? accuracy(of: attitude, field: usedField, hasCourse: hasCourse) : nil,
        reason: reason, field: hasField ? state.field : nil, attitude: attitude,
        fieldCheck: hasField ? fieldCheck : nil))
  }

  private var fieldCheck: FieldCheck? {
    let magnet = state.mode == .inertial ? state.filter.summary.iron.length : 0
    return state.monitor.check(
      calibrated: state.quality.isCalibrated ? state.quality.strength : nil,
      magnet: magnet, coefficients)
  }

  /// Whether a receiver's course has said of late where north is.
  private func hasCourse(at now: Timestamp) -> Bool {
    guard let time = state.courseTime, state.followsCourse,
      state.mode == .inertial
    else {
      return false
    }
    return now.seconds(since: time) <= coefficients.course.memory
  }

  /// Half the 95 % interval in radians: 1.96 times the root of the sum of what the filter's
  /// covariance, the calibration, the place's field and mounting leave open; at most half a turn.
  private func accuracy(of attitude: Quaternion, field: Vector3?, hasCourse: Bool) -> Double {
    let c = coefficients
    guard let field else {
      let gradient = DirectAttitude.headingGradient(of: attitude)
      var variance =
        c.headingFloor * c.headingFloor
        + c.course.variance
      variance +=
        gradient.dot(state.filter.summary.attitude * gradient)
        * c.heading.covarianceFactor
      return min(1.96 * variance.squareRoot() + abs(state.transition.angle), .pi)
    }
    // A magnet does not make north surer than the earth's field does.
    let known = state.mode == .inertial ? state.filter.field.x : .infinity
    let slopes = HeadingSlopes(
      attitude: attitude, field: field, limit: c.heading.strongestNorth * known,
      c.heading)
    var variance = c.headingFloor * c.headingFloor
    // Slip and mounting are the same at every course.
    if hasCourse { variance += c.course.variance }
    variance += slopes.variance(
      of: state.quality,
      hidden: state.mode == .inertial ? state.filter.summary.hiddenIron : .identity)

    // The filter's first block is still being filled: heading is that of the means at the start.
    let isStarting = state.filter.isRunning && !state.filter.hasTakenField
    switch isStarting ? .starting : state.mode {
    case .inertial:
      // A bias of tens of degrees a second turns the attitude by more than what is linear: twice the deviation (chosen).
      let bar = c.heading
      let share =
        bar.covarianceFactor * (state.isFindingBias ? bar.findingBiasFactor : 1)
      variance += share * slopes.variance(attitude: state.filter.summary.attitude)
      variance += slopes.variance(tilt: state.filter.summary.tiltDoubt)
    case .starting:
      // Two hundredths of a radian for one averaged field, and the tilt at the field's slope.
      let tilt = state.start.tiltDeviation(c)
      let smear = state.start.smear(
        biasDeviation: startBiasDeviation, c.alignment)
      let field = c.alignment.fieldVariance
      variance += field + smear * smear + slopes.variance(tilt: tilt)
    case .direct:
      let tilt = state.direct.tiltDeviation(c)
      let trailing = state.direct.trailing(horizontal: slopes.horizontal)
      variance += trailing * trailing + slopes.variance(tilt: tilt)
      // So far off the slopes no longer say anything.
      if tilt > c.direct.blindTilt { variance += .pi * .pi }
    case .level:
      // Level by word only: two degrees.
      let trailing = state.direct.trailing(horizontal: slopes.horizontal)
      variance += trailing * trailing
      variance += slopes.levelVariance(tilt: c.heading.declaredTilt)
    case .none:
      variance += .pi * .pi
    }
    // What is held back of a change of calibration is known to be wrong by that much.
    return min(1.96 * variance.squareRoot() + abs(state.transition.angle), .pi)
  }
}

/// How the errors of one moment show in its heading.
struct HeadingSlopes {
  private let gradient: Vector3
  /// Where earth's east lies in the body frame.
  private let east: Vector3
  /// Microtesla, never so small that north has no direction at all.
  let horizontal: Double
  /// The vertical field over the horizontal one.
  private let steepness: Double

  /// - Parameters:
  ///   - attitude: Body to earth.
  ///   - field: Body frame, microtesla.
  ///   - limit: The most that the horizontal field can be believed to be, microtesla.
  init(
    attitude: Quaternion, field: Vector3, limit: Double = .infinity, _ p: HeadingAccuracyParameters
  ) {
    let earth = attitude.rotate(field)
    gradient = DirectAttitude.headingGradient(of: attitude)
    east = attitude.conjugate.rotate(Vector3(1, 0, 0))
    let measured = (earth.x * earth.x + earth.y * earth.y).squareRoot()
    let least = p.leastHorizontalShare * max(min(earth.length, p.largestField), 1)
    horizontal = max(min(measured, max(limit, 1)), least)
    steepness = earth.z / horizontal
  }

  /// What the calibration leaves open turns north by its eastward part, as far as turning has not shown it
  /// since: the share of its variance along `e` is `e' hidden e`.
  func variance(of quality: MagnetometerQuality, hidden: Matrix3) -> Double {
    let offset =
      max(0, east.dot(quality.offsetCovariance * east)) + quality.residual * quality.residual
    return east.dot(hidden * east) * offset / (horizontal * horizontal)
  }

  /// By the covariance of the attitude, rad^2, earth frame.
  func variance(attitude: Matrix3) -> Double { max(0, gradient.dot(attitude * gradient)) }

  /// By a tilt error (one sigma about each horizontal axis, radians) when north is taken from the field of the
  /// same moment: tilt about north moves the vertical field eastwards.
  func variance(tilt: Double) -> Double {
    let x = gradient.x
    let y = gradient.y + steepness
    return tilt * tilt * (x * x + y * y)
  }

  /// The same for a board that is level by word.
  func levelVariance(tilt: Double) -> Double { tilt * tilt * steepness * steepness }
}
