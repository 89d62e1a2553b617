import LinearAlgebra

/// The projection of maps on the web: Mercator's of a sphere, to which WGS 84 latitudes are given as they are
/// (EPSG:3857; EPSG Guidance Note 7-2, "Popular Visualisation Pseudo-Mercator").
///
/// It is a square: `x` goes from 0 at 180 degrees west to 1 at 180 degrees east, `y` from 0 in the north to 1 in the
/// south. Angles are not quite kept: north to south a step is up to 0.7 % longer than the same step to the
/// east, because the earth is no sphere.
public enum WebMercator {
  /// Where the square ends, degrees north and south: atan(sinh(pi)).
  public static let latitudeLimit = atan(sinh(Double.pi)) * 180 / .pi

  /// Where a position lies on the map. Latitudes beyond the limit lie on the edge; the longitude is taken as it
  /// is, so that 190 degrees east lies beyond the eastern edge. NaN for what is not on earth.
  public static func project(_ position: Position) -> MercatorPoint {
    guard position.isOnEarth else { return MercatorPoint(x: .nan, y: .nan) }
    let y =
      abs(position.latitude) < latitudeLimit
      ? 0.5 - asinh(tan(position.latitude * .pi / 180)) / (2 * .pi)
      : position.latitude > 0 ? 0 : 1
    return MercatorPoint(x: (position.longitude + 180) / 360, y: y)
  }

  /// The position that lies at a point of the map, its longitude as far beyond 180 degrees as the point is
  /// beyond the edge.
  public static func position(of point: MercatorPoint) -> Position {
    Position(
      latitude: atan(sinh(.pi * (1 - 2 * point.y))) * 180 / .pi,
      longitude: point.x * 360 - 180)
  }
}

/// A point of the projected earth, in its widths.
public struct MercatorPoint: Hashable, Sendable {
  /// From 180 degrees west to the east; 0 to 1 on the map, and beyond where a map goes on across 180 degrees.
  public var x: Double
  /// From the northern edge to the south, 0 to 1 on the map.
  public var y: Double

  /// Makes a point of two shares of the map's width.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}
