// Relative altitude and climb rate from a barometer, aided by vertical acceleration where there is
// one.

public import SensorTypes

/// Height above the first sample of a run, and climb rate, from barometric pressure.
///
/// A Kalman filter with five states: height; climb rate; acceleration that nothing measured (the
/// accelerometer's bias while there is one); what moves the pressure and is not height (doors, fans,
/// wind, weather, and the noise of the sample that defines the zero); the chip's temperature
/// coefficient.
///
/// **Doors and fans.** Height and disturbance are seen only as a sum. What tells them apart is time: the
/// filter keeps itself as it was one to two seconds ago and carries that on by the accelerometer
/// alone. Where the pressure has left that by more than the acceleration explains, by at least 0.4 m
/// and at 0.4 m/s, it was a door: the filter goes back to the dead-reckoned track and the disturbance
/// takes the step. A slower ramp is movement. Without an accelerometer only a step of more than 1.3 m
/// within 0.4 s (no body is moved like that) is known for a door; slower ones of up to 30 Pa cannot be
/// told from stairs, and the accuracy says so after every movement. Beyond 80 Pa it is no door: after
/// 0.6 s the new height is taken.
///
/// **Standing still.** Quiet acceleration, no turning, and a pressure that moves by less than 0.03 m/s. Where the
/// pressure alone begins to move, it has a second to prove a door; then it is a slow rise. Until then
/// what it says is in the accuracy.
///
/// **Temperature.** The pressure of a chip that warms up drifts: the BMP280's data sheet gives 1.5 Pa/K
/// (25 to 40 degrees Celsius, 900 hPa), that of the DPS368, the DPS310's sibling, 0.5 Pa/K. The coefficient is learnt while the board
/// is known to stand still. Without an accelerometer that is not known, for a slow rise looks the same:
/// then the drift stays in the height (15 K of a BMP280: 1.9 m) and in the accuracy.
///
/// **Air.** A layer of air is as thick as it is warm: heights are the standard atmosphere's times the
/// ratio of the air's temperature to the standard one. The air's is `Params.airTemperature` where
/// known; else assumed from the standard atmosphere (16 K) and from the chip's first sample, 8 K (12 K)
/// warmer than the air; one sigma chosen. What is left is part of the accuracy.
///
/// **A lying accelerometer.** One that repeats one value for 0.3 s, is silent for 0.25 s, or whose
/// "doors" add up in one direction is not believed (for 30 s in the last case), and the barometer goes on
/// alone.
public struct RelativeAltitudeEstimator: Sendable {
  /// What a user may tune. Independent of sample rates.
  public struct Params: Sendable, Hashable {
    /// Noise of one pressure sample, Pa rms. Default 1, chosen: oversampling sets it.
    public var pressureNoise = 1.0
    /// Steady spread of vertical acceleration while nothing measures it, m/s^2. Default 0.6:
    /// stairs, lifts.
    public var acceleration = 0.6
    /// How long an acceleration lasts, seconds. Default 1.
    public var accelerationTime = 1.0
    /// Steady spread of the accelerometer's bias, tilt and scale seen vertically, m/s^2. Default 0.03.
    public var bias = 0.03
    /// How long such a bias lasts, seconds. Default 20.
    public var biasTime = 20.0
    /// Noise of measured acceleration at rest, m/s^2 per root hertz. Default 0.005.
    public var accelerationNoise = 0.005
    /// Further noise as a share of the acceleration, for scale and timing. Default 0.05.
    public var accelerationShare = 0.05
    /// One sigma of the climb rate at the first sample, m/s. Default 0.7.
    public var initialSpeed = 0.7
    /// Growth of the altitude's uncertainty with time (weather), m per root hour. Default 1, chosen: 12 Pa
    /// in an hour. A front moves more and is not in it.
    public var drift = 1.0
    /// One sigma of the chip's temperature coefficient, Pa/K, either sign. Default 0.9, chosen between the
    /// chips' 1.5 and 0.5.
    public var temperatureCoefficient = 0.9
    /// Temperature of the air outside, degrees Celsius, where something measures it.
    public var airTemperature: Double?
    /// One sigma of `airTemperature`, kelvin. Default 2.
    public var airTemperatureDeviation = 2.0

    /// Makes the defaults.
    public init() {}
  }

  /// The filter at one moment, and what the accelerometer alone makes of it since.
  struct Track: Sendable, Hashable, Codable {
    var time: Timestamp
    var x: SIMD8<Double>
    var p: VerticalCovariance
    /// Whether the board was known to lie still.
    var isStill: Bool
    /// By how much the pressure had left the filter already, m.
    var lag: Double
    /// First and second integral of measured acceleration since then, m/s and m.
    var gained = 0.0
    var moved = 0.0

    mutating func move(_ dt: Double, _ acceleration: Double) {
      moved += dt * (gained + 0.5 * dt * acceleration)
      gained += dt * acceleration
    }
  }

  /// Everything that changes; save it, and a run resumes bit for bit.
  public struct State: Sendable, Hashable, Codable {
    /// Samples that were not finite, or beyond 30 to 120 kPa, or too far off to be height.
    public internal(set) var rejected: UInt64 = 0
    /// Samples that were not later than the one before.
    public internal(set) var outOfOrder: UInt64 = 0
    /// Steps of pressure that were not taken for height.
    public internal(set) var steps: UInt64 = 0
    /// Times an accelerometer was found to lie.
    public internal(set) var distrusts: UInt64 = 0
    var begun: Timestamp?
    var time: Timestamp?
    var accelerated: Timestamp?
    var outlierSince: Timestamp?
    var reference = 0.0
    /// Actual over standard thickness of a layer of air, and one sigma of that.
    var scale = 1.0
    var scaleDeviation = 0.0
    var firstTemperature: Double?
    var temperature: Double?
    /// Height, climb rate, acceleration not measured, disturbance (m), temperature coefficient (m/K).
    var x = SIMD8<Double>.zero
    var p = VerticalCovariance()
    var input = 0.0
    /// Seconds of the current pressure interval that measured acceleration has already moved the
    /// state, and the climb rate that it has gained.
    var moved = 0.0
    var gained = 0.0
    var isAided = false
    var older: Track?
    var newer: Track?
    /// Until when the disturbance is free to take the rest of a step.
    var openUntil: Timestamp?
    var distrustedUntil: Timestamp?
    /// The sign of a step that one sample has shown and the next has to confirm, or 0.
    var candidate = 0.0
    /// The disturbance before the newest steps in one direction, and their number, fading.
    var disturbanceBefore = 0.0
    var stepCount = 0.0
    /// The innovation, low-passed: a step stands out from it.
    var usualInnovation = 0.0
    /// Measured acceleration, low-passed, and its spread; since when one value repeats.
    var quietMean = 0.0
    var quietVariance = 1.0
    var sameSince: Timestamp?
    var isTurning = false
    /// Measured height, low-passed by 1 and by 4 s: their difference is a slow climb rate.
    var fastHeight = 0.0
    var slowHeight = 0.0
    /// Since when nothing speaks against standing still, and whether that is long enough.
    var stillSince: Timestamp?
    var isStill = false
    /// Since when the pressure alone speaks against standing still: a door, or a slow quiet rise.
    var unsettledSince: Timestamp?
    /// The range of height while nothing measured acceleration, and the variance of earlier ranges.
    var lowest = 0.0
    var highest = 0.0
    var ambiguity = 0.0

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
  /// Steps of pressure up to this are doors and fans, Pa; larger ones are height. Chosen.
  static let largestStep = 80.0
  /// What a door in a tight building does, Pa. Chosen.
  static let usualStep = 30.0
  /// An accelerometer silent for longer than this no longer aids, seconds.
  static let aidingTimeout = 0.25
  /// An accelerometer that repeats one value for longer than this is dead, seconds.
  static let frozenTime = 0.3
  /// An outlier that stays for this long is the truth, seconds.
  static let outlierTime = 0.6
  /// The least step that is taken for a door, m: aided (from a track of more than a second, m/s), and by
  /// the barometer alone.
  static let leastStep = 0.4
  static let leastStepAlone = 1.3
  /// The share of the drift that the filter follows; faster, it would swallow a slow rise before that is
  /// seen to be one. The rest goes straight into the accuracy.
  static let filteredDrift = 0.4
  /// A pressure that has begun to move makes a step within this time if it is a door, seconds.
  static let doorTime = 1.0
  /// How old the track is that a step is judged by: between one and two of these, seconds.
  static let trackTime = 1.0
  static let trackTimeAlone = 0.2

  /// Takes the vertical acceleration of the body at `time`: earth frame, up positive, gravity
  /// removed, m/s^2, as `AttitudeEstimator.verticalAcceleration` gives it. Values that are not
  /// finite, beyond 160 m/s^2 or not later than the one before are dropped. Does nothing before the
  /// first pressure.
  ///
  /// - Parameter isTurning: Whether something else says that the board does not lie still, as a gyro
  ///   does.
  public mutating func update(
    verticalAcceleration: Double, isTurning: Bool = false, at time: Timestamp
  ) {
    guard verticalAcceleration.isFinite, abs(verticalAcceleration) < 160 else { return }
    guard let last = state.time else { return }
    if let previous = state.accelerated {
      // A second one of the same moment would move the state by the whole interval once more.
      let dt = time.seconds(since: previous)
      if dt <= 0 && dt > -1 { return }
    }
    if isRefused(verticalAcceleration, at: time) { return }
    state.isTurning = isTurning
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
    let dt = time.seconds(since: previous)
    move(by: dt, acceleration: (state.input + verticalAcceleration) / 2)
    let share = dt / (1 + dt)
    let off = verticalAcceleration - state.quietMean
    state.quietMean += share * off
    state.quietVariance += share * (off * off - state.quietVariance)
    state.input = verticalAcceleration
    state.accelerated = time
  }

  /// Whether an acceleration is a dead chip's or a liar's.
  private mutating func isRefused(_ value: Double, at time: Timestamp) -> Bool {
    if value != state.input {
      state.sameSince = nil
    } else if state.sameSince == nil {
      state.sameSince = time
    }
    if let since = state.sameSince, time.seconds(since: since) > Self.frozenTime { return true }
    guard let until = state.distrustedUntil else { return false }
    let rest = until.seconds(since: time)
    if rest > 0 && rest < 60 {
      state.input = value
      return true
    }
    state.distrustedUntil = nil
    return false
  }

  /// Takes one pressure in pascals, with the chip's temperature in degrees Celsius where it has one, and
  /// gives the altitude of that moment.
  ///
  /// - Returns: `nil` for a sample that was rejected (counted in `state.rejected`: not finite,
  ///   outside 30 to 120 kPa, or a jump that no height explains) or not later than the one before
  ///   (`state.outOfOrder`). A jump that stays for 0.6 s is taken for true and followed at once.
  public mutating func update(
    pressure: Double, temperature: Double? = nil, at time: Timestamp
  ) -> AltitudeEstimate? {
    guard pressure.isFinite, pressure >= 30_000, pressure <= 120_000 else {
      state.rejected &+= 1
      return nil
    }
    if let temperature, temperature.isFinite, temperature > -60, temperature < 120 {
      if state.firstTemperature == nil { state.firstTemperature = temperature }
      state.temperature = temperature
    }
    let standard = StandardAtmosphere.altitude(pressure: pressure)
    guard let last = state.time, let begun = state.begun else {
      begin(standard, at: time)
      return estimate(at: time, since: time)
    }
    let dt = time.seconds(since: last)
    if dt <= 0 && dt > -1 {
      state.outOfOrder &+= 1
      return nil
    }
    let slope = metresPerPascal(at: standard)
    let variance = slope * slope * pressureVariance
    let measured = state.scale * (standard - state.reference)
    guard dt > 0, dt <= Self.longestGap else {
      goOn(from: measured, variance: variance, at: time)
      return estimate(at: time, since: begun)
    }
    predict(to: time, dt)
    let rise = self.rise
    let seen = state.p.seen(rise: rise)
    let spread = Self.variance(seen, rise) + variance
    let innovation = measured - state.x[0] - state.x[3] - rise * state.x[4]
    let limit = Self.largestStep * slope
    if innovation * innovation > 36 * spread + limit * limit {
      let since = state.outlierSince ?? time
      state.outlierSince = since
      guard time.seconds(since: since) >= Self.outlierTime else {
        state.rejected &+= 1
        return nil
      }
      goOn(from: measured, variance: variance, at: time)
    } else if !judgeStep(measured, innovation, spread, variance, slope, at: time) {
      correct(innovation, seen, spread)
    }
    state.outlierSince = nil
    settle(measured, innovation, dt, slope, at: time)
    return estimate(at: time, since: begun)
  }

  // MARK: Pieces of a pressure sample

  private mutating func begin(_ standard: Double, at time: Timestamp) {
    state.begun = time
    state.time = time
    state.reference = standard
    let standardAir = 288.15 - 0.0065 * standard
    if let air = params.airTemperature, air.isFinite, air > -90, air < 70 {
      state.scale = (air + 273.15) / standardAir
      state.scaleDeviation = params.airTemperatureDeviation / standardAir
    } else if let chip = state.firstTemperature {
      // The standard atmosphere's 16 K and the chip's 12 K, weighed by their variances.
      let air = 0.36 * standardAir + 0.64 * (chip - 8 + 273.15)
      state.scale = min(1.2, max(0.8, air / standardAir))
      state.scaleDeviation = 12 / standardAir
    } else {
      state.scaleDeviation = 16 / standardAir
    }
    let slope = metresPerPascal(at: standard)
    state.p.speed[1] = params.initialSpeed * params.initialSpeed
    state.p.acceleration[2] = params.acceleration * params.acceleration
    state.p.disturbance[3] = slope * slope * pressureVariance
    let coefficient = params.temperatureCoefficient * slope
    state.p.temperature[4] = coefficient * coefficient
  }

  /// `dh/dp` at a pressure altitude, metres per pascal, positive.
  private func metresPerPascal(at standard: Double) -> Double {
    let temperature = 288.15 - 0.0065 * standard
    return state.scale * 287.05287 * temperature
      / (9.80665 * StandardAtmosphere.pressure(altitude: standard))
  }

  /// How much warmer the chip is than at the first sample, kelvin.
  private var rise: Double {
    guard let first = state.firstTemperature, let now = state.temperature else { return 0 }
    return now - first
  }

  private static func variance(_ seen: SIMD8<Double>, _ rise: Double) -> Double {
    seen[0] + seen[3] + rise * seen[4]
  }

  /// Height takes the new pressure's word; the zero and its error stay.
  private mutating func goOn(from measured: Double, variance: Double, at time: Timestamp) {
    let rise = self.rise
    state.time = time
    state.x[0] = measured - state.x[3] - rise * state.x[4]
    state.x[1] = 0
    state.x[2] = 0
    // Height is now what was measured less the rest, so it has the rest's errors with the other sign.
    let d = state.p.disturbance
    let c = state.p.temperature
    let dc = d[4]
    var p = VerticalCovariance()
    p.disturbance[3] = d[3]
    p.disturbance[4] = dc
    p.temperature[3] = dc
    p.temperature[4] = c[4]
    p.height[3] = -d[3] - rise * dc
    p.height[4] = -dc - rise * c[4]
    p.disturbance[0] = p.height[3]
    p.temperature[0] = p.height[4]
    p.height[0] = variance - p.height[3] - rise * p.height[4]
    p.speed[1] = params.initialSpeed * params.initialSpeed
    p.acceleration[2] = params.acceleration * params.acceleration
    state.p = p
    state.accelerated = nil
    state.isAided = false
    state.moved = 0
    state.gained = 0
    state.older = nil
    state.newer = nil
    state.usualInnovation = 0
    state.fastHeight = measured
    state.slowHeight = measured
    state.stillSince = nil
    state.isStill = false
    state.candidate = 0
    state.stepCount = 0
    state.openUntil = nil
    state.unsettledSince = nil
    state.outlierSince = nil
  }

  private mutating func move(by dt: Double, acceleration: Double) {
    state.x[0] += dt * (state.x[1] + 0.5 * dt * acceleration)
    state.x[1] += dt * acceleration
    state.moved += dt
    state.gained += dt * acceleration
    state.older?.move(dt, acceleration)
    state.newer?.move(dt, acceleration)
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
    if isAided != state.isAided { change(isAided: isAided) }
    let mean = abs(state.gained) / dt
    state.moved = 0
    state.gained = 0
    let a = state.x[2]
    state.x[0] += 0.5 * dt * dt * a
    state.x[1] += dt * a
    let keep = self.keep(dt)
    state.x[2] *= keep
    predict(&state.p, dt, keep: keep, acceleration: mean, isOpen: isOpen(at: time))
    state.time = time
  }

  private func keep(_ dt: Double) -> Double {
    max(0, 1 - dt / (state.isAided ? params.biasTime : params.accelerationTime))
  }

  private func predict(
    _ p: inout VerticalCovariance, _ dt: Double, keep: Double, acceleration: Double, isOpen: Bool
  ) {
    let spread = state.isAided ? params.bias : params.acceleration
    let noise =
      state.isAided
      ? params.accelerationNoise + params.accelerationShare * acceleration
        + 0.02 * state.quietVariance.squareRoot()
      : 0.05
    // An open door may still move the air by a metre in a second.
    let usual = Self.filteredDrift * params.drift
    let drift = usual * usual / 3600 + (isOpen ? 1 : 0)
    p.predict(dt, keep: keep, deviation: spread, white: noise * noise, drift: drift)
  }

  private func isOpen(at time: Timestamp) -> Bool {
    guard let until = state.openUntil else { return false }
    let rest = until.seconds(since: time)
    return rest > 0 && rest < 10
  }

  /// Begins or ends the accelerometer's part.
  private mutating func change(isAided: Bool) {
    let slope = metresPerPascal(at: state.reference + state.x[0] / state.scale)
    if isAided {
      // What went before keeps its doubt.
      let most = Self.usualStep * slope
      state.ambiguity = min(most * most, state.ambiguity + rangeVariance(slope))
    } else {
      state.lowest = state.x[0]
      state.highest = state.x[0]
    }
    state.isAided = isAided
    state.x[2] = 0
    let spread = isAided ? 3 * params.bias : params.acceleration
    state.p.renewAcceleration(spread * spread)
    state.older = nil
    state.newer = nil
    state.openUntil = nil
    state.unsettledSince = nil
  }

  /// What of the height that changed without an accelerometer may have been a door or a fan.
  private func rangeVariance(_ slope: Double) -> Double {
    let part = 0.6 * min(state.highest - state.lowest, Self.usualStep * slope)
    return part * part
  }

  /// Judges whether the pressure has left what the acceleration explains, and takes the step then.
  private mutating func judgeStep(
    _ measured: Double, _ innovation: Double, _ spread: Double, _ variance: Double,
    _ slope: Double, at time: Timestamp
  ) -> Bool {
    guard let track = state.older else { return false }
    let age = time.seconds(since: track.time)
    let longest = 2.5 * (state.isAided ? Self.trackTime : Self.trackTimeAlone)
    guard age > 0, age <= longest else {
      state.older = nil
      return false
    }
    // By the barometer alone, whatever has begun to move already goes on.
    guard state.isAided || abs(track.x[1]) < 0.7 else { return false }
    let least = state.isAided ? Self.leastStep * max(1, age) : Self.leastStepAlone
    var x = track.x
    x[0] += age * x[1] + 0.5 * age * age * x[2] + track.moved
    x[1] += age * x[2] + track.gained
    let keep = self.keep(age)
    x[2] *= keep
    let step = measured - x[0] - x[3] - rise * x[4]
    // A slow rise has been going on for longer than the track.
    let lag = state.isAided ? track.lag : 0
    guard abs(step) > least, abs(step - lag) > least else {
      state.candidate = 0
      return false
    }
    var p = track.p
    predict(&p, age, keep: keep, acceleration: abs(track.gained) / age, isOpen: false)
    let expected = Self.variance(p.seen(rise: rise), rise) + variance
    guard step * step > 20 * expected else {
      state.candidate = 0
      return false
    }
    // One sample may be noise: it waits for the next one, and moves nothing.
    let sign = step > 0 ? 1.0 : -1
    guard state.candidate == sign else {
      state.candidate = sign
      return true
    }
    state.candidate = 0
    let reckoned = x[0] - track.x[0]
    let jump = innovation - state.usualInnovation
    let isSharp = abs(jump) > 0.5 && jump * jump > 25 * spread
    guard isSharp || reckoned * step >= 0 || abs(reckoned) < 0.5 * abs(step) else {
      // The pressure stays and the acceleration goes away: then it is the acceleration that is wrong.
      guard state.isAided else { return false }
      let time = max(age, 0.5 * Self.trackTime)
      let (speed, acceleration) = (step / time, step / (time * time))
      state.p.speed[1] += speed * speed
      state.p.acceleration[2] += acceleration * acceleration
      state.older = nil
      state.newer = nil
      return false
    }
    state.x = x
    state.p = p
    if !state.isAided {
      // The track may have been in the step already: its climb rate is not to be carried on.
      state.x[1] = 0
      state.x[2] = 0
      state.p.height[0] += 0.1 * step * step
      state.p.speed[1] += params.initialSpeed * params.initialSpeed
    }
    if state.isAided && (state.stepCount * step <= 0 || abs(state.stepCount) < 0.4) {
      state.stepCount = 0
      state.disturbanceBefore = x[3]
    }
    state.p.disturbance[3] += step * step
    // A step is no climb.
    state.fastHeight += step
    state.slowHeight += step
    let seen = state.p.seen(rise: rise)
    correct(step, seen, Self.variance(seen, rise) + variance)
    state.steps &+= 1
    state.openUntil = time.advanced(bySeconds: state.isAided ? 1.2 : 0.4)
    // Who lay still and feels nothing does so behind another door, too.
    state.stillSince = nil
    state.isStill =
      state.isAided && isQuiet && track.isStill
      && (state.isStill || state.unsettledSince != nil)
    state.unsettledSince = nil
    state.usualInnovation = 0
    state.older = nil
    state.newer = nil
    if state.isAided {
      state.stepCount += sign
      let taken = state.x[3] - state.disturbanceBefore
      if abs(taken) > Self.largestStep * slope || abs(state.stepCount) > 2.1 {
        distrust(taken, at: time)
      }
    }
    return true
  }

  /// So many doors in one direction are a lift, and an accelerometer that does not feel it.
  private mutating func distrust(_ taken: Double, at time: Timestamp) {
    state.distrusts &+= 1
    state.x[0] += taken
    state.x[3] -= taken
    state.x[1] = 0
    state.p.height[0] += 0.25 * taken * taken
    state.p.speed[1] += 4
    state.stepCount = 0
    state.distrustedUntil = time.advanced(bySeconds: 30)
    state.accelerated = nil
    change(isAided: false)
  }

  private mutating func correct(_ innovation: Double, _ seen: SIMD8<Double>, _ spread: Double) {
    guard spread > 0 else { return }
    let gain = seen / spread
    state.x += gain * innovation
    state.p.reduce(gain, seen)
  }

  /// What follows a sample: slow averages, standing still, the tracks.
  private mutating func settle(
    _ measured: Double, _ innovation: Double, _ dt: Double, _ slope: Double, at time: Timestamp
  ) {
    state.stepCount *= 10 / (10 + dt)
    state.usualInnovation += dt / (0.5 + dt) * (innovation - state.usualInnovation)
    if isOpen(at: time) {
      // The rest of a step is no climb either.
      state.fastHeight += dt / (0.2 + dt) * (measured - state.fastHeight)
      state.slowHeight = state.fastHeight
    } else {
      state.fastHeight += dt / (1 + dt) * (measured - state.fastHeight)
      state.slowHeight += dt / (4 + dt) * (measured - state.slowHeight)
    }
    if state.isAided {
      judgeStillness(at: time)
      if state.isStill { standStill(dt) }
    } else {
      state.lowest = min(state.lowest, state.x[0])
      state.highest = max(state.highest, state.x[0])
    }
    let period = state.isAided ? Self.trackTime : Self.trackTimeAlone
    guard !isOpen(at: time) else { return }
    if let newer = state.newer {
      guard time.seconds(since: newer.time) >= period else { return }
      state.older = newer
    }
    state.newer = Track(
      time: time, x: state.x, p: state.p, isStill: state.isStill, lag: state.usualInnovation)
    if state.older == nil { state.older = state.newer }
  }

  /// Whether the accelerometer feels nothing, and the gyro neither.
  private var isQuiet: Bool {
    let most = state.isStill ? 1.5 : 1
    return !state.isTurning && state.quietVariance < 0.05 * 0.05
      && abs(state.quietMean + state.x[2]) < 0.05 * most
  }

  private mutating func judgeStillness(at time: Timestamp) {
    var gained = 0.0
    if let track = state.older {
      gained = track.gained + time.seconds(since: track.time) * state.x[2]
    }
    let most = state.isStill ? 1.5 : 1
    let isUnmoved = isQuiet && abs(gained) < 0.04 * most
    let isLevel =
      abs(state.x[1]) < 0.05 * most && abs(state.fastHeight - state.slowHeight) < 3 * 0.03
    guard isUnmoved && isLevel else {
      state.stillSince = nil
      if state.isStill {
        state.unsettledSince = time
      }
      state.isStill = false
      // Whoever sets off may have done so a little earlier. What only the pressure says may be a door:
      // that is a step before long.
      if let since = state.unsettledSince, !isUnmoved || time.seconds(since: since) > Self.doorTime
      {
        let swallowed = isUnmoved ? 0.15 : 0
        state.p.setOff(swallowed: swallowed)
        state.older?.p.setOff(swallowed: swallowed)
        state.newer?.p.setOff(swallowed: swallowed)
        state.unsettledSince = nil
      }
      return
    }
    guard let since = state.stillSince else {
      state.stillSince = time
      return
    }
    if time.seconds(since: since) >= 2 { state.isStill = true }
  }

  /// A board that lies still has no climb rate: 3 mm/s over a second.
  private mutating func standStill(_ dt: Double) {
    let seen = state.p.speed
    let spread = seen[1] + 0.003 * 0.003 / dt
    let gain = seen / spread
    state.x -= gain * state.x[1]
    state.p.reduce(gain, seen)
  }

  private func estimate(at time: Timestamp, since begun: Timestamp) -> AltitudeEstimate {
    let height = state.x[0]
    let total = height + state.x[3] + rise * state.x[4]
    let standard = state.reference + total / state.scale
    var variance = max(0, state.p.height[0]) + state.ambiguity
    if !state.isAided {
      variance += rangeVariance(metresPerPascal(at: standard))
    } else if state.isStill || state.unsettledSince != nil {
      // What the pressure does by itself may yet prove to be a slow rise of the board.
      let slow = state.fastHeight - state.slowHeight
      variance += slow * slow
    }
    let hours = min(1000, max(0, time.seconds(since: begun)) / 3600)
    let rest = 1 - Self.filteredDrift * Self.filteredDrift
    variance += rest * params.drift * params.drift * hours
    variance += state.scaleDeviation * state.scaleDeviation * height * height
    let speedKnown = state.p.speed[1] < 0.25 && time > begun
    return AltitudeEstimate(
      time: time, relativeAltitude: height, relativeAccuracy: variance.squareRoot(),
      pressure: StandardAtmosphere.pressure(altitude: standard),
      verticalSpeed: speedKnown ? state.x[1] : nil)
  }
}
