// Parameters of the attitude estimator that concern motion. Angles are in radians.

/// What the estimator takes of its sensors, and how long it does without them.
@_spi(Tuning) public struct AttitudeSampleLimits: Sendable, Hashable {
  /// Largest angular rate on one axis that is taken, in rad/s; beyond any chip's range. Default 100.
  public var angularRate = 100.0
  /// Largest specific force on one axis that is taken, in m/s^2; beyond any chip's range. Default 1000.
  public var force = 1000.0
  /// Largest field on one axis that is taken, in uT; beyond any chip's range. Default 10000.
  public var field = 10_000.0
  /// Largest component of a receiver's velocity that is taken, in m/s. Default 1000.
  public var velocity = 1000.0
  /// Largest gyro bias that `expectGyroBias` takes, in rad/s. Default 1.
  public var gyroBias = 1.0
  /// Longest interval that is integrated over, and oldest velocity that is used, in s; a longer gap starts attitude
  /// again. Default 1.
  public var longestGap = 1.0
  /// Silence after which the gyro is absent and the inertial mode ends, in s. Default 0.5.
  public var gyroTimeout = 0.5
  /// Silence after which an accelerometer or magnetometer is lost and heading fails, in s. Default 2.
  public var lossTimeout = 2.0
  /// Longest extrapolation from the newest gyro sample, in s. Default 0.1.
  public var extrapolation = 0.1
}

/// The initial alignment: means over the first fraction of a second.
@_spi(Tuning) public struct AlignmentParameters: Sendable, Hashable {
  /// Deviation of the tilt from which the alignment is one in motion, in rad: it takes longer and is trusted later.
  /// Default 0.2.
  public var movingTilt = 0.2
  /// How long the attitude is doubted after an alignment in motion, with the smaller divergence limit, in s.
  /// Default 10.
  public var uncertainDuration = 10.0
  /// How long an acceleration lasts that is no vehicle's, in s; longer means cancel it. Default 0.3.
  public var shakeTime = 0.3
  /// Floor of the tilt's deviation, in rad. Default 1 deg.
  public var tiltFloor = Double.pi / 180
  /// Ceiling of the tilt's deviation, in rad. Default 1.
  public var tiltCeiling = 1.0
  /// Share of the rotation by an unknown bias that the means are wrong by. Default 0.5.
  public var smearShare = 0.5
  /// Initial deviation of heading, in rad. Default 1.
  public var headingDeviation = 1.0
  /// Initial deviation of the velocity, and after levelling, in m/s; the run may begin while somebody walks.
  /// Default 1.
  public var velocityDeviation = 1.0
  /// Heading variance of one averaged field, (0.02 rad)^2, in the error bar of the alignment, in rad^2. Default
  /// 0.0004.
  public var fieldVariance = 0.0004
}

/// How the gyro bias is found and kept.
@_spi(Tuning) public struct GyroBiasParameters: Sendable, Hashable {
  /// Largest bias deviation that widens the limit of stationarity, in rad/s; a start with more is one that finds
  /// the bias. Default 1.2 deg/s.
  public var widestDeviation = 1.2 * Double.pi / 180
  /// Bias variance at which the bias counts as found and attitude starts again, in (rad/s)^2. Default (0.6
  /// deg/s)^2.
  public var foundVariance = 0.36 * Double.pi * Double.pi / 32_400
  /// Deviation added to the bias at a restart, in rad/s. Default 0.38 deg/s.
  public var restartDeviation = 0.38 * (Double.pi / 180)
  /// Deviation of a bias measurement while stationary, mean over a second, in rad/s. Default 0.035 deg/s.
  public var stationaryDeviation = 0.035 * (Double.pi / 180)
  /// The same before stationarity is sure, in rad/s. Default 0.15 deg/s.
  public var candidateDeviation = 0.15 * (Double.pi / 180)
  /// Floor of the distance from the known bias at which a mean rate can still be bias, in rad/s. Default 0.75
  /// deg/s.
  public var stationaryFloor = 0.75 * Double.pi / 180
  /// Deviations of the bias added to that floor. Default 3.
  public var stationarySigmas = 3.0
  /// Deviations that the zero-rate level of a datasheet counts as. Default 1.3.
  public var datasheetSigmas = 1.3
}

/// What integration misses between two samples.
@_spi(Tuning) public struct GyroIntegrationParameters: Sendable, Hashable {
  /// Interval from which integration counts as coarse, in s. Default 0.05.
  public var coarseInterval = 0.05
  /// Share of the square of a change of rate that a coarse interval misses. Default 1/16.
  public var coarseTurn = 1.0 / 16
  /// Square of the share of a second difference of the rate that is missed; measured on BROAD as 1/90 to 1/50.
  /// Default 1/3600.
  public var missedTurn = 1.0 / 3600
  /// The same of the horizontal velocity on each axis, 0.25^2 / 2; measured on BROAD as 0.14 to 0.36. Default
  /// 0.03125.
  public var missedForce = 0.031_25
  /// Share of `turningNoise` squared on each axis: misalignment lets a rate about one axis show in all three.
  /// Default 0.2.
  public var axisShare = 0.2
  /// Most that a clipped gyro is taken to miss, as a share of what it has shown meanwhile. Default 0.5.
  public var clippedShare = 0.5
  /// Standard deviation of what a clipped gyro misses, as a share of it. Default 0.5.
  public var clippedDeviation = 0.5
  /// Standard deviation of a force beyond the accelerometer's range, in m/s^2. Default 10.
  public var clippedForce = 10.0
  /// How long a force is reused by accelerometers slower than a block, in s. Default 0.5.
  public var forceReuse = 0.5
}

/// How velocity is measured, held, and doubted.
@_spi(Tuning) public struct VelocityAidingParameters: Sendable, Hashable {
  /// Random walk of the velocity, in m/s/√s. Default 0.015.
  public var noise = 0.015
  /// Low pass of the squared velocity, which weakens the zero-velocity measurement, in s. Default 0.3.
  public var scatterTime = 0.3
  /// Most of it that counts where legs shake the board strongly, in (m/s)^2. Default 2.
  public var largestScatter = 2.0
  /// Mean square of vertical acceleration there, in (m/s^2)^2; half of it lets four times as much count. Default 4.
  public var strongShaking = 4.0
  /// Mean square of vertical acceleration from which on a board is on legs, in (m/s^2)^2. Default 1.
  public var leastShaking = 1.0
  /// Low pass of the squared vertical acceleration, in s. Default 2.
  public var shakeTime = 2.0
  /// Age up to which a receiver's velocity aids by itself, in s. Default 1.5.
  public var pause = 1.5
  /// Age up to which the last velocity is used, in s. Default 30.
  public var memory = 30.0
  /// Deviation of a velocity that is held, in m/s. Default 0.5.
  public var heldDeviation = 0.5
  /// Growth of that deviation with age, in m/s^2. Default 0.3.
  public var heldGrowth = 0.3
  /// Unknown part of the age of a velocity, in s. Default 0.1.
  public var slip = 0.1
  /// Fading of the dead-reckoned tilt, unaided, in s; longer where the velocity is beyond `largestScatter`. Default 18.
  public var tiltMemory = 18.0
  /// Fading of the dead-reckoned tilt, aided or unaccelerated, in s. Default 4.
  public var tiltFading = 4.0
}

/// A receiver's course as heading of a vehicle.
@_spi(Tuning) public struct CourseParameters: Sendable, Hashable {
  /// Floor of a course's variance, (2 deg)^2, in rad^2: slip, mounting, and what a receiver's course is wrong by
  /// for seconds. Default 0.0012.
  public var variance = 0.0012
  /// Speed from which a course is used, in m/s. Default 3.
  public var leastSpeed = 3.0
  /// Deviations that a speed must exceed for its course to be used. Default 4.
  public var speedSigmas = 4.0
  /// Share of the squared turn since the course that is added to its variance. Default 1/4.
  public var turnShare = 1.0 / 4
  /// NIS beyond which a course counts less. Default 6.
  public var gate = 6.0
  /// Courses in a row beyond the gate after which they are believed. Default 3.
  public var contradictions = 3
  /// How long the last course counts in the error bar, in s. Default 300.
  public var memory = 300.0
}

/// A heading that two antennas, or another instrument, measure.
@_spi(Tuning) public struct MeasuredHeadingParameters: Sendable, Hashable {
  /// Floor of its variance, (1 deg)^2, in rad^2: how exactly the antennas' line is known, and errors that last. Default 0.0003.
  public var variance = 0.0003
  /// NIS beyond which a heading is rejected. Default 9.
  public var gate = 9.0
  /// Number of headings over which their scatter about the attitude is averaged. Default 50.
  public var scatterMemory = 50.0
  /// What a heading may differ by besides that scatter, (0.5 deg)^2, in rad^2. Default 0.00008.
  public var leastScatter = 0.00008
  /// How long headings must contradict before they are believed, in s: carrier phases may be fixed to wrong
  /// ambiguities for tens of seconds. Default 30.
  public var patience = 30.0
  /// Longest time that one rejected heading counts, in s. Default 2.
  public var longestInterval = 2.0
  /// How long an error lasts that comes from a turn and an unknown delay, in s. Default 5.
  public var turnTime = 5.0
  /// Shortest time between headings that count apart, in s. Default 0.05.
  public var leastInterval = 0.05
  /// How long a vehicle's course does not count beside measured headings, in s. Default 5.
  public var precedence = 5.0
}

/// The divergence test of the attitude, and levelling.
@_spi(Tuning) public struct DivergenceParameters: Sendable, Hashable {
  /// Low pass of the force that levelling brings upright, in s. Default 2.
  public var forceTime = 2.0
  /// Memory of the velocity that the force would have given, in s. Default 10.
  public var memory = 10.0
  /// Velocity beyond which the attitude is wrong, in m/s; an accelerometer that clips at 2 g while
  /// somebody runs misses 3 m/s^2 in the mean. Default 40.
  public var limit = 40.0
  /// The same at a constant rate, and after an alignment in motion, in m/s. Default 9.
  public var uncertainLimit = 9.0
  /// Horizontal velocity that legs do not reach, in m/s: beyond it the tilt is doubted. Default 8.
  public var legLimit = 8.0
  /// Smallest angle that is levelled, in rad. A vehicle that brakes or turns, at up to half of gravity, looks like a
  /// smaller one. Default 0.5.
  public var leastAngle = 0.5
  /// Largest difference of the mean force from gravity, in shares of it, for levelling: in free fall nothing says
  /// where up is. Default 0.5.
  public var largestExcess = 0.5
  /// Deviation of the tilt after levelling, as a share of the angle. Default 0.3.
  public var levelledShare = 0.3
  /// Floor of the tilt's variance after levelling, (1 deg)^2, in rad^2. Default 0.0003.
  public var levelledVariance = 0.0003
}

/// How the board is known to be stationary.
@_spi(Tuning) public struct StationaryParameters: Sendable, Hashable {
  /// Low pass of rate, force and field, in s. Default 0.5.
  public var timeConstant = 0.5
  /// Largest distance of a rate from its low pass, in rad/s; ten times a MEMS chip's noise, and below what a hand
  /// does. Default 2 deg/s.
  public var rateThreshold = 2 * Double.pi / 180
  /// The same of the force, in m/s^2. Default 0.5.
  public var forceThreshold = 0.5
  /// Largest distance of the low-passed rate from its own mean, in rad/s; a turn that begins or ends gently exceeds
  /// it. Default 0.1 deg/s.
  public var driftThreshold = 0.1 * Double.pi / 180
  /// Low pass of that mean, in s. Default 2.5.
  public var settlingTime = 2.5
  /// Time without motion until stationary, and until constant rate, in s. Default 1.5.
  public var duration = 1.5
  /// Time without motion until the bias is measured, in s. Default 0.2.
  public var candidateDuration = 0.2
  /// Change of the force up to which the carrier is unaccelerated, in m/s^2. Default 0.025.
  public var unacceleratedThreshold = 0.025
}

/// A slow turn that looks stationary, as the field shows it.
@_spi(Tuning) public struct SlowTurnParameters: Sendable, Hashable {
  /// Smallest change of the mean field, in uT. Default 0.25.
  public var fieldThreshold = 0.25
  /// Weight of the noise of two means in that threshold: twelve times twice the square over n. Default 12.
  public var noiseFactor = 12.0
  /// Low pass of the field's scatter and time before the observation begins, in times of `stationary.timeConstant`.
  /// Default 4.
  public var settling = 4.0
  /// Longest observation of the field, in s; a chip drifts with its temperature. Default 20.
  public var longestObservation = 20.0
  /// Spacing of the earlier means that a turn is looked for in, in s. Default 0.5.
  public var step = 0.5
  /// Fastest turn, in rad/s; a slow turn can carry the bias with it and become this fast. Default 5 deg/s.
  public var fastest = 5 * Double.pi / 180
  /// Slowest turn, in rad/s; a house's own field moves like that, 0.4 uT in 10 s at 20 uT. Default 0.15 deg/s.
  public var slowest = 0.15 * Double.pi / 180
  /// Largest share of a change that is not a turn about up. Default 0.2.
  public var otherShare = 0.2
  /// Smallest share that the turn had reached 0.5 to 1 s before. Default 0.35.
  public var progress = 0.35
  /// Time without stationarity afterwards, in times of the observation. Default 2.
  public var suspension = 2.0
  /// Least time without stationarity, in s. Default 6.
  public var leastSuspension = 6.0
  /// Longest time without stationarity, in s. Default 20.
  public var longestSuspension = 20.0
  /// Floor of the deviation of the bias that a slow turn measures, in rad/s. Default 0.15 deg/s.
  public var biasFloor = 0.15 * Double.pi / 180
  /// Share of the turn's rate added to that deviation. Default 0.3.
  public var biasShare = 0.3
  /// Deviation of the rate of turn that rest can hide while the magnetometer is silent, in rad/s. Default 0.4 deg/s.
  public var unobserved = 0.4 * Double.pi / 180
}
