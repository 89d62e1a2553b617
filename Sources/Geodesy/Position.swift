public import LinearAlgebra

/// A point on the ellipsoid, WGS 84, degrees.
///
/// Nothing is checked when one is made. The functions of this module answer NaN for a point that is not
/// on earth: a latitude beyond a pole, or a value that is not finite.
public struct Position: Hashable, Codable, Sendable {
  /// Geodetic latitude, degrees north, -90 to 90.
  public var latitude: Double
  /// Longitude, degrees east, -180 to 180; what lies outside is taken modulo 360.
  public var longitude: Double

  /// Makes a point from degrees north and east.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Whether the latitude lies between the poles and both numbers are finite.
  var isOnEarth: Bool { abs(latitude) <= 90 && longitude.isFinite }
}

/// A point over, on or under the ellipsoid, WGS 84.
public struct GeodeticCoordinate: Hashable, Codable, Sendable {
  /// The foot of the perpendicular on the ellipsoid.
  public var position: Position
  /// Height above the ellipsoid along that perpendicular, metres. This is not the height above mean sea
  /// level: the geoid lies between -106 and 85 m from the ellipsoid.
  public var height: Double

  /// Makes a point from the foot of its perpendicular and its height in metres.
  public init(_ position: Position, height: Double) {
    self.position = position
    self.height = height
  }

  /// Makes a point from degrees north, degrees east and metres above the ellipsoid.
  public init(latitude: Double, longitude: Double, height: Double) {
    self.init(Position(latitude: latitude, longitude: longitude), height: height)
  }

  /// The point in the earth-centred, earth-fixed frame, metres: x to latitude 0, longitude 0; y to
  /// longitude 90 east; z to the north pole. NaN unless the point is on earth and its height finite.
  public var earthCentred: Vector3 {
    guard position.isOnEarth, height.isFinite else { return Vector3(repeating: .nan) }
    let (latitude, longitude) = (
      AngleSinCos(degrees: position.latitude), AngleSinCos(degrees: position.longitude)
    )
    let squared = WGS84.eccentricitySquared
    // The radius of curvature in the prime vertical.
    let radius =
      WGS84.equatorialRadius / (1 - squared * latitude.sine * latitude.sine).squareRoot()
    let outward = (radius + height) * latitude.cosine
    return Vector3(
      outward * longitude.cosine, outward * longitude.sine,
      ((1 - squared) * radius + height) * latitude.sine)
  }

  /// The point that lies at `earthCentred`, metres, in the earth-centred, earth-fixed frame.
  ///
  /// It holds everywhere, also close to the earth's centre, where a point has more than one perpendicular:
  /// the answer is the shortest. Where all longitudes are equally right, on the axis, it is 0; where both
  /// hemispheres are, it is the northern one. Up to 1000 km from the surface latitude, longitude and height
  /// together are off by less than 5 nm, farther out by a few units in the last place of the argument. NaN
  /// in all three unless the argument is finite.
  ///
  /// The foot of the perpendicular is the root of H. Vermeille's quartic ("Direct transformation from
  /// geocentric coordinates to geodetic coordinates", J. Geodesy 76, 2002), which is the equation of the
  /// astroid that C. F. F. Karney solves for geodesics between nearly opposite points.
  public init(earthCentred point: Vector3) {
    guard point.isFinite else {
      self.init(latitude: .nan, longitude: .nan, height: .nan)
      return
    }
    let squared = WGS84.eccentricitySquared
    let axes = (1 - squared).squareRoot()
    let outward = hypot(point.x, point.y)
    // With x and y in units of the evolute's half axes, the root's two quotients are cosine and sine of
    // the reduced latitude.
    let foot = AstroidRoot(
      x: outward / (WGS84.equatorialRadius * squared),
      y: abs(point.z) * axes / (WGS84.equatorialRadius * squared))
    let normal = foot.y / axes
    let length = hypot(foot.x, normal)
    self.init(
      latitude: AngleSinCos(sine: copysign(normal, point.z), cosine: foot.x).degrees,
      longitude: AngleSinCos(sine: point.y, cosine: point.x).degrees,
      height: WGS84.equatorialRadius * length * (squared * (foot.root + 1) - 1))
  }
}
