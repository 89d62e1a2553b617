// Relative altitude and climb rate from a barometer, aided by vertical acceleration where there is
// one.

public import SensorTypes

/// Height above the first sample of a run, and climb rate, from barometric pressure.
///
/// A Kalman filter with four states: height, climb rate, acceleration that nothing measured, and
/// the error of the reference. The first event is zero by definition, but the pressure that
/// defines it is as noisy as any other; its error is one constant for the whole run, and the
/// filter learns it in the first seconds instead of keeping it for ever.
///
/// Vertical acceleration from the attitude estimator (`update(verticalAcceleration:at:)`) is
/// optional. While it comes, the climb rate follows it and the barometer only corrects; without it
/// the filter allows for accelerations as of stairs and lifts, and lags about 0.3 s through them.
///
/// What it cannot know is part of what it says: weather (10 Pa/h on a calm day, 0.8 m/h), and a
/// chip that warms up after power-on (BMP280: 1.5 Pa/K, 0.13 m/K, datasheet table 2; DPS310: 0.5
/// Pa/K) move the pressure just as height does. `relativeAccuracy` grows with time by
/// `Params.drift`. Height uses the standard atmosphere's temperature: see `StandardAtmosphere`.
public struct RelativeAltitudeEstimator: Sendable {
  /// What a user may tune. Independent of sample rates.
  public struct Params: Sendable, Hashable {
    /// Noise of one pressure sample, Pa rms. Default 1: BMP280 0.2 to 1.3, DPS310 0.2 to 1.2 by
    /// oversampling.
    public var pressureNoise = 1.0
    /// Steady spread of vertical acceleration while nothing measures it, m/s^2. Default 0.6:
    /// stairs, lifts.
    public var acceleration = 0.6
    /// The same while measured: what is left is the accelerometer's bias and tilt, m/s^2. Default
    /// 0.08.
    public var aidedAcceleration = 0.08
    /// How long an acceleration lasts, seconds. Default 1.
    public var accelerationTime = 1.0
    /// One sigma of the climb rate at the first sample, m/s. Default 0.7.
    public var initialSpeed = 0.7
    /// Growth of the altitude's uncertainty with time (weather, warming chip), m per root hour.
    /// Default 1.
    public var drift = 1.0

    /// Makes the defaults.
    public init() {}
  }

  /// Everything that changes; save it, and a run resumes bit for bit.
  public struct State: Sendable, Hashable, Codable {
    /// Samples that were not finite, or beyond 30 to 120 kPa, or too far off to be height.
    public internal(set) var rejected: UInt64 = 0
    /// Samples that were not later than the one before.
    public internal(set) var outOfOrder: UInt64 = 0
    var begun: Timestamp?
    var time: Timestamp?
    var accelerated: Timestamp?
    var outlierSince: Timestamp?
    var reference = 0.0
    /// Height, climb rate, acceleration not measured, and the reference's error.
    var x = SIMD4<Double>.zero
    var p0 = SIMD4<Double>.zero
    var p1 = SIMD4<Double>.zero
    var p2 = SIMD4<Double>.zero
    var p3 = SIMD4<Double>.zero
    var input = 0.0
    /// Seconds of the current pressure interval that measured acceleration has already moved the
    /// state.
    var moved = 0.0

    /// Makes the state before the first sample.
    public init() {}
  }

  /// The tuning.
  public let params: Params
  /// Everything that changes.
  public private(set) var state: State
  private let pressureVariance: Double

  /// Makes an estimator, or resumes one from a saved state.
  public init(_ params: Params = Params(), state: State = State()) {
    self.params = params
    self.state = state
    pressureVariance = params.pressureNoise * params.pressureNoise
  }

  /// The longest pause that is still bridged by prediction, seconds. After a longer one the height
  /// goes on from the new pressure (the zero stays), with climb rate unknown.
  public static let longestGap = 5.0
  /// An accelerometer silent for longer than this no longer aids, seconds.
  static let aidingTimeout = 0.25
  /// An outlier that stays for this long is the truth, seconds.
  static let outlierTime = 0.6

  /// Takes the vertical acceleration of the body at `time`: earth frame, up positive, gravity
  /// removed, m/s^2, as `AttitudeEstimator.verticalAcceleration` gives it. Values that are not
  /// finite or beyond 160 m/s^2 are dropped. Does nothing before the first pressure.
  public mutating func update(verticalAcceleration: Double, at time: Timestamp) {
    guard verticalAcceleration.isFinite, abs(verticalAcceleration) < 160 else { return }
    guard let last = state.time else { return }
    guard let previous = state.accelerated, previous > last,
      time.seconds(since: previous) > 0, time.seconds(since: previous) < Self.aidingTimeout
    else {
      // The first one after a pressure sample only marks where measuring begins.
      let pause = time.seconds(since: last)
      if pause > 0 && pause < Self.aidingTimeout {
        move(by: pause, acceleration: verticalAcceleration)
      }
      state.input = verticalAcceleration
      if pause > 0 && pause < Self.longestGap { state.accelerated = time }
      return
    }
    move(
      by: time.seconds(since: previous), acceleration: (state.input + verticalAcceleration) / 2)
    state.input = verticalAcceleration
    state.accelerated = time
  }

  /// Takes one pressure in pascals and gives the altitude of that moment.
  ///
  /// - Returns: `nil` for a sample that was rejected (counted in `state.rejected`: not finite,
  ///   outside 30 to 120 kPa, or a jump that no height explains) or not later than the one before
  ///   (`state.outOfOrder`). A jump that stays for 0.6 s is taken for true and followed at once.
  public mutating func update(pressure: Double, at time: Timestamp) -> AltitudeEstimate? {
    guard pressure.isFinite, pressure >= 30_000, pressure <= 120_000 else {
      state.rejected &+= 1
      return nil
    }
    let measured = StandardAtmosphere.altitude(pressure: pressure)
    guard let last = state.time, let begun = state.begun else {
      state.begun = time
      state.time = time
      state.reference = measured
      let variance = Self.altitudeVariance(pressureVariance, at: pressure)
      state.p1[1] = params.initialSpeed * params.initialSpeed
      state.p2[2] = params.acceleration * params.acceleration
      state.p3[3] = variance
      return estimate(at: time, since: time)
    }
    let dt = time.seconds(since: last)
    if dt <= 0 && dt > -1 {
      state.outOfOrder &+= 1
      return nil
    }
    let altitude = measured - state.reference
    let variance = Self.altitudeVariance(pressureVariance, at: pressure)
    guard dt > 0, dt <= Self.longestGap else {
      state.time = time
      goOn(from: altitude, variance: variance)
      return estimate(at: time, since: begun)
    }
    predict(to: time, dt)
    let innovation = altitude - state.x[0] - state.x[3]
    let spread = state.p0[0] + 2 * state.p0[3] + state.p3[3] + variance
    if innovation * innovation > 36 * spread + 1 {
      let since = state.outlierSince ?? time
      state.outlierSince = since
      guard time.seconds(since: since) >= Self.outlierTime else {
        state.rejected &+= 1
        return nil
      }
      goOn(from: altitude, variance: variance)
    } else {
      correct(innovation, spread)
    }
    state.outlierSince = nil
    return estimate(at: time, since: begun)
  }

  /// Pressure noise as noise of height: `dH/dp` of the standard atmosphere, squared.
  static func altitudeVariance(_ variance: Double, at pressure: Double) -> Double {
    let altitude = StandardAtmosphere.altitude(pressure: pressure)
    let temperature = 288.15 - 0.0065 * altitude
    let slope = 287.05287 * temperature / (9.80665 * pressure)
    return slope * slope * variance
  }

  /// Height takes the new pressure's word; the zero and its error stay.
  private mutating func goOn(from altitude: Double, variance: Double) {
    state.x[0] = altitude - state.x[3]
    state.x[1] = 0
    state.x[2] = 0
    let reference = state.p3[3]
    state.p0 = SIMD4(variance + reference, 0, 0, -reference)
    state.p1 = SIMD4(0, params.initialSpeed * params.initialSpeed, 0, 0)
    state.p2 = SIMD4(0, 0, params.acceleration * params.acceleration, 0)
    state.p3 = SIMD4(-reference, 0, 0, reference)
    state.accelerated = nil
    state.moved = 0
  }

  private mutating func move(by dt: Double, acceleration: Double) {
    state.x[0] += dt * (state.x[1] + 0.5 * dt * acceleration)
    state.x[1] += dt * acceleration
    state.moved += dt
  }

  private mutating func predict(to time: Timestamp, _ dt: Double) {
    let isAided: Bool
    if let accelerated = state.accelerated, state.moved > 0 {
      isAided = abs(time.seconds(since: accelerated)) < Self.aidingTimeout
    } else {
      isAided = false
    }
    // The measured part has moved height and rate already; the rest of the interval moves evenly.
    let rest = dt - state.moved
    if isAided {
      move(by: rest, acceleration: state.input)
    } else {
      state.x[0] += rest * state.x[1]
    }
    state.moved = 0
    state.x[0] += 0.5 * dt * dt * state.x[2]
    state.x[1] += dt * state.x[2]
    let keep = max(0, 1 - dt / params.accelerationTime)
    state.x[2] *= keep

    // P <- F P F' + Q with F = [1 dt dt^2/2 0; 0 1 dt 0; 0 0 keep 0; 0 0 0 1]: rows, then columns.
    let half = 0.5 * dt * dt
    state.p0 += dt * state.p1 + half * state.p2
    state.p1 += dt * state.p2
    state.p2 *= keep
    Self.propagate(&state.p0, dt, half, keep)
    Self.propagate(&state.p1, dt, half, keep)
    Self.propagate(&state.p2, dt, half, keep)
    Self.propagate(&state.p3, dt, half, keep)
    let spread = isAided ? params.aidedAcceleration : params.acceleration
    state.p2[2] += (1 - keep * keep) * spread * spread
    // White noise of the acceleration itself: an aid that vibrates, a step that is short.
    let white = (isAided ? 0.02 : 0.05) * (isAided ? 0.02 : 0.05) * dt
    state.p1[1] += white
    state.time = time
  }

  private static func propagate(
    _ row: inout SIMD4<Double>, _ dt: Double, _ half: Double, _ keep: Double
  ) {
    row[0] += dt * row[1] + half * row[2]
    row[1] += dt * row[2]
    row[2] *= keep
  }

  private mutating func correct(_ innovation: Double, _ spread: Double) {
    let ph = state.p0 + state.p3  // P h with h = (1, 0, 0, 1); P is symmetric.
    let gain = ph / spread
    state.x += gain * innovation
    state.p0 -= gain[0] * ph
    state.p1 -= gain[1] * ph
    state.p2 -= gain[2] * ph
    state.p3 -= gain[3] * ph
  }

  private func estimate(at time: Timestamp, since begun: Timestamp) -> AltitudeEstimate {
    let hours = max(0, time.seconds(since: begun)) / 3600
    let variance = max(0, state.p0[0]) + params.drift * params.drift * hours
    let speedKnown = state.p1[1] < 0.25 && time > begun
    return AltitudeEstimate(
      time: time, relativeAltitude: state.x[0], relativeAccuracy: variance.squareRoot(),
      pressure: StandardAtmosphere.pressure(altitude: state.reference + state.x[0] + state.x[3]),
      verticalSpeed: speedKnown ? state.x[1] : nil)
  }
}
