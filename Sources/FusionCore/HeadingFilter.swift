// Attitude and heading from gyro, accelerometer and magnetometer: an error-state Kalman filter.
//
// Frames: body x right, y forward, z up; earth ENU with y to magnetic north. The attitude turns body into
// earth; its error is on the left: true = exp([phi]x) estimate. States of the error: phi (3), gyro bias b
// (3, rad/s, body), horizontal velocity v (2, m/s), horizontal and vertical field (2, microtesla).
//
// The gyro turns the attitude at every sample; everything else happens once a block of a tenth of a
// second, on sums that were gathered in the earth frame on the way.

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif
import LinearAlgebra
import SensorTypes

/// The full filter: gyro, accelerometer and magnetometer.
struct HeadingFilter: Sendable, Hashable {
  /// Tuning, independent of any sample rate.
  struct Params: Sendable, Hashable {
    /// Length of a block, seconds.
    var block = 0.1
    /// How long the start gathers before the filter takes over, seconds.
    var start = 1.0
    /// Longest gap in the gyro that is still integrated, seconds; after a longer one the attitude is
    /// not known any more and the filter starts anew.
    var longestGap = 1.0
    /// Noise of the gyro, rad per square root of second, and the share of the rate that its scale errs.
    var gyroNoise = 0.014 * Double.pi / 180
    var gyroScale = 0.005
    /// Random walk of the gyro's bias, rad/s per square root of second.
    var biasWalk = 0.001 * Double.pi / 180
    /// Bias that a chip fresh from the reel can have, one sigma, rad/s (LSM6DSOX: 1 deg/s).
    var initialBias = 1.0 * Double.pi / 180
    /// Noise of the accelerometer as velocity, m/s per square root of second.
    var velocityNoise = 0.015
    /// Speed that a carrier has, one sigma, m/s, and how long it keeps it, seconds.
    var carrierSpeed = 2.0
    var carrierTime = 5.0
    /// Noise of the magnetometer with what it sees of its surroundings, microtesla, over `magneticTime`.
    var magneticNoise = 1.0
    var magneticTime = 0.05
    /// Change of the field from place to place, microtesla per square root of second.
    var fieldWalk = 0.1
    /// Rest: rates and forces stay this close to their low-passed values, for this long.
    var restRate = 2.0 * Double.pi / 180
    var restForce = 0.5
    var restTime = 1.5
    var restFilterTime = 0.5
    /// Rest: noise of the low-passed rate, rad/s per square root of hertz.
    var restBiasNoise = 0.035 * Double.pi / 180
    /// Steady: at rest, and the low-passed force no further than this from where it was when rest began.
    /// A gentle start of a vehicle turns nothing and shakes nothing; the force is all that tells.
    var steadyForce = 0.025
    /// What a steady carrier may still be accelerated, one sigma, m/s^2, the chip's own offset included,
    /// and how long such an error lasts, seconds.
    var steadyAcceleration = 0.1
    var steadyTime = 1.0
  }

  private enum State { static let b = 3, v = 6, field = 8 }
  private static let gravity = 9.80665

  static let params = Params()

  private(set) var attitude = Quaternion.identity
  private(set) var bias = Vector3.zero
  private var velocity = SIMD2<Double>()
  /// Horizontal and vertical (up) component of the field, microtesla.
  private(set) var field = SIMD2<Double>()
  private(set) var covariance = ErrorCovariance(
    deviations: Array(repeating: 1, count: ErrorCovariance.size))
  private(set) var isAligned = false
  private(set) var isAtRest = false
  private var lastGyro: Timestamp?

  // The start: means in the frame of the first sample.
  private var startForce = Vector3.zero
  private var startForceCount = 0.0
  private var startField = Vector3.zero
  private var startFieldCount = 0.0
  private var startForceSquares = 0.0
  private var startTime = 0.0
  private var relative = Quaternion.identity

  // The block.
  private var blockTime = 0.0
  private var turn = Matrix3(diagonal: .zero)
  private var impulse = Vector3.zero
  private var rateSquares = Vector3.zero
  private var fieldSum = Vector3.zero
  private var fieldCount = 0.0

  // Rest and disturbance.
  private var slowRate = Vector3.zero
  private var slowForce = Vector3.zero
  private var slowIsSet = false
  private var stillFor = 0.0
  private var anchorForce = Vector3.zero
  private var isSteady = false
  private var surprise = 1.0

  init() {}

  /// Takes a gyro and accelerometer sample, body frame, rad/s and m/s^2.
  mutating func update(angularRate: Vector3, acceleration: Vector3, at time: Timestamp) {
    guard angularRate.isFinite, acceleration.isFinite else { return }
    guard let last = lastGyro else {
      lastGyro = time
      return
    }
    let dt = time.seconds(since: last)
    guard dt > 0 else { return }
    lastGyro = time
    guard dt <= Self.params.longestGap else {
      self = HeadingFilter()
      lastGyro = time
      return
    }
    detectRest(angularRate, acceleration, dt)
    let rate = angularRate - bias
    let step = Quaternion(rotationVector: rate * dt)
    guard isAligned else { return gather(acceleration, step, dt) }
    // The force acted halfway through the step.
    attitude = (attitude * step).normalized
    let rotation = attitude.matrix
    turn = turn + dt * rotation
    let force = rotation * acceleration
    impulse += dt * force
    rateSquares += dt * rate * rate
    blockTime += dt
    if blockTime >= Self.params.block { closeBlock() }
  }

  /// Takes a magnetometer sample, calibrated, body frame, microtesla.
  mutating func update(magneticField: Vector3) {
    guard magneticField.isFinite, lastGyro != nil else { return }
    if isAligned {
      fieldSum += attitude.rotate(magneticField)
      fieldCount += 1
    } else {
      startField += relative.rotate(magneticField)
      startFieldCount += 1
      align()
    }
  }

  private mutating func gather(_ force: Vector3, _ step: Quaternion, _ dt: Double) {
    relative = (relative * step).normalized
    let turned = relative.rotate(force)
    startForce += turned
    startForceSquares += turned.lengthSquared
    startForceCount += 1
    startTime += dt
  }

  /// The attitude by TRIAD from the means so far; after `start` seconds the filter takes over.
  private mutating func align() {
    guard startForceCount > 0, startFieldCount > 0,
      let up = startForce.normalized, let east = startField.cross(up).normalized
    else { return }
    let north = up.cross(east)
    attitude = (Quaternion(Matrix3(rows: east, north, up)) * relative).normalized
    guard startTime >= Self.params.start else { return }
    let mean = startField / startFieldCount
    field = SIMD2(mean.dot(north), mean.dot(up))
    let force = startForce / startForceCount
    let scatter = max(0, startForceSquares / startForceCount - force.lengthSquared).squareRoot()
    let shaken = (0.1 * scatter + abs(force.length - Self.gravity)) / Self.gravity
    let tilt = (0.5 * Double.pi / 180) + 0.3 * shaken
    let params = Self.params
    // The field pulls heading to within its noise at once; the rest of the sphere is not believed.
    let heading = min(
      1, 2 * tilt * abs(field.y) / max(field.x, 1) + params.magneticNoise / max(field.x, 1))
    covariance = ErrorCovariance(deviations: [
      tilt, tilt, heading, params.initialBias, params.initialBias, params.initialBias,
      params.carrierSpeed, params.carrierSpeed, 5, 5,
    ])
    isAligned = true
  }

  private mutating func detectRest(_ rate: Vector3, _ force: Vector3, _ dt: Double) {
    let params = Self.params
    guard slowIsSet else {
      (slowRate, slowForce, slowIsSet) = (rate, force, true)
      return
    }
    let gain = dt / (params.restFilterTime + dt)
    slowRate += gain * (rate - slowRate)
    slowForce += gain * (force - slowForce)
    let isStill =
      (rate - slowRate).length < params.restRate && (force - slowForce).length < params.restForce
      && slowRate.length < params.restRate
    stillFor = isStill ? stillFor + dt : 0
    let wasAtRest = isAtRest
    isAtRest = stillFor >= params.restTime
    if isAtRest, !wasAtRest { (anchorForce, isSteady) = (slowForce, true) }
    if !isAtRest || (slowForce - anchorForce).length > params.steadyForce { isSteady = false }
  }

  private mutating func closeBlock() {
    let params = Self.params
    let time = blockTime
    predict(time)
    var error = SIMD16<Double>()
    // Carriers do not run away: velocity stays near zero over a long time.
    let speed = params.carrierSpeed
    for axis in 0..<2 {
      var h = SIMD16<Double>()
      h[State.v + axis] = 1
      covariance.update(
        h: h, innovation: -velocity[axis], noise: speed * speed * params.carrierTime / time,
        error: &error)
    }
    // Standing or rolling steadily, the force is gravity: its horizontal part is the tilt's error.
    if isSteady {
      let noise =
        params.steadyAcceleration * params.steadyAcceleration * params.steadyTime / time
      var h = SIMD16<Double>()
      h[1] = impulse.z / time
      covariance.update(h: h, innovation: -impulse.x / time, noise: noise, error: &error)
      h = SIMD16<Double>()
      h[0] = -impulse.z / time
      covariance.update(h: h, innovation: -impulse.y / time, noise: noise, error: &error)
    }
    if isAtRest {
      let noise = params.restBiasNoise * params.restBiasNoise / time
      for axis in 0..<3 {
        var h = SIMD16<Double>()
        h[State.b + axis] = 1
        covariance.update(
          h: h, innovation: slowRate[axis] - bias[axis], noise: noise, error: &error)
      }
    }
    if fieldCount > 0 { observeField(fieldSum / fieldCount, time, &error) }
    inject(error)
    blockTime = 0
    turn = Matrix3(diagonal: .zero)
    (impulse, rateSquares, fieldSum, fieldCount) = (.zero, .zero, .zero, 0)
  }

  private mutating func predict(_ time: Double) {
    let params = Self.params
    velocity += SIMD2(impulse.x, impulse.y)
    // dv = phi x impulse without its phi_z part, which would be false heading information.
    covariance.couple(State.v, 1, impulse.z)
    covariance.couple(State.v + 1, 0, -impulse.z)
    // dphi = -(sum R dt) db; half of it has acted on the velocity.
    for row in 0..<3 {
      covariance.couple(row, State.b, -turn.columns.x[row])
      covariance.couple(row, State.b + 1, -turn.columns.y[row])
      covariance.couple(row, State.b + 2, -turn.columns.z[row])
    }
    let scale = 0.2 * params.gyroScale * params.gyroScale
    for axis in 0..<3 {
      covariance.add(
        params.gyroNoise * params.gyroNoise * time + scale * rateSquares.sum() * time, to: axis)
      if covariance[State.b + axis, State.b + axis] < params.initialBias * params.initialBias {
        covariance.add(params.biasWalk * params.biasWalk * time, to: State.b + axis)
      }
    }
    for axis in 0..<2 {
      covariance.add(params.velocityNoise * params.velocityNoise * time, to: State.v + axis)
      if covariance[State.field + axis, State.field + axis] < 16 {
        covariance.add(params.fieldWalk * params.fieldWalk * time, to: State.field + axis)
      }
    }
  }

  /// `u - B = dB - phi x u`, all three axes, with the variance raised by what surprises: nothing is ever
  /// rejected wholly, so that it recovers by itself.
  private mutating func observeField(_ u: Vector3, _ time: Double, _ error: inout SIMD16<Double>) {
    let params = Self.params
    let innovation = u - Vector3(0, field.x, field.y)
    var noise = params.magneticNoise * params.magneticNoise * params.magneticTime / time
    // Uncertain heading makes large innovations that are no surprise.
    let spread =
      noise / 4 + covariance[2, 2] * field.x * field.x + (covariance[0, 0] + covariance[1, 1])
      * u.lengthSquared / 2
      + (covariance[State.field, State.field] + covariance[State.field + 1, State.field + 1]) / 2
    let now = innovation.lengthSquared / (3 * spread)
    surprise += min(1, time / 0.7) * (now - surprise)
    let factor = max(now, surprise)
    if factor > 1.5 { noise *= factor / 1.5 }
    for axis in 0..<3 {
      var h = SIMD16<Double>()
      switch axis {
      // -(phi x u) = (u x phi)
      case 0: (h[1], h[2]) = (-u.z, u.y)
      case 1: (h[0], h[2]) = (u.z, -u.x)
      default: (h[0], h[1]) = (-u.y, u.x)
      }
      if axis == 1 { h[State.field] = 1 }
      if axis == 2 { h[State.field + 1] = 1 }
      covariance.update(h: h, innovation: innovation[axis], noise: noise, error: &error)
    }
  }

  private mutating func inject(_ error: SIMD16<Double>) {
    attitude =
      (Quaternion(rotationVector: Vector3(error[0], error[1], error[2])) * attitude).normalized
    bias += Vector3(error[3], error[4], error[5])
    velocity += SIMD2(error[6], error[7])
    field += SIMD2(error[8], error[9])
  }
}
