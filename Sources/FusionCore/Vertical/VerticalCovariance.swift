// The covariance of the vertical filter's five states. Pure arithmetic, no storage beyond itself.

/// A symmetric 5 x 5 matrix over height, climb rate, acceleration not measured, pressure disturbance
/// and temperature coefficient, kept as whole rows; lanes 5 to 7 are always zero.
struct VerticalCovariance: Sendable, Hashable, Codable {
  var height = SIMD8<Double>.zero
  var speed = SIMD8<Double>.zero
  var acceleration = SIMD8<Double>.zero
  var disturbance = SIMD8<Double>.zero
  var temperature = SIMD8<Double>.zero

  /// Moves it by `dt`: acceleration fades by `keep` towards a spread of `deviation`, `white` is the
  /// density of the climb rate's noise and `drift` that of the disturbance's, both squared per second.
  mutating func predict(
    _ dt: Double, keep: Double, deviation: Double, white: Double, drift: Double
  ) {
    let half = 0.5 * dt * dt
    height += dt * speed + half * acceleration
    speed += dt * acceleration
    acceleration *= keep
    Self.propagate(&height, dt, half, keep)
    Self.propagate(&speed, dt, half, keep)
    Self.propagate(&acceleration, dt, half, keep)
    Self.propagate(&disturbance, dt, half, keep)
    Self.propagate(&temperature, dt, half, keep)
    height[0] += white * dt * dt * dt / 3
    height[1] += white * half
    speed[0] += white * half
    speed[1] += white * dt
    acceleration[2] += (1 - keep * keep) * deviation * deviation
    disturbance[3] += drift * dt
  }

  private static func propagate(
    _ row: inout SIMD8<Double>, _ dt: Double, _ half: Double, _ keep: Double
  ) {
    row[0] += dt * row[1] + half * row[2]
    row[1] += dt * row[2]
    row[2] *= keep
  }

  /// `P h` for a barometer that sees height, disturbance and `rise` times the coefficient.
  func seen(rise: Double) -> SIMD8<Double> { height + disturbance + rise * temperature }

  /// Takes away what one scalar measurement has told.
  mutating func reduce(_ gain: SIMD8<Double>, _ seen: SIMD8<Double>) {
    height -= gain[0] * seen
    speed -= gain[1] * seen
    acceleration -= gain[2] * seen
    disturbance -= gain[3] * seen
    temperature -= gain[4] * seen
    // Rounding must not make a variance negative.
    height[0] = max(0, height[0])
    speed[1] = max(0, speed[1])
    acceleration[2] = max(0, acceleration[2])
    disturbance[3] = max(0, disturbance[3])
    temperature[4] = max(0, temperature[4])
  }

  /// All that was measured so far was worse by this factor of variance.
  mutating func grow(by factor: Double) {
    height *= factor
    speed *= factor
    acceleration *= factor
    disturbance *= factor
    temperature *= factor
  }

  /// Gives back the doubt that standing still had taken, and says how much of the
  /// disturbance may have been height, one sigma in metres.
  mutating func setOff(swallowed: Double, _ p: VerticalStationaryParameters) {
    height[0] += p.setOffHeight * p.setOffHeight
    speed[1] += p.setOffSpeed * p.setOffSpeed
    let variance = swallowed * swallowed
    height[0] += variance
    height[3] -= variance
    disturbance[0] -= variance
    disturbance[3] += variance
  }

  /// Forgets what is known of the acceleration and gives it a new variance.
  mutating func renewAcceleration(_ variance: Double) {
    height[2] = 0
    speed[2] = 0
    disturbance[2] = 0
    temperature[2] = 0
    acceleration = .zero
    acceleration[2] = variance
  }
}
