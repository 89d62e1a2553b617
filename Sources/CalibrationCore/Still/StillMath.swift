// What judging a board at rest needs of mathematics and of words.

import LinearAlgebra

enum StillMath {
  static func arcSine(_ x: Double) -> Double { asin(max(-1, min(1, x))) }
}

/// Standard gravity, m/s^2 (CGPM 1901): what a force is held against where the place's own is not known.
let standardGravity = 9.80665
