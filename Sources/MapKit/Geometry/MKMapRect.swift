// Points and rectangles of the projected map.

// As the SDK's, the module brings Core Location along.
@_exported public import CoreLocation
import Geodesy

/// A point of the map: Web Mercator, 2^28 map points from 180 degrees west to the east, and as many from north to south.
public struct MKMapPoint: Hashable, Sendable {
  /// Map points east of 180 degrees west.
  public var x: Double
  /// Map points south of the northern edge, which lies at 85.051 degrees.
  public var y: Double

  /// The upper left corner.
  public init() { self.init(x: 0, y: 0) }

  /// Makes a point of its map points to the east and to the south.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// Where a coordinate lies; beyond 85.051 degrees north or south on the map's edge. (-1, -1) for an invalid one.
  public init(_ coordinate: CLLocationCoordinate2D) {
    guard CLLocationCoordinate2DIsValid(coordinate) else {
      self.init(x: -1, y: -1)
      return
    }
    self.init(WebMercator.project(Position(coordinate)))
  }

  init(_ point: MercatorPoint) {
    self.init(x: point.x * MKMapSize.world.width, y: point.y * MKMapSize.world.height)
  }

  /// What lies there. Left or right of the map longitudes go on from the other side; above or below there is nothing:
  /// `kCLLocationCoordinate2DInvalid`.
  public var coordinate: CLLocationCoordinate2D {
    guard x.isFinite, (0...MKMapSize.world.height).contains(y) else {
      return kCLLocationCoordinate2DInvalid
    }
    return CLLocationCoordinate2D(WebMercator.position(of: projected))
  }

  /// Metres along the geodesic to another point, on WGS 84. NaN where one of them is not on the map.
  public func distance(to point: MKMapPoint) -> CLLocationDistance {
    Geodesic.inverse(from: Position(coordinate), to: Position(point.coordinate)).distance
  }

  var projected: MercatorPoint {
    MercatorPoint(x: x / MKMapSize.world.width, y: y / MKMapSize.world.height)
  }
}

extension Position {
  init(_ coordinate: CLLocationCoordinate2D) {
    self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
  }
}

extension CLLocationCoordinate2D {
  /// The longitude is brought between -180 and 180 degrees.
  init(_ position: Position) {
    let isInside = abs(position.longitude) <= 180
    self.init(
      latitude: position.latitude,
      longitude: isInside ? position.longitude : position.longitude.remainder(dividingBy: 360))
  }
}

/// How wide and how high a part of the map is, in map points.
public struct MKMapSize: Hashable, Sendable {
  /// Map points from west to east.
  public var width: Double
  /// Map points from north to south.
  public var height: Double

  /// Nothing.
  public init() { self.init(width: 0, height: 0) }

  /// Makes a size of two lengths in map points.
  public init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  /// The whole map: 2^28 in both directions.
  public static let world = MKMapSize(width: 268_435_456, height: 268_435_456)
}

/// A rectangle of the map, in map points. It may go on beyond an edge, as across 180 degrees.
public struct MKMapRect: Hashable, Sendable {
  /// Its north-western corner.
  public var origin: MKMapPoint
  /// How far it goes to the east and to the south.
  public var size: MKMapSize

  /// A rectangle of no size in the north-western corner of the map.
  public init() { self.init(origin: MKMapPoint(), size: MKMapSize()) }

  /// Makes a rectangle of a corner and a size.
  public init(origin: MKMapPoint, size: MKMapSize) {
    self.origin = origin
    self.size = size
  }

  /// Makes a rectangle of a corner and a size.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.init(origin: MKMapPoint(x: x, y: y), size: MKMapSize(width: width, height: height))
  }

  /// The whole map.
  public static let world = MKMapRect(origin: MKMapPoint(), size: .world)

  /// No rectangle: what two that do not touch have in common, and what a union starts from.
  public static let null = MKMapRect(
    origin: MKMapPoint(x: .infinity, y: .infinity), size: MKMapSize())

  /// Its western side.
  public var minX: Double { origin.x }
  /// Its northern side.
  public var minY: Double { origin.y }
  /// Its middle, from west to east.
  public var midX: Double { origin.x + size.width / 2 }
  /// Its middle, from north to south.
  public var midY: Double { origin.y + size.height / 2 }
  /// Its eastern side.
  public var maxX: Double { origin.x + size.width }
  /// Its southern side.
  public var maxY: Double { origin.y + size.height }
  /// Map points from west to east.
  public var width: Double { size.width }
  /// Map points from north to south.
  public var height: Double { size.height }

  /// Whether it is no rectangle at all.
  public var isNull: Bool { origin.x.isInfinite || origin.y.isInfinite }

  /// Whether it is null or has no area.
  public var isEmpty: Bool { isNull || size.width == 0 || size.height == 0 }

  /// Whether a point lies in it; its eastern and its southern side do not belong to it.
  public func contains(_ point: MKMapPoint) -> Bool {
    !isNull && point.x >= minX && point.x < maxX && point.y >= minY && point.y < maxY
  }

  /// Whether a rectangle lies in it as a whole. The null rectangle lies in every one.
  public func contains(_ rect: MKMapRect) -> Bool {
    if rect.isNull { return true }
    return !isNull && rect.minX >= minX && rect.maxX <= maxX && rect.minY >= minY
      && rect.maxY <= maxY
  }

  /// Whether the two have more in common than a side.
  public func intersects(_ rect: MKMapRect) -> Bool { !intersection(rect).isEmpty }

  /// The smallest rectangle that holds both.
  public func union(_ rect: MKMapRect) -> MKMapRect {
    if isNull { return rect }
    if rect.isNull { return self }
    return MKMapRect(
      west: min(minX, rect.minX), north: min(minY, rect.minY), east: max(maxX, rect.maxX),
      south: max(maxY, rect.maxY))
  }

  /// What both have in common, or the null rectangle.
  public func intersection(_ rect: MKMapRect) -> MKMapRect {
    guard !isNull, !rect.isNull else { return .null }
    let (west, east) = (max(minX, rect.minX), min(maxX, rect.maxX))
    let (north, south) = (max(minY, rect.minY), min(maxY, rect.maxY))
    guard west <= east, north <= south else { return .null }
    return MKMapRect(west: west, north: north, east: east, south: south)
  }

  /// The rectangle with its sides moved inwards, or outwards by negative numbers. Null where nothing is left.
  public func insetBy(dx: Double, dy: Double) -> MKMapRect {
    guard !isNull, 2 * dx <= width, 2 * dy <= height else { return .null }
    return MKMapRect(
      x: origin.x + dx, y: origin.y + dy, width: width - 2 * dx, height: height - 2 * dy)
  }

  /// The rectangle moved to the east and to the south.
  public func offsetBy(dx: Double, dy: Double) -> MKMapRect {
    isNull ? self : MKMapRect(x: origin.x + dx, y: origin.y + dy, width: width, height: height)
  }

  /// Cuts a slice of so many map points off at one of its sides. What is more than there is, is all of it.
  public func divided(
    atDistance distance: Double, from edge: CGRectEdge
  ) -> (slice: MKMapRect, remainder: MKMapRect) {
    guard !isNull else { return (.null, .null) }
    let across = min(max(distance, 0), width)
    let down = min(max(distance, 0), height)
    switch edge {
    case .minXEdge:
      return (
        MKMapRect(x: minX, y: minY, width: across, height: height),
        MKMapRect(x: minX + across, y: minY, width: width - across, height: height)
      )
    case .maxXEdge:
      return (
        MKMapRect(x: maxX - across, y: minY, width: across, height: height),
        MKMapRect(x: minX, y: minY, width: width - across, height: height)
      )
    case .minYEdge:
      return (
        MKMapRect(x: minX, y: minY, width: width, height: down),
        MKMapRect(x: minX, y: minY + down, width: width, height: height - down)
      )
    case .maxYEdge:
      return (
        MKMapRect(x: minX, y: maxY - down, width: width, height: down),
        MKMapRect(x: minX, y: minY, width: width, height: height - down)
      )
    }
  }

  /// Whether it goes on beyond the map's eastern or western edge.
  public var spans180thMeridian: Bool {
    !isNull && (minX < 0 || maxX > MKMapSize.world.width) && intersects(.world)
  }

  /// Of a rectangle that spans 180 degrees what lies beyond the edge, where it lies on the map; null of others.
  public func remainder() -> MKMapRect {
    guard spans180thMeridian else { return .null }
    let world = MKMapSize.world.width
    if minX < 0 { return MKMapRect(x: minX + world, y: minY, width: -minX, height: height) }
    return MKMapRect(x: 0, y: minY, width: maxX - world, height: height)
  }

  init(west: Double, north: Double, east: Double, south: Double) {
    self.init(x: west, y: north, width: east - west, height: south - north)
  }

  /// The smallest one that holds all points.
  init(holding points: some Sequence<MKMapPoint>) {
    self = .null
    for point in points { formUnion(point) }
  }

  mutating func formUnion(_ point: MKMapPoint) {
    self = union(MKMapRect(origin: point, size: MKMapSize()))
  }

  /// The rectangles of the map, one or two, that it consists of: what lies beyond an edge lies at the other one.
  var partsOfTheWorld: [MKMapRect] {
    guard !isNull else { return [] }
    let world = MKMapSize.world.width
    guard width < world else { return [MKMapRect(x: 0, y: minY, width: world, height: height)] }
    let rect = offsetBy(dx: -(minX / world).rounded(.down) * world, dy: 0)
    guard rect.maxX > world else { return [rect] }
    return [
      MKMapRect(west: rect.minX, north: minY, east: world, south: maxY),
      MKMapRect(west: 0, north: minY, east: rect.maxX - world, south: maxY),
    ]
  }
}
