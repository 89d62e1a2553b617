// A board with iron of its own, turned about by somebody: what its chips say, and how wrong a calibration of it
// is. Shares nothing with the fitter but the types that go in and come out.

import LinearAlgebra
import SeededDraws
import SensorTypes

/// One unit: its iron, and a recording of it in somebody's hand.
struct SyntheticUnit {
  var strength: Double
  var dip = 65 * Double.pi / 180
  var hardIron: Vector3
  /// What the chip makes of a field in its own axes.
  var distortion: Matrix3
  /// From the board's axes, which are the accelerometer's, to the magnetometer's.
  var misalignment: Quaternion
  var hasForce: Bool
  var samples: [CalibrationSample] = []

  /// How a recording is made.
  struct Motion {
    var seconds: Double
    var rate: Double
    /// Root mean square of each component of the angular rate, rad/s.
    var liveliness: Double
    /// Seconds for which a turn goes on.
    var persistence: Double
    /// Root mean square of each component of the acceleration of the hand, m/s^2.
    var shaking: Double
    /// How far the board is from the point it is turned about, metres.
    var arm = 0.0
    /// Share of the time for which the board lies still.
    var rest: Double
    var noise = 0.5
    var outliers = 0.05
    /// A magnet passes: for how many seconds, and how strong at its nearest, microtesla.
    var magnet: (seconds: Double, strength: Double)?
    /// Attitudes are no farther from level than this, radians.
    var tilt = Double.pi
    var hasGyro = true
    /// How much later than the force the field is told, seconds.
    var lag = 0.0
  }

  /// Draws the iron of the acceptance: hard iron to three times the field, axes to 1.5, 3 degrees.
  init(draws: inout SyntheticDraws, hasForce: Bool) {
    strength = draws.uniform(30, 60)
    hardIron = draws.uniform(0, 3) * strength * draws.direction()
    let ratio = draws.uniform(1, 1.5)
    let middle = draws.uniform(1, ratio)
    let gain = draws.uniform(0.95, 1.05) / ((1 + ratio + middle) / 3)
    let axes = Quaternion(rotationVector: draws.uniform(0, .pi) * draws.direction()).matrix
    distortion =
      axes * Matrix3(diagonal: gain * Vector3(1, middle, ratio)) * axes.transposed
    let angle = draws.uniform(0, 3) * .pi / 180
    misalignment = Quaternion(rotationVector: angle * draws.direction())
    self.hasForce = hasForce
  }

  /// A recording as the acceptance varies it.
  static func motion(draws: inout SyntheticDraws) -> Motion {
    let seconds = draws.uniform(30, 120)
    let share = draws.uniform(0, 1)
    return Motion(
      seconds: seconds, rate: [10, 20, 40, 80, 100][Int(draws.uniform(0, 4.999))],
      liveliness: exp(draws.uniform(log(0.15), log(3))),
      persistence: draws.uniform(0.5, 3), shaking: exp(draws.uniform(log(0.05), log(2))),
      arm: draws.uniform(0, 0.25),
      rest: draws.uniform(0, 1) < 0.3 ? draws.uniform(0.1, 0.5) : 0,
      magnet: share < 0.2
        ? (draws.uniform(0.05, 0.3) * seconds, exp(draws.uniform(log(10), log(400)))) : nil,
      hasGyro: draws.uniform(0, 1) < 0.8, lag: draws.uniform(0, 0.02))
  }

  /// The field in the board's axes at an attitude (board to earth).
  private func field(_ attitude: Quaternion) -> Vector3 {
    attitude.conjugate.rotate(strength * Vector3(0, cos(dip), -sin(dip)))
  }

  /// What the magnetometer says to a field in the board's axes.
  func raw(_ field: Vector3) -> Vector3 { distortion * misalignment.rotate(field) + hardIron }

  mutating func record(_ motion: Motion, draws: inout SyntheticDraws) {
    let steps = Int(motion.seconds * motion.rate)
    let dt = 1 / motion.rate
    var hand = TurningHand(motion, draws: &draws)
    let sway = HandSway(motion, draws: &draws)
    var places: [Vector3] = []
    var attitudes: [Quaternion] = []
    let restStart = draws.uniform(0, 1 - motion.rest) * motion.seconds
    let magnet = PassingMagnet(motion, draws: &draws)
    // A gyro's own: a degree a second and more.
    let bias = 0.02 * draws.normals()
    samples = []
    for step in 0..<steps {
      let time = Double(step) * dt
      let isResting = time >= restStart && time < restStart + motion.rest * motion.seconds
      hand.advance(isResting: isResting, draws: &draws)
      // The field as it was a little earlier: chips have filters.
      let earlier = hand.attitude * Quaternion(rotationVector: -motion.lag * hand.turn)
      var value = raw(field(earlier) + magnet.field(at: time)) + motion.noise * draws.normals()
      if draws.uniform(0, 1) < motion.outliers {
        value += exp(draws.uniform(log(5), log(5_000))) * draws.direction()
      }
      attitudes.append(hand.attitude)
      places.append(
        isResting ? (places.last ?? .zero) : sway.place(at: time, attitude: hand.attitude))
      samples.append(
        CalibrationSample(
          time: Timestamp(nanoseconds: Int64(time * 1e9)), field: value,
          angularRate: hasForce && motion.hasGyro
            ? hand.turn + 0.01 * draws.normals() + bias : nil))
    }
    if hasForce { addForces(places, attitudes, dt: dt, draws: &draws) }
  }

  /// Adds the specific force to each sample, from the places (in metres) and attitudes of the board.
  private mutating func addForces(
    _ places: [Vector3], _ attitudes: [Quaternion], dt: Double, draws: inout SyntheticDraws
  ) {
    for step in samples.indices {
      var acceleration = Vector3.zero
      if step > 0, step + 1 < samples.count {
        acceleration = (places[step + 1] - 2 * places[step] + places[step - 1]) / (dt * dt)
        // Where it is laid down and taken up: not a fall.
        if acceleration.length > 30 { acceleration = acceleration / acceleration.length * 30 }
      }
      let force = attitudes[step].conjugate.rotate(acceleration + Vector3(0, 0, 9.81))
      samples[step].force = force + 0.05 * draws.normals()
    }
  }

  /// The error of the heading, degrees, root mean square over 36 headings of a level board that is
  /// calibrated so. Without an accelerometer "level" and "ahead" are what the magnetometer's axes say.
  func headingError(_ matrix: Matrix3, _ offset: Vector3) -> Double {
    var sum = 0.0
    for step in 0..<36 {
      let heading = Double(step) * .pi / 18
      let level = Quaternion(rotationVector: Vector3(0, 0, -heading))
      var around = field(level)
      if !hasForce { around = misalignment.conjugate.rotate(around) }
      let corrected = matrix * (raw(around) - offset)
      var error = atan2(-corrected.x, corrected.y) - heading
      error -= 2 * .pi * (error / (2 * .pi)).rounded()
      sum += error * error
    }
    return (sum / 36).squareRoot() * 180 / .pi
  }
}
