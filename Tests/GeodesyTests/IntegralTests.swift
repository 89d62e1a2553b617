import Geodesy
import LinearAlgebra
import Testing

/// The series against quadrature and against an equation of motion: none of these oracles sums a series.
@Suite("Geodesics against integrals")
struct IntegralTests {
  /// The meridian's arc from the equator, metres: the integral of its radius of curvature.
  private func meridian(_ latitude: Double) -> Double {
    let squared = WGS84.eccentricitySquared
    return integral(from: 0, to: latitude * degree, panels: 24) { phi in
      let w = 1 - squared * sin(phi) * sin(phi)
      return WGS84.equatorialRadius * (1 - squared) / (w * w.squareRoot())
    }
  }

  @Test("arcs of the meridian")
  func arcs() {
    var worst = 0.0
    let origin = Position(latitude: 0, longitude: 30)
    for latitude in stride(from: -90.0, through: 90, by: 2.5) {
      let line = Geodesic.inverse(from: origin, to: Position(latitude: latitude, longitude: 30))
      worst = max(worst, abs(line.distance - abs(meridian(latitude))))
      let end = Geodesic.direct(from: origin, azimuth: 0, distance: meridian(latitude))
      worst = max(worst, gap(Position(latitude: latitude, longitude: 30), end.position))
    }
    #expect(worst < 1e-8)
    print("meridian arcs: \(worst) m")
    // The quarter meridian as published (Karney 2013, section 2; NGA.STND.0036).
    #expect(abs(meridian(90) - 10_001_965.729) < 6e-4)
    let quarter = Geodesic.inverse(from: origin, to: Position(latitude: 90, longitude: 0))
    #expect(abs(quarter.distance - 10_001_965.729) < 6e-4)
  }

  @Test("lines whose distance and longitude are integrated over the arc (equations 7 and 8)")
  func arcsOfAnyDirection() {
    var random = Uniform(seed: 87)
    var worst = (direct: 0.0, inverse: 0.0)
    let f = WGS84.flattening
    for _ in 0..<200 {
      let crossing = asin(random.next(in: 0.001...0.999))
      let start = random.next(in: -.pi...(.pi))
      let length = random.next(in: 0.001...3.0)
      let k = WGS84.secondEccentricitySquared * cos(crossing) * cos(crossing)
      func stretch(_ s: Double) -> Double { (1 + k * sin(s) * sin(s)).squareRoot() }
      let metres =
        WGS84.polarRadius * integral(from: start, to: start + length, panels: 24, stretch)
      let excess =
        f * sin(crossing)
        * integral(from: start, to: start + length, panels: 24) { s in
          (2 - f) / (1 + (1 - f) * stretch(s))
        }
      // Napier's rules at arc sigma from the crossing of the equator.
      func place(_ s: Double) -> (reduced: Double, omega: Double, azimuth: Double) {
        (
          atan2(cos(crossing) * sin(s), hypot(cos(crossing) * cos(s), sin(crossing))),
          atan2(sin(crossing) * sin(s), cos(s)), atan2(sin(crossing), cos(crossing) * cos(s))
        )
      }
      let (a, b) = (place(start), place(start + length))
      let omega = (b.omega - a.omega).remainder(dividingBy: 2 * .pi)
      let one = Position(latitude: atan(tan(a.reduced) / (1 - f)) / degree, longitude: 10)
      let two = Position(
        latitude: atan(tan(b.reduced) / (1 - f)) / degree,
        longitude: 10 + (omega - excess) / degree)
      let end = Geodesic.direct(from: one, azimuth: a.azimuth / degree, distance: metres)
      worst.direct = max(worst.direct, gap(two, end.position))
      #expect(abs(between(end.finalAzimuth, b.azimuth / degree)) < 1e-10)
      // Up to an arc of 3 rad no opposite point lies between: the line is the shortest.
      let line = Geodesic.inverse(from: one, to: two)
      worst.inverse = max(worst.inverse, abs(line.distance - metres))
    }
    #expect(worst.direct < 2e-8)
    #expect(worst.inverse < 2e-8)
    print("integrated lines: \(worst)")
  }

  @Test("a particle that slides over the ellipsoid")
  func particle() {
    var random = Uniform(seed: 4)
    var worst = 0.0
    for _ in 0..<20 {
      let start = random.position()
      let azimuth = random.next(in: -180...180)
      let distance = random.next(in: 1e5...1.8e7)
      let end = Geodesic.direct(from: start, azimuth: azimuth, distance: distance)
      let place = GeodeticCoordinate(end.position, height: 0).earthCentred
      let slid = slide(from: start, azimuth: azimuth, distance: distance, steps: 6000)
      worst = max(worst, (slid - place).length)
    }
    #expect(worst < 3e-8)
    print("particle: \(worst) m")
  }
}
