// What the estimator takes besides rates: specific force, velocity, and what is known from elsewhere.

import LinearAlgebra
import SensorTypes

extension EstimatorStorage {
  func expectGyroBias(_ bias: Vector3, deviation: Double) {
    let c = coefficients
    guard bias.isFinite, bias.length <= c.limits.gyroBias, deviation > 0,
      deviation.isFinite,
      !state.filter.isRunning
    else { return }
    state.bias = bias
    state.biasDeviation = min(deviation, c.biasDeviation)
  }

  func bodyDidTurn(by turn: Quaternion) {
    if state.mode == .inertial || state.mode == .starting { restart() }
    state.bias = turn.rotate(state.bias)
    state.rate = turn.rotate(state.rate)
    state.field = turn.rotate(state.field)
    (state.direct, state.step) = (DirectTracker(), FieldStep())
    state.transition = HeadingTransition()
    restartFieldTests()
  }

  func update(acceleration force: Vector3, clipped: ClippedAxes, at time: Timestamp) {
    let c = coefficients
    // Without the filter nothing knows how unsure such a force is.
    guard clipped.isEmpty || state.filter.isRunning && gyroOffset(at: time) != nil else { return }
    let dt: Double
    switch admit(force, limit: c.limits.force, at: time, after: state.forceTime) {
    case .rejected: return
    case .first: dt = 0
    case .after(let seconds): dt = seconds
    }
    state.forceTime = time
    if let offset = gyroOffset(at: time) {
      state.rest.update(force: force, dt, c)
      if state.filter.isRunning {
        let earth = state.filter.add(force: force, clipped: clipped, offset: offset, c)
        state.verticalAcceleration = earth.z - c.gravity
      } else {
        state.start.add(force: force)
      }
    } else {
      leaveInertial()
      state.direct.update(force: force, dt, c)
      state.mode = .direct
    }
  }

  func update(velocity: SIMD2<Double>, deviation: Double, at time: Timestamp) {
    let limits = coefficients.limits
    guard abs(velocity.x) <= limits.velocity, abs(velocity.y) <= limits.velocity,
      deviation > 0, deviation <= limits.velocity
    else {
      state.counters.rejected &+= 1
      return
    }
    if let newest = state.velocityTime {
      let later = time.seconds(since: newest)
      guard later > 0 || later <= -limits.longestGap else {
        state.counters.outOfOrder &+= 1
        return
      }
    }
    state.velocityTime = time
    guard let last = state.rateTime, state.filter.isRunning else { return }
    let age = last.seconds(since: time)
    guard abs(age) < limits.longestGap else { return }
    takeCourse(velocity, deviation, age: age)
    guard state.filter.hasNorth || state.filter.course != nil else { return }
    state.filter.add(velocity: velocity, variance: deviation * deviation, age: max(0, age))
  }

  private func takeCourse(_ velocity: SIMD2<Double>, _ deviation: Double, age: Double) {
    let speed = (velocity * velocity).sum().squareRoot()
    let course = coefficients.course
    guard state.followsCourse, speed >= course.leastSpeed,
      speed > course.speedSigmas * deviation,
      state.mode == .inertial, !isHeadingMeasured
    else { return }
    let share = deviation / speed
    // What it has turned since the receiver saw it.
    let turned = state.filter.turnRate * max(0, age)
    let lag = turned * turned * course.turnShare
    state.filter.add(
      course: atan2(velocity.x, velocity.y) + turned,
      variance: course.variance + share * share + lag)
  }

  /// Whether measured headings say better which way the carrier points than its course does.
  private var isHeadingMeasured: Bool {
    guard state.hasMeasuredHeading, let time = state.courseTime, let now = state.rateTime else {
      return false
    }
    return now.seconds(since: time) < coefficients.measuredHeading.precedence
  }

  func update(heading: Double, deviation: Double, at time: Timestamp) {
    let limits = coefficients.limits
    guard heading.isFinite, deviation > 0, deviation < .pi else {
      state.counters.rejected &+= 1
      return
    }
    if let newest = state.measuredHeadingTime {
      let later = time.seconds(since: newest)
      guard later > 0 || later <= -limits.longestGap else {
        state.counters.outOfOrder &+= 1
        return
      }
    }
    state.measuredHeadingTime = time
    guard let last = state.rateTime, state.filter.isRunning, state.mode == .inertial else { return }
    let age = last.seconds(since: time)
    guard abs(age) < limits.longestGap else { return }
    let turned = state.filter.turnRate * max(0, age)
    state.filter.add(
      measuredHeading: heading + turned,
      variance: coefficients.measuredHeading.variance + deviation * deviation,
      turnVariance: turned * turned * coefficients.course.turnShare)
  }

  /// Seconds from the newest gyro sample, or `nil` while there is no gyro.
  func gyroOffset(at time: Timestamp) -> Double? {
    guard let last = state.rateTime else { return nil }
    let offset = time.seconds(since: last)
    return abs(offset) < coefficients.limits.gyroTimeout ? offset : nil
  }

  func mode(at time: Timestamp) -> AttitudeSource {
    if let force = state.forceTime,
      abs(time.seconds(since: force)) < coefficients.limits.lossTimeout
    {
      return .direct
    }
    return params.level ? .level : .direct
  }

  func leaveInertial() {
    guard state.mode == .inertial || state.mode == .starting else { return }
    restart()
    (state.direct, state.step) = (DirectTracker(), FieldStep())
  }
}
