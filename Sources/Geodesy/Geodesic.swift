// Shortest lines on the WGS 84 ellipsoid.

import LinearAlgebra

/// Geodesics, the shortest lines, on the WGS 84 ellipsoid: where one ends, and which one joins two points.
///
/// The method is that of C. F. F. Karney, "Algorithms for geodesics", J. Geodesy 87 (2013) 43-55: a geodesic
/// is a great circle of the auxiliary sphere of reduced latitudes, and distance and longitude are
/// integrals over its arc, here series of the sixth order. Both problems are solved for any two points,
/// opposite ones and poles included, to about 15 nanometres. Heights do not count.
public enum Geodesic {
  /// The shortest line between two points.
  public struct Inverse: Hashable, Sendable {
    /// Its length, metres, 0 to 20 003 931.46.
    public var distance: Double
    /// Its direction at the start, degrees clockwise from true north, -180 to 180. At a pole north is
    /// along the meridian of the start's longitude. Both azimuths are 0 where the points coincide.
    public var initialAzimuth: Double
    /// Its direction at the end, forward, degrees clockwise from true north, -180 to 180.
    public var finalAzimuth: Double
  }

  /// The end of a geodesic.
  public struct Direct: Hashable, Sendable {
    /// Where it ends; the longitude is within -180 to 180.
    public var position: Position
    /// Its direction there, forward, degrees clockwise from true north, -180 to 180.
    public var finalAzimuth: Double
  }

  /// The shortest line from `start` to `end`.
  ///
  /// Where several lines are equally short, one is given: between opposite points a meridian over a pole,
  /// between nearly opposite points of the equator the line over the north. All three numbers are NaN if
  /// a point is not on earth: a latitude beyond -90 to 90 degrees, or a value that is not finite.
  public static func inverse(from start: Position, to end: Position) -> Inverse {
    guard start.isOnEarth, end.isOnEarth else {
      return Inverse(distance: .nan, initialAzimuth: .nan, finalAzimuth: .nan)
    }
    // Section 4: by symmetry the first point may be southern and the farther one from the equator, the
    // second east of it.
    let isExchanged = abs(start.latitude) < abs(end.latitude)
    let (first, second) = isExchanged ? (end, start) : (start, end)
    let isMirrored = !(first.latitude < 0)
    var (turn, correction) = difference(from: start.longitude, to: end.longitude)
    let isWestward = turn < 0
    if isWestward { (turn, correction) = (-turn, -correction) }
    let mirror: Double = isMirrored ? -1 : 1
    let line = InverseProblem(
      from: ReducedLatitude(degrees: mirror * first.latitude),
      to: ReducedLatitude(degrees: mirror * second.latitude),
      turn: turn, correction: correction
    ).solution
    guard line.distance > 0 else {
      return Inverse(distance: 0, initialAzimuth: 0, finalAzimuth: 0)
    }
    // The exchanged line runs backwards and is mirrored east to west: together that turns north round only.
    let east: Double = isWestward ? -1 : 1
    let north: Double = isMirrored != isExchanged ? -1 : 1
    let (initial, final) =
      isExchanged ? (line.final, line.initial) : (line.initial, line.final)
    return Inverse(
      distance: line.distance,
      initialAzimuth: AngleSinCos(sine: east * initial.sine, cosine: north * initial.cosine)
        .degrees,
      finalAzimuth: AngleSinCos(sine: east * final.sine, cosine: north * final.cosine).degrees)
  }

  /// Where the geodesic ends that leaves `start` at `azimuth` and is `distance` long.
  ///
  /// - Parameters:
  ///   - start: The first point, WGS 84. At a pole its longitude says where north is.
  ///   - azimuth: Degrees clockwise from true north, any finite value.
  ///   - distance: Metres, any finite value; a negative one goes backwards. Beyond 20 000 km the line is
  ///     followed on, and after many turns round the earth the error grows with the distance.
  /// - Returns: All three numbers NaN if the start is not on earth or another argument is not finite.
  public static func direct(
    from start: Position, azimuth: Double, distance: Double
  ) -> Direct {
    guard start.isOnEarth, azimuth.isFinite, distance.isFinite else {
      return Direct(position: Position(latitude: .nan, longitude: .nan), finalAzimuth: .nan)
    }
    let latitude = ReducedLatitude(degrees: start.latitude)
    let heading = AngleSinCos(degrees: azimuth)
    let circle = GreatCircle(leaving: latitude, at: heading)
    let arcs = ArcIntegral.distance(circle.epsilon)
    let (sigma1, omega1) = (circle.arc, circle.longitude)

    // Equation 20: the distance as an angle, and the arc that belongs to it.
    let travelled = distance / (WGS84.polarRadius * arcs.mean)
    let offset = arcs.series(sigma1)
    let tau = sigma1.turned(by: travelled + offset)
    let back = ArcIntegral.arcOfDistance(circle.epsilon)(tau)
    let length = travelled + offset + back
    var sigma2 = sigma1.turned(by: length)

    // Equations 12 to 14 and 8: what the triangle says at that arc, and the longitude.
    let equator = circle.azimuthAtEquator
    // A meridian that ends at a pole exactly ends a little before it: longitude and azimuth there are one
    // direction, and both need the sign.
    if equator.sine == 0, sigma2.cosine == 0 { sigma2.cosine = ReducedLatitude.tiny }
    let omega2 = AngleSinCos(sine: equator.sine * sigma2.sine, cosine: sigma2.cosine)
    let excess =
      WGS84.flattening * equator.sine
      * ArcIntegral.longitude(circle.epsilon).over(length, from: sigma1, to: sigma2)
    let east = (omega2.ahead(of: omega1).radians - excess) * 180 / .pi
    let northing = equator.cosine * sigma2.sine
    let across = hypot(equator.sine, equator.cosine * sigma2.cosine)
    return Direct(
      position: Position(
        latitude: AngleSinCos(sine: northing, cosine: (1 - WGS84.flattening) * across).degrees,
        longitude: (start.longitude.remainder(dividingBy: 360) + east)
          .remainder(dividingBy: 360)),
      finalAzimuth: AngleSinCos(sine: equator.sine, cosine: equator.cosine * sigma2.cosine).degrees)
  }

  /// The longitude `to` seen from `from`, -180 to 180 degrees, and what its rounding has lost.
  static func difference(from: Double, to: Double) -> (degrees: Double, correction: Double) {
    let (a, b) = (to.remainder(dividingBy: 360), -from.remainder(dividingBy: 360))
    let sum = a + b
    let ofB = sum - a
    let lost = (a - (sum - ofB)) + (b - ofB)
    let turn = sum.remainder(dividingBy: 360)
    // Half a turn is eastward unless what is lost says that it is more.
    if abs(turn) == 180 { return (lost > 0 ? -180 : 180, lost) }
    return (turn, lost)
  }
}

/// A latitude on the auxiliary sphere, beta: tan beta = (1 - f) tan phi (equation 6).
struct ReducedLatitude {
  var sine: Double
  var cosine: Double

  /// Smaller than any cosine that a latitude has, yet with a square and an inverse that are numbers.
  static let tiny = 1e-150

  /// Reduces a geodetic latitude of -90 to 90 degrees.
  init(degrees: Double) {
    // A picometre from the equator is the equator; its square would not be a number.
    let latitude = AngleSinCos(degrees: abs(degrees) < 1e-17 ? 0 : degrees)
    let reduced = AngleSinCos(
      sine: (1 - WGS84.flattening) * latitude.sine, cosine: latitude.cosine
    ).normalized
    sine = reduced.sine
    // A pole keeps a direction: every meridian meets there, each with its own longitude.
    cosine = max(reduced.cosine, Self.tiny)
  }

  /// sqrt(1 + e'^2 sin^2 beta), which is sqrt(1 + k^2 sin^2 sigma) on every geodesic through here.
  var stretch: Double {
    (1 + WGS84.secondEccentricitySquared * sine * sine).squareRoot()
  }
}

/// The great circle of the auxiliary sphere that belongs to a geodesic.
struct GreatCircle {
  /// The azimuth alpha0 at which it crosses the equator northward.
  var azimuthAtEquator: AngleSinCos
  /// The arc sigma from that crossing to the point.
  var arc: AngleSinCos
  /// The longitude omega on the sphere from that crossing to the point.
  var longitude: AngleSinCos

  /// The circle through a latitude, there in the direction `azimuth` (equations 10 to 12).
  init(leaving latitude: ReducedLatitude, at azimuth: AngleSinCos) {
    azimuthAtEquator = AngleSinCos(
      sine: azimuth.sine * latitude.cosine,
      cosine: hypot(azimuth.cosine, azimuth.sine * latitude.sine))
    // Along the equator every point may count as the crossing.
    let isEquator = latitude.sine == 0 && azimuth.cosine == 0
    let along = isEquator ? 1 : azimuth.cosine * latitude.cosine
    arc = AngleSinCos(sine: latitude.sine, cosine: along).normalized
    longitude = AngleSinCos(sine: azimuthAtEquator.sine * latitude.sine, cosine: along).normalized
  }

  /// The small parameter epsilon of the series (equations 9 and 16).
  var epsilon: Double {
    let c = azimuthAtEquator.cosine
    return Self.epsilon(WGS84.secondEccentricitySquared * c * c)
  }

  static func epsilon(_ kSquared: Double) -> Double {
    kSquared / (2 * (1 + (1 + kSquared).squareRoot()) + kSquared)
  }
}
