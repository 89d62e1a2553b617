// Parameters of heave: what a user may tune, and the group for experiments.

/// Every threshold of the heave filter, independent of rates.
///
/// `Documentation/filter.md` lists all of them. For a value outside its range, or not a number, the default is used.
public struct HeaveParameters: Sendable, Hashable {
  /// Number of spectra before a heave is given; the first one takes 128 s, each other 64 s. Default 2.
  public var leastWindows = 2
  /// Error of the measured vertical acceleration that moves with the waves, as a share of it: scale and attitude. Default
  /// 0.02.
  public var share = 0.02

  /// The filter that integrates the vertical acceleration.
  @_spi(Tuning) public var filter = HeaveFilterParameters()

  /// Makes the defaults.
  public init() {}

  /// The same with the default for every number that is out of its range in `numbers`.
  @_spi(Tuning) public var sound: HeaveParameters {
    var sound = self
    let usual = HeaveParameters()
    ParameterNumber.mend(&sound, Self.numbers, usual: usual)
    if sound.filter.slowest >= sound.filter.fastest {
      sound.filter.slowest = usual.filter.slowest
      sound.filter.fastest = usual.filter.fastest
    }
    return sound
  }

  /// The numbers among the parameters, by the names that `Documentation/filter.md` has for them, with their ranges.
  @_spi(Tuning) public static let numbers: [ParameterNumber<HeaveParameters>] = [
    .count("leastWindows", \.leastWindows, 1...1_000),
    .real("share", \.share),
    .real("filter.slowest", \.filter.slowest, 1e-3...2),
    .real("filter.fastest", \.filter.fastest, 1e-3...2),
    .real("filter.corner", \.filter.corner),
    .real("filter.settling", \.filter.settling),
    .real("filter.step", \.filter.step, 1...1e9),
    .real("filter.excess", \.filter.excess, ParameterRange.positive),
  ]
}

/// The filter that integrates the vertical acceleration.
@_spi(Tuning) public struct HeaveFilterParameters: Sendable, Hashable {
  /// Lowest corner frequency, in rad/s. Default 0.02.
  public var slowest = 0.02
  /// Highest corner frequency, in rad/s. Default 0.8.
  public var fastest = 0.8
  /// Frequency below which the accelerometer's noise counts as rising with the period, in rad/s. Default 0.05.
  public var corner = 0.05
  /// Time that the filter takes to settle, in units of 1 / corner frequency. Default 20.
  public var settling = 20.0
  /// Largest ratio by which the corner frequency changes with one spectrum. Default 1.25.
  public var step = 1.25
  /// The filter restarts when heave exceeds this multiple of its standard deviation. Default 6.
  public var excess = 6.0
}
