/// A vessel's heave at one moment: its vertical motion about the mean of the waves.
public struct HeaveEstimate: Sendable, Hashable, Codable {
  /// The moment it is true for.
  public var time: Timestamp
  /// Height above its own mean in metres, up positive.
  public var heave: Double
  /// One-sigma error of the heave in metres: 1.96 of it hold the truth in 95 % of the time.
  public var accuracy: Double
  /// Rate of change of the heave in m/s, up positive.
  public var rate: Double
  /// One-sigma error of the rate in m/s.
  public var rateAccuracy: Double

  /// Makes an estimate.
  public init(
    time: Timestamp, heave: Double, accuracy: Double, rate: Double, rateAccuracy: Double
  ) {
    self.time = time
    self.heave = heave
    self.accuracy = accuracy
    self.rate = rate
    self.rateAccuracy = rateAccuracy
  }
}

/// Why there is a heave at one moment, or why not.
public enum HeaveCondition: String, Sendable, Hashable, Codable, CustomStringConvertible {
  /// Too few spectra of the vertical acceleration yet.
  case learning
  /// There are no waves above the noise: the water is calm, or the board is ashore.
  case calmOrAshore
  /// The filter began again a moment ago and has not settled.
  case settling
  /// The heave is known.
  case valid

  /// The condition in words, for a person.
  public var description: String {
    switch self {
    case .learning: "learning the sea: heave takes about five minutes of samples without a pause"
    case .calmOrAshore: "no waves above the noise: the water is calm, or the board is ashore"
    case .settling: "the heave filter began again and has not settled"
    case .valid: "the heave is known"
    }
  }
}

/// One quantity of a sea state.
public struct SeaQuantity: Sendable, Hashable, Codable {
  /// In the unit of the quantity.
  public var value: Double
  /// One-sigma error in the same unit: what the finite record and the sensor's noise leave open.
  public var accuracy: Double

  /// Makes a quantity.
  public init(value: Double, accuracy: Double) {
    self.value = value
    self.accuracy = accuracy
  }
}

/// The sea as a vessel's motion shows it, over many minutes.
///
/// The waves are those that the vessel follows: short waves move a large hull less than the water.
public struct SeaState: Sendable, Hashable, Codable {
  /// What the spectrum of the vertical acceleration shows.
  public enum Condition: String, Sendable, Hashable, Codable {
    /// There are waves above the noise.
    case waves
    /// There are none: the water is calm, or the board is ashore. Only `undetectedWaveHeight` is known.
    case calmOrAshore
  }

  /// The end of the newest spectrum.
  public var time: Timestamp
  /// Whether there are waves.
  public var condition: Condition
  /// The effective length of the record that all quantities rest on, in seconds.
  public var duration: Double
  /// Significant wave height 4 sqrt(m0), in metres.
  public var significantWaveHeight: SeaQuantity?
  /// Mean zero-upcrossing period sqrt(m0 / m2), in seconds, as the vessel meets the waves.
  public var meanPeriod: SeaQuantity?
  /// Period of the spectrum's peak, in seconds, as the vessel meets the waves.
  public var peakPeriod: SeaQuantity?
  /// Significant amplitude of roll, 2 sqrt(m0) about the mean heel, in radians.
  public var rollAmplitude: SeaQuantity?
  /// Significant amplitude of pitch, 2 sqrt(m0) about the mean trim, in radians.
  public var pitchAmplitude: SeaQuantity?
  /// Significant height in metres below which waves with periods up to 15 s may go unnoticed; `nil` if there are waves.
  public var undetectedWaveHeight: Double?

  /// Makes a sea state of which only condition and time are known.
  public init(time: Timestamp, condition: Condition, duration: Double) {
    self.time = time
    self.condition = condition
    self.duration = duration
  }
}

/// What a vessel's motion says of the waves: the heave of one moment, and the sea state of the last minutes.
public struct WaveEstimate: Sendable, Hashable, Codable {
  /// The moment that it was published for: that of the newest sample of the accelerometer.
  public var time: Timestamp
  /// The heave at `time`; `nil` while `condition` is not `valid`.
  public var heave: HeaveEstimate?
  /// Why there is a heave, or why not.
  public var condition: HeaveCondition
  /// The sea state; `nil` before there are enough spectra (about five minutes), and where the newest one is too old.
  public var sea: SeaState?

  /// Makes an estimate.
  public init(
    time: Timestamp, heave: HeaveEstimate? = nil, condition: HeaveCondition, sea: SeaState? = nil
  ) {
    self.time = time
    self.heave = heave
    self.condition = condition
    self.sea = sea
  }
}
