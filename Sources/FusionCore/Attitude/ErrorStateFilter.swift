// The attitude filter proper: gyro integration sample by sample, an error-state Kalman filter over
// blocks.

import LinearAlgebra

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Attitude with gyro bias and scale, velocity, the earth's field, the magnetometer's lag and what its
/// calibration has left as states.
///
/// Every gyro sample turns the attitude; the 23 x 23 covariance moves only once a block (0.1 s), from
/// sums taken over the block. What makes it robust against acceleration is that gravity is not measured
/// at all: specific force is integrated to a horizontal velocity, and that *velocity* stays near zero,
/// which steps and shakes fulfil and a wrong tilt does not. The design is that of the project's page on
/// fusion.
struct ErrorStateFilter: Sendable, Equatable, Codable {
  /// Whether there is an attitude; before the start everything else means nothing.
  private(set) var isRunning = false
  private(set) var strapdown = Strapdown()
  private var velocity = SIMD2<Double>.zero
  /// The earth's field: horizontal and up, microtesla.
  private(set) var field = SIMD2<Double>(20, -40)
  /// Seconds by which the magnetometer's samples are older than their times say.
  private(set) var lag = 0.0
  /// The magnets that have come since the calibration, body frame, microtesla.
  private var attached = Vector3.zero
  private var residual = ResidualIron()
  private var watch = MagnetWatch()
  private var covariance = ErrorCovariance()
  /// What others ask for at every sample.
  private(set) var summary = Summary()
  /// Whether the earth frame's y axis is magnetic north, or still arbitrary.
  var hasNorth = false
  /// Whether the field has been measured since the start: until then the covariance knows nothing of
  /// heading, which is as good as the means that it started from.
  private(set) var hasTakenField = false
  /// Mean square of what the field's strength deviates by beyond the sensor's noise, uT^2.
  private var fieldScatter = 0.0
  /// Mean square of horizontal velocity, (m/s)^2.
  private var velocityScatter = 0.0
  /// What the newest block turned the attitude by about the vertical, radians counterclockwise.
  private(set) var headingCorrection = 0.0
  /// Running mean of the magnetometer's normalised innovation.
  private var surprise = 0.0
  private var block = MotionBlock()
  /// Specific force of the newest block that had one, for accelerometers slower than a block.
  private var lastForce: Vector3?
  private var forceAge = 0.0
  /// Low-passed specific force, and the velocity that it would have given of late; earth frame.
  private var meanForce: Vector3?
  private var flight = Vector3.zero
  /// Seconds for which the attitude is not trusted: it began in motion.
  private var youth = 0.0
  /// Seconds since north was found.
  private var northAge = 0.0
  /// What was known of iron when `takeIronMove` was last true.
  private var toldIron = Vector3.zero
  private var aiding: Aiding?
  /// What the assumption of standstill has turned the attitude by of late, radians about the earth's
  /// horizontal axes. Corrections that agree with each other for seconds are an acceleration taken for
  /// tilt as likely as a tilt mended.
  private var pull = SIMD2<Double>.zero

  /// What followed from the newest block. Small, because a copy of the whole filter is not.
  struct Summary: Sendable, Equatable, Codable {
    /// Covariance of the attitude, rad^2, earth frame.
    var attitude = Matrix3(diagonal: .zero)
    /// The largest variance of the gyro's bias, (rad/s)^2.
    var biasVariance = 0.0
    /// One sigma of the tilt that unaided motion may have left and the covariance does not know of, radians.
    var tiltDoubt = 0.0
    /// What is known to be wrong of the calibrated field, body frame, microtesla.
    var iron = Vector3.zero
    /// What the turns so far do not show of an offset: the share of its variance along `e` is `e' H e`.
    var hiddenIron = Matrix3.identity
  }

  /// Whether what is known of iron has moved by as much as matters to who judges the field, since the
  /// last time that this was true.
  mutating func takeIronMove() -> Bool {
    let iron = summary.iron
    guard (iron - toldIron).lengthSquared > 9 else { return false }
    toldIron = iron
    return true
  }

  /// A velocity that was measured by somebody else.
  private struct Aiding: Sendable, Hashable, Codable {
    var velocity: SIMD2<Double>
    var variance: Double
    /// Seconds since it was true.
    var age: Double
    var isNew = true
  }

  /// Starts from means over the first fraction of a second; stays stopped while up is unknown.
  mutating func start(
    _ start: StartAverage, bias: Vector3, biasDeviation: Double, _ c: AttitudeEstimator.Coefficients
  ) {
    let north = start.attitude
    guard let attitude = north ?? start.tilt else { return }
    self = ErrorStateFilter()
    isRunning = true
    strapdown.attitude = attitude
    strapdown.bias = bias
    hasNorth = north != nil
    let tilt = start.tiltDeviation(gravity: c.gravity)
    youth = tilt > c.movingStartTilt ? c.youth : 0
    covariance.decouple(0, variance: tilt * tilt)
    covariance.decouple(1, variance: tilt * tilt)
    covariance.decouple(2, variance: 1)
    for axis in 0..<3 {
      covariance.decouple(ErrorVector.bias + axis, variance: biasDeviation * biasDeviation)
      covariance.decouple(ErrorVector.iron + axis, variance: c.ironVariance)
    }
    covariance.decouple(6, variance: c.startVelocity)
    covariance.decouple(7, variance: c.startVelocity)
    covariance.decouple(ErrorVector.lag, variance: c.lagVariance)
    for entry in 0..<9 {
      let variance = entry % 4 == 0 ? c.gyroScaleVariance : c.gyroMisalignmentVariance
      covariance.decouple(ErrorVector.gyroMatrix + entry, variance: variance)
    }
    if hasNorth {
      let mean = attitude.rotate(start.frame.conjugate.rotate(start.field / start.fieldCount))
      setField(mean, c)
    }
    summarise()
  }

  /// Forgets everything.
  mutating func stop() { self = ErrorStateFilter() }

  private mutating func setField(_ mean: Vector3, _ c: AttitudeEstimator.Coefficients) {
    field = SIMD2(hypot(mean.x, mean.y), mean.z)
    covariance.decouple(ErrorVector.field, variance: c.fieldVariance)
    covariance.decouple(ErrorVector.field + 1, variance: c.fieldVariance)
    // Where the attitude is doubtful, so is what is known of the field.
    fieldScatter = youth > 0 ? c.fieldCeiling / c.scatterWeight : 0
    surprise = 0
  }

  /// Turns the attitude by one interval.
  mutating func rotate(_ rate: Vector3, previous: Vector3, _ dt: Double) {
    let turn = strapdown.rotate(rate, previous: previous, dt)
    block.add(rotation: strapdown.attitude.matrix, turn: turn, change: rate - previous, dt)
  }

  /// Takes one specific force; gives it in the earth frame.
  mutating func add(force: Vector3, offset: Double) -> Vector3 {
    let earth = strapdown.attitude(after: offset).rotate(force)
    block.add(force: earth)
    return earth
  }

  /// Takes one field sample; gives it in the earth frame, freed of its lag and of known iron.
  mutating func add(field measured: Vector3, offset: Double) -> Vector3 {
    let rotation = strapdown.attitude(after: offset).matrix
    let earth = block.add(field: measured, rotation: rotation, lag: lag, rate: strapdown.rate)
    return earth - rotation * summary.iron
  }

  /// Takes the horizontal velocity, earth frame, as it was `age` seconds before the newest gyro sample.
  mutating func add(velocity: SIMD2<Double>, variance: Double, age: Double) {
    aiding = Aiding(velocity: velocity, variance: variance, age: age)
  }

  /// Whether the block is long enough to be closed.
  func isBlockFull(_ c: AttitudeEstimator.Coefficients) -> Bool {
    block.duration >= c.blockDuration
  }

  /// What is known besides when a block is closed.
  struct Circumstances {
    /// The low-passed gyro, while the board lies still.
    var restingRate: Vector3?
    /// Whether it has done so for long enough to be sure of it.
    var isResting: Bool
    /// Whether neither rate nor force changes.
    var isCalm: Bool
    /// Whether it is not accelerated either.
    var isSteady: Bool
    /// Whether the field is known not to be the earth's.
    var isDisturbed: Bool
  }

  /// Predicts over the block and takes its measurements.
  mutating func closeBlock(_ now: Circumstances, _ c: AttitudeEstimator.Coefficients) {
    let duration = block.duration
    if let force = block.meanForce {
      lastForce = force
      forceAge = 0
    } else {
      forceAge += duration
      if forceAge > 0.5 { lastForce = nil }
    }
    let isAstray = watchVertical(now, duration, c)
    let force = lastForce
    predict(force, duration, c)
    var x = ErrorVector.zero
    if let force {
      takeVelocity(&x, force, duration, c)
      if now.isSteady { takeGravity(force, &x, duration, c) }
      fadeDoubt(isSteady: now.isSteady, duration, c)
    }
    if let rate = now.restingRate {
      let variance = (now.isResting ? c.restVariance : c.quietVariance) / duration
      for axis in 0..<3 {
        covariance.update(
          &x, h: .unit(ErrorVector.bias + axis), value: rate[axis] - strapdown.bias[axis],
          variance: variance)
      }
    }
    if let field = block.field {
      if hasNorth {
        takeField(field, &x, now, duration, c)
      } else {
        alignNorth(field.earth - field.rotation * summary.iron, c)
      }
    }
    apply(x)
    if isAstray { level(c) }
    summarise()
    block = MotionBlock()
  }

  /// Nothing on earth is accelerated one way for long: a force that would have made it fast belongs to a
  /// wrong attitude. Upside down the filter is at peace with itself and would stay; and one that began amid
  /// accelerations of several g may have begun far off.
  private mutating func watchVertical(
    _ now: Circumstances, _ duration: Double, _ c: AttitudeEstimator.Coefficients
  ) -> Bool {
    youth = max(0, youth - duration)
    guard let force = lastForce else { return false }
    let up = Vector3(0, 0, c.gravity)
    let old = meanForce ?? force
    meanForce = old + (force - old) * (duration / (c.meanForceTime + duration))
    flight = (flight + (force - up) * duration) * (c.flightTime / (c.flightTime + duration))
    let limit = youth > 0 || now.isCalm ? c.youngFlightLimit : c.flightLimit
    return flight.lengthSquared > limit * limit
  }

  /// Turns the attitude by the shortest way so that the mean force is up, and lets all that followed from
  /// the wrong one be found anew.
  private mutating func level(_ c: AttitudeEstimator.Coefficients) {
    guard let mean = meanForce, let turn = DirectAttitude.attitude(up: mean) else { return }
    strapdown.attitude = (turn * strapdown.attitude).normalized
    meanForce = turn.rotate(mean)
    flight = .zero
    velocity = .zero
    velocityScatter = 0
    pull = .zero
    let angle = turn.rotationVector.length * c.levelledShare
    for axis in 0..<2 {
      covariance.decouple(ErrorVector.attitude + axis, variance: angle * angle)
      covariance.decouple(ErrorVector.velocity + axis, variance: c.startVelocity)
    }
    residual.restart()
    if hasNorth, let field = block.field {
      alignNorth(turn.rotate(field.earth - field.rotation * summary.iron), c)
    } else {
      hasNorth = false
    }
  }

  private mutating func predict(
    _ force: Vector3?, _ duration: Double, _ c: AttitudeEstimator.Coefficients
  ) {
    if let force { velocity += SIMD2(force.x, force.y) * duration }
    let turning = block.turned * block.turned / duration
    let attitudeNoise = c.attitudeNoise * duration + c.turningNoise * turning + block.coarse
    var noise = ErrorVector.zero
    noise[0] = attitudeNoise
    noise[1] = attitudeNoise
    noise[2] = attitudeNoise + c.headingNoise * duration
    for axis in 3..<6 where covariance[axis, axis] < c.biasVariance {
      noise[axis] = c.biasNoise * duration
    }
    noise[6] = c.velocityNoise * duration
    noise[7] = c.velocityNoise * duration
    for axis in ErrorVector.field..<ErrorVector.field + 2
    where covariance[axis, axis] < c.fieldLimit {
      noise[axis] = c.fieldNoise * duration
    }
    for axis in ErrorVector.iron..<ErrorVector.iron + 3
    where covariance[axis, axis] < c.ironVariance {
      noise[axis] = c.ironNoise * duration
    }
    covariance.propagate(transition(verticalForce: (force?.z ?? 0) * duration))
    covariance.add(noise)
  }

  /// What the errors become over the block: `phi -= A b + W g`, with `A` the sum of R dt and `W` that of
  /// `R (x) w dt`, and `v_x += f phi_y`, `v_y -= f phi_x` with phi the mean of before and after.
  private func transition(verticalForce force: Double) -> ErrorCovariance.Transition {
    let a = block.rotation.transposed.columns
    let x = block.turningX.transposed.columns
    let y = block.turningY.transposed.columns
    let z = block.turningZ.transposed.columns
    func row(_ axis: Int, _ a: Vector3, _ x: Vector3, _ y: Vector3, _ z: Vector3) -> ErrorVector {
      ErrorVector(
        motion: SIMD8(
          axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0, -a.x, -a.y, -a.z, 0, 0),
        magnetic: SIMD8(0, 0, 0, 0, 0, 0, -x.x, -y.x),
        scale: SIMD8(-z.x, -x.y, -y.y, -z.y, -x.z, -y.z, -z.z, 0))
    }
    let attitude = (
      row(0, a.x, x.x, y.x, z.x), row(1, a.y, x.y, y.y, z.y), row(2, a.z, x.z, y.z, z.z)
    )
    var velocity = (ErrorVector.unit(6), ErrorVector.unit(7))
    velocity.0.add(attitude.1, times: force / 2)
    velocity.0.motion[1] += force / 2
    velocity.1.add(attitude.0, times: -force / 2)
    velocity.1.motion[0] -= force / 2
    return ErrorCovariance.Transition(attitude: attitude, velocity: velocity)
  }

  private mutating func takeVelocity(
    _ x: inout ErrorVector, _ force: Vector3, _ duration: Double,
    _ c: AttitudeEstimator.Coefficients
  ) {
    let square = (velocity * velocity).sum() / 2
    velocityScatter += (square - velocityScatter) * (duration / (c.velocityScatterTime + duration))
    guard var aid = aiding else { return takeStandstill(&x, duration, c) }
    if aid.isNew {
      // What it has become since, by the force.
      let acceleration = SIMD2(force.x, force.y)
      let slip = c.aidingSlip * c.aidingSlip * (acceleration * acceleration).sum()
      measure(&x, velocity: aid.velocity + acceleration * aid.age, variance: aid.variance + slip)
      aid.isNew = false
    } else if aid.age > c.aidingPause {
      // A carrier that was moving when the receiver lost it goes on moving, ever less surely like that.
      let deviation = c.aidingDeviation + c.aidingGrowth * aid.age
      measure(&x, velocity: aid.velocity, variance: deviation * deviation / duration)
    }
    aid.age += duration
    aiding = aid.age < c.aidingMemory ? aid : nil
  }

  /// Nothing says how fast it goes: on the whole not at all. Somebody who walks keeps his velocity for
  /// seconds, so that each block says little about tilt; the weight falls with the velocity itself, as in
  /// a fit that is robust against outliers.
  private mutating func takeStandstill(
    _ x: inout ErrorVector, _ duration: Double, _ c: AttitudeEstimator.Coefficients
  ) {
    let before = SIMD2(x[0], x[1])
    let variance = c.velocityVariance + c.velocityWeight * velocityScatter
    measure(&x, velocity: .zero, variance: variance / duration)
    pull += SIMD2(x[0], x[1]) - before
  }

  private mutating func measure(
    _ x: inout ErrorVector, velocity measured: SIMD2<Double>, variance: Double
  ) {
    for axis in 0..<2 {
      covariance.update(
        &x, h: .unit(ErrorVector.velocity + axis), value: measured[axis] - velocity[axis],
        variance: variance)
    }
  }

  /// What standstill has turned the attitude by fades as gravity gets the last word again.
  private mutating func fadeDoubt(
    isSteady: Bool, _ duration: Double, _ c: AttitudeEstimator.Coefficients
  ) {
    let isAided = aiding.map { $0.age < c.aidingPause } ?? false
    let time = isAided || isSteady ? c.doubtFading : c.doubtMemory
    pull *= time / (time + duration)
  }

  /// Standing or rolling steadily, the force is gravity: its horizontal part is the tilt's error. That
  /// says nothing of velocity, which a smooth ride has as well.
  private mutating func takeGravity(
    _ force: Vector3, _ x: inout ErrorVector, _ duration: Double,
    _ c: AttitudeEstimator.Coefficients
  ) {
    let variance = c.steadyVariance / duration
    var h = ErrorVector.zero
    h[ErrorVector.attitude + 1] = force.z
    covariance.update(&x, h: h, value: -force.x, variance: variance)
    h = ErrorVector.zero
    h[ErrorVector.attitude] = -force.z
    covariance.update(&x, h: h, value: -force.y, variance: variance)
  }

  private mutating func takeField(
    _ mean: MotionBlock.Field, _ x: inout ErrorVector, _ now: Circumstances, _ duration: Double,
    _ c: AttitudeEstimator.Coefficients
  ) {
    hasTakenField = true
    northAge += duration
    let (rotation, lagSlope) = (mean.rotation, mean.lagSlope)
    let u = mean.earth - rotation * summary.iron
    let z = u - Vector3(0, field.x, field.y)
    let strength = (field * field).sum().squareRoot()
    let scale = strength / 45

    let move = residual.update(
      rotation: rotation, body: mean.body, earth: mean.earth, square: mean.square,
      turned: block.turned, known: attached)
    if let move { loosenField(bySquare: move) }

    // An error of strength cannot come from the attitude: beyond the sensor's noise it measures how much
    // the field of this place is worth. It lasts for seconds, so each block counts for many.
    let strengthError = u.length - strength
    let scatter = strengthError * strengthError - mean.noise
    fieldScatter += (scatter - fieldScatter) * (duration / (c.scatterTime + duration))
    let ceiling = c.fieldCeiling * scale * scale / duration
    var variance = min(
      (c.magneticVariance + c.scatterWeight * max(0, fieldScatter)) / duration, ceiling)

    if let size = watch.update(
      error: z, rotation: rotation, isResting: now.isResting, scale: scale, duration)
    {
      for axis in 0..<3 { covariance.add(size, to: ErrorVector.iron + axis) }
      if northAge < c.northProof {
        covariance.add(1, to: 2)
        covariance.add(size, to: ErrorVector.field)
        covariance.add(size, to: ErrorVector.field + 1)
      }
      residual.restart()
      surprise = 0
    } else {
      variance *= doubt(z, field: u, rotation, lagSlope, variance: variance, duration, c)
      if now.isDisturbed { variance *= c.disturbedWeight }
    }
    let (hx, hy, hz) = Self.sensitivity(to: u, rotation, lagSlope)
    covariance.update(&x, h: hx, value: z.x, variance: variance)
    covariance.update(&x, h: hy, value: z.y, variance: variance)
    covariance.update(&x, h: hz, value: z.z, variance: variance)
  }

  /// How many times more uncertain the field is than was thought: nothing is rejected wholly, so that a
  /// wrong heading cannot lock itself in.
  private mutating func doubt(
    _ z: Vector3, field u: Vector3, _ rotation: Matrix3, _ lagSlope: Vector3, variance: Double,
    _ duration: Double, _ c: AttitudeEstimator.Coefficients
  ) -> Double {
    let (hx, hy, hz) = Self.sensitivity(to: u, rotation, lagSlope)
    let (px, py, pz) = (covariance.times(hx), covariance.times(hy), covariance.times(hz))
    let floor = variance / 4
    let (xy, xz, yz) = (hx.dot(py), hx.dot(pz), hy.dot(pz))
    let spread = Matrix3(
      columns: Vector3(hx.dot(px) + floor, xy, xz), Vector3(xy, hy.dot(py) + floor, yz),
      Vector3(xz, yz, hz.dot(pz) + floor))
    guard let inverse = spread.inverse else { return 1 }
    let now = max(0, z.dot(inverse * z) / 3)
    surprise += (now - surprise) * (duration / (c.surpriseTime + duration))
    return max(1, max(now, surprise) / 1.5)
  }

  /// How the field in the earth frame, less what is expected, follows from the errors:
  /// `z = dB + R dc + lag slope dlag - phi x u`.
  private static func sensitivity(
    to u: Vector3, _ rotation: Matrix3, _ lagSlope: Vector3
  ) -> (ErrorVector, ErrorVector, ErrorVector) {
    let r = rotation.columns
    return (
      ErrorVector(
        motion: SIMD8(0, -u.z, u.y, 0, 0, 0, 0, 0),
        magnetic: SIMD8(0, 0, r.x.x, r.y.x, r.z.x, lagSlope.x, 0, 0)),
      ErrorVector(
        motion: SIMD8(u.z, 0, -u.x, 0, 0, 0, 0, 0),
        magnetic: SIMD8(1, 0, r.x.y, r.y.y, r.z.y, lagSlope.y, 0, 0)),
      ErrorVector(
        motion: SIMD8(-u.y, u.x, 0, 0, 0, 0, 0, 0),
        magnetic: SIMD8(0, 1, r.x.z, r.y.z, r.z.z, lagSlope.z, 0, 0))
    )
  }

  /// Turns the earth frame so that the field's horizontal part lies along y.
  private mutating func alignNorth(_ u: Vector3, _ c: AttitudeEstimator.Coefficients) {
    guard hypot(u.x, u.y) > 0.02 * u.length else { return }
    turnEarth(by: atan2(u.x, u.y))
    covariance.decouple(2, variance: 0.25)
    setField(u, c)
    hasNorth = true
    northAge = 0
    hasTakenField = true
  }

  /// Turns the earth frame's axes against the world, radians counterclockwise.
  private mutating func turnEarth(by angle: Double) {
    let turn = Quaternion(rotationVector: Vector3(0, 0, angle))
    strapdown.attitude = turn * strapdown.attitude
    let v = turn.rotate(Vector3(velocity.x, velocity.y, 0))
    velocity = SIMD2(v.x, v.y)
    residual.turnEarth(turn)
    covariance.turnEarth(sine: sin(angle), cosine: cos(angle))
  }

  private mutating func apply(_ x: ErrorVector) {
    headingCorrection = x[2]
    let turn = Quaternion(rotationVector: x[vector: ErrorVector.attitude])
    strapdown.attitude = (turn * strapdown.attitude).normalized
    strapdown.bias += x[vector: ErrorVector.bias]
    velocity += SIMD2(x[6], x[7])
    field += SIMD2(x[ErrorVector.field], x[ErrorVector.field + 1])
    field.x = max(field.x, 0.1)
    attached += x[vector: ErrorVector.iron]
    lag = max(-0.03, min(0.03, lag + x[ErrorVector.lag]))
    let g = ErrorVector.gyroMatrix
    strapdown.gyroMatrix =
      strapdown.gyroMatrix
      + Matrix3(rows: x[vector: g], x[vector: g + 3], x[vector: g + 6])
  }

  private mutating func summarise() {
    let b = ErrorVector.bias
    summary = Summary(
      attitude: covariance.block(ErrorVector.attitude),
      biasVariance: max(covariance[b, b], max(covariance[b + 1, b + 1], covariance[b + 2, b + 2])),
      tiltDoubt: (pull * pull).sum().squareRoot(), iron: attached + residual.found,
      hiddenIron: residual.hidden)
  }

  /// Lets field and heading move by what another calibration changes, microtesla squared.
  private mutating func loosenField(bySquare square: Double) {
    covariance.add(min(square / max(field.x * field.x, 1), 1), to: 2)
    covariance.add(square, to: ErrorVector.field)
    covariance.add(square, to: ErrorVector.field + 1)
  }

  /// Lets field and heading move by what another calibration changes, microtesla.
  mutating func loosenField(by shift: Vector3) {
    let square = shift.lengthSquared
    loosenField(bySquare: square)
    // The wrong field has pulled at the tilt as well.
    let tilt = min(square / max((field * field).sum(), 1), 1)
    covariance.add(tilt, to: 0)
    covariance.add(tilt, to: 1)
    residual.restart()
    fieldScatter = 0
    surprise = 0
    summarise()
  }

  /// Lets field and heading find their place again after the magnetometer's calibration has
  /// changed.
  mutating func loosenField(_ c: AttitudeEstimator.Coefficients) {
    covariance.decouple(ErrorVector.field, variance: c.fieldVariance)
    covariance.decouple(ErrorVector.field + 1, variance: c.fieldVariance)
    covariance.add(0.0076, to: 2)  // (5 deg)^2
    residual.restart()
    fieldScatter = 0
    surprise = 0
    summarise()
  }

  /// Whether all numbers are still numbers.
  var isSound: Bool {
    let g = strapdown.gyroMatrix.columns
    return strapdown.attitude.w.isFinite && strapdown.attitude.vector.isFinite
      && strapdown.bias.isFinite && g.x.isFinite && g.y.isFinite && g.z.isFinite
      && velocity.x.isFinite && velocity.y.isFinite && field.x.isFinite && field.y.isFinite
      && summary.iron.isFinite && covariance.isSound
  }
}
