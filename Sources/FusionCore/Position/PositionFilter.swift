// The Kalman filter of a carried position: five states and their covariance. Pure arithmetic; judges
// nothing and knows no time of day.

import LinearAlgebra

/// Position and velocity over ground, from fixes and, where there is a gyro, from how the carrier turns.
///
/// The states are east and north of the local frame's origin (m), velocity east and north (m/s), and what is
/// wrong with the turn rate (rad/s, clockwise). Velocity and not speed and course: it has no direction to lose
/// at a standstill, and a turn is linear in it. The position is the receiver's, with the slow part of its
/// errors, which cannot be seen from one place.
struct PositionFilter: Sendable, Hashable, Codable {
  /// The states in that order; lanes 5 to 7 are always zero.
  var x = SIMD8<Double>.zero
  /// Rows of the covariance.
  var east = SIMD8<Double>.zero
  var north = SIMD8<Double>.zero
  var velocityEast = SIMD8<Double>.zero
  var velocityNorth = SIMD8<Double>.zero
  var rate = SIMD8<Double>.zero

  var position: SIMD2<Double> {
    get { SIMD2(x[0], x[1]) }
    set {
      x[0] = newValue.x
      x[1] = newValue.y
    }
  }
  var velocity: SIMD2<Double> { SIMD2(x[2], x[3]) }
  var speed: Double { hypot(x[2], x[3]) }

  /// Begins at a place, with nothing known of the velocity but its spread, m/s.
  mutating func begin(
    at place: SIMD2<Double>, variance: Double, speed: Double, rate deviation: Double
  ) {
    self = PositionFilter()
    position = place
    east[0] = variance
    north[1] = variance
    velocityEast[2] = speed * speed
    velocityNorth[3] = speed * speed
    rate[4] = deviation * deviation
  }

  // MARK: Prediction

  /// Goes on for `dt`, turning clockwise by `turn` less what is known to be wrong with it.
  ///
  /// - Parameter isTurning: Whether the turn was measured; else the error of the rate has no part in it.
  mutating func advance(_ dt: Double, turn: Double, isTurning: Bool, _ noise: PositionProcessNoise)
  {
    let angle = isTurning ? turn - x[4] * dt : turn
    let (s, c) = (sin(angle), cos(angle))
    let half = 0.5 * dt
    let (ve, vn) = (c * x[2] + s * x[3], c * x[3] - s * x[2])
    // What an error of the rate turns.
    let (re, rn) = isTurning ? (-dt * vn, dt * ve) : (0, 0)
    x[0] += half * (x[2] + ve)
    x[1] += half * (x[3] + vn)
    x[2] = ve
    x[3] = vn

    let newEast = c * velocityEast + s * velocityNorth + re * rate
    let newNorth = c * velocityNorth - s * velocityEast + rn * rate
    east += half * (velocityEast + newEast)
    north += half * (velocityNorth + newNorth)
    velocityEast = newEast
    velocityNorth = newNorth
    func move(_ row: inout SIMD8<Double>) {
      let newEast = c * row[2] + s * row[3] + re * row[4]
      let newNorth = c * row[3] - s * row[2] + rn * row[4]
      row[0] += half * (row[2] + newEast)
      row[1] += half * (row[3] + newNorth)
      row[2] = newEast
      row[3] = newNorth
    }
    move(&east)
    move(&north)
    move(&velocityEast)
    move(&velocityNorth)
    move(&rate)
    addDoubt(dt, noise)
  }

  private mutating func addDoubt(_ dt: Double, _ noise: PositionProcessNoise) {
    // Along and across as a symmetric matrix; at a standstill there is no way, and both count alike.
    let speed = self.speed
    let (ue, un) = speed > 1e-6 ? (x[2] / speed, x[3] / speed) : (0, 0)
    let across = speed > 1e-6 ? noise.across : noise.along
    let extra = noise.along - across
    let (ee, en, nn) = (across + extra * ue * ue, extra * ue * un, across + extra * un * un)
    let (a, b) = (dt * dt * dt / 3, dt * dt / 2)
    east += SIMD8(ee * a, en * a, ee * b, en * b, 0, 0, 0, 0)
    north += SIMD8(en * a, nn * a, en * b, nn * b, 0, 0, 0, 0)
    velocityEast += SIMD8(ee * b, en * b, ee * dt, en * dt, 0, 0, 0, 0)
    velocityNorth += SIMD8(en * b, nn * b, en * dt, nn * dt, 0, 0, 0, 0)
    rate[4] += noise.rate * dt
  }

  // MARK: Correction

  /// Takes a place with the variance of its errors on each axis, m^2.
  mutating func take(place: SIMD2<Double>, variance: Double) {
    correct(place.x - x[0], east, seenAt: 0, variance)
    correct(place.y - x[1], north, seenAt: 1, variance)
  }

  /// Takes the part of the velocity that lies along `direction`, of length one, m/s.
  mutating func take(speed: Double, along direction: SIMD2<Double>, variance: Double) {
    let seen = direction.x * velocityEast + direction.y * velocityNorth
    let spread = direction.x * seen[2] + direction.y * seen[3] + variance
    apply(speed - direction.x * x[2] - direction.y * x[3], seen, spread)
  }

  private mutating func correct(
    _ innovation: Double, _ seen: SIMD8<Double>, seenAt lane: Int, _ variance: Double
  ) {
    apply(innovation, seen, seen[lane] + variance)
  }

  private mutating func apply(_ innovation: Double, _ seen: SIMD8<Double>, _ spread: Double) {
    guard spread > 0, innovation.isFinite else { return }
    let gain = seen / spread
    x += gain * innovation
    east -= gain[0] * seen
    north -= gain[1] * seen
    velocityEast -= gain[2] * seen
    velocityNorth -= gain[3] * seen
    rate -= gain[4] * seen
    // Rounding must not make a variance negative.
    east[0] = max(0, east[0])
    north[1] = max(0, north[1])
    velocityEast[2] = max(0, velocityEast[2])
    velocityNorth[3] = max(0, velocityNorth[3])
    rate[4] = max(0, rate[4])
  }

  /// Makes the place what a fix says it is, and leaves the velocity alone: a jump is no way that was gone.
  mutating func move(to place: SIMD2<Double>, variance: Double) {
    forgetPlace(variance)
    position = place
  }

  /// Forgets how errors of the place and of the velocity hang together.
  mutating func forgetPlace(_ variance: Double) {
    east = .zero
    north = .zero
    for lane in 0..<2 {
      velocityEast[lane] = 0
      velocityNorth[lane] = 0
      rate[lane] = 0
    }
    east[0] = variance
    north[1] = variance
  }

  // MARK: Doubt

  /// The place is less certain than it was, by a variance on each axis, m^2.
  mutating func addPlaceDoubt(_ variance: Double) {
    east[0] += variance
    north[1] += variance
  }

  /// The variance of the place along its worst and its best direction, m^2.
  var placeVariances: (worst: Double, best: Double) {
    let middle = 0.5 * (east[0] + north[1])
    let spread = hypot(0.5 * (east[0] - north[1]), east[1])
    return (middle + spread, max(0, middle - spread))
  }

  /// The radius that holds the place in 68 % of cases, m.
  ///
  /// The square of a normal error's 68 % radius is 2.279 times the variance of each axis where they are alike (that
  /// of a Rayleigh distribution, -2 ln 0.32) and 0.989 times the variance where there is one axis only; between them it is taken
  /// as linear in their ratio, which is right within 2.5 %.
  var radius: Double {
    let (worst, best) = placeVariances
    guard worst > 0 else { return 0 }
    return ((worst + best) * (0.989 + 0.151 * best / worst)).squareRoot()
  }

  /// Variance of the velocity along `direction`, of length one, (m/s)^2.
  func velocityVariance(along direction: SIMD2<Double>) -> Double {
    let seen = direction.x * velocityEast + direction.y * velocityNorth
    return max(0, direction.x * seen[2] + direction.y * seen[3])
  }
}

/// What a pause between two steps adds to the doubt.
struct PositionProcessNoise {
  /// Growth of the variance of the velocity, along and across the way, (m/s)^2 per second.
  var along: Double
  var across: Double

  /// Growth of the variance of the turn rate's error, (rad/s)^2 per second.
  var rate: Double
}
