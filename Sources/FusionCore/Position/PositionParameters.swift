// Parameters of the position estimator: what a user may tune, and the groups for experiments.

/// Every threshold and noise of the position estimator, independent of rates.
///
/// The plain values describe receivers and their use, the groups after them the estimator's tests and models.
/// `Documentation/filter.md` lists all of them. For a value outside its range, or not a number, the
/// default is used.
public struct PositionParameters: Sendable, Hashable {
  /// How long a position is carried, seconds: `limits.loss` at most. Default 30.
  public var longestLoss = 30.0
  /// How long the errors of a receiver hang together, seconds. Default 60: multipath changes as the satellites
  /// move, and as the carrier does.
  public var receiverTime = 60.0
  /// The white part of a receiver's error, as a share of its accuracy. Default 0.3: receivers filter already.
  public var whiteShare = 0.3
  /// The least of the error of a speed that is believed, m/s. Default 0.2: what a receiver's own filter
  /// smooths away.
  public var leastSpeedDeviation = 0.2
  /// One-sigma error of a speed for which the receiver states no accuracy, m/s. Default 0.5.
  public var speedDeviation = 0.5
  /// One sigma of the error of the turn rate at the start, rad/s. Default 0.2 degrees a second: the attitude
  /// filter takes most of a gyro's bias away.
  public var rateDeviation = 0.2 * Double.pi / 180
  /// A fix that is worse than this is not carried on from, and says nothing of speed, m. Default 100: it
  /// is of cells and not of satellites.
  public var coarsest = 100.0

  /// What the position estimator takes of its sensors.
  @_spi(Tuning) public var limits = PositionSampleLimits()
  /// What of a fix is believed.
  @_spi(Tuning) public var test = PositionTestParameters()
  /// Adaptive process noise: how this carrier gains speed and turns.
  @_spi(Tuning) public var motion = MotionHabitParameters()
  /// Simulated losses of the receiver that measure the error bar.
  @_spi(Tuning) public var trials = TrialLossParameters()

  /// Makes the defaults.
  public init() {}

  /// The same with the default for every number that is out of its range in `numbers`, and for lists that do not ascend.
  @_spi(Tuning) public var sound: PositionParameters {
    let usual = PositionParameters()
    var sound = self
    ParameterNumber.mend(&sound, Self.numbers, usual: usual)
    func ascends(_ list: SIMD8<Double>) -> Bool {
      list[0] > 0 && list.indices.dropFirst().allSatisfy { list[$0] > list[$0 - 1] }
    }
    if !ascends(trials.ages) || !trials.ages[7].isFinite { sound.trials.ages = usual.trials.ages }
    if !ascends(trials.speeds) { sound.trials.speeds = usual.trials.speeds }
    return sound
  }
}

/// What the position estimator takes of its sensors.
@_spi(Tuning) public struct PositionSampleLimits: Sendable, Hashable {
  /// Longest dead reckoning, in s; twice that is the pause after which everything restarts. Default 60.
  public var loss = 60.0
  /// How much older than the newest turn a fix may be, in s: receivers' latency. Default 1.5.
  public var latency = 1.5
  /// Step of the prediction, in s; a turn of 40 deg/s is 4 degrees then. Default 0.1.
  public var step = 0.1
  /// Longest interval between two turns, in s. Default 1.5.
  public var longestTurnGap = 1.5
  /// Distance at the equator at which the local frame moves, in m; north turns by 0.02 degrees at most. Default
  /// 2000.
  public var farthest = 2000.0
  /// Turn rate from which a sample is dropped, in rad/s. Default 40.
  public var turnRate = 40.0
  /// Accuracy above which a fix is taken, in m. Default 0.0001.
  public var leastAccuracy = 0.0001
  /// Accuracy below which a fix is taken, in m. Default 1000000.
  public var largestAccuracy = 1_000_000.0
  /// Speed of a fix from which it is dropped, in m/s. Default 1000.
  public var speed = 1000.0
  /// How much older than its fix a question may be, in s. Default 1.
  public var lead = 1.0
}

/// What of a fix is believed.
@_spi(Tuning) public struct PositionTestParameters: Sendable, Hashable {
  /// NIS beyond which a fix is refused; one in 10^11 of errors that are as stated. Default 50.
  public var gate = 50.0
  /// NIS beyond which the velocity learns nothing from a fix; one in 10^4. Default 18.
  public var velocityGate = 18.0
  /// Time of refusals after which a fix is followed, in s. Default 3.
  public var recoveryTime = 3.0
  /// Initial deviation of the velocity on each axis, in m/s. Default 20.
  public var initialSpeed = 20.0
  /// Deviations below which a speed is a standstill. Default 2.
  public var standstillSigmas = 2.0
  /// Variance of a course from which it teaches nothing, in rad^2: 30 degrees. Default 0.25.
  public var largestCourseVariance = 0.25
}

/// Adaptive process noise: how this carrier gains speed and turns.
@_spi(Tuning) public struct MotionHabitParameters: Sendable, Hashable {
  /// Distance of the fixes that are compared, in s; longer than a receiver smooths, no longer than a bend. Default
  /// 5.
  public var window = 5.0
  /// Largest distance, in windows. Default 2.
  public var longestWindow = 2.0
  /// Memory in windows: a minute and a half, in which a town becomes a motorway. Default 20.
  public var memory = 20.0
  /// Weight of the prior, in windows. Default 2.
  public var priorWeight = 2.0
  /// Prior of the growth along the way, in (m/s)^2/s: 0.3 m/s in a window. Default 0.02.
  public var alongPrior = 0.02
  /// Prior of its growth with the squared speed, in 1/s: a tenth of the speed in a window. Default 0.002.
  public var alongSpeedPrior = 0.002
  /// Prior across without a measured turn, in rad^2/s: 8 degrees in a window. Default 0.004.
  public var turningPrior = 0.004
  /// Prior across with a measured turn, in rad^2/s: 2.5 degrees in a window. Default 0.0004.
  public var aidedPrior = 0.0004
  /// Evidence before any that the gyro turns with its carrier, as of a turn by 20 degrees, in rad^2: most boards
  /// are screwed on. Default 0.12.
  public var fixedBoard = 0.12
  /// Floor along, in (m/s)^2/s; less than a drive on a straight road shows, 0.1 m/s in a window. Default 0.0025.
  public var leastAlong = 0.0025
  /// Floor across, in rad^2/s: 0.4 degrees in a window. Default 0.00001.
  public var leastTurning = 0.000_01
  /// Largest sideways motion, in (m/s)^2/s: a few decimetres a second. Default 0.01.
  public var largestSideways = 0.01
  /// Course variance that halves the weight of a turn, in rad^2: 6 degrees. Default 0.01.
  public var courseVariance = 0.01
  /// Random walk of the error of the turn rate, in (rad/s)^2/s: 10 degrees an hour in a quarter of an hour. Default
  /// 0.000000000001.
  public var rateNoise = 1e-12
}

/// Simulated losses of the receiver that measure the error bar.
@_spi(Tuning) public struct TrialLossParameters: Sendable, Hashable {
  /// Ages at which a trial is compared, in ascending order, in s. Default 2, 5, 10, 15, 20, 30, 45, 60.
  public var ages = SIMD8<Double>(2, 5, 10, 15, 20, 30, 45, 60)
  /// Borders of the groups of speed, in m/s: standing, walk, run, bicycle, town, road, motorway. Default 0.7, 2.5,
  /// 5, 8, 12, 18, 25, ∞.
  public var speeds = SIMD8<Double>(0.7, 2.5, 5, 8, 12, 18, 25, .infinity)
  /// Time between the starts of two trials, in s. Default 5.
  public var interval = 5.0
  /// Trials that run at a time. Default 13.
  public var most = 13
  /// Share of fixes that a trial's circle is to hold; less than 0.68, as the published circle also has the accuracy
  /// of the last fix. Default 0.65.
  public var share = 0.65
  /// First step of the logarithm by age; a minute halves or doubles it at first. Default 0.5.
  public var ageFirstStep = 0.5
  /// Step by age after many comparisons; some minutes of memory after an hour. Default 0.03.
  public var ageLastStep = 0.03
  /// Comparisons that halve the first step by age. Default 4.
  public var ageCount = 4.0
  /// First step by speed. Default 0.2.
  public var speedFirstStep = 0.2
  /// Step by speed after many comparisons. Default 0.06.
  public var speedLastStep = 0.06
  /// Comparisons that halve the first step by speed. Default 20.
  public var speedCount = 20.0
  /// Largest logarithm of a multiple: 20. Default 3.
  public var widest = 3.0
  /// Smallest logarithm: 0.3. Default -1.2.
  public var narrowest = -1.2
  /// Initial logarithm by age; a carrier that has shown nothing does twice what was expected. Default 0.7.
  public var unknown = 0.7
  /// Latest comparison, in ages. Default 1.25.
  public var latest = 1.25
  /// Worst fix that is compared, in accuracies of the first. Default 3.
  public var worstFix = 3.0
}
