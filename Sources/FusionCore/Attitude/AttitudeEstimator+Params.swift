// What tunes the attitude estimator, and what is derived from it.

extension AttitudeEstimator {
}

/// What a user may tune. Nothing depends on sample rates.
///
/// Valid are 0 to 1000 in the unit given, where no other range is; a value beyond its range, or one that is no
/// number, counts as the default.
public struct AttitudeParameters: Sendable, Hashable {
  /// Whether the board is declared to lie level: heading from a magnetometer alone. Used only
  /// while no accelerometer answers. Default false.
  public var level = false
  /// Standard gravity at the board, m/s^2; 9 to 10. Default 9.80665.
  public var gravity = 9.80665
  /// Drift of the attitude by gyro noise, deg per root second. Default 0.014, three times an
  /// LSM6DSOX.
  public var attitudeNoise = 0.014
  /// What is added for heading, deg per root second. Default 0.025.
  public var headingNoise = 0.025
  /// One sigma of the gyro's scale error, share of the rate. Default 0.002.
  public var gyroScale = 0.002
  /// One sigma of the gyro's misalignment and cross-axis error, share of the rate. Default 0.001.
  public var gyroMisalignment = 0.001
  /// What a turn leaves besides, share of the rate: bending, nonlinearity. Default 0.002.
  public var turningNoise = 0.002
  /// One sigma of the unknown gyro bias at the start, deg/s. Default 1.2; `allow(zeroRateLevel:)` makes it that of a chip.
  public var biasDeviation = 1.2
  /// Wandering of the gyro bias, deg/s per root second. Default 0.001.
  public var biasNoise = 0.001
  /// How strictly horizontal velocity is zero, m/s in the mean over a second, while the filter
  /// sees none. Default 0.1.
  public var velocityDeviation = 0.1
  /// What a steady carrier may still be accelerated, over a second, the chip's own offset
  /// included, m/s^2. Default 0.1.
  public var steadyDeviation = 0.1
  /// Seconds for which a velocity lasts once there is one: how much the zero is then worth.
  /// Default 1; more is better for somebody who walks, less for somebody who turns the board in
  /// the hand.
  public var velocityTime = 1.0
  /// Noise of the magnetometer in the mean over a second, uT. Default 0.05; an LIS3MDL at 80 Hz
  /// has 0.034.
  public var magneticNoise = 0.05
  /// One sigma of the offset that the filter looks for while nothing says that a magnet has come,
  /// each axis, uT. Default 0.03: what is more is found by its consistency over turns.
  public var ironDeviation = 0.03
  /// Whole uncertainty at most allotted to the field of a place, uT in the mean over a second,
  /// at 45 uT. Default 1.8.
  public var magneticCeiling = 1.8
  /// Seconds for which the field of a place stays wrong. Default 20.
  public var disturbanceTime = 20.0
  /// One sigma of the magnetometer's unknown lag, seconds. Default 0.01.
  public var lagDeviation = 0.01
  /// Seconds between corrections; 0.01 to 1. Default 0.1; results hardly depend on it.
  public var blockDuration = 0.1
  /// Seconds averaged before the filter starts; 0 to 10. Default 0.3.
  public var startDuration = 0.3
  /// The same on a board that is moving: accelerations have to cancel first; 0 to 10, and not less than
  /// `startDuration`, which holds otherwise. Default 1.
  public var movingStartDuration = 1.0
  /// One sigma of heading that no covariance knows of: mounting, soft iron, degrees. Default 0.5.
  public var headingFloor = 0.5

  /// Makes the defaults.
  public init() {}

  /// Allows for a gyro that has no record, and may say at rest what its datasheet lets it, deg/s either way.
  ///
  /// Datasheets call that level typical or a tolerance, and hardly one says of how many parts. Taken is 1.3 sigma: between
  /// one, which would make starts in the hand dishonest at a level of 30 deg/s, and the 1.7 of a bound with all parts
  /// spread evenly within, which would be dishonest of a part beyond it. Up to 10 deg/s twice the level is honest so.
  public mutating func allow(zeroRateLevel: Double) {
    biasDeviation = max(biasDeviation, zeroRateLevel / 1.3)
  }

  /// The same with the default for every value that is no number, negative, or beyond all sense.
  var sound: AttitudeParameters {
    let usual = AttitudeParameters()
    var sound = self
    func mend(_ value: WritableKeyPath<AttitudeParameters, Double>, _ range: ClosedRange<Double>) {
      if !range.contains(self[keyPath: value]) { sound[keyPath: value] = usual[keyPath: value] }
    }
    mend(\.gravity, 9...10)
    mend(\.blockDuration, 0.01...1)
    mend(\.startDuration, 0...10)
    mend(\.movingStartDuration, 0...10)
    for value: WritableKeyPath<AttitudeParameters, Double> in [
      \.attitudeNoise, \.headingNoise, \.turningNoise, \.gyroScale, \.gyroMisalignment,
      \.biasDeviation, \.biasNoise, \.velocityDeviation, \.steadyDeviation, \.velocityTime,
      \.magneticNoise, \.magneticCeiling, \.ironDeviation, \.disturbanceTime, \.lagDeviation,
      \.headingFloor,
    ] { mend(value, 0...1000) }
    return sound
  }

  /// For a run that will be smoothed: where the field's strength says so, the field is given less weight
  /// than a filter can afford that has nothing else to mend its heading with. Flat from 2.5 to 4 uT.
  public static var offline: AttitudeParameters {
    var params = AttitudeParameters()
    params.magneticCeiling = 2.5
    return params
  }
}

/// What the parameters come to in radians, squares and per second.
struct AttitudeConstants: Sendable, Hashable {
  let gravity: Double
  let attitudeNoise: Double
  let headingNoise: Double
  let turningNoise: Double
  let gyroScaleVariance: Double
  let gyroMisalignmentVariance: Double
  let ironVariance: Double
  /// Of the offset's own wandering, uT^2 a second: (0.004 uT)^2.
  let ironNoise = 0.000016
  let biasDeviation: Double
  let biasVariance: Double
  /// The largest deviation of a bias that passes for rest: 1.2 deg/s, rad/s.
  let restingBias = 1.2 * Double.pi / 180
  /// Variance of a bias that is found: (0.6 deg/s)^2.
  let foundBias = 0.36 * Double.pi * Double.pi / 32_400
  /// What a bias may have become while attitude was lost: (0.38 deg/s)^2.
  let biasLoosening: Double
  let biasNoise: Double
  let velocityNoise = 0.015 * 0.015
  let velocityVariance: Double
  let steadyVariance: Double
  let velocityWeight: Double
  /// Low pass of the squared velocity, seconds.
  let velocityScatterTime = 0.3
  /// Of each horizontal velocity at the start, (m/s)^2: it may begin while somebody walks.
  let startVelocity = 1.0
  /// A receiver's velocity is good for so long by itself, seconds, is remembered for so long, and is then
  /// worth so much, m/s and m/s a second.
  let aidingPause = 1.5
  let aidingMemory = 30.0
  let aidingDeviation = 0.5
  let aidingGrowth = 0.3
  /// A carrier declared to move the way it points: slip, mounting and what a receiver's course is wrong by
  /// for seconds, (2 deg)^2; the speed from which its course is one, m/s; how much a course may differ
  /// from heading, sigmas squared, before it counts less; and for how long the last one is remembered.
  let courseFloor = 0.001_2
  let courseSpeed = 3.0
  let courseSurprise = 6.0
  let courseMemory = 300.0
  /// So many courses in a row that differ by more are believed.
  let courseContradictions = 3
  /// What is not known of its age, seconds.
  let aidingSlip = 0.1
  /// How long a tilt lasts that an acceleration was taken for: unaided, and where gravity is measured;
  /// seconds.
  let doubtMemory = 20.0
  let doubtFading = 4.0
  /// The low-passed gyro against the bias: (0.035 deg/s)^2 in the mean over a second.
  let restVariance: Double
  /// The same before rest is sure: (0.15 deg/s)^2.
  let quietVariance: Double
  let magneticVariance: Double
  let scatterWeight: Double
  let scatterTime = 3.0
  let fieldCeiling: Double
  let fieldVariance = 100.0
  /// What buildings, soil and a calibration's scale add to the model's field, uT^2.
  let placeVariance = 9.0
  let fieldLimit = 16.0
  let fieldNoise = 0.01
  let surpriseTime = 0.7
  let disturbedWeight = 30.0
  let idleWeight = 1e6
  /// Another record that shifts the field by more than this share of its horizontal part is no finer one: north
  /// is sought anew.
  let northShift = 0.5
  let lagVariance: Double
  let blockDuration: Double
  let startDuration: Double
  let movingStartDuration: Double
  /// A start whose tilt is less sure than this is one in motion, radians.
  let movingStartTilt = 0.2
  /// Low pass of the specific force in the earth frame, seconds.
  let meanForceTime = 2.0
  /// Memory of the velocity that the force would have given, seconds, and how much of it belongs to a
  /// wrong attitude, m/s: at any time, and soon after a start in motion or while nothing changes.
  let flightTime = 10.0
  let flightLimit = 20.0
  let youngFlightLimit = 9.0
  /// How long a start in motion is not trusted, seconds.
  let youth = 10.0
  /// One sigma of the tilt after it was levelled anew, share of the angle it was levelled by.
  let levelledShare = 0.3
  /// The least of it, (1 deg)^2, and the least angle that is worth levelling, radians.
  let levelledFloor = 0.000_3
  let levelledLeast = 0.1
  /// A heading that the field's consistency over turns contradicts by more than this, radians, is given
  /// up for what that says, (5 deg)^2.
  let solutionTurn = 0.3
  let solutionVariance = 0.007_6
  /// Iron that may be a magnet which somebody takes off again, microtesla: more than a record leaves.
  let removableIron = 4.0
  /// A magnet that shows so soon, seconds, was there when north was found.
  let northProof = 15.0
  let headingFloor: Double
  /// What the covariance is too small by, as errors of the field last longer than a block: 1.4 squared.
  let covarianceShare = 1.96

  init(_ given: AttitudeParameters) {
    let params = given.sound
    let degree = Double.pi / 180
    func square(_ x: Double) -> Double { x * x }
    gravity = params.gravity
    attitudeNoise = square(params.attitudeNoise * degree)
    headingNoise = square(params.headingNoise * degree)
    // Misalignment lets a rate about one axis show in all three: a fifth of its square in each.
    turningNoise = 0.2 * square(params.turningNoise)
    gyroScaleVariance = square(params.gyroScale)
    gyroMisalignmentVariance = square(params.gyroMisalignment)
    ironVariance = square(params.ironDeviation)
    biasDeviation = params.biasDeviation * degree
    biasVariance = square(params.biasDeviation * degree)
    biasLoosening = square(0.38 * degree)
    biasNoise = square(params.biasNoise * degree)
    velocityVariance = square(params.velocityDeviation)
    velocityWeight = params.velocityTime
    steadyVariance = square(params.steadyDeviation)
    restVariance = square(0.035 * degree)
    quietVariance = square(0.15 * degree)
    magneticVariance = square(params.magneticNoise)
    scatterWeight = params.disturbanceTime
    fieldCeiling = square(params.magneticCeiling)
    lagVariance = square(params.lagDeviation)
    blockDuration = max(params.blockDuration, 0.01)
    startDuration = max(params.startDuration, 0)
    movingStartDuration = max(params.movingStartDuration, startDuration)
    headingFloor = params.headingFloor * degree
  }
}
