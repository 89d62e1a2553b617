// What the attitude estimator publishes: heading, how far it may be off, or why there is none.

import LinearAlgebra
import SensorTypes

extension EstimatorStorage {
  func heading(at now: Timestamp) -> Result<HeadingEstimate, NoData> {
    let c = coefficients
    if let reason = hindrance(at: now) { return .failure(reason) }
    guard let attitude else { return .failure(.notYet) }
    let hasField = hasField(at: now)
    let rotation = attitude.matrix
    let accuracy = accuracy(of: rotation, at: now)
    var reason: NoData?
    if accuracy == nil || hasField && !hasCourse(at: now) && state.monitor.disturbance != nil {
      reason =
        state.quality.isCalibrated
        ? state.monitor.reason(residual: calibrationDeviation, c) : .uncalibrated
    }
    var time = state.fieldTime ?? now
    if state.mode == .inertial || state.mode == .starting, let rateTime = state.rateTime {
      time = rateTime
    }
    return .success(
      HeadingEstimate(
        time: time, magneticHeading: DirectAttitude.heading(forward: rotation.columns.y),
        accuracy: accuracy, reason: reason, field: hasField ? state.field : nil,
        attitude: attitude, fieldCheck: hasField ? fieldCheck : nil))
  }

  func compass(at now: Timestamp) -> CompassHeading? {
    guard hindrance(at: now) == nil, let attitude else { return nil }
    let rotation = attitude.matrix
    return CompassHeading(
      magneticHeading: DirectAttitude.heading(forward: rotation.columns.y),
      accuracy: accuracy(of: rotation, at: now), attitude: attitude)
  }

  /// Why there is no heading at all, not even a doubtful one.
  @inline(__always)
  private func hindrance(at now: Timestamp) -> NoData? {
    let timeout = coefficients.limits.lossTimeout
    if !hasField(at: now), !hasCourse(at: now) {
      if state.fieldTime != nil { return .sensorLost("the magnetometer is silent") }
      return state.courseTime == nil ? .notYet : .sensorLost("no course for minutes")
    }
    if state.mode != .level {
      guard let forceTime = state.forceTime else { return params.level ? .notYet : .tiltUnknown }
      if now.seconds(since: forceTime) > timeout {
        return .sensorLost("the accelerometer is silent")
      }
    }
    if state.mode == .inertial, !state.filter.hasNorth { return .notYet }
    if state.mode == .starting, state.start.attitude == nil { return .notYet }
    return nil
  }

  @inline(__always)
  private func hasField(at now: Timestamp) -> Bool {
    guard let time = state.fieldTime else { return false }
    return now.seconds(since: time) <= coefficients.limits.lossTimeout
  }

  /// Half the 95 % interval, radians; `nil` where heading is not to be trusted.
  @inline(__always)
  private func accuracy(of rotation: Matrix3, at now: Timestamp) -> Double? {
    let hasCourse = hasCourse(at: now)
    if hasField(at: now), state.quality.isCalibrated {
      if state.monitor.disturbance == nil {
        return accuracy(of: rotation, field: state.field, hasCourse: hasCourse)
      }
      if !hasCourse {
        return state.isCarried
          ? accuracy(of: rotation, field: fieldOfPlace(rotation), hasCourse: false) : nil
      }
    }
    // What is wrong with the field does not matter where the course says where north is.
    return hasCourse ? accuracy(of: rotation, field: nil, hasCourse: true) : nil
  }

  /// What the magnetometer would measure without what disturbs the field, body frame, microtesla.
  private func fieldOfPlace(_ rotation: Matrix3) -> Vector3 {
    let field = state.filter.field
    return rotation.transposed * Vector3(0, field.x, field.y)
  }

  /// Whether heading is given in a field that is not the earth's: mostly by the gyro, and for as long as its bar says
  /// something. A bar at the limit does not come and go with every sample.
  func noteCarried() {
    let c = coefficients
    guard state.mode == .inertial, state.northTrustedTime >= c.north.trustDuration,
      let attitude
    else { return state.isCarried = false }
    guard state.monitor.disturbance != nil else { return state.isCarried = true }
    let rotation = attitude.matrix
    let now = accuracy(of: rotation, field: fieldOfPlace(rotation), hasCourse: false)
    state.isCarried =
      now < (state.isCarried ? c.heading.carriedAccuracy : c.heading.regainedAccuracy)
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
  private func accuracy(of rotation: Matrix3, field: Vector3?, hasCourse: Bool) -> Double {
    let c = coefficients
    guard let field else {
      let gradient = DirectAttitude.headingGradient(forward: rotation.columns.y)
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
      rotation: rotation, field: field, limit: c.heading.strongestNorth * known,
      c.heading)
    var variance = c.headingFloor * c.headingFloor
    // Slip and mounting are the same at every course.
    if hasCourse { variance += c.course.variance }
    let isInertial = state.mode == .inertial
    variance += slopes.variance(
      of: state.quality, hidden: isInertial ? state.filter.summary.hiddenIron : .identity)

    // The filter's first block is still being filled: heading is that of the means at the start.
    let isStarting = state.filter.isRunning && !state.filter.hasTakenField
    switch isStarting ? .starting : state.mode {
    case .inertial:
      // A bias of tens of degrees a second turns the attitude by more than what is linear: twice the deviation (chosen).
      let summary = state.filter.summary
      variance +=
        summary.doubt.variance(
          whole: slopes.variance(attitude: summary.attitude), slopes: slopes, c.heading)
        * (state.isFindingBias ? c.heading.findingBiasFactor : 1)
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
  ///   - rotation: The attitude, body to earth.
  ///   - field: Body frame, microtesla.
  ///   - limit: The most that the horizontal field can be believed to be, microtesla.
  init(
    rotation: Matrix3, field: Vector3, limit: Double = .infinity, _ p: HeadingAccuracyParameters
  ) {
    let earth = rotation * field
    let (x, y, z) = rotation.columns
    gradient = DirectAttitude.headingGradient(forward: y)
    east = Vector3(x.x, y.x, z.x)
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
