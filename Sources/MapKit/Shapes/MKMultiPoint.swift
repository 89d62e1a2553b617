// Lines, areas and circles.

public import CoreLocation
import Geodesy

/// A shape of many points.
open class MKMultiPoint: MKShape {
  let mapPoints: [MKMapPoint]
  /// The smallest rectangle of the map that holds it.
  public let boundingMapRect: MKMapRect

  init(_ points: [MKMapPoint]) {
    mapPoints = points
    boundingMapRect = MKMapRect(holding: points)
    super.init()
  }

  /// How many points it has.
  open var pointCount: Int { mapPoints.count }

  /// Its points. They stay where they are as long as the shape does.
  open func points() -> UnsafeMutablePointer<MKMapPoint> {
    if let storage { return storage.pointer }
    let storage = PointStorage(mapPoints)
    self.storage = storage
    return storage.pointer
  }
  private var storage: PointStorage?

  /// Copies the coordinates of some of its points to where there is space for so many.
  open func getCoordinates(
    _ coords: UnsafeMutablePointer<CLLocationCoordinate2D>, range: NSRange
  ) {
    guard let range = Range(range)?.clamped(to: 0..<pointCount) else { return }
    for (offset, index) in range.enumerated() {
      (coords + offset).initialize(to: mapPoints[index].coordinate)
    }
  }

  /// The middle of its rectangle.
  open override var coordinate: CLLocationCoordinate2D {
    MKMapPoint(x: boundingMapRect.midX, y: boundingMapRect.midY).coordinate
  }
}

/// Points that C code may read, freed with the shape.
private final class PointStorage {
  let pointer: UnsafeMutablePointer<MKMapPoint>
  private let count: Int

  init(_ points: [MKMapPoint]) {
    count = points.count
    pointer = .allocate(capacity: max(count, 1))
    pointer.initialize(from: points, count: count)
  }

  deinit {
    pointer.deinitialize(count: count)
    pointer.deallocate()
  }
}

/// Points of invalid coordinates are left out: they lie nowhere. A line across 180 degrees goes on beyond the map's edge,
/// the shorter way, as long as its next point is nearer there.
private func line(through coordinates: some Sequence<CLLocationCoordinate2D>) -> [MKMapPoint] {
  var points: [MKMapPoint] = []
  for coordinate in coordinates where CLLocationCoordinate2DIsValid(coordinate) {
    var point = MKMapPoint(coordinate)
    if let last = points.last {
      point.x =
        last.x + (point.x - last.x).remainder(dividingBy: MKMapSize.world.width)
    }
    points.append(point)
  }
  return points
}

/// A line from point to point, straight on the map.
open class MKPolyline: MKMultiPoint, MKOverlay {
  /// Makes a line through points of the map.
  public init(points: UnsafePointer<MKMapPoint>, count: Int) {
    super.init(Array(UnsafeBufferPointer(start: points, count: max(count, 0))))
  }

  /// Makes a line through coordinates. Invalid ones are left out; two whose shorter way leads across 180 degrees are
  /// joined across them.
  public init(coordinates: UnsafePointer<CLLocationCoordinate2D>, count: Int) {
    super.init(line(through: UnsafeBufferPointer(start: coordinates, count: max(count, 0))))
  }

  init(mapPoints: [MKMapPoint]) { super.init(mapPoints) }
}

/// A line whose points are joined by the shortest way over the earth.
open class MKGeodesicPolyline: MKPolyline {
  /// Makes a line through points of the map.
  public override init(points: UnsafePointer<MKMapPoint>, count: Int) {
    let points = UnsafeBufferPointer(start: points, count: max(count, 0))
    super.init(mapPoints: Self.geodesics(through: points.map(\.coordinate)))
  }

  /// Makes a line through coordinates.
  public override init(coordinates: UnsafePointer<CLLocationCoordinate2D>, count: Int) {
    super.init(
      mapPoints: Self.geodesics(
        through: Array(UnsafeBufferPointer(start: coordinates, count: max(count, 0)))))
  }

  /// A point every 50 km: at 45 degrees of latitude a straight line of the map leaves the geodesic by 50 m between two.
  private static func geodesics(through coordinates: [CLLocationCoordinate2D]) -> [MKMapPoint] {
    let places = coordinates.filter { CLLocationCoordinate2DIsValid($0) }.map(Position.init)
    guard var last = places.first else { return [] }
    var all = [CLLocationCoordinate2D(last)]
    for next in places.dropFirst() {
      let way = Geodesic.inverse(from: last, to: next)
      let steps = max(Int((way.distance / 50_000).rounded(.up)), 1)
      for step in 1..<steps {
        let length = way.distance * Double(step) / Double(steps)
        all.append(
          CLLocationCoordinate2D(
            Geodesic.direct(from: last, azimuth: way.initialAzimuth, distance: length).position))
      }
      all.append(CLLocationCoordinate2D(next))
      last = next
    }
    return line(through: all)
  }
}

/// An area between straight lines, with holes if there are some.
open class MKPolygon: MKMultiPoint, MKOverlay {
  /// What is cut out of it.
  public let interiorPolygons: [MKPolygon]?

  /// Makes an area of points of the map; the last is joined to the first.
  public init(
    points: UnsafePointer<MKMapPoint>, count: Int, interiorPolygons: [MKPolygon]? = nil
  ) {
    self.interiorPolygons = interiorPolygons
    super.init(Array(UnsafeBufferPointer(start: points, count: max(count, 0))))
  }

  /// Makes an area of coordinates; the last is joined to the first. Invalid ones are left out.
  public init(
    coordinates: UnsafePointer<CLLocationCoordinate2D>, count: Int,
    interiorPolygons: [MKPolygon]? = nil
  ) {
    self.interiorPolygons = interiorPolygons
    super.init(line(through: UnsafeBufferPointer(start: coordinates, count: max(count, 0))))
  }
}

/// A circle around a coordinate.
///
/// It is drawn as a circle of the map with the middle's scale. On the earth that is a circle as long as it is small: at 60
/// degrees of latitude one of 100 km reaches 1.4 % less far to the pole than it should.
open class MKCircle: MKShape, MKOverlay {
  private let middle: CLLocationCoordinate2D
  /// Its radius, metres.
  public let radius: CLLocationDistance
  /// The smallest rectangle of the map that holds it.
  public let boundingMapRect: MKMapRect

  /// Makes a circle of so many metres around a coordinate.
  public init(center coord: CLLocationCoordinate2D, radius: CLLocationDistance) {
    middle = coord
    self.radius = radius
    if CLLocationCoordinate2DIsValid(coord), radius.isFinite, radius >= 0 {
      let point = MKMapPoint(coord)
      let reach = radius * MKMapPointsPerMeterAtLatitude(coord.latitude)
      boundingMapRect = MKMapRect(
        x: point.x - reach, y: point.y - reach, width: 2 * reach, height: 2 * reach)
    } else {
      boundingMapRect = .null
    }
    super.init()
  }

  /// Makes the largest circle in a rectangle of the map.
  public init(mapRect: MKMapRect) {
    middle = MKMapPoint(x: mapRect.midX, y: mapRect.midY).coordinate
    let reach = min(mapRect.width, mapRect.height) / 2
    radius = reach * MKMetersPerMapPointAtLatitude(middle.latitude)
    boundingMapRect = MKMapRect(
      x: mapRect.midX - reach, y: mapRect.midY - reach, width: 2 * reach, height: 2 * reach)
    super.init()
  }

  /// Its middle.
  open override var coordinate: CLLocationCoordinate2D { middle }
}
