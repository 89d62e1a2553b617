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
    let variance = variance(of: rotation, at: now)
    var reason: NoData?
    if variance == nil || hasField && !hasCourse(at: now) && state.monitor.disturbance != nil {
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
        accuracy: variance.map(halfWidth), reason: reason, field: hasField ? state.field : nil,
        attitude: attitude, fieldCheck: hasField ? fieldCheck : nil,
        limit: limit(variance, isDisturbed: state.monitor.disturbance != nil)))
  }

  func compass(at now: Timestamp) -> CompassHeading? {
    guard hindrance(at: now) == nil, let attitude else { return nil }
    var accuracy: Double?
    // With `map` the closure would count a reference to this at every sample.
    if let variance = variance(of: attitude.matrix, at: now) { accuracy = halfWidth(variance) }
    return CompassHeading(accuracy: accuracy, tiltAccuracy: tiltAccuracy, attitude: attitude)
  }

  var tiltAccuracy: Double? {
    state.mode == .inertial ? state.filter.summary.tiltAccuracy : nil
  }

  /// Why there is no heading at all, not even a doubtful one.
  @inline(__always)
  private func hindrance(at now: Timestamp) -> NoData? {
    let timeout = coefficients.limits.lossTimeout
    if !hasField(at: now), !hasCourse(at: now) {
      if state.fieldTime != nil { return .sensorLost("the magnetometer is silent") }
      let what = state.hasMeasuredHeading ? "heading by antennas" : "course"
      return state.courseTime == nil ? .notYet : .sensorLost("no \(what) for minutes")
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

  private func limit(_ variance: HeadingVariance?, isDisturbed: Bool) -> HeadingLimit? {
    guard let variance else { return nil }
    // The gyro holds a heading that the field would give as soon as the iron is gone.
    if isDisturbed, variance.mounting < variance.total / 2 { return .iron }
    return variance.limit(heldBack: state.transition.angle)
  }

  /// Returns half the 95 % interval in radians, with the part of a calibration change that is still being blended in.
  @inline(__always)
  private func halfWidth(_ variance: HeadingVariance) -> Double {
    variance.halfWidth(heldBack: state.transition.angle)
  }

  /// Returns the variance of the heading, or `nil` if the heading is not to be trusted.
  @inline(__always)
  private func variance(of rotation: Matrix3, at now: Timestamp) -> HeadingVariance? {
    let hasCourse = hasCourse(at: now)
    if hasField(at: now), state.quality.isCalibrated {
      if state.monitor.disturbance == nil {
        return variance(of: rotation, field: state.field, hasCourse: hasCourse)
      }
      if !hasCourse {
        return state.isCarried
          ? variance(of: rotation, field: fieldOfPlace(rotation), hasCourse: false) : nil
      }
    }
    // What is wrong with the field does not matter where the course says where north is.
    return hasCourse ? variance(of: rotation, field: nil, hasCourse: true) : nil
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
    let now = halfWidth(variance(of: rotation, field: fieldOfPlace(rotation), hasCourse: false))
    state.isCarried =
      now < (state.isCarried ? c.heading.carriedAccuracy : c.heading.regainedAccuracy)
  }

  private var fieldCheck: FieldCheck? {
    let magnet = state.mode == .inertial ? state.filter.summary.iron.length : 0
    return state.monitor.check(
      calibrated: state.quality.isCalibrated ? state.quality.strength : nil,
      magnet: magnet, coefficients)
  }

  /// Whether a receiver's course, or a measured heading, has said of late where north is.
  private func hasCourse(at now: Timestamp) -> Bool {
    guard let time = state.courseTime, state.followsCourse || state.hasMeasuredHeading,
      state.mode == .inertial
    else {
      return false
    }
    return now.seconds(since: time) <= coefficients.course.memory
  }

  /// Returns the variance of the heading by the filter's covariance, the calibration, the place's field and the mounting.
  private func variance(
    of rotation: Matrix3, field: Vector3?, hasCourse: Bool
  ) -> HeadingVariance {
    let c = coefficients
    var variance = HeadingVariance(mounting: c.headingFloor * c.headingFloor)
    // Slip and mounting are the same at every course.
    if hasCourse {
      variance.mounting +=
        state.hasMeasuredHeading ? c.measuredHeading.variance : c.course.variance
    }
    // Either the heading or what contradicts it is wrong.
    let contradiction = state.filter.headingContradiction / 1.96
    variance.antennas = contradiction * contradiction
    guard let field else {
      let gradient = DirectAttitude.headingGradient(forward: rotation.columns.y)
      variance.gyro =
        gradient.dot(state.filter.summary.attitude * gradient) * c.heading.covarianceFactor
      variance.moveToElevation(
        HeadingSlopes.elevationShare(of: state.filter.summary.attitude, gradient: gradient))
      return variance
    }
    // A magnet does not make north surer than the earth's field does.
    let known = state.mode == .inertial ? state.filter.field.x : .infinity
    let slopes = HeadingSlopes(
      rotation: rotation, field: field, limit: c.heading.strongestNorth * known,
      c.heading)
    let isInertial = state.mode == .inertial
    variance.calibration = slopes.variance(
      of: state.quality, hidden: isInertial ? state.filter.summary.hiddenIron : .identity)

    // The filter's first block is still being filled: heading is that of the means at the start.
    let isStarting = state.filter.isRunning && !state.filter.hasTakenField
    switch isStarting ? .starting : state.mode {
    case .inertial:
      // A bias of tens of degrees a second turns the attitude by more than what is linear: twice the deviation (chosen).
      let whole = slopes.variance(attitude: state.filter.summary.attitude)
      let doubted = state.filter.summary.doubt.variance(whole: whole, slopes: slopes, c.heading)
      variance += state.isFindingBias ? doubted * c.heading.findingBiasFactor : doubted
    case .starting:
      // Two hundredths of a radian for one averaged field, and the tilt at the field's slope.
      let tilt = state.start.tiltDeviation(c)
      let smear = state.start.smear(
        biasDeviation: startBiasDeviation, c.alignment)
      // The floor of the tilt is there at rest as well.
      let floor = slopes.variance(tilt: min(tilt, c.alignment.tiltFloor))
      variance.gyro = c.alignment.fieldVariance + smear * smear + floor
      variance.acceleration = slopes.variance(tilt: tilt) - floor
      variance.moveToElevation(slopes.elevationShareOfTilt, of: floor)
    case .direct:
      let tilt = state.direct.tiltDeviation(c)
      let trailing = state.direct.trailing(horizontal: slopes.horizontal)
      variance.motion = trailing * trailing
      variance.acceleration = slopes.variance(tilt: tilt)
      variance.moveToElevation(slopes.elevationShareOfTilt, of: 0)
      // So far off the slopes no longer say anything.
      if tilt > c.direct.blindTilt { variance.acceleration += .pi * .pi }
    case .level:
      // Level by word only: two degrees.
      let trailing = state.direct.trailing(horizontal: slopes.horizontal)
      variance.motion = trailing * trailing
      variance.mounting += slopes.levelVariance(tilt: c.heading.declaredTilt)
    case .none:
      variance.gyro = .pi * .pi
    }
    return variance
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
  @inline(__always)
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
  @inline(__always)
  func variance(of quality: MagnetometerQuality, hidden: Matrix3) -> Double {
    let offset =
      max(0, east.dot(quality.offsetCovariance * east)) + quality.residual * quality.residual
    return east.dot(hidden * east) * offset / (horizontal * horizontal)
  }

  /// By the covariance of the attitude, rad^2, earth frame.
  func variance(attitude: Matrix3) -> Double { max(0, gradient.dot(attitude * gradient)) }

  /// Returns the share of that variance, 0 to 1, that comes from tilt errors. It grows as the forward axis points more
  /// steeply up or down.
  func elevationShare(of attitude: Matrix3) -> Double {
    Self.elevationShare(of: attitude, gradient: gradient)
  }

  static func elevationShare(of attitude: Matrix3, gradient: Vector3) -> Double {
    let tilt = Vector3(gradient.x, gradient.y, 0)
    let (part, whole) = (tilt.dot(attitude * tilt), gradient.dot(attitude * gradient))
    return whole > 0 ? max(0, min(part / whole, 1)) : 0
  }

  /// By a tilt error (one sigma about each horizontal axis, radians) when north is taken from the field of the
  /// same moment: tilt about north moves the vertical field eastwards.
  func variance(tilt: Double) -> Double {
    let x = gradient.x
    let y = gradient.y + steepness
    return tilt * tilt * (x * x + y * y)
  }

  /// The share of that which a level board would not have, 0 to 1.
  var elevationShareOfTilt: Double {
    let (x, y) = (gradient.x, gradient.y + steepness)
    let (own, whole) = (gradient.x * gradient.x + gradient.y * gradient.y, x * x + y * y)
    return own < whole ? own / whole : 1
  }

  /// The same for a board that is level by word.
  func levelVariance(tilt: Double) -> Double { tilt * tilt * steepness * steepness }
}
