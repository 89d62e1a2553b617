import LinearAlgebra

/// The positive root m of (x / (1 + m))^2 + (y / m)^2 = 1, with the two quotients.
///
/// This is Karney's equation 55 before the fractions are cleared. Through a point with coordinates x and y
/// it finds the tangent to an astroid, or, which is the same, the perpendicular to an ellipse whose
/// evolute is that astroid, stretched. The left side falls and is convex for positive m. Newton's steps
/// from where it is above one therefore approach the root from below and never pass it.
struct AstroidRoot {
  /// m; 0 where `y` is 0 and `x` at most 1, within the astroid's cusps.
  let root: Double
  /// x / (1 + m).
  let x: Double
  /// y / m, or what makes the squares add up to one where m is 0.
  let y: Double

  /// Solves for `x` and `y`, which are not negative.
  init(x: Double, y: Double) {
    // Two values at which the left side is not below one.
    var m = max(y, hypot(x, y) - 1)
    guard m > 0 else {
      self.init(root: 0, x: min(x, 1), y: max(0, 1 - x * x).squareRoot())
      return
    }
    // Close to a cusp each step gains half of m until the root is near; the bound lets it come from 1e-13.
    for _ in 0..<100 {
      let (p, q) = (x / (1 + m), y / m)
      let (pp, qq) = (p * p, q * q)
      let step = (pp + qq - 1) / (2 * (pp / (1 + m) + qq / m))
      guard step > 0, m + step > m else { break }
      m += step
    }
    let (p, q) = (x / (1 + m), y / m)
    let length = hypot(p, q)
    self.init(root: m, x: p / length, y: q / length)
  }

  private init(root: Double, x: Double, y: Double) {
    self.root = root
    self.x = x
    self.y = y
  }
}
