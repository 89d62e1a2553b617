import Geodesy
import Testing

@testable import MapKit

/// Lines, areas and circles.
@Suite struct ShapeTests {
  @Test("B3: a line has its points, and the rectangle around them")
  func line() {
    let places = [place(52, 13), place(53, 14), kCLLocationCoordinate2DInvalid, place(52.5, 12)]
    let line = MKPolyline(coordinates: places, count: places.count)
    #expect(line.pointCount == 3)
    for (point, place) in zip(
      UnsafeBufferPointer(start: line.points(), count: 3), [places[0], places[1], places[3]])
    {
      #expect(abs(point.coordinate.latitude - place.latitude) < 1e-9)
    }
    var copied = [CLLocationCoordinate2D](
      repeating: kCLLocationCoordinate2DInvalid, count: 2)
    line.getCoordinates(&copied, range: NSRange(location: 1, length: 2))
    #expect(abs(copied[1].longitude - 12) < 1e-9)
    #expect(line.boundingMapRect.contains(MKMapPoint(place(52.2, 12.5))))
    #expect(abs(line.coordinate.longitude - 13) < 1e-9)
    #expect(line.intersects(MKMapRect(region(place(52.5, 13), 0.1))))
    #expect(!line.intersects(MKMapRect(region(place(50, 13), 0.1))) && !line.canReplaceMapContent)
    #expect(MKPolyline(coordinates: [], count: 0).boundingMapRect.isNull)
  }

  @Test("K7: across 180 degrees a line goes the shorter way")
  func meridian() {
    let places = [place(10, 179), place(12, -179), place(11, -178)]
    let line = MKPolyline(coordinates: places, count: 3)
    #expect(abs(line.boundingMapRect.width / MKMapSize.world.width * 360 - 3) < 1e-6)
    #expect(line.boundingMapRect.spans180thMeridian)
    let area = MKPolygon(coordinates: places, count: 3)
    #expect(area.boundingMapRect == line.boundingMapRect && area.interiorPolygons == nil)
    // Points of the map stay where they are: they say themselves on which side they lie.
    let points = places.map { MKMapPoint($0) }
    #expect(!MKPolyline(points: points, count: 3).boundingMapRect.spans180thMeridian)
    let same = MKPolygon(points: points, count: 3, interiorPolygons: [area])
    #expect(same.pointCount == 3 && same.interiorPolygons?.first === area)
  }

  @Test("K7: a geodesic line lies on the geodesic")
  func geodesic() {
    let ends = [place(52.5, 13.4), place(35.7, 139.7)]
    let line = MKGeodesicPolyline(coordinates: ends, count: 2)
    let way = Geodesic.inverse(
      from: Position(latitude: 52.5, longitude: 13.4),
      to: Position(latitude: 35.7, longitude: 139.7))
    #expect(line.pointCount > 150)
    let same = MKGeodesicPolyline(points: ends.map { MKMapPoint($0) }, count: 2)
    #expect(same.pointCount == line.pointCount)
    var length = 0.0
    let points = Array(UnsafeBufferPointer(start: line.points(), count: line.pointCount))
    for (one, other) in zip(points, points.dropFirst()) { length += one.distance(to: other) }
    // As long as the geodesic: every point is on it.
    #expect(abs(length - way.distance) < 0.01)
    // Over Siberia, not along the straight line of the map.
    #expect((points.map(\.coordinate.latitude).max() ?? 0) > 65)
  }

  @Test("K7: a circle reaches as far as its radius")
  func circle() {
    let circle = MKCircle(center: berlin, radius: 1000)
    let rect = circle.boundingMapRect
    let west = MKMapPoint(x: rect.minX, y: rect.midY)
    #expect(abs(west.distance(to: MKMapPoint(berlin)) - 1000) < 0.01)
    #expect(circle.radius == 1000 && circle.coordinate.latitude == berlin.latitude)
    let inner = MKCircle(
      mapRect: MKMapRect(x: rect.minX, y: rect.minY, width: rect.width, height: 2 * rect.height))
    #expect(abs(inner.radius - 1000) < 1)
    #expect(MKCircle(center: place(95, 0), radius: 1).boundingMapRect.isNull)
    #expect(MKCircle(center: berlin, radius: .nan).boundingMapRect.isNull)
  }
}
