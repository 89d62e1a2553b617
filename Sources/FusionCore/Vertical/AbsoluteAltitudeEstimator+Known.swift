// Heights that somebody knows, as measurements of the weather's state.

public import SensorTypes

/// A height above the sea that is known, and where on this run's relative altitude it is.
public struct KnownHeight: Sendable, Hashable {
  /// Whose pressure says where it is.
  public enum Witness: Sendable, Hashable {
    /// This board's: it is there now.
    case here
    /// This board's: it was there, and the pressure of then is known.
    case formerly
    /// Another barometer's, as for a QNH. What that one is off by does not average out: the result is never better
    /// than the measurement.
    case elsewhere
  }

  /// Above mean sea level, metres.
  public var altitude: Double
  /// One sigma of it at its moment, metres, above 0; with the barometers' part, without the weather's since.
  public var accuracy: Double
  /// Relative altitude of the place in this run, metres: where the pressure is that belongs to it.
  public var relativeAltitude: Double
  /// Seconds since it was so, 0 or more: the weather's random walk is added for them.
  public var age: Double
  /// Whose pressure it is.
  public var witness: Witness

  /// Makes a known height.
  public init(
    altitude: Double, accuracy: Double, relativeAltitude: Double, age: Double, witness: Witness
  ) {
    self.altitude = altitude
    self.accuracy = accuracy
    self.relativeAltitude = relativeAltitude
    self.age = age
    self.witness = witness
  }
}

/// What became of a known height.
public enum KnownHeightResult: Sendable, Hashable {
  /// It is part of the altitude now.
  case taken
  /// What is known already is as good, so that it changed nothing and is no part of it.
  case notBetter
  /// It is five sigma from what was known, by so many metres, and no receiver has a fix: the newest word of a person is
  /// right, and the level was found anew from it.
  case replaced(by: Double)
  /// It is five sigma from where the receiver is, by so many metres, and was not used.
  case contradictsReceiver(by: Double)
  /// Not used: out of range, or there is no barometer that has spoken.
  case unusable
}

extension AbsoluteAltitudeEstimator {
  /// Takes a known height.
  ///
  /// Where it and what is known are more than five sigma apart, one of them is wrong. A receiver with a fix within the
  /// last minute is believed: it is a second witness, and people misread maps and mix feet with metres. Without one the
  /// newest word of a person takes the place of the older ones.
  ///
  /// While an earlier one is part of the altitude the result is never better than the newer one: the errors of a map and
  /// of its datum are common to both, and the same word ten times is worth one.
  ///
  /// - Returns: What became of it.
  public mutating func update(_ known: KnownHeight, at time: Timestamp) -> KnownHeightResult {
    let limits = params.limits
    guard known.altitude > limits.lowest, known.altitude < limits.highest, known.accuracy > 0,
      known.accuracy <= limits.knownAccuracy,
      abs(known.relativeAltitude) < limits.relativeAltitude,
      known.age >= 0, known.age <= limits.knownAge, state.relative != nil
    else { return .unusable }
    predict(to: time)
    let height = known.relativeAltitude
    var variance = known.accuracy * known.accuracy + weatherVariance(known.age)
    // The wind of another time is not today's, and another barometer's is its own affair.
    if known.witness == .formerly { variance += params.wind * params.wind }
    let h = Self.altitude(height, wind: known.witness == .here ? 1 : 0)
    let said = time.advanced(bySeconds: -known.age)
    guard state.isLevelled else {
      begin()
      learn(known.altitude, h, height, variance, said)
      return .taken
    }
    let seen = state.p.seen(by: h)
    let prior = (seen * h).sum()
    let expected = (state.x * h).sum()
    let innovation = known.altitude - height - expected
    guard prior > 0, innovation.isFinite else { return .unusable }
    if innovation * innovation > params.test.gate * (prior + variance) {
      if let fix = state.acceptedTime, abs(time.seconds(since: fix)) < params.test.presentFix {
        return .contradictsReceiver(by: innovation)
      }
      forgetKnown()
      // The fixes of before are no part of it any more; those to come have half a minute to overrule it, as at a start.
      (state.acceptedTime, state.firstFix) = (nil, nil)
      learn(known.altitude, h, height, variance, said)
      return .replaced(by: innovation)
    }
    if state.knownTime != nil || known.witness == .elsewhere {
      // The same accuracy a moment later is as good, but for the rounding.
      guard prior > variance * (1 - 1e-9) else { return .notBetter }
      // A gain of 1 with the measurement's own noise leaves the measurement's variance; so does a smaller one with more
      // noise, where the receiver's part is to stay.
      let noise = variance * prior / max(prior - variance, 1e-9 * prior)
      let isOurs = state.knownTime != nil && state.acceptedTime == nil
      correct(innovation * (isOurs ? (prior + noise) / prior : 1), seen, prior + noise)
    } else {
      correct(innovation, seen, prior + variance)
    }
    state.knownTime = max(state.knownTime ?? said, said)
    return .taken
  }

  /// Forgets what was known of the level: the next fix or known height finds it anew.
  public mutating func forgetLevel() {
    forgetKnown()
    state.isLevelled = false
    state.acceptedTime = nil
  }

  private mutating func learn(
    _ altitude: Double, _ h: SIMD8<Double>, _ height: Double, _ variance: Double, _ said: Timestamp
  ) {
    level(altitude, by: h, height, variance: variance)
    state.knownTime = said
  }
}
