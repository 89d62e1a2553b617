// How far apart two points of the WGS 84 ellipsoid are.

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A point on the ellipsoid, WGS 84, degrees.
public struct Position: Hashable, Codable, Sendable {
  /// Degrees north, -90 to 90.
  public var latitude: Double
  /// Degrees east, -180 to 180.
  public var longitude: Double

  /// Makes a point from degrees north and east.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// Lengths of shortest lines on the WGS 84 ellipsoid.
///
/// T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid with application of nested
/// equations", Survey Review XXIII 176 (1975). His iteration does not converge for points that lie nearly
/// opposite each other; there the starting azimuth is found by bisection, which C. F. F. Karney,
/// "Algorithms for geodesics", J. Geodesy 87 (2013), section 4, shows to have one root. Errors stay
/// below a millimetre everywhere.
public enum Geodesic {
  private static let equatorialRadius = 6_378_137.0
  private static let flattening = 1 / 298.257223563

  /// The length of the shortest line from `a` to `b` in metres, heights ignored; NaN unless both are
  /// finite.
  public static func distance(from a: Position, to b: Position) -> Double {
    guard a.latitude.isFinite, a.longitude.isFinite, b.latitude.isFinite, b.longitude.isFinite
    else { return .nan }
    let (one, two) = (ReducedLatitude(a.latitude), ReducedLatitude(b.latitude))
    let turn = abs((b.longitude - a.longitude).remainder(dividingBy: 360)) * .pi / 180
    return iterated(one, two, turn) ?? bisected(one, two, turn)
  }

  /// Sine and cosine of the latitude on the auxiliary sphere.
  private struct ReducedLatitude {
    var sine: Double
    var cosine: Double

    init(_ degrees: Double) {
      let latitude = degrees * .pi / 180
      let (s, c) = ((1 - flattening) * sin(latitude), max(0, cos(latitude)))
      let length = hypot(s, c)
      (sine, cosine) = (s / length, c / length)
    }
  }

  /// The arc on the auxiliary sphere that belongs to a line.
  private struct Arc {
    var sine: Double
    var cosine: Double
    /// Sine of the azimuth at which the great circle crosses the equator.
    var sineAzimuth: Double
    /// Cosine of twice the arc from the equator to the middle of the line.
    var cosineMiddle: Double

    var length: Double { atan2(sine, cosine) }
    private var cosineSquared: Double { max(0, 1 - sineAzimuth * sineAzimuth) }

    /// What the difference of longitudes on the sphere exceeds that on the ellipsoid by (equations 10, 11).
    var longitudeExcess: Double {
      let f = flattening
      let c = f / 16 * cosineSquared * (4 + f * (4 - 3 * cosineSquared))
      let inner = cosineMiddle + c * cosine * (2 * cosineMiddle * cosineMiddle - 1)
      return (1 - c) * f * sineAzimuth * (length + c * sine * inner)
    }

    /// The length on the ellipsoid (equations 3, 4, 6, 19).
    var metres: Double {
      let polarRadius = equatorialRadius * (1 - flattening)
      let ratio = equatorialRadius / polarRadius
      let u = cosineSquared * (ratio * ratio - 1)
      let a = 1 + u / 16_384 * (4_096 + u * (-768 + u * (320 - 175 * u)))
      let b = u / 1_024 * (256 + u * (-128 + u * (74 - 47 * u)))
      let m = cosineMiddle
      let third = b / 6 * m * (4 * sine * sine - 3) * (4 * m * m - 3)
      let excess = b * sine * (m + b / 4 * (cosine * (2 * m * m - 1) - third))
      return polarRadius * a * (length - excess)
    }
  }

  private static func iterated(
    _ one: ReducedLatitude, _ two: ReducedLatitude, _ turn: Double
  ) -> Double? {
    var longitude = turn
    for _ in 0..<50 {
      let across = two.cosine * sin(longitude)
      let along = one.cosine * two.sine - one.sine * two.cosine * cos(longitude)
      let sine = hypot(across, along)
      let cosine = one.sine * two.sine + one.cosine * two.cosine * cos(longitude)
      guard sine > 0 else { return cosine > 0 ? 0 : nil }
      let sineAzimuth = one.cosine * across / sine
      let cosineSquared = 1 - sineAzimuth * sineAzimuth
      // Along the equator there is no middle to measure from, and its factor is zero.
      let middle = cosineSquared > 1e-14 ? cosine - 2 * one.sine * two.sine / cosineSquared : 0
      let arc = Arc(sine: sine, cosine: cosine, sineAzimuth: sineAzimuth, cosineMiddle: middle)
      let next = turn + arc.longitudeExcess
      guard next <= .pi else { return nil }
      if abs(next - longitude) < 1e-13 { return arc.metres }
      longitude = next
    }
    return nil
  }

  private static func bisected(
    _ one: ReducedLatitude, _ two: ReducedLatitude, _ turn: Double
  ) -> Double {
    // Both points are mirrored and exchanged so that the first is south and the farther from the equator:
    // then the difference of longitudes grows with the starting azimuth.
    var (start, end) = abs(one.sine) >= abs(two.sine) ? (one, two) : (two, one)
    if start.sine > 0 { (start.sine, end.sine) = (-start.sine, -end.sine) }
    // A start on the equator is a little south of it, or its arc has no direction.
    start.sine = min(start.sine, -1e-150)
    var (low, high) = (0.0, Double.pi)
    var best = arc(from: start, to: end, azimuth: .pi / 2).arc
    for _ in 0..<60 {
      let azimuth = (low + high) / 2
      let line = arc(from: start, to: end, azimuth: azimuth)
      best = line.arc
      if line.longitude - line.arc.longitudeExcess < turn { low = azimuth } else { high = azimuth }
    }
    return best.metres
  }

  private static func arc(
    from start: ReducedLatitude, to end: ReducedLatitude, azimuth: Double
  ) -> (arc: Arc, longitude: Double) {
    let (s, c) = (sin(azimuth), cos(azimuth))
    let crossing = s * start.cosine
    let down = c * start.cosine
    let rest = (end.cosine - start.cosine) * (end.cosine + start.cosine)
    let up = max(0, down * down + rest).squareRoot()
    let (n1, n2) = (hypot(start.sine, down), hypot(end.sine, up))
    // At the pole itself every azimuth is a meridian.
    guard n1 > 0, n2 > 0 else {
      return (Arc(sine: 0, cosine: 1, sineAzimuth: crossing, cosineMiddle: 0), 0)
    }
    let (s1, c1, s2, c2) = (start.sine / n1, down / n1, end.sine / n2, up / n2)
    let (x, y) = (
      down * up + crossing * start.sine * crossing * end.sine,
      down * crossing * end.sine - crossing * start.sine * up
    )
    let arc = Arc(
      sine: max(0, c1 * s2 - s1 * c2), cosine: c1 * c2 + s1 * s2, sineAzimuth: crossing,
      cosineMiddle: c1 * c2 - s1 * s2)
    return (arc, atan2(max(0, y), x))
  }
}
