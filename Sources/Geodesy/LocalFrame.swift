public import LinearAlgebra

/// A frame that touches the earth at its origin: x to the east, y to the north, z up along the
/// perpendicular to the ellipsoid (ENU), metres.
///
/// It is a rectangular frame. Away from the origin the ellipsoid falls below its plane, by 8 cm at 1 km
/// and 8 m at 10 km, and north turns against its y axis.
public struct LocalFrame: Hashable, Sendable {
  /// The point that all vectors start at. At a pole its longitude says where north is: along that
  /// meridian.
  public let origin: GeodeticCoordinate

  private let center: Vector3
  private let toEarth: Matrix3

  /// Makes the frame of an origin. Without an origin on earth everything that it answers is NaN.
  public init(origin: GeodeticCoordinate) {
    self.origin = origin
    center = origin.earthCentred
    let latitude = AngleSinCos(degrees: origin.position.latitude)
    let longitude = AngleSinCos(degrees: origin.position.longitude)
    toEarth = Matrix3(
      columns: Vector3(-longitude.sine, longitude.cosine, 0),
      Vector3(
        -latitude.sine * longitude.cosine, -latitude.sine * longitude.sine, latitude.cosine),
      Vector3(
        latitude.cosine * longitude.cosine, latitude.cosine * longitude.sine, latitude.sine))
  }

  /// Where `coordinate` lies from the origin, metres, ENU. The error is a few nanometres, that of the
  /// earth-centred coordinates; NaN for what is not on earth.
  public func toLocal(_ coordinate: GeodeticCoordinate) -> Vector3 {
    toEarth.transposed * (coordinate.earthCentred - center)
  }

  /// The point at `vector` from the origin, metres, ENU; see `GeodeticCoordinate.init(earthCentred:)` for
  /// the error. NaN unless the vector is finite.
  public func toGeodetic(_ vector: Vector3) -> GeodeticCoordinate {
    GeodeticCoordinate(earthCentred: center + toEarth * vector)
  }
}
