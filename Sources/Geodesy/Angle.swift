import LinearAlgebra

/// An angle as its sine and cosine: right angles stay exact, and the functions are called once.
struct AngleSinCos {
  var sine: Double
  var cosine: Double

  init(sine: Double, cosine: Double) {
    self.sine = sine
    self.cosine = cosine
  }

  /// The angle of so many degrees. The reduction to an eighth of a turn is exact, so that multiples of 90
  /// degrees have sines and cosines of exactly 0 and 1.
  init(degrees: Double) {
    let rest = degrees.remainder(dividingBy: 90)
    let (s, c) = (sin(rest * .pi / 180), cos(rest * .pi / 180))
    switch ((degrees.remainder(dividingBy: 360) - rest) / 90).rounded() {
    case 0: self.init(sine: s, cosine: c)
    case 1: self.init(sine: c, cosine: -s)
    case -1: self.init(sine: -c, cosine: s)
    // Half a turn, either way; or what is no number, and both are NaN.
    default: self.init(sine: -s, cosine: -c)
    }
  }

  init(radians: Double) {
    self.init(sine: sin(radians), cosine: cos(radians))
  }

  /// The same direction with sine and cosine that square to one.
  var normalized: AngleSinCos {
    let length = hypot(sine, cosine)
    return AngleSinCos(sine: sine / length, cosine: cosine / length)
  }

  var radians: Double { atan2(sine, cosine) }

  /// -180 to 180, with no error at multiples of 90 degrees.
  var degrees: Double {
    // The arc tangent is asked for 45 degrees at most, where its own error is smallest.
    if abs(sine) > abs(cosine) {
      return copysign(90, sine) - atan2(cosine, abs(sine)) * copysign(180 / .pi, sine)
    }
    let fromAxis = atan2(sine, abs(cosine)) * 180 / .pi
    return cosine < 0 ? copysign(180, sine) - fromAxis : fromAxis
  }

  /// The angle of an arc that is known to be of 0 to pi: a sine that rounding has made negative, or a zero
  /// with the sign of one, counts as zero.
  var upward: AngleSinCos { AngleSinCos(sine: sine > 0 ? sine : 0, cosine: cosine) }

  /// How far this angle is ahead of `other`; right in direction for sines and cosines of any scale.
  func ahead(of other: AngleSinCos) -> AngleSinCos {
    AngleSinCos(
      sine: sine * other.cosine - cosine * other.sine,
      cosine: cosine * other.cosine + sine * other.sine)
  }

  /// This angle and a further `radians`.
  func turned(by radians: Double) -> AngleSinCos {
    let (s, c) = (sin(radians), cos(radians))
    return AngleSinCos(sine: sine * c + cosine * s, cosine: cosine * c - sine * s).normalized
  }
}
