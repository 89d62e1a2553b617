// Whether legs carry the board, by how it is shaken, and what that says of its velocity.

/// Legs shake a board up and down, and carry it nowhere fast; wheels do neither, or both.
struct Gait: Sendable, Hashable, Codable {
  /// Mean square of vertical acceleration, (m/s^2)^2.
  private(set) var shaking = 0.0
  /// Whether it has been faster than legs are, by a receiver's word, since it stood last.
  private(set) var rides = false
  /// Whether the tilt is doubted; it is doubted again when the velocity that this rests on has been half as large.
  private var isDoubting = false

  /// Takes a block's vertical acceleration, m/s^2.
  mutating func update(lift: Double, _ duration: Double, _ p: VelocityAidingParameters) {
    shaking += (lift * lift - shaking) * (duration / (p.shakeTime + duration))
  }

  /// Takes a velocity that was measured, m/s.
  mutating func update(velocity: SIMD2<Double>, _ p: DivergenceParameters) {
    if (velocity * velocity).sum() > p.legLimit * p.legLimit { rides = true }
  }

  /// Notes that the board has come to rest: legs may carry it on from here.
  mutating func stand() { rides = false }

  /// Forgets how it is shaken, which was seen from a wrong attitude.
  mutating func restart() { (shaking, isDoubting) = (0, false) }

  /// The largest plausible mean square of a velocity component, in (m/s)^2. A smooth ride may be fast; strong shaking means
  /// legs, which are slow.
  func largestScatter(_ p: VelocityAidingParameters) -> Double {
    let smoothness = rides ? .infinity : p.strongShaking / shaking
    return p.largestScatter * max(1, smoothness * smoothness)
  }

  /// Whether a velocity begins to be one that legs cannot reach.
  ///
  /// - Parameter gained: What the horizontal force would have given of late, m/s.
  mutating func contradicts(
    gained: SIMD2<Double>, _ velocity: VelocityAidingParameters, _ p: DivergenceParameters
  ) -> Bool {
    let square = (gained * gained).sum()
    let limit = p.legLimit * p.legLimit
    if 4 * square < limit { isDoubting = false }
    guard !isDoubting, !rides, shaking > velocity.leastShaking, square > limit else { return false }
    isDoubting = true
    return true
  }
}
