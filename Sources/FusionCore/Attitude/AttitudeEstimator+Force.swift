// What the estimator takes besides rates: specific force, velocity, and what is known from elsewhere.

public import LinearAlgebra
public import SensorTypes

extension AttitudeEstimator {
  /// Takes a gyro bias that was measured before this run, body frame: attitude starts with it.
  ///
  /// A filter that runs has learned the bias of this run and keeps that.
  /// - Parameters:
  ///   - bias: rad/s, at most 1 long.
  ///   - deviation: One sigma of each axis, rad/s, above zero: with what it may have wandered since.
  public mutating func expectGyroBias(_ bias: Vector3, deviation: Double) {
    detach()
    let c = storage.coefficients
    guard bias.isFinite, bias.length <= c.limits.gyroBias, deviation > 0,
      deviation.isFinite,
      !storage.state.filter.isRunning
    else { return }
    storage.state.bias = bias
    storage.state.biasDeviation = min(deviation, c.biasDeviation)
  }

  /// Says that samples come in another body frame from now on: attitude starts anew, the bias is kept.
  /// - Parameter turn: From the frame before to the new one, a unit quaternion.
  public mutating func bodyDidTurn(by turn: Quaternion) {
    detach()
    if storage.state.mode == .inertial || storage.state.mode == .starting { restart() }
    storage.state.bias = turn.rotate(storage.state.bias)
    storage.state.rate = turn.rotate(storage.state.rate)
    storage.state.field = turn.rotate(storage.state.field)
    storage.state.direct = DirectTracker()
    storage.state.transition = HeadingTransition()
    storage.state.monitor.reset()
  }

  /// Takes one specific force, m/s^2, body frame: at rest it points up; at most 1000 on each axis.
  public mutating func update(acceleration force: Vector3, at time: Timestamp) {
    detach()
    let c = storage.coefficients
    let dt: Double
    switch admit(
      force, limit: c.limits.force, at: time, after: storage.state.forceTime)
    {
    case .rejected: return
    case .first: dt = 0
    case .after(let seconds): dt = seconds
    }
    storage.state.forceTime = time
    if let offset = gyroOffset(at: time) {
      storage.state.rest.update(force: force, dt, c)
      if storage.state.filter.isRunning {
        let earth = storage.state.filter.add(
          force: force, offset: offset, c)
        storage.state.verticalAcceleration = earth.z - c.gravity
      } else {
        storage.state.start.add(force: force)
      }
    } else {
      leaveInertial()
      storage.state.direct.update(force: force, dt, c)
      storage.state.mode = .direct
    }
  }

  /// Takes a velocity over ground that a receiver has measured: it keeps acceleration from passing for
  /// tilt, and is a vehicle's heading where it `followsCourse`. Used while a gyro runs; older ones than the newest
  /// are dropped and counted.
  ///
  /// - Parameters:
  ///   - velocity: East and north, m/s, north being *magnetic* north; at most 1000 m/s.
  ///   - deviation: One sigma of each, m/s.
  ///   - time: When it was true.
  public mutating func update(velocity: SIMD2<Double>, deviation: Double, at time: Timestamp) {
    detach()
    let limits = storage.coefficients.limits
    guard abs(velocity.x) <= limits.velocity, abs(velocity.y) <= limits.velocity,
      deviation.isFinite, deviation > 0
    else {
      storage.state.counters.rejected &+= 1
      return
    }
    if let newest = storage.state.velocityTime {
      let later = time.seconds(since: newest)
      guard later > 0 || later <= -limits.longestGap else {
        storage.state.counters.outOfOrder &+= 1
        return
      }
    }
    storage.state.velocityTime = time
    guard let last = storage.state.rateTime, storage.state.filter.isRunning else { return }
    let age = last.seconds(since: time)
    guard abs(age) < limits.longestGap else { return }
    takeCourse(velocity, deviation, age: age)
    guard storage.state.filter.hasNorth || storage.state.filter.course != nil else { return }
    storage.state.filter.add(velocity: velocity, variance: deviation * deviation, age: max(0, age))
  }

  private mutating func takeCourse(_ velocity: SIMD2<Double>, _ deviation: Double, age: Double) {
    let speed = (velocity * velocity).sum().squareRoot()
    let course = storage.coefficients.course
    guard storage.state.followsCourse, speed >= course.leastSpeed,
      speed > course.speedSigmas * deviation,
      storage.state.mode == .inertial
    else { return }
    let share = deviation / speed
    // What it has turned since the receiver saw it.
    let turned = storage.state.filter.turnRate * max(0, age)
    let lag = turned * turned * course.turnShare
    storage.state.filter.add(
      course: atan2(velocity.x, velocity.y) + turned,
      variance: course.variance + share * share + lag)
  }

  /// Seconds from the newest gyro sample, or `nil` while there is no gyro.
  func gyroOffset(at time: Timestamp) -> Double? {
    guard let last = storage.state.rateTime else { return nil }
    let offset = time.seconds(since: last)
    return abs(offset) < storage.coefficients.limits.gyroTimeout ? offset : nil
  }

  func mode(at time: Timestamp) -> AttitudeSource {
    if let force = storage.state.forceTime,
      abs(time.seconds(since: force)) < storage.coefficients.limits.lossTimeout
    {
      return .direct
    }
    return params.level ? .level : .direct
  }

  mutating func leaveInertial() {
    guard storage.state.mode == .inertial || storage.state.mode == .starting else { return }
    restart()
    storage.state.direct = DirectTracker()
  }
}
