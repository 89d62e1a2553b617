// Parameters of the sea state: what a user may tune, and the groups for experiments.

/// Every threshold of the sea state, independent of rates.
///
/// `Documentation/filter.md` lists all of them. For a value outside its range, or not a number, the default is used.
public struct SeaStateParameters: Sendable, Hashable {
  /// Time constant of the exponential mean of the spectra, in seconds. Default 1200.
  public var averagingTime = 1_200.0
  /// Number of spectra before a sea state is given; the first one takes 128 s, each other 64 s. Default 4.
  public var leastWindows = 4

  /// What the sea state takes of its sensors.
  @_spi(Tuning) public var limits = WaveSampleLimits()
  /// How waves are told from noise, hills and roads.
  @_spi(Tuning) public var detection = WaveDetectionParameters()

  /// Makes the defaults.
  public init() {}

  /// The same with the default for every number that is out of its range in `numbers`.
  @_spi(Tuning) public var sound: SeaStateParameters {
    var sound = self
    ParameterNumber.mend(&sound, Self.numbers, usual: SeaStateParameters())
    return sound
  }

  /// The numbers among the parameters, by the names that `Documentation/filter.md` has for them, with their ranges.
  @_spi(Tuning) public static let numbers: [ParameterNumber<SeaStateParameters>] = [
    .real("averagingTime", \.averagingTime, 64...1e6),
    .count("leastWindows", \.leastWindows, 1...1_000),
    .real("limits.force", \.limits.force),
    .real("limits.knock", \.limits.knock),
    .real("limits.gap", \.limits.gap, 0...10),
    .real("limits.age", \.limits.age),
    .real("detection.prominence", \.detection.prominence, 1...1e9),
    .real("detection.windowProminence", \.detection.windowProminence),
    .real("detection.keepShare", \.detection.keepShare, 0...1),
    .real("detection.shortestPeriod", \.detection.shortestPeriod, 1...1e3),
    .real("detection.calmPeriod", \.detection.calmPeriod, 1...1e3),
    .real("detection.calmShare", \.detection.calmShare),
  ]
}

/// What the sea state takes of its sensors.
@_spi(Tuning) public struct WaveSampleLimits: Sendable, Hashable {
  /// Specific force from which a sample is refused, in m/s^2. Default 400.
  public var force = 400.0
  /// Vertical acceleration from which a sample is a knock, in m/s^2; chosen: twice gravity, above slamming. Default 20.
  public var knock = 20.0
  /// Longest interval between two samples, in s. Default 0.5.
  public var gap = 0.5
  /// Age at which the spectra are forgotten, in s. Default 900.
  public var age = 900.0
}

/// How waves are told from noise, hills and roads.
@_spi(Tuning) public struct WaveDetectionParameters: Sendable, Hashable {
  /// Peak of the elevation spectrum over its valley on the side of low frequencies, with many windows. Default 4.
  public var prominence = 4.0
  /// What is added to `prominence`, over the number of windows. Default 60.
  public var windowProminence = 60.0
  /// Share of this threshold at which known waves end. Default 0.5.
  public var keepShare = 0.5
  /// Shortest peak period of a sea, in s. Default 1.7.
  public var shortestPeriod = 1.7
  /// Longest period of the waves in `undetectedWaveHeight`, in s. Default 15.
  public var calmPeriod = 15.0
  /// Variance of the smallest waves that are found for certain, over the threshold times what the noise looks like as
  /// elevation; from simulated Pierson-Moskowitz seas of 6 to 15 s. Default 100.
  public var calmShare = 100.0
}
