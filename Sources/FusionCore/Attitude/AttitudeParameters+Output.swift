// Parameters of attitude without a gyro, of the published heading and of the smoother.

/// Attitude without a gyro.
@_spi(Tuning) public struct DirectTrackerParameters: Sendable, Hashable {
  /// Cutoff of a board that does not turn, in Hz. Default 0.6.
  public var restCutoff = 0.6
  /// Growth of the cutoff with the rate of turning, in Hz/(rad/s). Default 3.
  public var cutoffSlope = 3.0
  /// Low pass of the field's slope, in s. Default 0.15.
  public var slopeTime = 0.15
  /// Low pass of the force's scatter, in s. Default 0.5.
  public var scatterTime = 0.5
  /// Floor of the tilt's variance, (0.57 deg)^2, in rad^2. Default 0.0001.
  public var tiltVariance = 0.0001
  /// Tilt up to which inclination is learned, in rad. Default 0.1.
  public var learningTilt = 0.1
  /// Tilt up to which inclination is judged, and heading bounded by slopes, in rad. Default 0.35.
  public var blindTilt = 0.35
}

/// Acceleration that the force's length does not show, without a gyro.
@_spi(Tuning) public struct UnseenAccelerationParameters: Sendable, Hashable {
  /// How long a carrier accelerates in one direction, in s. Default 22.
  public var memory = 22.0
  /// Deviation of the acceleration of a carrier that moves, in m/s^2. Default 0.4.
  public var moving = 0.4
  /// The same after a long time without change, in m/s^2. Default 0.02.
  public var still = 0.02
  /// Deviation of the speed that may have been gained since the last change, in m/s. Default 2.5.
  public var speed = 2.5
  /// Change of the force that ends the time without change, in m/s^2. Default 0.12.
  public var forceLimit = 0.12
  /// Change of the field's direction that ends it, in rad. Default 0.05.
  public var angleLimit = 0.05
  /// Time without change until the chip's length of gravity is known, in s. Default 5.
  public var stillDuration = 5.0
  /// Error of the length of gravity before, in m/s^2. Default 0.15.
  public var unknownLength = 0.15
  /// Error of the length of gravity after, in m/s^2. Default 0.04.
  public var knownLength = 0.04
  /// Times the largest acceleration from which a change is a tilt. Default 1.5.
  public var tiltFactor = 1.5
}

/// The error bar of heading.
@_spi(Tuning) public struct HeadingAccuracyParameters: Sendable, Hashable {
  /// Factor on the filter's covariance, 1.4^2: errors of the field last longer than a block. Default 1.96.
  public var covarianceFactor = 1.96
  /// Factor on the covariance of attitude in a field that is the same everywhere. Default 0.45.
  public var evenFactor = 0.45
  /// Share of the variance of the field's anomaly up to which the covariance is the anomaly's. Default 0.5.
  public var settledFactor = 0.5
  /// What each square microtesla per axis that the turns leave unexplained adds to that factor; for a field of
  /// `magnetometer.referenceStrength`. Default 0.35.
  public var unevenFactor = 0.35
  /// Most of those that count, in uT^2. Default 36.
  public var largestUnevenness = 36.0
  /// Factor on the square of what the field's dip is wrong by, taken for an error of north. Default 1.6.
  public var dipFactor = 1.6
  /// Factor on the square of the azimuth beyond its own deviation, and on that of `placeTurn`. Default 0.5.
  public var azimuthFactor = 0.5
  /// Smallest turn of the attitude by the assumption of standstill that widens the bar, in rad. It is smaller where the
  /// velocity is beyond `velocity.largestScatter`. Default 0.01.
  public var leastPull = 0.01
  /// Factor on the square of what is beyond that. Default 1.4.
  public var pullFactor = 1.4
  /// Largest bar with which a heading is given while the field is disturbed, in rad. Default 35 deg.
  public var carriedAccuracy = 35 * Double.pi / 180
  /// Bar below which a heading that was withheld for that is given again, in rad. Default 25 deg.
  public var regainedAccuracy = 25 * Double.pi / 180
  /// Further factor while the bias is being found: such a bias turns by more than what is linear. Default 4.
  public var findingBiasFactor = 4.0
  /// Largest horizontal field that counts, in shares of the filter's own. Default 1.2.
  public var strongestNorth = 1.2
  /// Smallest horizontal field that counts, as a share of the whole, so that north has a direction. Default 0.02.
  public var leastHorizontalShare = 0.02
  /// Largest whole field in that share, in uT. Default 100.
  public var largestField = 100.0
  /// Deviation of the tilt of a board declared level, in rad. Default 2 deg.
  public var declaredTilt = 2 * Double.pi / 180
}

/// The error bar of the tilt.
@_spi(Tuning) public struct TiltAccuracyParameters: Sendable, Hashable {
  /// Factor on the filter's covariance: errors of the velocity last longer than a block. Default 4.
  public var covarianceFactor = 4.0
  /// Factor on the square of the turn of the attitude by the assumption of standstill. Default 0.5.
  public var pullFactor = 0.5
  /// Deviation that no covariance knows of: the accelerometer's bias, mounting, in rad. Default 0.6 deg.
  public var floor = 0.6 * Double.pi / 180
}

/// The published heading after a change of the calibration.
@_spi(Tuning) public struct HeadingTransitionParameters: Sendable, Hashable {
  /// How long the filter's corrections are passed on slowly, in s. Default 3.
  public var settling = 3.0
  /// Time constant with which the published heading follows, in s. Default 1.
  public var timeConstant = 1.0
}

/// The smoother of a run that is over.
@_spi(Tuning) public struct SmootherParameters: Sendable, Hashable {
  /// Blocks that are smoothed at once: ten minutes. Default 6000.
  public var window = 6000
  /// Least number of blocks after them: five minutes. Default 3000.
  public var overlap = 3000
  /// How far dead reckoning goes back from a doubt, in s. Default 20.
  public var reach = 20.0
  /// Age up to which it has full weight, in s. Default 10.
  public var whole = 10.0
  /// Variance that the gyro adds on the way, (0.06 deg)^2 a second, in rad^2/s. Default 0.000001.
  public var noise = 0.000_001
}
