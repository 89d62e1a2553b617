import Geodesy
import LinearAlgebra

let degree = Double.pi / 180

/// The difference of two angles in degrees, -180 to 180.
func between(_ a: Double, _ b: Double) -> Double {
  (a - b).remainder(dividingBy: 360)
}

/// How far two points are apart in space, metres, by the plain formula of the ellipsoid; this is the
/// length of the shortest line where that is short. The formula is written out here, so that a wrong one
/// in the module shows.
func gap(_ a: Position, _ b: Position) -> Double {
  func point(_ p: Position) -> Vector3 {
    let (f, r) = (1 / 298.257223563, 6_378_137.0)
    let reduced = atan((1 - f) * tan(p.latitude * degree))
    // The difference of longitudes alone is turned, so that it keeps its digits.
    return Vector3(r * cos(reduced), between(p.longitude, a.longitude), r * (1 - f) * sin(reduced))
  }
  let (one, two) = (point(a), point(b))
  let east = (one.x + two.x) / 2 * two.y * degree
  return Vector3(two.x - one.x, east, two.z - one.z).length
}

/// Numbers from 0 to 1 that are the same in every run (D. E. Knuth's MMIX multiplier).
struct Uniform {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 11) / 9_007_199_254_740_992
  }

  mutating func next(in range: ClosedRange<Double>) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * next()
  }

  /// A point of a sphere on which all places are equally likely.
  mutating func position() -> Position {
    Position(
      latitude: asin(next(in: -1...1)) / degree, longitude: next(in: -180...180))
  }
}

/// The integral of `f` by Gauss and Legendre's rule of ten points on each of `panels` equal pieces
/// (nodes and weights: Abramowitz and Stegun, table 25.4).
func integral(
  from a: Double, to b: Double, panels: Int, _ f: (Double) -> Double
) -> Double {
  let rule: [(node: Double, weight: Double)] = [
    (0.97390652851717172008, 0.066671344308688137594),
    (0.86506336668898451073, 0.149451349150580593150),
    (0.67940956829902440623, 0.219086362515982043996),
    (0.43339539412924719080, 0.269266719309996355091),
    (0.14887433898163121088, 0.295524224714752870174),
  ]
  let half = (b - a) / Double(panels) / 2
  // Kahan's sum: hundreds of roundings would be more than what is looked for.
  var (sum, lost) = (0.0, 0.0)
  for panel in 0..<panels {
    let middle = a + (2 * Double(panel) + 1) * half
    for (node, weight) in rule {
      let term = weight * (f(middle - half * node) + f(middle + half * node)) - lost
      let next = sum + term
      lost = (next - sum) - term
      sum = next
    }
  }
  return sum * half
}

/// A geodesic as a free particle's path on the surface x^2/a^2 + y^2/a^2 + z^2/b^2 = 1: its acceleration
/// is along the normal. Runge and Kutta's fourth order knows nothing of an auxiliary sphere.
func slide(from start: Position, azimuth: Double, distance: Double, steps: Int) -> Vector3 {
  let metric = Vector3(
    1, 1,
    (WGS84.equatorialRadius * WGS84.equatorialRadius)
      / (WGS84.polarRadius * WGS84.polarRadius))
  func acceleration(_ place: Vector3, _ velocity: Vector3) -> Vector3 {
    let normal = place * metric
    return normal * (-(velocity * velocity * metric).sum() / (normal * normal).sum())
  }
  var place = GeodeticCoordinate(start, height: 0).earthCentred
  let (phi, lambda, alpha) = (start.latitude * degree, start.longitude * degree, azimuth * degree)
  let north = Vector3(-sin(phi) * cos(lambda), -sin(phi) * sin(lambda), cos(phi))
  let east = Vector3(-sin(lambda), cos(lambda), 0)
  var velocity = cos(alpha) * north + sin(alpha) * east
  // Kahan's sums again.
  func add(_ term: Vector3, to sum: inout Vector3, _ lost: inout Vector3) {
    let term = term - lost
    let next = sum + term
    lost = (next - sum) - term
    sum = next
  }
  var (lostPlace, lostVelocity) = (Vector3.zero, Vector3.zero)
  let h = distance / Double(steps)
  for _ in 0..<steps {
    let a1 = acceleration(place, velocity)
    let (p2, v2) = (place + velocity * (h / 2), velocity + a1 * (h / 2))
    let a2 = acceleration(p2, v2)
    let (p3, v3) = (place + v2 * (h / 2), velocity + a2 * (h / 2))
    let a3 = acceleration(p3, v3)
    let (p4, v4) = (place + v3 * h, velocity + a3 * h)
    let a4 = acceleration(p4, v4)
    add((velocity + 2 * v2 + 2 * v3 + v4) * (h / 6), to: &place, &lostPlace)
    add((a1 + 2 * a2 + 2 * a3 + a4) * (h / 6), to: &velocity, &lostVelocity)
  }
  return place
}

/// A table's rows, which end with a line or a bar; what is no number is left out.
func rows(of text: String) -> [[Double]] {
  text.split { $0 == "\n" || $0 == "|" }
    .map { row in row.split(separator: " ").compactMap { Double(String($0)) } }
}
