// Parts of the earth by their middle and their extent in degrees.

public import CoreLocation
import Geodesy

/// How far a region goes, degrees from one side to the other.
public struct MKCoordinateSpan: Hashable, Sendable {
  /// Degrees from north to south.
  public var latitudeDelta: CLLocationDegrees
  /// Degrees from west to east. How long they are depends on the latitude.
  public var longitudeDelta: CLLocationDegrees

  /// Nothing.
  public init() { self.init(latitudeDelta: 0, longitudeDelta: 0) }

  /// Makes a span of degrees from north to south and from west to east.
  public init(latitudeDelta: CLLocationDegrees, longitudeDelta: CLLocationDegrees) {
    self.latitudeDelta = latitudeDelta
    self.longitudeDelta = longitudeDelta
  }
}

/// A part of the earth: its middle, and how far it goes from there.
public struct MKCoordinateRegion: Sendable {
  /// Its middle, in degrees.
  public var center: CLLocationCoordinate2D
  /// How far it goes from side to side.
  public var span: MKCoordinateSpan

  /// A region of no size where the equator crosses the prime meridian.
  public init() {
    self.init(
      center: CLLocationCoordinate2D(latitude: 0, longitude: 0), span: MKCoordinateSpan())
  }

  /// Makes a region of its middle and its extent in degrees.
  public init(center: CLLocationCoordinate2D, span: MKCoordinateSpan) {
    self.center = center
    self.span = span
  }

  /// Makes a region of its middle and its extent in metres, on WGS 84 at the middle's latitude; at most all of the earth.
  public init(
    center: CLLocationCoordinate2D, latitudinalMeters: CLLocationDistance,
    longitudinalMeters: CLLocationDistance
  ) {
    let length = WGS84.metresPerDegree(atLatitude: center.latitude)
    self.init(
      center: center,
      span: MKCoordinateSpan(
        latitudeDelta: min(latitudinalMeters / length.north, 180),
        longitudeDelta: length.east > 0 ? min(longitudinalMeters / length.east, 360) : 360))
  }

  /// The region between the sides of a rectangle of the map. Its middle is that between the latitudes, which on the map
  /// is not the rectangle's.
  public init(_ rect: MKMapRect) {
    guard !rect.isNull else {
      self.init(center: kCLLocationCoordinate2DInvalid, span: MKCoordinateSpan())
      return
    }
    let height = MKMapSize.world.height
    let north = WebMercator.position(
      of: MKMapPoint(x: 0, y: min(max(rect.minY, 0), height)).projected
    ).latitude
    let south = WebMercator.position(
      of: MKMapPoint(x: 0, y: min(max(rect.maxY, 0), height)).projected
    ).latitude
    let middle = WebMercator.position(of: MKMapPoint(x: rect.midX, y: 0).projected)
    self.init(
      center: CLLocationCoordinate2D(
        Position(latitude: (north + south) / 2, longitude: middle.longitude)),
      span: MKCoordinateSpan(
        latitudeDelta: north - south,
        longitudeDelta: min(rect.width / MKMapSize.world.width * 360, 360)))
  }

  /// Whether there is such a region on earth: a valid middle, and extents that are numbers of zero or more.
  var isValid: Bool {
    CLLocationCoordinate2DIsValid(center) && span.latitudeDelta >= 0
      && span.latitudeDelta.isFinite && span.longitudeDelta >= 0 && span.longitudeDelta.isFinite
  }
}

extension MKMapRect {
  /// The rectangle between the sides of a region; what is beyond a pole is left out.
  init(_ region: MKCoordinateRegion) {
    guard region.isValid else {
      self = .null
      return
    }
    let half = region.span.latitudeDelta / 2
    let across = min(region.span.longitudeDelta, 360) / 2
    let northWest = MKMapPoint(
      WebMercator.project(
        Position(
          latitude: min(region.center.latitude + half, 90),
          longitude: region.center.longitude - across)))
    let southEast = MKMapPoint(
      WebMercator.project(
        Position(
          latitude: max(region.center.latitude - half, -90),
          longitude: region.center.longitude + across)))
    self.init(west: northWest.x, north: northWest.y, east: southEast.x, south: southEast.y)
  }
}
