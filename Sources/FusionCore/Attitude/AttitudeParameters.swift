// The parameters of the attitude estimator: what a user may tune, and the groups for experiments.

/// Every threshold and noise of the attitude estimator. Nothing depends on sample rates.
///
/// The plain values describe a board and its use; the groups after them are what the estimator's tests and models are
/// made of, for experiments. `Documentation/filter.md` has a table of all of them.
///
/// Plain values are valid from 0 to 1000 in the unit given, where no other range is. Groups are valid from 0 on, with
/// angles in radians; divisors and counts must be more. A value out of its range, or one that is no number, counts as
/// the default.
public struct AttitudeParameters: Sendable, Hashable {
  /// Whether the board is declared to lie level: heading from a magnetometer alone. Used only
  /// while no accelerometer answers. Default false.
  public var level = false
  /// Standard gravity at the board, m/s^2; 9 to 10. Default 9.80665.
  public var gravity = 9.80665
  /// Drift of the attitude by gyro noise and by accelerations that look like tilt, deg per root second. Default 0.055; an
  /// LSM6DSOX has 0.005.
  public var attitudeNoise = 0.055
  /// What is added for heading, deg per root second. Default 0.025.
  public var headingNoise = 0.025
  /// One sigma of the gyro's scale error, share of the rate. Default 0.005.
  public var gyroScale = 0.005
  /// One sigma of the gyro's misalignment and cross-axis error, share of the rate. Default 0.002.
  public var gyroMisalignment = 0.002
  /// What a turn leaves besides, share of the rate: bending, nonlinearity. Default 0.002.
  public var turningNoise = 0.002
  /// One sigma of the unknown gyro bias at the start, deg/s. Default 1.2; `allow(zeroRateLevel:)` makes it that of a chip.
  public var biasDeviation = 1.2
  /// Wandering of the gyro bias, deg/s per root second. Default 0.001.
  public var biasNoise = 0.001
  /// How strictly horizontal velocity is zero, m/s in the mean over a second, while the filter
  /// sees none. Default 0.05.
  public var velocityDeviation = 0.05
  /// What a steady carrier may still be accelerated, over a second, the chip's own offset
  /// included, m/s^2. Default 0.1.
  public var steadyDeviation = 0.1
  /// Seconds for which a velocity lasts once there is one: how much the zero is then worth.
  /// Default 1.1; more is better for somebody who walks, less for somebody who turns the board in
  /// the hand.
  public var velocityTime = 1.1
  /// Noise of the magnetometer in the mean over a second, uT. Default 0.05; an LIS3MDL at 80 Hz
  /// has 0.034.
  public var magneticNoise = 0.05
  /// One sigma of the offset that the filter looks for while nothing says that a magnet has come,
  /// each axis, uT. Default 0.03; a larger offset is found by its consistency over turns.
  public var ironDeviation = 0.03
  /// Whole uncertainty at most allotted to the field of a place, uT in the mean over a second,
  /// at 45 uT. Default 2.2.
  public var magneticCeiling = 2.2
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

  /// What the estimator takes of its sensors, and how long it does without them.
  @_spi(Tuning) public var limits = AttitudeSampleLimits()
  /// The initial alignment: means over the first fraction of a second.
  @_spi(Tuning) public var alignment = AlignmentParameters()
  /// How the gyro bias is found and kept.
  @_spi(Tuning) public var gyroBias = GyroBiasParameters()
  /// What integration misses between two samples.
  @_spi(Tuning) public var integration = GyroIntegrationParameters()
  /// How velocity is measured, held, and doubted.
  @_spi(Tuning) public var velocity = VelocityAidingParameters()
  /// A receiver's course as heading of a vehicle.
  @_spi(Tuning) public var course = CourseParameters()
  /// A heading that two antennas, or another instrument, measure.
  @_spi(Tuning) public var measuredHeading = MeasuredHeadingParameters()
  /// The divergence test of the attitude, and levelling.
  @_spi(Tuning) public var divergence = DivergenceParameters()
  /// How the board is known to be stationary.
  @_spi(Tuning) public var stationary = StationaryParameters()
  /// A slow turn that looks stationary, as the field shows it.
  @_spi(Tuning) public var slowTurn = SlowTurnParameters()
  /// How much a field sample counts in the filter.
  @_spi(Tuning) public var magnetometer = MagnetometerWeightParameters()
  /// What the field says of heading alone.
  @_spi(Tuning) public var azimuth = AzimuthParameters()
  /// A field that contradicts heading and nothing else.
  @_spi(Tuning) public var contradiction = ContradictionParameters()
  /// The field of a place as a state of the filter.
  @_spi(Tuning) public var place = PlaceFieldParameters()
  /// When north is found, trusted and given up.
  @_spi(Tuning) public var north = NorthParameters()
  /// A magnet that is attached to the board, or taken off.
  @_spi(Tuning) public var magnet = MagnetDetectorParameters()
  /// The residual hard iron that turning shows.
  @_spi(Tuning) public var residual = ResidualOffsetParameters()
  /// Whether the measured field is the earth's.
  @_spi(Tuning) public var fieldTest = FieldTestParameters()
  /// Attitude without a gyro.
  @_spi(Tuning) public var direct = DirectTrackerParameters()
  /// Acceleration that the force's length does not show, without a gyro.
  @_spi(Tuning) public var acceleration = UnseenAccelerationParameters()
  /// The error bar of heading.
  @_spi(Tuning) public var heading = HeadingAccuracyParameters()
  /// The error bar of the tilt.
  @_spi(Tuning) public var tilt = TiltAccuracyParameters()
  /// The published heading after a change of the calibration.
  @_spi(Tuning) public var transition = HeadingTransitionParameters()
  /// The smoother of a run that is over.
  @_spi(Tuning) public var smoother = SmootherParameters()

  /// Makes the defaults.
  public init() {}

  /// Allows for a gyro that has no record, and may say at rest what its datasheet lets it, deg/s either way.
  ///
  /// Datasheets call that level typical or a tolerance, and hardly one says of how many parts. Taken are 1.3 sigma
  /// (`gyroBias.datasheetSigmas`): between one, which would make starts in the hand dishonest at a level of 30 deg/s,
  /// and the 1.7 of a bound with all parts spread evenly within, which would be dishonest of a part beyond it. Up to
  /// 10 deg/s twice the level is honest so.
  public mutating func allow(zeroRateLevel: Double) {
    biasDeviation = max(biasDeviation, zeroRateLevel / gyroBias.datasheetSigmas)
  }

  /// The same with the default for every number that is out of its range in `numbers`.
  @_spi(Tuning) public var sound: AttitudeParameters {
    let usual = AttitudeParameters()
    var sound = self
    ParameterNumber.mend(&sound, Self.numbers, usual: usual)
    // Their difference is divided by.
    if sound.smoother.reach <= sound.smoother.whole {
      sound.smoother.reach = usual.smoother.reach
      sound.smoother.whole = usual.smoother.whole
    }
    return sound
  }

  /// For a run that will be smoothed. Every error is corrected by all that the gain says, because the smoother goes back
  /// over such corrections only. The field has less weight than a live filter can afford, which has nothing else to mend
  /// its heading with. A field that contradicts is not followed: all that comes later says whether it was right.
  public static var offline: AttitudeParameters {
    var params = AttitudeParameters()
    params.gyroMisalignment = 0.0015
    params.turningNoise = 0.0015
    params.velocityDeviation = 0.04
    params.magneticNoise = 0.2
    params.magneticCeiling = 6
    params.disturbanceTime = 6
    params.place.noise = 0.01
    params.azimuth.leastDeviation = 0.55
    params.azimuth.deviation = 0.55
    params.azimuth.strengthWeight = params.disturbanceTime
    params.azimuth.eastWeight = 0
    params.contradiction.least = 1000
    params.magnetometer.takeWholeGains()
    params.heading.unevenFactor = 0.5
    return params
  }
}
