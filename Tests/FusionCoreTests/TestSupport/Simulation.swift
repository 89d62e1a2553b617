// A board carried about: truth and what noisy chips on it would say. Everything from a seed.

import FusionCore
import LinearAlgebra
import SensorTypes

let degree = Double.pi / 180

/// SplitMix64 (Steele, Lea, Flood 2014), with normal deviates by Box and Muller.
struct Noise: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func uniform() -> Double { (Double(next() >> 11) + 0.5) * 0x1p-53 }

  mutating func normal() -> Double {
    (-2 * log(uniform())).squareRoot() * cos(2 * .pi * uniform())
  }

  mutating func vector(_ deviation: Double) -> Vector3 {
    Vector3(normal(), normal(), normal()) * deviation
  }
}

/// Attitude from heading (clockwise from north), pitch (y axis up) and roll (right side down),
/// applied in this order to a body whose axes start along east, north, up.
func attitude(heading: Double, pitch: Double = 0, roll: Double = 0) -> Quaternion {
  Quaternion(rotationVector: Vector3(0, 0, -heading))
    * Quaternion(rotationVector: Vector3(pitch, 0, 0))
    * Quaternion(rotationVector: Vector3(0, roll, 0))
}

/// The earth's field in ENU with y to magnetic north.
func earthField(strength: Double = 49, dip: Double = 67) -> Vector3 {
  Vector3(0, strength * cos(dip * degree), -strength * sin(dip * degree))
}

/// How a board moves: angles and acceleration as functions of time.
struct Trajectory {
  var heading: (Double) -> Double
  var pitch: (Double) -> Double = { _ in 0 }
  var roll: (Double) -> Double = { _ in 0 }
  /// Acceleration in the earth frame, m/s^2.
  var acceleration: (Double) -> Vector3 = { _ in .zero }

  func attitude(_ t: Double) -> Quaternion {
    FusionCoreTests.attitude(heading: heading(t), pitch: pitch(t), roll: roll(t))
  }

  /// The mean rate over half a millisecond, body frame.
  func rate(_ t: Double) -> Vector3 {
    let h = 0.00025
    return (attitude(t - h).conjugate * attitude(t + h)).rotationVector / (2 * h)
  }

  /// A board that lies still.
  static func still(heading: Double, pitch: Double = 0, roll: Double = 0) -> Trajectory {
    Trajectory(heading: { _ in heading }, pitch: { _ in pitch }, roll: { _ in roll })
  }

  /// From 0 to 1 between `a` and `b`, without a jump in speed.
  static func ramp(_ t: Double, _ a: Double, _ b: Double) -> Double {
    let x = max(0, min(1, (t - a) / (b - a)))
    return x * x * (3 - 2 * x)
  }

  /// Walking: every 6 s a turn by 90 deg that peaks at 90 deg/s, tilts up to `tilt`, steps at 2 Hz,
  /// setting off (`setOff` after `begin`) and stopping at 2.6 m/s^2, 1.4 m/s in between. It lies
  /// still until `begin`.
  static func walk(
    begin: Double, tilt: Double, phase: Double, setOff: Double = 3
  ) -> Trajectory {
    func turned(_ t: Double) -> Double {
      var sum = phase
      for k in 0..<20 {
        let start = begin + 1 + 6 * Double(k)
        sum += (k % 3 == 2 ? -1 : 1) * ramp(t, start, start + 1.5) * 90 * degree
      }
      return sum
    }
    func envelope(_ t: Double) -> Double { ramp(t, begin, begin + 0.5) }
    // Acceleration is the derivative of a velocity, so that turns come with their centripetal part.
    func velocity(_ t: Double) -> Vector3 {
      var speed = 0.0
      for k in 0..<12 {
        let go = begin + setOff + 10 * Double(k)
        speed += 1.4 * (ramp(t, go, go + 0.8) - ramp(t, go + 7, go + 7.8))
      }
      let (heading, walking, step) = (turned(t), envelope(t), 2 * .pi * 2 * t)
      let forward = Vector3(sin(heading), cos(heading), 0)
      let right = Vector3(forward.y, -forward.x, 0)
      return forward * (speed - walking * 0.1 * cos(step + 1))
        - right * (walking * 0.13 * cos(step / 2)) - Vector3(0, 0, walking * 0.2 * cos(step))
    }
    return Trajectory(
      heading: turned,
      pitch: { envelope($0) * tilt * sin(2 * .pi * 0.11 * ($0 - begin) + 0.4 * phase) },
      roll: { envelope($0) * tilt * sin(2 * .pi * 0.17 * ($0 - begin)) },
      acceleration: { (velocity($0 + 0.0005) - velocity($0 - 0.0005)) / 0.001 })
  }
}

/// Chips on the board. Defaults are an LSM6DSOX at 208 Hz (datasheet table 2: 3.8 mdps and 70 ug
/// per root hertz, here over 104 Hz) and an LIS3MDL in ultra-high-performance mode.
struct SimulatedBoard {
  var rate = 208.0
  var magneticRate = 80.0
  var rateNoise = 0.0388 * degree
  var forceNoise = 0.007
  var fieldNoise = 0.3
  var bias = Vector3.zero
  var jitter = 0.1
  var hasGyro = true
  var hasAccelerometer = true
  var hasMagnetometer = true
  var field = earthField()
  /// What a calibration has left, body frame, uT.
  var offset = Vector3.zero
  var softIron = Matrix3.identity
  /// What iron adds, earth frame.
  var disturbance: (Double) -> Vector3 = { _ in .zero }
  /// What iron on the board adds, body frame.
  var attached: (Double) -> Vector3 = { _ in .zero }
  var quality = MagnetometerQuality(
    isCalibrated: true, offsetCovariance: Matrix3(diagonal: Vector3(0.04, 0.04, 0.04)),
    residual: 0.2)

  /// Runs `seconds` through `estimator`, calling `body` after every inertial sample (or every
  /// field sample where there is no other) with the time and the true attitude of that moment.
  func run(
    _ trajectory: Trajectory, from begin: Double = 0, seconds: Double, seed: UInt64,
    _ estimator: inout AttitudeEstimator,
    _ body: (Double, Quaternion, inout AttitudeEstimator) -> Void
  ) {
    var noise = Noise(seed)
    var nextInertial = begin
    var nextField = begin + 0.0031
    while min(nextInertial, nextField) < begin + seconds {
      let isInertial = nextInertial <= nextField
      let period = 1 / (isInertial ? rate : magneticRate)
      let t = (isInertial ? nextInertial : nextField) + period * jitter * (noise.uniform() - 0.5)
      let truth = trajectory.attitude(t)
      let time = Timestamp(seconds: 100 + t)
      if isInertial {
        nextInertial += period
        let force = truth.conjugate.rotate(trajectory.acceleration(t) + Vector3(0, 0, 9.80665))
        let rate = trajectory.rate(t) + bias + noise.vector(rateNoise)
        let noisy = force + noise.vector(forceNoise)
        if hasGyro { estimator.update(angularRate: rate, at: time) }
        if hasAccelerometer { estimator.update(acceleration: noisy, at: time) }
        if hasGyro || hasAccelerometer { body(t, truth, &estimator) }
      } else {
        nextField += period
        let bodyField = truth.conjugate.rotate(field + disturbance(t))
        let measured = softIron * bodyField + offset + attached(t) + noise.vector(fieldNoise)
        if hasMagnetometer {
          estimator.update(magneticField: measured, at: time, quality: quality)
        }
        if !hasGyro && !hasAccelerometer { body(t, truth, &estimator) }
      }
    }
  }
}

/// Root mean square and worst of an error.
struct ErrorStatistics {
  var squares = 0.0
  var count = 0.0
  var worst = 0.0
  var judged = 0.0
  var inside = 0.0
  var widths = 0.0

  mutating func add(_ error: Double, halfWidth: Double? = nil) {
    squares += error * error
    count += 1
    worst = max(worst, abs(error))
    if let halfWidth {
      judged += 1
      widths += halfWidth
      if abs(error) <= halfWidth { inside += 1 }
    }
  }

  var rms: Double { count > 0 ? (squares / count).squareRoot() : .infinity }
  var coverage: Double { judged > 0 ? inside / judged : 0 }
  var meanWidth: Double { judged > 0 ? widths / judged : 0 }
}

/// The difference of two angles, -pi to pi.
func angleDifference(_ a: Double, _ b: Double) -> Double { atan2(sin(a - b), cos(a - b)) }

/// The true heading of the body's y axis by its definition, not by the code under test.
func trueHeading(_ attitude: Quaternion) -> Double {
  let y = attitude.matrix.columns.y
  return atan2(y.x, y.y)
}

/// A number with two decimals, for what tests print.
func text(_ value: Double) -> String { String((value * 100).rounded() / 100) }

extension AttitudeEstimator {
  /// The heading, or nil with the failure dropped.
  func headingOrNil(at seconds: Double) -> HeadingEstimate? {
    try? heading(at: Timestamp(seconds: 100 + seconds)).get()
  }
}
