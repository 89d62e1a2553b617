// Altitude above mean sea level from a barometer's relative altitude, a receiver's fixes, and what somebody knows.

import LinearAlgebra
public import SensorTypes

/// Absolute altitude: the barometer gives the shape, the receiver or a known height the level.
///
/// A Kalman filter with five states over `altitude = level + (1 + scale) * relative + wind + slow`:
/// - `level` at the zero of relative altitude, a random walk for the weather: 6.6 m per root hour. That is 1.4 hPa in
///   three hours, where the Met Office's shipping forecast (its terms for pressure tendency) calls up to 1.5 hPa slow and
///   more than 3.5 quick, and 4 hPa in a day (chosen; a front of 3 hPa in an hour is 25 m, and is followed as long as
///   there are fixes);
/// - `scale`, how much thicker the layers of air are than relative altitude takes them: 4.5 %, one sigma;
/// - `wind`, what ventilation and wind do to a barometer: 3 m (36 Pa) for about a minute, chosen;
/// - the receiver's fast error, in units of its accuracy: a first-order Gauss-Markov process;
/// - `slow`, what brings a receiver's height back to the truth: minus its slow error.
///
/// A receiver's errors are correlated, so the deviation it states must not be averaged away. The fast
/// part (multipath) is the fourth state, with a white part of half its size; the slow part (ionosphere, orbits, geoid;
/// hours) cannot be seen from one place and fixes alone tell nothing of it: it stays in the published accuracy, at
/// least 2 m or what the receiver states. A known height tells it; that is forgotten in two hours (chosen: the
/// ionosphere's day has some of them), and the height that is known is not worse for it. How good its word is differs by receiver, so the size of
/// the fast part is learnt from the innovations, between 0.3 and 2 times what is stated. A receiver that
/// has just found its satellites converges: at first 10 m more, or what the accuracy of its first fix was
/// worse by, fading in 40 s. All of that is chosen.
///
/// A fix beyond five sigma is refused; when all have been for 30 s, the level is wrong and is found
/// anew; so is what a person has said (`state.overruled`): a misread height stays wrong for good, a receiver's errors
/// pass. `update(_:at:)` for known heights says which of two is kept there.
public struct AbsoluteAltitudeEstimator: Sendable {
  /// The thresholds and noise parameters; the default in place of a number out of its range.
  public let params: AbsoluteAltitudeParameters
  /// Everything that changes.
  public internal(set) var state: AbsoluteAltitudeState

  /// Makes an estimator, or resumes one from a saved state.
  public init(
    _ params: AbsoluteAltitudeParameters = AbsoluteAltitudeParameters(),
    state: AbsoluteAltitudeState = AbsoluteAltitudeState()
  ) {
    self.params = params.sound
    self.state = state
  }

  /// Takes a relative altitude and gives the absolute one of that moment; `nil` before there was a fix or a known
  /// height, and for a sample that is not finite or not later than the one before.
  public mutating func update(_ relative: AltitudeEstimate) -> AbsoluteAltitudeEstimate? {
    guard relative.relativeAltitude.isFinite,
      abs(relative.relativeAltitude) < params.limits.relativeAltitude
    else { return nil }
    if let last = state.barometerTime {
      let dt = relative.time.seconds(since: last)
      if dt <= 0 && dt > -1 { return nil }
    }
    state.relative = relative.relativeAltitude
    let climb = relative.verticalSpeed ?? 0
    state.climb = climb.isFinite && abs(climb) < params.limits.climb ? climb : 0
    state.barometerTime = relative.time
    predict(to: relative.time)
    return estimate(at: relative.time)
  }

  /// Takes the height of a three-dimensional fix.
  ///
  /// - Parameters:
  ///   - altitude: Above mean sea level, metres, -1000 to 20 000.
  ///   - accuracy: One sigma as the receiver states it, metres, above 0 and at most 500.
  ///   - ellipsoidalAltitude: Above the WGS 84 ellipsoid, metres, where the receiver has it.
  /// - Returns: Whether it was used. What is not, other than for want of a barometer, is counted in
  ///   `state.rejected`.
  @discardableResult
  public mutating func update(
    altitude: Double, accuracy: Double, ellipsoidalAltitude: Double? = nil, at time: Timestamp
  ) -> Bool {
    guard altitude > params.limits.lowest, altitude < params.limits.highest, accuracy > 0,
      accuracy <= params.limits.fixAccuracy
    else {
      state.rejected &+= 1
      return false
    }
    guard let relative = state.relative, let barometerTime = state.barometerTime else {
      return false
    }
    let late = time.seconds(since: barometerTime)
    guard abs(late) <= params.limits.longestGap else { return false }
    var interval = 0.0
    if let last = state.fixTime {
      interval = time.seconds(since: last)
      if interval <= 0 && interval > -60 {
        state.rejected &+= 1
        return false
      }
    }
    if state.firstFix == nil || interval < 0 || interval > params.convergence.pause {
      state.firstFix = time
      state.firstAccuracy = accuracy
      interval = 0
    }
    state.fixTime = time
    if let ellipsoidalAltitude, abs(ellipsoidalAltitude - altitude) < params.limits.separation {
      state.separation = ellipsoidalAltitude - altitude
    }
    predict(to: time)
    let height = relative + late * state.climb
    return correct(altitude, accuracy, height, interval, at: time)
  }

  private mutating func correct(
    _ altitude: Double, _ accuracy: Double, _ height: Double, _ interval: Double, at time: Timestamp
  ) -> Bool {
    let age = time.seconds(since: state.firstFix ?? time)
    // Where it began with a poor height, what it states gets better sooner than the height does.
    let c = params.convergence
    let begun = min(c.largest, max(c.least, state.firstAccuracy - accuracy))
    let converging = age < c.duration ? begun * exp(-max(0, age) / c.timeConstant) : 0
    let fast = max(params.leastFast, state.share * accuracy) + converging
    let slow = max(params.leastSlow, params.slowShare * accuracy + converging)
    meetReceiver(slow)
    let h = SIMD8<Double>(1, height, 1, fast, 0, 0, 0, 0)
    let white = params.whiteShare * fast
    if !state.isLevelled {
      begin()
      state.acceptedTime = time
      // Nothing is known of the level: it is what the first fix says, with the fix's errors.
      level(altitude, by: h, height, variance: white * white)
      return true
    }
    let seen = state.p.seen(by: h)
    let spread = (seen * h).sum() + white * white
    let expected = (state.x * h).sum()
    let innovation = altitude - height - expected
    guard spread > 0, innovation.isFinite else {
      state.rejected &+= 1
      return false
    }
    let ratio = innovation * innovation / spread
    learnShare(ratio, age: age, interval)
    if ratio > params.test.gate {
      let accepted = state.acceptedTime.map { time.seconds(since: $0) } ?? .infinity
      // What a person has said is not overruled by the first fixes after a pause.
      let since = state.knownTime == nil ? accepted : min(accepted, age)
      guard since > params.test.recoveryTime || since < 0 else {
        state.rejected &+= 1
        return false
      }
      state.relevelled &+= 1
      if state.knownTime != nil {
        state.overruled &+= 1
        state.overruledBy = innovation
        forgetKnown()
      }
      level(altitude, by: h, height, variance: white * white)
    } else {
      correct(innovation, seen, spread)
    }
    state.acceptedTime = time
    followReceiver(
      state.slow + min(1, interval / params.receiver.slowTime) * (slow - state.slow), interval)
    return true
  }

  /// How large the receiver's errors are, as the newest NIS shows it.
  private mutating func learnShare(_ ratio: Double, age: Double, _ interval: Double) {
    let p = params.receiver
    guard age > p.age else { return }
    let seconds = min(interval, p.longestInterval)
    let learn = p.gain * min(1, max(-1, ratio - 1)) * seconds / p.timeConstant
    state.share = min(p.largestShare, max(p.leastShare, state.share * (1 + learn)))
  }

  /// What an altitude is made of, `height` above the zero.
  static func altitude(_ height: Double, wind: Double = 1) -> SIMD8<Double> {
    SIMD8<Double>(1, height, wind, 0, 1, 0, 0, 0)
  }

  /// What is known before anything was measured.
  mutating func begin() {
    state.isLevelled = true
    state.x = .zero
    state.p = AltitudeCovariance()
    state.p.slow[4] = state.slow * state.slow
    state.p.scale[1] = params.scale * params.scale
    state.p.wind[2] = params.wind * params.wind
    state.p.fast[3] = 1
  }

  /// The level becomes what one measurement of `h` says, `height` above the zero.
  mutating func level(
    _ altitude: Double, by h: SIMD8<Double>, _ height: Double, variance: Double
  ) {
    state.x[0] = 0
    let others = (state.x * h).sum()
    state.x[0] = altitude - height - others
    state.p.level(by: h, variance: variance)
  }

  mutating func correct(_ innovation: Double, _ seen: SIMD8<Double>, _ spread: Double) {
    let gain: SIMD8<Double> = seen / spread
    state.x += gain * innovation
    state.p.correct(gain: gain, seen: seen)
  }

  /// Known heights are no part of it any more.
  mutating func forgetKnown() {
    state.knownTime = nil
    state.x[4] = 0
    state.p.forgetSlow(variance: state.slow * state.slow)
  }

  /// Before a receiver's first fix: level and slow error are known together, where the level is known already.
  private mutating func meetReceiver(_ slow: Double) {
    guard state.slow == 0 else { return }
    state.slow = slow
    if state.isLevelled { state.p.moveDatum(keep: 1, variance: slow * slow) }
  }

  /// The receiver's slow error is of another size now, `seconds` after the fix before.
  private mutating func followReceiver(_ slow: Double, _ seconds: Double) {
    let more = slow * slow - state.slow * state.slow
    state.slow = slow
    if state.knownTime != nil {
      let keep = exp(-seconds / params.slowTime)
      state.x[0] += (1 - keep) * state.x[4]
      state.x[4] *= keep
      let come = (1 - keep * keep) * slow * slow
      state.p.moveDatum(keep: keep, variance: come + max(0, more))
    } else if more > 0 {
      state.p.slow[4] += more
    }
    let known = state.p.slow[4]
    guard known > slow * slow else { return }
    let share = slow / known.squareRoot()
    state.x[4] *= share
    state.p.scale(by: SIMD8<Double>(1, 1, 1, 1, share, 0, 0, 0))
  }

  mutating func predict(to time: Timestamp) {
    guard let last = state.time else {
      state.time = time
      return
    }
    var dt = time.seconds(since: last)
    if dt < 0 {
      // A fix is a little older than the newest pressure; a clock that begins anew is not.
      guard dt < -60 else { return }
      dt = 0
    }
    state.time = time
    dt = min(dt, params.limits.longestPrediction)
    guard state.isLevelled, dt > 0 else { return }
    let windKeep = exp(-dt / params.windTime)
    let receiverKeep = exp(-dt / params.receiverTime)
    let keep = SIMD8<Double>(1, 1, windKeep, receiverKeep, 1, 0, 0, 0)
    state.x *= keep
    state.p.scale(by: keep)
    state.p.level[0] += weatherVariance(dt)
    state.p.scale[1] = min(
      params.test.largestScaleVariance,
      state.p.scale[1] + params.test.scaleGrowth * dt / 3600)
    state.p.wind[2] += (1 - keep[2] * keep[2]) * params.wind * params.wind
    state.p.fast[3] += 1 - keep[3] * keep[3]
  }

  /// What the weather does to the level in so many seconds, m^2.
  func weatherVariance(_ seconds: Double) -> Double {
    params.weather * params.weather * seconds / 3600
  }

  private func estimate(at time: Timestamp) -> AbsoluteAltitudeEstimate? {
    guard state.isLevelled, let height = state.relative else { return nil }
    let h = Self.altitude(height)
    let above = (state.x * h).sum()
    let altitude = height + above
    let variance = (state.p.seen(by: h) * h).sum()
    guard altitude.isFinite, variance.isFinite else { return nil }
    return AbsoluteAltitudeEstimate(
      time: time, altitude: altitude, accuracy: max(0, variance).squareRoot(),
      ellipsoidalAltitude: state.separation.map { altitude + $0 }, fixTime: state.acceptedTime,
      knownTime: state.knownTime)
  }
}

/// Everything that changes; save it, and a run resumes bit for bit.
public struct AbsoluteAltitudeState: Sendable, Hashable, Codable {
  /// Fixes that were refused: not finite, absurd, out of order, or beyond the gate.
  public internal(set) var rejected: UInt64 = 0
  /// Times that the level was found anew.
  public internal(set) var relevelled: UInt64 = 0
  var time: Timestamp?
  /// The newest relative altitude and climb rate.
  var relative: Double?
  var climb = 0.0
  var barometerTime: Timestamp?
  /// Times that fixes have overruled a known height, and by how many metres the last time: the receiver's minus the
  /// known one.
  public internal(set) var overruled: UInt64 = 0
  /// See `overruled`.
  public internal(set) var overruledBy = 0.0
  /// Level, scale, wind, the receiver's fast error over its accuracy, minus its slow one.
  var x = SIMD8<Double>.zero
  var p = AltitudeCovariance()
  var isLevelled = false
  /// The moment of the newest known height that is part of it.
  var knownTime: Timestamp?
  var fixTime: Timestamp?
  var firstFix: Timestamp?
  /// What that one's accuracy was, m.
  var firstAccuracy = 0.0
  var acceptedTime: Timestamp?
  /// How large the receiver's errors are, of what it states.
  var share = 1.0
  /// One sigma of its slow error, m.
  var slow = 0.0
  /// Geoid above the ellipsoid, as the receiver has it.
  var separation: Double?

  /// Makes the state before the first sample.
  public init() {}
}
