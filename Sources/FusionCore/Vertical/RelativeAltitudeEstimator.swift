// Relative altitude and climb rate from a barometer, aided by vertical acceleration where there is
// one. What samples go through is here; what happens to them is in the units that `State` lists.

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
  /// The thresholds and noise parameters; the default in place of a number out of its range.
  public let params: RelativeAltitudeParameters
  /// Everything that changes.
  public private(set) var state: RelativeAltitudeState
  private let leastVariance: Double

  /// Makes an estimator, or resumes one from a saved state.
  public init(
    _ params: RelativeAltitudeParameters = RelativeAltitudeParameters(),
    state: RelativeAltitudeState = RelativeAltitudeState()
  ) {
    let params = params.sound
    self.params = params
    self.state = state
    leastVariance = params.pressureNoise * params.pressureNoise
  }

  // MARK: Samples

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
    guard verticalAcceleration.isFinite, abs(verticalAcceleration) < params.limits.acceleration
    else { return }
    guard let last = state.time,
      let part = state.accelerometer.update(
        verticalAcceleration, isTurning: isTurning, at: time, pressureAt: last,
        params)
    else { return }
    move(by: part.dt, acceleration: part.acceleration)
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
    guard pressure.isFinite, isInRange(pressure) else {
      state.rejected &+= 1
      return nil
    }
    if let temperature { state.air.update(chip: temperature, params.air) }
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
    let slope = state.air.metresPerPascal(at: standard)
    let variance = slope * slope * max(leastVariance, state.noise.variance(after: dt, params.noise))
    let measured = state.air.height(ofPressureAltitude: standard)
    guard dt > 0, dt <= params.limits.longestGap else {
      goOn(from: measured, variance: variance, at: time)
      return estimate(at: time, since: begun)
    }
    let noise = predict(to: time, dt)
    let rise = state.air.rise
    let seen = state.filter.p.seen(rise: rise)
    let sample = PressureSample(
      time: time, measured: measured, variance: variance,
      innovation: VerticalFilter.innovation(measured, state.filter.x, rise: rise),
      spread: VerticalFilter.variance(seen, rise: rise) + variance, rise: rise)
    let limit = params.doors.largestStep * slope
    let gate = params.limits.outlierGate
    if sample.innovation * sample.innovation > gate * sample.spread + limit * limit {
      let since = state.outlierSince ?? time
      state.outlierSince = since
      state.noise.interrupt()
      guard time.seconds(since: since) >= params.limits.outlierTime else {
        state.rejected &+= 1
        return nil
      }
      goOn(from: measured, variance: variance, at: time)
    } else {
      let isNoiseOpen =
        !state.noise.isKnown(params.noise) && state.noise.variance(after: dt, params.noise) > 0
      take(sample, seen, noise, slope, isNoiseOpen: isNoiseOpen)
    }
    state.outlierSince = nil
    if let factor = state.noise.take(pressure, dt, params.noise) { state.filter.p.grow(by: factor) }
    settle(sample, dt)
    return estimate(at: time, since: begun)
  }

  /// Relative altitude at which the outside air has a pressure now, in pascals, 30 to 120 kPa; `nil` before the first
  /// sample, and for a pressure out of range.
  ///
  /// What moved the pressure since the first sample and was not height counts as weather: it is here and there. What the
  /// chip's warmth did is the chip's own.
  public func relativeAltitude(atPressure pressure: Double) -> Double? {
    guard state.begun != nil, isInRange(pressure) else { return nil }
    let standard = StandardAtmosphere.altitude(pressure: pressure)
    return state.air.height(ofPressureAltitude: standard) - state.filter.disturbance
  }

  /// Metres a pascal at a pressure, in the air that this run takes for granted; `nil` as above.
  public func metresPerPascal(atPressure pressure: Double) -> Double? {
    guard state.begun != nil, isInRange(pressure) else { return nil }
    return state.air.metresPerPascal(at: StandardAtmosphere.altitude(pressure: pressure))
  }

  private func isInRange(_ pressure: Double) -> Bool {
    pressure >= params.limits.leastPressure && pressure <= params.limits.largestPressure
  }

  // MARK: Beginnings

  private mutating func begin(_ standard: Double, at time: Timestamp) {
    state.begun = time
    state.time = time
    state.air.begin(at: standard, params)
    state.noise.begin(params.noise)
    let slope = state.air.metresPerPascal(at: standard)
    state.filter.begin(
      params, variance: slope * slope * leastVariance,
      coefficient: params.temperatureCoefficient * slope)
  }

  /// Height takes the new pressure's word; the zero and its error stay.
  private mutating func goOn(from measured: Double, variance: Double, at time: Timestamp) {
    state.time = time
    state.noise.interrupt()
    state.filter.goOn(from: measured, variance: variance, rise: state.air.rise, params)
    // What an accelerometer vouched for is not to be doubted now; a stretch without one goes on.
    if state.isAided { state.doubt.begin(at: state.filter.height) }
    state.isAided = false
    state.accelerometer.restart()
    state.doors.restart()
    state.stillness.restart(at: measured)
    state.outlierSince = nil
  }

  /// Begins or ends the accelerometer's part.
  private mutating func change(isAided: Bool) {
    if isAided {
      let standard = state.air.pressureAltitude(of: state.filter.height)
      state.doubt.end(slope: state.air.metresPerPascal(at: standard), params)
    } else {
      state.doubt.begin(at: state.filter.height)
    }
    state.isAided = isAided
    state.filter.renewAcceleration(
      deviation: isAided ? params.process.renewalFactor * params.bias : params.acceleration)
    state.doors.renew()
    state.stillness.renew()
  }

  // MARK: Pieces of a pressure sample

  private mutating func move(by dt: Double, acceleration: Double) {
    state.filter.move(by: dt, acceleration: acceleration)
    state.accelerometer.noteMove(dt, acceleration)
    state.doors.move(by: dt, acceleration: acceleration)
  }

  private mutating func predict(to time: Timestamp, _ dt: Double) -> VerticalProcessNoise {
    let isAided = state.accelerometer.isAiding(at: time, params.accelerometer)
    // The measured part has moved height and rate already; the rest of the interval moves evenly.
    let rest = dt - state.accelerometer.moved
    if isAided {
      move(by: rest, acceleration: state.accelerometer.newest)
    } else {
      state.filter.height += rest * state.filter.speed
    }
    if isAided != state.isAided { change(isAided: isAided) }
    let mean = state.accelerometer.endInterval(dt)
    let noise = VerticalProcessNoise(
      params, shaking: isAided ? state.accelerometer.variance : nil)
    state.filter.moveUnmeasured(by: dt, noise)
    state.filter.addDoubt(dt, noise, acceleration: mean, isOpen: state.doors.isOpen(at: time))
    state.time = time
    return noise
  }

  /// Corrects the filter by a sample, as height or as a door; `seen` is the filter's `P h`.
  private mutating func take(
    _ sample: PressureSample, _ seen: SIMD8<Double>, _ noise: VerticalProcessNoise,
    _ slope: Double, isNoiseOpen: Bool
  ) {
    // Of a chip whose noise is not known yet nothing stands out.
    let verdict =
      isNoiseOpen
      ? .usual
      : state.doors.update(sample, &state.filter, noise, isAided: state.isAided, params.doors)
    switch verdict {
    case .unconfirmed:
      return
    case .door(let step, let wasStill):
      takeDoor(sample, step, wasStill: wasStill, slope)
      return
    case .wrongAcceleration(let speed, let acceleration):
      state.filter.p.speed[1] += speed * speed
      state.filter.p.acceleration[2] += acceleration * acceleration
    case .usual:
      break
    }
    state.filter.correct(sample.innovation, seen, sample.spread)
  }

  /// The filter is the dead-reckoned one now; the disturbance takes the step.
  private mutating func takeDoor(
    _ sample: PressureSample, _ step: Double, wasStill: Bool, _ slope: Double
  ) {
    state.steps &+= 1
    let before = state.filter.disturbance
    if !state.isAided {
      // The track may have been in the step already: its climb rate is not to be carried on.
      state.filter.speed = 0
      state.filter.acceleration = 0
      state.filter.p.height[0] += params.doors.heightShare * step * step
      state.filter.p.speed[1] += params.initialSpeed * params.initialSpeed
    }
    state.filter.p.disturbance[3] += step * step
    let seen = state.filter.p.seen(rise: sample.rise)
    let spread = VerticalFilter.variance(seen, rise: sample.rise) + sample.variance
    state.filter.correct(step, seen, spread)
    state.stillness.step(by: step, isUnmoved: state.isAided && isUnaccelerated && wasStill)
    state.doors.open(
      step, before: before, isAided: state.isAided, at: sample.time,
      params.doors)
    if state.isAided,
      let lift = state.doors.findLift(
        disturbance: state.filter.disturbance, slope: slope, params.doors)
    {
      distrust(lift, at: sample.time)
    }
  }

  /// What was taken for doors was height, and the accelerometer did not feel it.
  private mutating func distrust(_ taken: Double, at time: Timestamp) {
    state.distrusts &+= 1
    state.filter.height += taken
    state.filter.disturbance -= taken
    state.filter.speed = 0
    state.filter.p.height[0] += params.doors.liftShare * taken * taken
    state.filter.p.speed[1] += params.doors.liftSpeed * params.doors.liftSpeed
    state.accelerometer.distrust(at: time, params.accelerometer)
    change(isAided: false)
  }

  /// What follows a sample: slow averages, standing still, the tracks.
  private mutating func settle(_ sample: PressureSample, _ dt: Double) {
    let time = sample.time
    state.doors.follow(sample.innovation, dt, params.doors)
    state.stillness.follow(
      sample.measured, dt, isOpen: state.doors.isOpen(at: time),
      params.stationary)
    if state.isAided {
      updateStillness(at: time)
      if state.stillness.isStill { state.filter.standStill(dt, params.stationary) }
    } else {
      state.doubt.follow(state.filter.height)
    }
    state.doors.keep(
      state.filter, isStill: state.stillness.isStill, isAided: state.isAided, at: time,
      params.doors)
  }

  private mutating func updateStillness(at time: Timestamp) {
    let gained = state.doors.gained(until: time, bias: state.filter.acceleration)
    if let swallowed = state.stillness.update(
      isUnaccelerated: isUnaccelerated, gained: gained, speed: state.filter.speed, at: time,
      params.stationary)
    {
      state.filter.p.setOff(swallowed: swallowed, params.stationary)
      state.doors.setOff(swallowed: swallowed, params.stationary)
    }
  }

  /// Whether the accelerometer feels nothing, and the gyro neither.
  private var isUnaccelerated: Bool {
    state.accelerometer.isUnaccelerated(
      bias: state.filter.acceleration, slack: state.stillness.slack(params.stationary),
      params.accelerometer)
  }

  private func estimate(at time: Timestamp, since begun: Timestamp) -> AltitudeEstimate {
    let height = state.filter.height
    let total = height + state.filter.disturbance + state.air.rise * state.filter.coefficient
    let standard = state.air.pressureAltitude(of: total)
    var variance = max(0, state.filter.p.height[0]) + state.doubt.earlier
    if !state.isAided {
      variance += state.doubt.variance(
        slope: state.air.metresPerPascal(at: standard), params)
    } else if let slow = state.stillness.slowRise {
      variance += slow * slow
    }
    // The sample that defines the zero was as noisy as all of them; the filter knows of the least.
    let slope = state.air.metresPerPascal(at: standard)
    variance += slope * slope * state.noise.excess(over: leastVariance, params.noise)
    let hours = min(1000, max(0, time.seconds(since: begun)) / 3600)
    let followed = params.process.filteredDrift
    let rest = 1 - followed * followed
    variance += rest * params.drift * params.drift * hours
    variance += state.air.scaleDeviation * state.air.scaleDeviation * height * height
    let largest = params.process.largestSpeedDeviation
    let speedKnown = state.filter.p.speed[1] < largest * largest && time > begun
    return AltitudeEstimate(
      time: time, relativeAltitude: height, relativeAccuracy: variance.squareRoot(),
      pressure: StandardAtmosphere.pressure(altitude: standard),
      verticalSpeed: speedKnown ? state.filter.speed : nil)
  }
}

/// Everything that changes; save it, and a run resumes bit for bit.
public struct RelativeAltitudeState: Sendable, Hashable, Codable {
  /// Samples that were not finite, or beyond 30 to 120 kPa, or too far off to be height.
  public internal(set) var rejected: UInt64 = 0
  /// Samples that were not later than the one before.
  public internal(set) var outOfOrder: UInt64 = 0
  /// Steps of pressure that were not taken for height.
  public internal(set) var steps: UInt64 = 0
  /// Times an accelerometer was found to lie.
  public internal(set) var distrusts: UInt64 = 0
  /// The times of the first and of the newest pressure.
  var begun: Timestamp?
  var time: Timestamp?
  var outlierSince: Timestamp?
  /// What the samples show of their own noise.
  var noise = PressureNoise()
  /// From pressure to metres.
  var air = AirColumn()
  /// Height, climb rate and what hides them.
  var filter = VerticalFilter()
  /// Which accelerations are believed.
  var accelerometer = VerticalAccelerometer()
  /// Whether acceleration was measured in the newest pressure interval.
  var isAided = false
  /// Which steps of pressure are not height.
  var doors = DoorDetector()
  /// Whether the board stands still.
  var stillness = VerticalStationaryDetector()
  /// What may have been doors while nothing measured acceleration.
  var doubt = UnaidedDoubt()

  /// Makes the state before the first sample.
  public init() {}
}
