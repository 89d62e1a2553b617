// Altitude above mean sea level from a barometer's relative altitude and a receiver's fixes.

public import SensorTypes

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Absolute altitude: the barometer gives the shape, the receiver the level.
///
/// A Kalman filter with four states over `altitude = level + (1 + scale) * relative + wind`:
/// - `level` at the zero of relative altitude, a random walk for the weather: 6.6 m per root hour, 4 hPa in
///   a day (chosen; a front of 3 hPa in an hour is 25 m, and is followed as long as there are fixes);
/// - `scale`, how much thicker the layers of air are than relative altitude takes them: 4.5 %, one sigma;
/// - `wind`, what ventilation and wind do to a barometer: 3 m (36 Pa) for about a minute, chosen;
/// - the receiver's error, in units of its accuracy: a first-order Gauss-Markov process.
///
/// A receiver's errors are correlated, so the deviation it states must not be averaged away. The fast
/// part (multipath) is the fourth state, with a white part of half its size; the slow part (ionosphere, orbits, geoid;
/// hours) cannot be seen from one place and is never filtered: it stays in the published accuracy, at
/// least 2 m or what the receiver states. How good its word is differs by receiver, so the size of
/// the fast part is learnt from the innovations, between 0.3 and 2 times what is stated. A receiver that
/// has just found its satellites converges: at first 10 m more, or what the accuracy of its first fix was
/// worse by, fading in 40 s. All of that is chosen.
///
/// A fix beyond five sigma is refused; when all have been for 30 s, the level is wrong and is found
/// anew.
public struct AbsoluteAltitudeEstimator: Sendable {
  /// What a user may tune. Independent of rates.
  public struct Params: Sendable, Hashable {
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

    /// Makes the defaults.
    public init() {}
  }

  /// Everything that changes; save it, and a run resumes bit for bit.
  public struct State: Sendable, Hashable, Codable {
    /// Fixes that were refused: not finite, absurd, out of order, or beyond the gate.
    public internal(set) var rejected: UInt64 = 0
    /// Times that the level was found anew.
    public internal(set) var relevelled: UInt64 = 0
    var time: Timestamp?
    /// The newest relative altitude and climb rate.
    var relative: Double?
    var climb = 0.0
    var barometerTime: Timestamp?
    /// Level, scale, wind, the receiver's error over its accuracy.
    var x = SIMD4<Double>.zero
    var p0 = SIMD4<Double>.zero
    var p1 = SIMD4<Double>.zero
    var p2 = SIMD4<Double>.zero
    var p3 = SIMD4<Double>.zero
    var isLevelled = false
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

  /// The tuning.
  public let params: Params
  /// Everything that changes.
  public private(set) var state: State

  /// Makes an estimator, or resumes one from a saved state.
  public init(_ params: Params = Params(), state: State = State()) {
    self.params = params
    self.state = state
  }

  /// A fix that comes more than this after the barometer's newest sample has nothing to be added to, seconds.
  static let longestGap = 5.0
  /// After this long without a fix, a receiver converges anew, seconds.
  static let convergesAfter = 60.0
  /// The least that a receiver is off by at first, one sigma, m.
  static let leastConvergence = 10.0
  /// Fixes that have been refused for this long are right, seconds.
  static let recoveryTime = 30.0

  /// Takes a relative altitude and gives the absolute one of that moment; `nil` before there was a fix,
  /// and for a sample that is not finite or not later than the one before.
  public mutating func update(_ relative: AltitudeEstimate) -> AbsoluteAltitudeEstimate? {
    guard relative.relativeAltitude.isFinite, abs(relative.relativeAltitude) < 50_000 else {
      return nil
    }
    if let last = state.barometerTime {
      let dt = relative.time.seconds(since: last)
      if dt <= 0 && dt > -1 { return nil }
    }
    state.relative = relative.relativeAltitude
    let climb = relative.verticalSpeed ?? 0
    state.climb = climb.isFinite && abs(climb) < 300 ? climb : 0
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
    guard altitude > -1000, altitude < 20_000, accuracy > 0, accuracy <= 500 else {
      state.rejected &+= 1
      return false
    }
    guard let relative = state.relative, let barometerTime = state.barometerTime else {
      return false
    }
    let late = time.seconds(since: barometerTime)
    guard abs(late) <= Self.longestGap else { return false }
    var interval = 0.0
    if let last = state.fixTime {
      interval = time.seconds(since: last)
      if interval <= 0 && interval > -60 {
        state.rejected &+= 1
        return false
      }
    }
    if state.firstFix == nil || interval < 0 || interval > Self.convergesAfter {
      state.firstFix = time
      state.firstAccuracy = accuracy
      interval = 0
    }
    state.fixTime = time
    if let ellipsoidalAltitude, abs(ellipsoidalAltitude - altitude) < 200 {
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
    let begun = min(100, max(Self.leastConvergence, state.firstAccuracy - accuracy))
    let converging = age < 300 ? begun * exp(-max(0, age) / 40) : 0
    let fast = max(params.leastFast, state.share * accuracy) + converging
    let slow = max(params.leastSlow, params.slowShare * accuracy + converging)
    if !state.isLevelled {
      state.isLevelled = true
      state.slow = slow
      state.acceptedTime = time
      state.p1[1] = params.scale * params.scale
      state.p2[2] = params.wind * params.wind
      state.p3[3] = 1
      // Nothing is known of the level: it is what the first fix says, with the fix's errors.
      level(altitude, fast, height)
      return true
    }
    let h = SIMD4(1, height, 1, fast)
    let ph = state.p0 + height * state.p1 + state.p2 + fast * state.p3
    let white = params.whiteShare * fast
    let spread = (ph * h).sum() + white * white
    let innovation = altitude - height - (state.x * h).sum()
    guard spread > 0, innovation.isFinite else {
      state.rejected &+= 1
      return false
    }
    let ratio = innovation * innovation / spread
    if age > 20 {
      let learn = 0.5 * min(1, max(-1, ratio - 1)) * min(interval, 10) / 100
      state.share = min(2, max(0.3, state.share * (1 + learn)))
    }
    if ratio > 25 {
      let since = time.seconds(since: state.acceptedTime ?? time)
      guard since > Self.recoveryTime || since < 0 else {
        state.rejected &+= 1
        return false
      }
      state.relevelled &+= 1
      level(altitude, fast, height)
    } else {
      let gain = ph / spread
      state.x += gain * innovation
      state.p0 -= gain[0] * ph
      state.p1 -= gain[1] * ph
      state.p2 -= gain[2] * ph
      state.p3 -= gain[3] * ph
      state.p0[0] = max(0, state.p0[0])
      state.p1[1] = max(0, state.p1[1])
      state.p2[2] = max(0, state.p2[2])
      state.p3[3] = max(0, state.p3[3])
    }
    state.acceptedTime = time
    state.slow += min(1, interval / 60) * (slow - state.slow)
    return true
  }

  /// The level becomes what one fix says; it has the errors of everything else then, with the other
  /// sign.
  private mutating func level(_ altitude: Double, _ fast: Double, _ height: Double) {
    let white = params.whiteShare * fast
    let (scale, wind, error) = (state.p1[1], state.p2[2], state.p3[3])
    state.x[0] = altitude - height * state.x[1] - height - state.x[2] - fast * state.x[3]
    state.p0 = SIMD4(
      height * height * scale + wind + fast * fast * error + white * white, -height * scale,
      -wind, -fast * error)
    state.p1 = SIMD4(-height * scale, scale, 0, 0)
    state.p2 = SIMD4(-wind, 0, wind, 0)
    state.p3 = SIMD4(-fast * error, 0, 0, error)
  }

  private mutating func predict(to time: Timestamp) {
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
    dt = min(dt, 30 * 86_400)
    guard state.isLevelled, dt > 0 else { return }
    let keep = SIMD4(1, 1, exp(-dt / params.windTime), exp(-dt / params.receiverTime))
    state.x *= keep
    state.p0 *= keep
    state.p1 *= keep
    state.p2 *= keep * keep[2]
    state.p3 *= keep * keep[3]
    state.p0[0] += params.weather * params.weather * dt / 3600
    state.p1[1] = min(0.04, state.p1[1] + 1e-4 * dt / 3600)
    state.p2[2] += (1 - keep[2] * keep[2]) * params.wind * params.wind
    state.p3[3] += 1 - keep[3] * keep[3]
  }

  private func estimate(at time: Timestamp) -> AbsoluteAltitudeEstimate? {
    guard state.isLevelled, let height = state.relative, let fixTime = state.acceptedTime else {
      return nil
    }
    let h = SIMD4(1, height, 1, 0)
    let altitude = height + (state.x * h).sum()
    let variance = ((state.p0 + height * state.p1 + state.p2) * h).sum() + state.slow * state.slow
    guard altitude.isFinite, variance.isFinite else { return nil }
    return AbsoluteAltitudeEstimate(
      time: time, altitude: altitude, accuracy: max(0, variance).squareRoot(),
      ellipsoidalAltitude: state.separation.map { altitude + $0 }, fixTime: fixTime)
  }
}
