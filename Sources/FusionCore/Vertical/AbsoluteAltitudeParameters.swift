// Parameters of absolute altitude: what a user may tune, and the groups for experiments.

/// Every threshold and noise of absolute altitude, independent of rates.
///
/// The plain values describe weather and receivers, the groups after them the estimator's tests.
/// `Documentation/filter.md` lists all of them. For a value outside its range, or not a number, the
/// default is used.
public struct AbsoluteAltitudeParameters: Sendable, Hashable {
  /// Growth of the level's uncertainty, m per root hour. Default 6.6.
  public var weather = 6.6
  /// One sigma of the scale. Default 0.045: 13 K.
  public var scale = 0.045
  /// One sigma of wind and ventilation, m. Default 3.
  public var wind = 3.0
  /// How long wind and ventilation last, seconds. Default 60.
  public var windTime = 60.0
  /// How long a receiver's fast errors last, seconds. Default 30.
  public var receiverTime = 30.0
  /// The white part of a receiver's error, as a share of its accuracy. Default 0.5.
  public var whiteShare = 0.5
  /// The least of a receiver's fast error that is believed, m. Default 1.5.
  public var leastFast = 1.5
  /// The least of its slow error, m, and its share of the stated accuracy. Defaults 2 and 1.
  public var leastSlow = 2.0
  /// See `leastSlow`.
  public var slowShare = 1.0
  /// How long a receiver's slow errors last, seconds. Default 7200.
  public var slowTime = 7_200.0

  /// What absolute altitude takes of barometer, receiver and people.
  @_spi(Tuning) public var limits = AltitudeSampleLimits()
  /// A receiver that has just found its satellites.
  @_spi(Tuning) public var convergence = ConvergenceParameters()
  /// How the size of a receiver's errors is learned.
  @_spi(Tuning) public var receiver = ReceiverLearningParameters()
  /// Contradictions between fixes, known heights and the filter.
  @_spi(Tuning) public var test = AltitudeTestParameters()

  /// Makes the defaults.
  public init() {}

  /// The same with the default for every number that is out of its range in `numbers`.
  @_spi(Tuning) public var sound: AbsoluteAltitudeParameters {
    var sound = self
    ParameterNumber.mend(&sound, Self.numbers, usual: AbsoluteAltitudeParameters())
    return sound
  }

  /// Returns the one-sigma error of a height `seconds` after it was known with `accuracy`, both in metres. Only the barometer
  /// carried it since: the weather has drifted, and the wind has changed.
  public func faded(_ accuracy: Double, after seconds: Double) -> Double {
    let drift = weather * weather * max(0, seconds) / 3_600
    return (accuracy * accuracy + drift + 2 * wind * wind).squareRoot()
  }
}

/// What absolute altitude takes of barometer, receiver and people.
@_spi(Tuning) public struct AltitudeSampleLimits: Sendable, Hashable {
  /// Altitude above which a fix or a known height is taken, in m. Default -1000.
  public var lowest = -1000.0
  /// Altitude below which a fix or a known height is taken, in m. Default 20000.
  public var highest = 20_000.0
  /// Largest accuracy of a fix, in m. Default 500.
  public var fixAccuracy = 500.0
  /// Largest accuracy of a known height, in m. Default 1000.
  public var knownAccuracy = 1000.0
  /// Oldest known height, in s: 30 days. Default 2592000.
  public var knownAge = 2_592_000.0
  /// Largest relative altitude, in m. Default 50000.
  public var relativeAltitude = 50_000.0
  /// Largest climb rate that is used, in m/s. Default 300.
  public var climb = 300.0
  /// Largest geoid separation, in m. Default 200.
  public var separation = 200.0
  /// Largest distance of a fix from the newest pressure, in s. Default 5.
  public var longestGap = 5.0
  /// Longest prediction, in s: 30 days. Default 2592000.
  public var longestPrediction = 2_592_000.0
}

/// A receiver that has just found its satellites.
@_spi(Tuning) public struct ConvergenceParameters: Sendable, Hashable {
  /// Pause after which a receiver converges again, in s. Default 60.
  public var pause = 60.0
  /// Least error at first, in m; chosen. Default 10.
  public var least = 10.0
  /// Largest error at first, in m. Default 100.
  public var largest = 100.0
  /// Time constant with which it fades, in s; chosen. Default 40.
  public var timeConstant = 40.0
  /// Age of the receiver's start after which there is no such error, in s. Default 300.
  public var duration = 300.0
}

/// How the size of a receiver's errors is learned.
@_spi(Tuning) public struct ReceiverLearningParameters: Sendable, Hashable {
  /// Age of the receiver's start from which its share is learned, in s. Default 20.
  public var age = 20.0
  /// Change of the share by one NIS of 2 or more in `timeConstant`. Default 0.5.
  public var gain = 0.5
  /// Longest interval that counts for one fix, in s. Default 10.
  public var longestInterval = 10.0
  /// Time constant of the learning, in s. Default 100.
  public var timeConstant = 100.0
  /// Smallest share of the stated accuracy; chosen. Default 0.3.
  public var leastShare = 0.3
  /// Largest share; chosen. Default 2.
  public var largestShare = 2.0
  /// How the deviation of the slow error follows, in s. Default 60.
  public var slowTime = 60.0
}

/// Contradictions between fixes, known heights and the filter.
@_spi(Tuning) public struct AltitudeTestParameters: Sendable, Hashable {
  /// NIS of a contradiction: five sigma. Default 25.
  public var gate = 25.0
  /// Time of refusals after which the level is found again, in s. Default 30.
  public var recoveryTime = 30.0
  /// How long a fix speaks for the receiver against a known height, in s. Default 60.
  public var presentFix = 60.0
  /// Growth of the scale's variance, in 1/h. Default 0.0001.
  public var scaleGrowth = 0.0001
  /// Ceiling of the scale's variance. Default 0.04.
  public var largestScaleVariance = 0.04
}
