// The Kalman filter of relative altitude: five states and their covariance. Pure arithmetic; judges
// nothing and knows no time of day.

/// Height and what hides it, from heights that a barometer measures and accelerations.
///
/// The states are height (m); climb rate (m/s); acceleration that nothing measured (m/s^2: the
/// accelerometer's bias while there is one); what moves the pressure and is not height (m: doors, fans,
/// wind, weather, and the noise of the sample that defines the zero); the chip's temperature coefficient
/// (m/K). A barometer sees `height + disturbance + rise * coefficient`, `rise` being how much the chip
/// has warmed up, K.
struct VerticalFilter: Sendable, Hashable, Codable {
  /// The states in that order; lanes 5 to 7 are always zero.
  var x = SIMD8<Double>.zero
  var p = VerticalCovariance()

  var height: Double {
    get { x[0] }
    set { x[0] = newValue }
  }
  var speed: Double {
    get { x[1] }
    set { x[1] = newValue }
  }
  var acceleration: Double {
    get { x[2] }
    set { x[2] = newValue }
  }
  var disturbance: Double {
    get { x[3] }
    set { x[3] = newValue }
  }
  var coefficient: Double { x[4] }

  /// Begins at height zero.
  /// - Parameters:
  ///   - variance: Of the sample that defines the zero, m^2.
  ///   - coefficient: One sigma, m/K.
  mutating func begin(
    _ params: RelativeAltitudeParameters, variance: Double, coefficient: Double
  ) {
    p.speed[1] = params.initialSpeed * params.initialSpeed
    p.acceleration[2] = params.acceleration * params.acceleration
    p.disturbance[3] = variance
    p.temperature[4] = coefficient * coefficient
  }

  /// Takes a measured height's word, after a gap; the zero and its error stay.
  mutating func goOn(
    from measured: Double, variance: Double, rise: Double,
    _ params: RelativeAltitudeParameters
  ) {
    height = measured - disturbance - rise * coefficient
    speed = 0
    acceleration = 0
    // Height is now what was measured less the rest, so it has the rest's errors with the other sign.
    let d = p.disturbance
    let c = p.temperature
    let dc = d[4]
    p = VerticalCovariance()
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
  }

  // MARK: Prediction

  /// Moves height and climb rate by a measured acceleration.
  mutating func move(by dt: Double, acceleration measured: Double) {
    height += dt * (speed + 0.5 * dt * measured)
    speed += dt * measured
  }

  /// Moves them by the acceleration that nothing measured, which fades.
  mutating func moveUnmeasured(by dt: Double, _ noise: VerticalProcessNoise) {
    let a = acceleration
    height += 0.5 * dt * dt * a
    speed += dt * a
    acceleration *= noise.keep(dt)
  }

  /// The states after `dt` by both at once; `gained` and `moved` are the first and second integral of
  /// measured acceleration.
  func reckoned(_ dt: Double, gained: Double, moved: Double, _ noise: VerticalProcessNoise)
    -> SIMD8<Double>
  {
    var x = x
    x[0] += dt * x[1] + 0.5 * dt * dt * x[2] + moved
    x[1] += dt * x[2] + gained
    x[2] *= noise.keep(dt)
    return x
  }

  /// What `dt` adds to the doubt.
  /// - Parameters:
  ///   - measured: The mean of measured acceleration.
  ///   - isOpen: Whether a door is open: that may still move the air by a metre in a second.
  mutating func addDoubt(
    _ dt: Double, _ noise: VerticalProcessNoise, acceleration measured: Double, isOpen: Bool
  ) {
    let white = noise.white + noise.share * measured + noise.shaking
    p.predict(
      dt, keep: noise.keep(dt), deviation: noise.deviation, white: white * white,
      drift: noise.drift + (isOpen ? noise.open : 0))
  }

  // MARK: Correction

  /// By how much a measured height is off what the barometer should see of the states `x`, m.
  static func innovation(_ measured: Double, _ x: SIMD8<Double>, rise: Double) -> Double {
    measured - x[0] - x[3] - rise * x[4]
  }

  /// The variance of what the barometer should see, m^2, from `p.seen(rise:)`.
  static func variance(_ seen: SIMD8<Double>, rise: Double) -> Double {
    seen[0] + seen[3] + rise * seen[4]
  }

  /// Takes an innovation; `spread` is its variance.
  mutating func correct(_ innovation: Double, _ seen: SIMD8<Double>, _ spread: Double) {
    guard spread > 0 else { return }
    let gain = seen / spread
    x += gain * innovation
    p.reduce(gain, seen)
  }

  /// A board that is stationary has no climb rate.
  mutating func standStill(_ dt: Double, _ params: VerticalStationaryParameters) {
    let deviation = params.speedDeviation
    let seen = p.speed
    let spread = seen[1] + deviation * deviation / dt
    let gain = seen / spread
    x -= gain * speed
    p.reduce(gain, seen)
  }

  /// Forgets the acceleration that nothing measured: from now on it is another one.
  mutating func renewAcceleration(deviation: Double) {
    acceleration = 0
    p.renewAcceleration(deviation * deviation)
  }
}

/// What a pause between two samples adds to the doubt.
struct VerticalProcessNoise {
  /// How long an acceleration lasts that nothing measured, seconds, and its steady spread, m/s^2.
  var time: Double
  var deviation: Double
  /// The rest of acceleration, white, m/s^2 per root hertz: at rest, and per m/s^2 of acceleration.
  var white: Double
  var share = 0.0
  /// What shaking adds to `white`.
  var shaking = 0.0
  /// Growth of the disturbance's variance, m^2 per second.
  var drift: Double
  /// What is added to `drift` while a door is open.
  var open: Double

  /// - Parameter shaking: Variance of measured acceleration, (m/s^2)^2; `nil` while nothing measures it.
  init(_ params: RelativeAltitudeParameters, shaking variance: Double?) {
    if let variance {
      time = params.biasTime
      deviation = params.bias
      white = params.accelerationNoise
      share = params.accelerationShare
      shaking = params.process.shakingShare * variance.squareRoot()
    } else {
      time = params.accelerationTime
      deviation = params.acceleration
      white = params.process.unaidedNoise
    }
    let usual = params.process.filteredDrift * params.drift
    drift = usual * usual / 3600
    open = params.process.openDrift
  }

  /// What is left of an acceleration after `dt`.
  func keep(_ dt: Double) -> Double { max(0, 1 - dt / time) }
}
