import MapKit
import SimulatedDevices
import Testing

/// Points, rectangles and regions of the map.
@Suite struct GeometryTests {
  @Test("K3: a hundred thousand coordinates come back from the map to 1e-9 degrees")
  func roundTrip() {
    var generator = SeededGenerator(seed: 20)
    var (worst, worstPoint) = (0.0, 0.0)
    for _ in 0..<100_000 {
      let coordinate = place(
        .random(in: -85.05...85.05, using: &generator), .random(in: -180...180, using: &generator))
      let point = MKMapPoint(coordinate)
      let back = point.coordinate
      worst = max(
        worst, abs(back.latitude - coordinate.latitude), abs(back.longitude - coordinate.longitude))
      let again = MKMapPoint(back)
      worstPoint = max(worstPoint, abs(again.x - point.x), abs(again.y - point.y))
    }
    print("round trip: \(worst) degrees, \(worstPoint) map points")
    #expect(worst < 1e-9)
    // A map point is a pixel at the largest scale of a phone.
    #expect(worstPoint < 1e-3)
  }

  @Test("K3: the map has the SDK's size, and ends where it is square")
  func world() {
    #expect(MKMapSize.world.width == 268_435_456 && MKMapSize.world.height == 268_435_456)
    #expect(MKMapPoint(place(0, 0)) == MKMapPoint(x: 134_217_728, y: 134_217_728))
    #expect(MKMapPoint(place(85.06, -180)) == MKMapPoint(x: 0, y: 0))
    #expect(MKMapPoint(place(-90, 180)) == MKMapPoint(x: 268_435_456, y: 268_435_456))
    #expect(MKMapPoint(place(91, 0)) == MKMapPoint(x: -1, y: -1))
    #expect(!CLLocationCoordinate2DIsValid(MKMapPoint(x: 5, y: -1).coordinate))
    #expect(!CLLocationCoordinate2DIsValid(MKMapPoint(x: .nan, y: 1).coordinate))
    let beyond = MKMapPoint(x: MKMapSize.world.width * 1.25, y: 134_217_728).coordinate
    #expect(abs(beyond.longitude + 90) < 1e-12)
  }

  @Test("K3: lengths on the map are those of the ellipsoid")
  func lengths() {
    let paris = place(48.8566, 2.3522)
    let way = MKMapPoint(berlin).distance(to: MKMapPoint(paris))
    let locations = [berlin, paris].map {
      CLLocation(latitude: $0.latitude, longitude: $0.longitude)
    }
    #expect(abs(way - locations[0].distance(from: locations[1])) < 1e-6 * way)
    #expect(abs(MKMetersPerMapPointAtLatitude(0) - 40_075_016.685578 / 268_435_456) < 1e-9)
    #expect(abs(MKMetersPerMapPointAtLatitude(60) * MKMapPointsPerMeterAtLatitude(60) - 1) < 1e-15)
    // Ten metres to the east, by map points and along the geodesic.
    let point = MKMapPoint(berlin)
    let step = MKMapPoint(x: point.x + 10 * MKMapPointsPerMeterAtLatitude(52.5163), y: point.y)
    #expect(abs(point.distance(to: step) - 10) < 1e-6)
    let region = MKCoordinateRegion(
      center: berlin, latitudinalMeters: 2000, longitudinalMeters: 1000)
    let rect = CLLocation(
      latitude: berlin.latitude + region.span.latitudeDelta / 2, longitude: berlin.longitude)
    #expect(abs(rect.distance(from: locations[0]) - 1000) < 0.01)
    let side = CLLocation(
      latitude: berlin.latitude, longitude: berlin.longitude + region.span.longitudeDelta / 2)
    #expect(abs(side.distance(from: locations[0]) - 500) < 0.01)
  }

  /// Rectangles of whole numbers against sets of their unit squares.
  @Test("K3: rectangles are sets of points")
  func sets() {
    var generator = SeededGenerator(seed: 5)
    func squares(_ rect: MKMapRect) -> Set<MKMapPoint> {
      guard !rect.isNull else { return [] }
      var all: Set<MKMapPoint> = []
      for x in stride(from: rect.minX, to: rect.maxX, by: 1) {
        for y in stride(from: rect.minY, to: rect.maxY, by: 1) {
          all.insert(MKMapPoint(x: x, y: y))
        }
      }
      return all
    }
    func random() -> MKMapRect {
      func number(_ range: ClosedRange<Int>) -> Double {
        Double(Int.random(in: range, using: &generator))
      }
      return MKMapRect(
        x: number(0...9), y: number(0...9), width: number(1...6), height: number(1...6))
    }
    for _ in 0..<500 {
      let (one, other) = (random(), random())
      #expect(one.midX == (one.minX + one.maxX) / 2 && one.midY == (one.minY + one.maxY) / 2)
      #expect(one.width == one.maxX - one.minX && one.height == one.maxY - one.minY)
      let (first, second) = (squares(one), squares(other))
      #expect(squares(one.intersection(other)) == first.intersection(second))
      #expect(one.intersects(other) == !first.isDisjoint(with: second))
      #expect(one.contains(other) == first.isSuperset(of: second))
      #expect(squares(one.union(other)).isSuperset(of: first.union(second)))
      let amount = Double(Int.random(in: 0...8, using: &generator))
      for edge in [CGRectEdge.minXEdge, .minYEdge, .maxXEdge, .maxYEdge] {
        let parts = one.divided(atDistance: amount, from: edge)
        #expect(squares(parts.slice).union(squares(parts.remainder)) == first)
        #expect(squares(parts.slice).isDisjoint(with: squares(parts.remainder)))
      }
      for point in first { #expect(one.contains(point)) }
      #expect(!one.contains(MKMapPoint(x: one.maxX, y: one.minY)))
    }
  }

  @Test("K3: the null rectangle is none")
  func null() {
    let rect = MKMapRect(x: 1, y: 2, width: 3, height: 4)
    #expect(MKMapRect.null.isNull && MKMapRect.null.isEmpty && !rect.isNull)
    #expect(MKMapRect.null.union(rect) == rect && rect.union(.null) == rect)
    #expect(MKMapRect.null.intersection(rect).isNull && rect.contains(.null))
    #expect(rect.insetBy(dx: 1, dy: -1) == MKMapRect(x: 2, y: 1, width: 1, height: 6))
    #expect(rect.offsetBy(dx: 1, dy: -1) == MKMapRect(x: 2, y: 1, width: 3, height: 4))
    #expect(rect.insetBy(dx: 2, dy: 0).isNull && MKMapRect.null.insetBy(dx: 1, dy: 1).isNull)
    #expect(!MKMapRect.null.contains(MKMapPoint()) && MKMapRect.null.offsetBy(dx: 1, dy: 1).isNull)
    #expect(rect.intersection(MKMapRect(x: 10, y: 10, width: 1, height: 1)).isNull)
    #expect(MKMapRect.null.divided(atDistance: 1, from: .minXEdge).slice.isNull)
    #expect(!CLLocationCoordinate2DIsValid(MKCoordinateRegion(.null).center))
  }

  @Test("K3: what lies beyond 180 degrees lies on the other side")
  func meridian() {
    let world = MKMapSize.world.width
    let rect = MKMapRect(x: world - 10, y: 100, width: 30, height: 5)
    #expect(rect.spans180thMeridian && !MKMapRect.world.spans180thMeridian)
    #expect(rect.remainder() == MKMapRect(x: 0, y: 100, width: 20, height: 5))
    let west = MKMapRect(x: -10, y: 0, width: 30, height: 5)
    #expect(west.remainder() == MKMapRect(x: world - 10, y: 0, width: 10, height: 5))
    #expect(MKMapRect(x: 3, y: 0, width: 1, height: 1).remainder().isNull)
    #expect(abs(MKCoordinateRegion(rect).center.longitude + 180) < 1e-4)
  }

  @Test("K2: a rectangle's region has its sides")
  func regionOfRect() {
    let rect = MKMapRect(x: 1.4e8, y: 0.8e8, width: 2e6, height: 3e6)
    let region = MKCoordinateRegion(rect)
    let north = MKMapPoint(x: 1.4e8, y: 0.8e8).coordinate
    let south = MKMapPoint(x: 1.42e8, y: 0.83e8).coordinate
    #expect(abs(region.center.latitude + region.span.latitudeDelta / 2 - north.latitude) < 1e-12)
    #expect(abs(region.center.latitude - region.span.latitudeDelta / 2 - south.latitude) < 1e-12)
    #expect(abs(region.center.longitude + region.span.longitudeDelta / 2 - south.longitude) < 1e-9)
  }
}
