import SimulatedDevices
import Testing

@testable import MapKit

/// The functions of before Swift 4.2, against the methods, and small things around them.
@Suite struct GeometryFunctionTests {
  @Test("K3: the functions say what the methods say")
  func functions() {
    var generator = SeededGenerator(seed: 11)
    func number() -> Double { Double(Int.random(in: 0...20, using: &generator)) }
    for _ in 0..<300 {
      let (x, y, width, height) = (number(), number(), number(), number())
      let one = MKMapRectMake(x, y, width, height)
      #expect(one == MKMapRect(x: x, y: y, width: width, height: height))
      #expect(one == MKMapRect(origin: MKMapPointMake(x, y), size: MKMapSizeMake(width, height)))
      #expect(MKMapRectGetMinX(one) == x && MKMapRectGetMinY(one) == y)
      #expect(MKMapRectGetMidX(one) == x + width / 2 && MKMapRectGetMidY(one) == y + height / 2)
      #expect(MKMapRectGetMaxX(one) == x + width && MKMapRectGetMaxY(one) == y + height)
      #expect(MKMapRectGetWidth(one) == width && MKMapRectGetHeight(one) == height)
      #expect(MKMapRectIsEmpty(one) == (width == 0 || height == 0) && !MKMapRectIsNull(one))
      let other = MKMapRectMake(number(), number(), number() + 1, number() + 1)
      #expect(MKMapRectUnion(one, other) == one.union(other))
      #expect(MKMapRectIntersection(one, other) == one.intersection(other))
      #expect(MKMapRectIntersectsRect(one, other) == one.intersects(other))
      #expect(MKMapRectContainsRect(one, other) == one.contains(other))
      #expect(MKMapRectContainsPoint(one, other.origin) == one.contains(other.origin))
      #expect(MKMapRectInset(other, 0.25, 0.5) == other.insetBy(dx: 0.25, dy: 0.5))
      #expect(MKMapRectOffset(one, 3, -4) == MKMapRectMake(x + 3, y - 4, width, height))
      #expect(MKMapRectEqualToRect(one, other) == (one == other))
      #expect(MKMapPointEqualToPoint(one.origin, other.origin) == (one.origin == other.origin))
      #expect(MKMapSizeEqualToSize(one.size, other.size) == (one.size == other.size))
      var (slice, rest) = (MKMapRect(), MKMapRect())
      MKMapRectDivide(other, &slice, &rest, 0.5, .maxYEdge)
      let parts = other.divided(atDistance: 0.5, from: .maxYEdge)
      #expect(slice == parts.slice && rest == parts.remainder)
    }
    #expect(MKMapRectIsNull(MKMapRectNull) && MKMapRectWorld.size == MKMapSizeWorld)
    let across = MKMapRectMake(MKMapSizeWorld.width - 1, 0, 3, 1)
    #expect(MKMapRectSpans180thMeridian(across))
    #expect(MKMapRectRemainder(across) == MKMapRectMake(0, 0, 2, 1))
  }

  @Test("K3: coordinates, spans and regions by functions are those of the types")
  func regions() {
    let point = MKMapPointForCoordinate(berlin)
    #expect(point == MKMapPoint(berlin))
    #expect(abs(MKCoordinateForMapPoint(point).latitude - berlin.latitude) < 1e-12)
    let other = MKMapPointForCoordinate(place(48.8566, 2.3522))
    #expect(MKMetersBetweenMapPoints(point, other) == point.distance(to: other))
    let span = MKCoordinateSpanMake(1, 2)
    #expect(span == MKCoordinateSpan(latitudeDelta: 1, longitudeDelta: 2))
    let made = MKCoordinateRegionMake(berlin, span)
    #expect(made.center.latitude == berlin.latitude && made.span == span)
    let metric = MKCoordinateRegionMakeWithDistance(berlin, 2000, 1000)
    let same = MKCoordinateRegion(
      center: berlin, latitudinalMeters: 2000, longitudinalMeters: 1000)
    #expect(metric.span == same.span)
    let rect = MKMapRectMake(1e8, 1e8, 1e6, 1e6)
    #expect(MKCoordinateRegionForMapRect(rect).span == MKCoordinateRegion(rect).span)
    // Of nothing they are nothing.
    #expect(MKCoordinateSpan().latitudeDelta == 0 && MKCoordinateRegion().span.longitudeDelta == 0)
    #expect(MKMapPoint() == MKMapPointMake(0, 0) && MKMapSize() == MKMapSizeMake(0, 0))
    #expect(MKMapRect() == MKMapRectMake(0, 0, 0, 0) && MKMapRect().isEmpty)
  }

  @Test("K3: points, sizes and rectangles in words")
  func words() {
    #expect(MKStringFromMapPoint(MKMapPoint(x: 12, y: 34.5)) == "{12.0, 34.5}")
    #expect(MKStringFromMapSize(MKMapSize(width: 1, height: 2)) == "{1.0, 2.0}")
    #expect(
      MKStringFromMapRect(MKMapRect(x: 1, y: 2, width: 3, height: 4)) == "{{1.0, 2.0}, {3.0, 4.0}}")
  }

  @Test("a coordinate and a span are kept as objects; of other objects there is none")
  func values() throws {
    let coordinate = NSValue(mkCoordinate: berlin)
    #expect(coordinate.mkCoordinateValue.latitude == berlin.latitude)
    #expect(coordinate.mkCoordinateValue.longitude == berlin.longitude)
    #expect(coordinate == NSValue(mkCoordinate: berlin))
    #expect(coordinate != NSValue(mkCoordinate: place(1, 2)))
    let span = MKCoordinateSpan(latitudeDelta: 3, longitudeDelta: 4)
    #expect(NSValue(mkCoordinateSpan: span).mkCoordinateSpanValue == span)
    #expect(!CLLocationCoordinate2DIsValid(NSNumber(value: 5).mkCoordinateValue))
    // A rectangle has four numbers: there would be no room for it.
    let rect = NSValue(rect: CGRect(x: 1, y: 2, width: 3, height: 4))
    #expect(!CLLocationCoordinate2DIsValid(rect.mkCoordinateValue))
    #expect(rect.mkCoordinateSpanValue == MKCoordinateSpan())
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: coordinate, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSValue.self, from: data)
    #expect(back?.mkCoordinateValue.latitude == berlin.latitude)
  }

  @Test("K7: a road is as wide at every scale, and eight metres where that is wider")
  func roads() {
    let metre = 268_435_456 / 40_075_016.685578
    for scale in [1.0, 0.5, 0.1, 0.001] {
      #expect(abs(MKRoadWidthAtZoomScale(scale) - max(4 / scale, 8 * metre)) < 1e-6)
    }
    #expect(abs(MKRoadWidthAtZoomScale(1) - 53.59) < 0.01)
  }
}
