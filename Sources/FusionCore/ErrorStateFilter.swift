// The attitude filter proper: gyro integration sample by sample, an error-state Kalman filter over
// blocks.

import LinearAlgebra

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Attitude with gyro bias, velocity, the earth's field and the magnetometer's lag as states.
///
/// Every gyro sample turns the attitude; the 11 x 11 covariance moves only once a block (0.1 s),
/// from sums taken over the block. What makes it robust against acceleration is that gravity is
/// not measured at all: specific force is integrated to a horizontal velocity, and that *velocity*
/// stays near zero, which steps and shakes fulfil and a wrong tilt does not. The design is that of
/// the project's page on fusion, without the states for magnetometer offset and gyro scale.
struct ErrorStateFilter: Sendable, Equatable, Codable {
  /// Sums over the block being filled.
  struct Block: Sendable, Hashable, Codable {
    var duration = 0.0
    /// Rows of the sum of R dt.
    var rotationX = Vector3.zero
    var rotationY = Vector3.zero
    var rotationZ = Vector3.zero
    /// Sum of |rate| dt, radians.
    var turned = 0.0
    /// What coarse integration may have missed, rad^2.
    var coarse = 0.0
    var force = Vector3.zero
    var forceCount = 0.0
    var field = Vector3.zero
    /// Sum of R (w x m).
    var fieldLag = Vector3.zero
    var fieldCount = 0.0
  }

  var attitude: Quaternion
  var bias: Vector3
  var velocity = SIMD2<Double>.zero
  /// The earth's field: horizontal and up, microtesla.
  var field = SIMD2<Double>(20, -40)
  /// Seconds by which the magnetometer's samples are older than their times say.
  var lag = 0.0
  var covariance = ErrorCovariance()
  /// Whether the earth frame's y axis is magnetic north, or still arbitrary.
  var hasNorth: Bool
  /// Whether the field has been measured since the start: until then the covariance knows nothing of
  /// heading, which is as good as the means that it started from.
  private(set) var hasTakenField = false
  /// Mean square of what strength and dip of the field deviate by, uT^2.
  var fieldScatter = 0.0
  /// Mean square of horizontal velocity, (m/s)^2.
  var velocityScatter = 0.0
  /// What the newest block turned the attitude by about the vertical, radians counterclockwise.
  private(set) var headingCorrection = 0.0
  /// Running mean of the magnetometer's normalised innovation.
  var surprise = 0.0
  private var block = Block()
  /// Specific force of the newest block that had one, for accelerometers slower than a block.
  private var lastForce: Vector3?
  private var forceAge = 0.0
  private var lastRate = Vector3.zero
  private var aiding: Aiding?
  /// What the assumption of standstill has turned the attitude by of late, radians about the earth's
  /// horizontal axes. Corrections that agree with each other for seconds are an acceleration taken for
  /// tilt as likely as a tilt mended.
  private var pull = SIMD2<Double>.zero

  /// One sigma of the tilt that unaided motion may have left and the covariance does not know of, radians.
  var tiltDoubt: Double { (pull * pull).sum().squareRoot() }

  /// A velocity that was measured by somebody else.
  private struct Aiding: Sendable, Hashable, Codable {
    var velocity: SIMD2<Double>
    var variance: Double
    /// Seconds since it was true.
    var age: Double
    var isNew = true
  }

  /// Starts from means over the first fraction of a second; `nil` while up is unknown.
  init?(
    _ start: StartAverage, bias: Vector3, biasDeviation: Double, _ c: AttitudeEstimator.Coefficients
  ) {
    let north = start.attitude
    guard let attitude = north ?? start.tilt else { return nil }
    self.attitude = attitude
    self.bias = bias
    hasNorth = north != nil
    let tilt = start.tiltDeviation(gravity: c.gravity)
    covariance.decouple(0, variance: tilt * tilt)
    covariance.decouple(1, variance: tilt * tilt)
    covariance.decouple(2, variance: 1)
    for axis in 0..<3 {
      covariance.decouple(ErrorIndex.bias + axis, variance: biasDeviation * biasDeviation)
    }
    covariance.decouple(6, variance: c.startVelocity)
    covariance.decouple(7, variance: c.startVelocity)
    covariance.decouple(ErrorIndex.lag, variance: c.lagVariance)
    if hasNorth {
      let mean = attitude.rotate(start.frame.conjugate.rotate(start.field / start.fieldCount))
      setField(mean, c)
    }
  }

  private mutating func setField(_ mean: Vector3, _ c: AttitudeEstimator.Coefficients) {
    field = SIMD2(hypot(mean.x, mean.y), mean.z)
    covariance.decouple(ErrorIndex.field, variance: c.fieldVariance)
    covariance.decouple(ErrorIndex.field + 1, variance: c.fieldVariance)
  }

  /// Turns the attitude by one interval.
  mutating func rotate(
    _ rate: Vector3, previous: Vector3, _ dt: Double, _ c: AttitudeEstimator.Coefficients
  ) {
    // The mean of the two ends: exact for a rate that changes evenly.
    let mean = 0.5 * (rate + previous) - bias
    attitude = attitude * Quaternion(rotationVector: mean * dt)
    lastRate = rate - bias
    let r = attitude.matrix.transposed.columns
    block.rotationX += r.x * dt
    block.rotationY += r.y * dt
    block.rotationZ += r.z * dt
    block.turned += mean.length * dt
    if dt > 0.05 { block.coarse += (rate - previous).lengthSquared * dt * dt / 16 }
    block.duration += dt
  }

  /// The attitude `offset` seconds from the newest gyro sample.
  func attitude(after offset: Double) -> Quaternion {
    guard abs(offset) > 1e-6 else { return attitude }
    return attitude * Quaternion(rotationVector: lastRate * max(-0.1, min(0.1, offset)))
  }

  /// Takes one specific force; gives it in the earth frame.
  mutating func add(force: Vector3, offset: Double) -> Vector3 {
    let earth = attitude(after: offset).rotate(force)
    block.force += earth
    block.forceCount += 1
    return earth
  }

  /// Takes one field sample; gives it in the earth frame, freed of its lag.
  mutating func add(field measured: Vector3, offset: Double) -> Vector3 {
    let attitude = attitude(after: offset)
    let turning = lastRate.cross(measured)
    let slope = attitude.rotate(turning)
    let earth = attitude.rotate(measured) - lag * slope
    block.field += earth
    block.fieldLag += slope
    block.fieldCount += 1
    return earth
  }

  /// Takes the horizontal velocity, earth frame, as it was `age` seconds before the newest gyro sample.
  mutating func add(velocity: SIMD2<Double>, variance: Double, age: Double) {
    aiding = Aiding(velocity: velocity, variance: variance, age: age)
  }

  /// Whether the block is long enough to be closed.
  func isBlockFull(_ c: AttitudeEstimator.Coefficients) -> Bool {
    block.duration >= c.blockDuration
  }

  /// Predicts over the block and takes its measurements.
  /// - Parameters:
  ///   - restingRate: The low-passed gyro, while the board lies still.
  ///   - isSure: Whether it has done so for long enough to be sure of it.
  ///   - isSteady: Whether it is not accelerated either.
  ///   - isDisturbed: Whether the field is known not to be the earth's.
  mutating func closeBlock(
    restingRate: Vector3?, isSure: Bool, isSteady: Bool, isDisturbed: Bool,
    _ c: AttitudeEstimator.Coefficients
  ) {
    let duration = block.duration
    if block.forceCount > 0 {
      lastForce = block.force / block.forceCount
      forceAge = 0
    } else {
      forceAge += duration
      if forceAge > 0.5 { lastForce = nil }
    }
    let force = lastForce
    predict(force, duration, c)
    var x = ErrorVector.zero
    if let force {
      takeVelocity(&x, force, duration, c)
      if isSteady { takeGravity(force, &x, duration, c) }
      fadeDoubt(isSteady: isSteady, duration, c)
    }
    if let restingRate {
      let variance = (isSure ? c.restVariance : c.quietVariance) / duration
      for axis in 0..<3 {
        var h = ErrorVector.zero
        h[ErrorIndex.bias + axis] = 1
        covariance.update(&x, h: h, value: restingRate[axis] - bias[axis], variance: variance)
      }
    }
    if block.fieldCount > 0 {
      if hasNorth {
        takeField(&x, isDisturbed: isDisturbed, duration, c)
      } else {
        alignNorth(block.field / block.fieldCount, c)
      }
    }
    apply(x)
    block = Block()
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
    for axis in 8..<10 where covariance[axis, axis] < c.fieldLimit {
      noise[axis] = c.fieldNoise * duration
    }
    covariance.propagate(
      rotation: (block.rotationX, block.rotationY, block.rotationZ),
      force: (force?.z ?? 0) * duration, noise: noise)
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
      var h = ErrorVector.zero
      h[ErrorIndex.velocity + axis] = 1
      covariance.update(&x, h: h, value: measured[axis] - velocity[axis], variance: variance)
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
    h[ErrorIndex.attitude + 1] = force.z
    covariance.update(&x, h: h, value: -force.x, variance: variance)
    h = ErrorVector.zero
    h[ErrorIndex.attitude] = -force.z
    covariance.update(&x, h: h, value: -force.y, variance: variance)
  }

  private mutating func takeField(
    _ x: inout ErrorVector, isDisturbed: Bool, _ duration: Double,
    _ c: AttitudeEstimator.Coefficients
  ) {
    hasTakenField = true
    let u = block.field / block.fieldCount
    let lagSlope = block.fieldLag / block.fieldCount
    let z = u - Vector3(0, field.x, field.y)
    let strength = (field * field).sum().squareRoot()

    // Errors of strength and vertical part cannot come from heading: they measure how much the
    // field of this place is worth. They last for seconds, so each block counts for many.
    let strengthError = u.length - strength
    let scatter = 0.5 * (strengthError * strengthError + z.z * z.z)
    fieldScatter += (scatter - fieldScatter) * (duration / (c.scatterTime + duration))
    let ceiling = c.fieldCeiling * (strength / 45) * (strength / 45) / duration
    var variance = min((c.magneticVariance + c.scatterWeight * fieldScatter) / duration, ceiling)

    var hx = ErrorVector.zero
    hx[1] = -u.z
    hx[2] = u.y
    var hy = ErrorVector.zero
    hy[0] = u.z
    hy[2] = -u.x
    hy[8] = 1
    var hz = ErrorVector.zero
    hz[0] = -u.y
    hz[1] = u.x
    hz[9] = 1
    hx[ErrorIndex.lag] = lagSlope.x
    hy[ErrorIndex.lag] = lagSlope.y
    hz[ErrorIndex.lag] = lagSlope.z

    let (px, py, pz) = (covariance.times(hx), covariance.times(hy), covariance.times(hz))
    let floor = variance / 4
    let xy = (hx * py).sum()
    let xz = (hx * pz).sum()
    let yz = (hy * pz).sum()
    let spread = Matrix3(
      columns: Vector3((hx * px).sum() + floor, xy, xz), Vector3(xy, (hy * py).sum() + floor, yz),
      Vector3(xz, yz, (hz * pz).sum() + floor))
    guard let inverse = spread.inverse else { return }
    let now = max(0, z.dot(inverse * z) / 3)
    surprise += (now - surprise) * (duration / (c.surpriseTime + duration))
    let worst = max(now, surprise)
    // Nothing is rejected wholly, so that a wrong heading cannot lock itself in.
    if worst > 1.5 { variance *= worst / 1.5 }
    if isDisturbed { variance *= c.disturbedWeight }
    covariance.update(&x, h: hx, value: z.x, variance: variance)
    covariance.update(&x, h: hy, value: z.y, variance: variance)
    covariance.update(&x, h: hz, value: z.z, variance: variance)
  }

  /// Turns the earth frame so that the field's horizontal part lies along y.
  private mutating func alignNorth(_ u: Vector3, _ c: AttitudeEstimator.Coefficients) {
    guard hypot(u.x, u.y) > 0.02 * u.length else { return }
    let turn = Quaternion(rotationVector: Vector3(0, 0, atan2(u.x, u.y)))
    attitude = turn * attitude
    let v = turn.rotate(Vector3(velocity.x, velocity.y, 0))
    velocity = SIMD2(v.x, v.y)
    // What was correlated in the old frame is not in the new one; the variances are nearly round.
    for index in [0, 1, 6, 7] { covariance.decouple(index, variance: covariance[index, index]) }
    covariance.decouple(2, variance: 0.25)
    setField(u, c)
    fieldScatter = 0
    surprise = 0
    hasNorth = true
    hasTakenField = true
  }

  private mutating func apply(_ x: ErrorVector) {
    headingCorrection = x[2]
    attitude = (Quaternion(rotationVector: Vector3(x[0], x[1], x[2])) * attitude).normalized
    bias += Vector3(x[3], x[4], x[5])
    velocity += SIMD2(x[6], x[7])
    field += SIMD2(x[8], x[9])
    field.x = max(field.x, 0.1)
    lag = max(-0.03, min(0.03, lag + x[ErrorIndex.lag]))
  }

  /// Lets field and heading move by what another calibration changes, microtesla.
  mutating func loosenField(by shift: Double) {
    let turn = min(shift / max(field.x, 1), 1)
    covariance.add(turn * turn, to: 2)
    // The wrong field has pulled at the tilt as well.
    let tilt = min(shift / max((field * field).sum().squareRoot(), 1), 1)
    covariance.add(tilt * tilt, to: 0)
    covariance.add(tilt * tilt, to: 1)
    covariance.add(shift * shift, to: ErrorIndex.field)
    covariance.add(shift * shift, to: ErrorIndex.field + 1)
    fieldScatter = 0
    surprise = 0
  }

  /// Lets field and heading find their place again after the magnetometer's calibration has
  /// changed.
  mutating func loosenField(_ c: AttitudeEstimator.Coefficients) {
    covariance.decouple(ErrorIndex.field, variance: c.fieldVariance)
    covariance.decouple(ErrorIndex.field + 1, variance: c.fieldVariance)
    covariance.add(0.0076, to: 2)  // (5 deg)^2
    fieldScatter = 0
    surprise = 0
  }

  /// Whether all numbers are still numbers.
  var isSound: Bool {
    attitude.w.isFinite && attitude.vector.isFinite && bias.isFinite && velocity.x.isFinite
      && velocity.y.isFinite && field.x.isFinite && field.y.isFinite && covariance.isSound
  }
}
