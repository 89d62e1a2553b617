// What absolute altitude does not know: the covariance of its five states, a row each.

/// Covariance of level, scale, wind, and the receiver's fast and slow error; rows and columns in that order, the last
/// three lanes unused.
struct AltitudeCovariance: Sendable, Hashable, Codable {
  var level = SIMD8<Double>.zero
  var scale = SIMD8<Double>.zero
  var wind = SIMD8<Double>.zero
  var fast = SIMD8<Double>.zero
  var slow = SIMD8<Double>.zero

  /// The covariance of all states with `h` times the states.
  func seen(by h: SIMD8<Double>) -> SIMD8<Double> {
    // One line each: the type checker gives up on the sum of them.
    var sum = level * h[0]
    sum += scale * h[1]
    sum += wind * h[2]
    sum += fast * h[3]
    sum += slow * h[4]
    return sum
  }

  /// Takes away what a measurement has told; `seen` is the covariance with it.
  mutating func correct(gain: SIMD8<Double>, seen: SIMD8<Double>) {
    level -= seen * gain[0]
    scale -= seen * gain[1]
    wind -= seen * gain[2]
    fast -= seen * gain[3]
    slow -= seen * gain[4]
    level[0] = max(0, level[0])
    scale[1] = max(0, scale[1])
    wind[2] = max(0, wind[2])
    fast[3] = max(0, fast[3])
    slow[4] = max(0, slow[4])
  }

  /// Multiplies the states by `keep`.
  mutating func scale(by keep: SIMD8<Double>) {
    level *= keep
    level *= keep[0]
    scale *= keep
    scale *= keep[1]
    wind *= keep
    wind *= keep[2]
    fast *= keep
    fast *= keep[3]
    slow *= keep
    slow *= keep[4]
  }

  /// The level becomes what one measurement says, `h[0]` being 1: it has the errors of all else, with the other sign.
  mutating func level(by h: SIMD8<Double>, variance: Double) {
    var others = h
    others[0] = 0
    let seen = seen(by: others)
    let spread = (others * seen).sum()
    level = SIMD8<Double>.zero - seen
    level[0] = spread + variance
    scale[0] = level[1]
    wind[0] = level[2]
    fast[0] = level[3]
    slow[0] = level[4]
  }

  /// Of the slow error nothing is known but its variance.
  mutating func forgetSlow(variance: Double) {
    level[4] = 0
    scale[4] = 0
    wind[4] = 0
    fast[4] = 0
    slow = .zero
    slow[4] = variance
  }

  /// What the receiver's datum is off by changes: a part `1 - keep` of it goes, something of `variance` comes. Fixes
  /// are off by that from now on; what is known of the height, level and slow error together, is not.
  mutating func moveDatum(keep: Double, variance: Double) {
    let part = 1 - keep
    level += slow * part
    level[0] += part * level[4]
    scale[0] += part * scale[4]
    wind[0] += part * wind[4]
    fast[0] += part * fast[4]
    slow[0] += part * slow[4]
    scale(by: SIMD8<Double>(1, 1, 1, 1, keep, 0, 0, 0))
    level[0] += variance
    level[4] -= variance
    slow[0] -= variance
    slow[4] += variance
  }
}
