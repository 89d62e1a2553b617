// What an angular rate does to the attitude, how the filter starts, and how attitude restarts.

import LinearAlgebra
import SensorTypes

extension EstimatorStorage {
  func update(angularRate rate: Vector3, clipped: ClippedAxes, at time: Timestamp) {
    let c = coefficients
    guard clipped.isEmpty || state.filter.isRunning else { return }
    let dt: Double
    switch admit(rate, limit: c.limits.angularRate, at: time, after: state.rateTime) {
    case .rejected: return
    case .first: dt = 0
    case .after(let seconds): dt = seconds
    }
    state.rateTime = time
    defer { state.rate = rate }
    guard dt > 0 else {
      restart()
      history?.add(starting: state.start.frame, at: time)
      return
    }
    let isRunning = state.filter.isRunning
    let deviation = isRunning ? state.filter.summary.biasDeviation : c.biasDeviation
    // A gyro that may say anything at rest may say it in a steady turn: gravity and field have to tell first.
    let known = c.gyroBias
    state.rest.update(
      rate: rate, dt, bias: gyroBias,
      limit: known.stationaryFloor + known.stationarySigmas * min(deviation, known.widestDeviation),
      c)
    if isRunning {
      rotateFilter(rate, clipped, dt, time, c)
    } else {
      state.mode = .starting
      let mean = 0.5 * (rate + state.rate) - state.bias
      state.start.frame =
        (state.start.frame * Quaternion(rotationVector: mean * dt)).normalized
      state.start.duration += dt
      // A field that waits for an accelerometer would be smeared by the gyro's bias.
      if state.start.forceCount == 0,
        state.start.duration > c.movingStartDuration
      {
        state.start = StartAverage()
      }
      history?.add(starting: state.start.frame, at: time)
      if state.start.duration >= startDuration { beginFilter() }
    }
  }

  private func rotateFilter(
    _ rate: Vector3, _ clipped: ClippedAxes, _ dt: Double, _ time: Timestamp, _ c: AttitudeConstants
  ) {
    state.mode = .inertial
    state.filter.rotate(rate, previous: state.rate, clipped: clipped, dt, c)
    state.transition.decay(dt, c.transition)
    if history != nil {
      history?.add(state.filter.strapdown.attitude, at: time)
      if !state.filter.isTaped { history?.begin(&state.filter) }
    }
    guard state.filter.isBlockFull(c) else { return }
    let isStationary = state.rest.isStationary(c)
    let now = ErrorStateFilter.Circumstances(
      stationaryRate: state.rest.isCandidate(c) ? state.rest.rate : nil,
      isStationary: isStationary,
      hasConstantRate: state.rest.hasConstantRate(c),
      isUnaccelerated: state.rest.isUnaccelerated(c),
      isFindingBias: state.isFindingBias,
      isDisturbed: state.monitor.isPlain
        || state.monitor.disturbance.map { $0 != .azimuth || isStationary } ?? false,
      isTurned: isStationary && !state.monitor.isPlain && state.monitor.disturbance == .azimuth,
      isBesideMagnet: state.monitor.isPlain
        && state.northTrustedTime >= c.north.trustDuration,
      isCalibrated: state.quality.isCalibrated, expected: calibratedExpectation)
    if state.filter.course != nil {
      (state.courseTime, state.hasMeasuredHeading) = (time, false)
      history?.noteCourse()
    }
    let hasHeading = state.filter.measuredHeading != nil
    state.filter.closeBlock(now, c)
    if hasHeading, state.filter.headingContradiction == 0 {
      (state.courseTime, state.hasMeasuredHeading) = (time, true)
      history?.noteCourse()
    }
    history?.close(&state.filter)
    guard state.filter.isSound else {
      // Numbers that no longer are: nothing of them may survive.
      state.filter.stop()
      state.bias = .zero
      state.biasDeviation = nil
      return restart()
    }
    if state.isFindingBias, now.hasConstantRate,
      state.filter.summary.biasVariance < c.gyroBias.foundVariance
    {
      state.isFindingBias = false
      return restart()
    }
    state.transition.absorb(correction: state.filter.takeHeadingCorrection())
    if state.filter.takeIronMove(c.magnet) {
      state.monitor.magnetWasFound(c)
      state.gathering = FieldGathering()
    }
  }

  /// What a calibrated magnetometer should measure; without a record its strength means nothing.
  private var calibratedExpectation: ReferenceField? {
    state.quality.isCalibrated ? state.monitor.expected : nil
  }

  private var startDuration: Double {
    let tilt = state.start.tiltDeviation(coefficients)
    return tilt > coefficients.alignment.movingTilt
      ? coefficients.movingStartDuration : coefficients.startDuration
  }

  /// One sigma of the bias that attitude starts with, rad/s.
  var startBiasDeviation: Double {
    state.biasDeviation ?? coefficients.biasDeviation
  }

  private func beginFilter() {
    let c = coefficients
    state.filter.start(
      state.start, bias: state.bias, biasDeviation: startBiasDeviation,
      expected: calibratedExpectation, c)
    guard state.filter.isRunning else { return }
    state.isFindingBias = startBiasDeviation > c.gyroBias.widestDeviation
    history?.begin(&state.filter)
    state.counters.starts &+= 1
    state.mode = .inertial
    state.northTrustedTime = 0
  }

  /// Restarts attitude; the gyro bias is kept with a larger deviation.
  func restart() {
    let c = coefficients
    history?.finish()
    if state.filter.isRunning {
      state.bias = state.filter.strapdown.bias
      let loose = (state.filter.summary.biasVariance + c.biasLoosening)
        .squareRoot()
      state.biasDeviation = min(loose, c.biasDeviation)
      state.filter.stop()
    }
    state.start = StartAverage()
    state.transition = HeadingTransition()
    state.courseTime = nil
    state.rest.reset()
    state.verticalAcceleration = nil
    state.mode = .starting
  }

  enum Admission {
    case rejected
    case first
    case after(seconds: Double)
  }

  func admit(
    _ value: Vector3, limit: Double, at time: Timestamp, after last: Timestamp?
  ) -> Admission {
    let c = coefficients
    guard value.isFinite, max(abs(value.x), max(abs(value.y), abs(value.z))) <= limit else {
      state.counters.rejected &+= 1
      return .rejected
    }
    guard let last else { return .first }
    let dt = time.seconds(since: last)
    if dt <= 0 && dt > -c.limits.longestGap {
      state.counters.outOfOrder &+= 1
      return .rejected
    }
    guard dt > 0, dt <= c.limits.longestGap else {
      state.counters.gaps &+= 1
      return .first
    }
    return .after(seconds: dt)
  }
}
