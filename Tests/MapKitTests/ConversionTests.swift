import MapKit
import SimulatedDevices
import Testing

/// Between coordinates and points of views.
@Suite struct ConversionTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }

  @Test("K8: there and back is exact to less than a pixel", arguments: [0.0, 30, 60])
  func roundTrip(pitch: Double) {
    var generator = SeededGenerator(seed: 8)
    var worst = 0.0
    for _ in 0..<2000 {
      map.camera = MKMapCamera(
        lookingAtCenter: place(
          .random(in: -60...60, using: &generator), .random(in: -180...180, using: &generator)),
        fromDistance: pow(10, .random(in: 2...6, using: &generator)), pitch: pitch,
        heading: .random(in: 0..<360, using: &generator))
      let point = CGPoint(
        x: .random(in: 0...640, using: &generator), y: .random(in: 0...480, using: &generator))
      let back = map.convert(
        map.convert(point, toCoordinateFrom: map), toPointTo: map)
      worst = max(worst, hypot(back.x - point.x, back.y - point.y))
    }
    #expect(worst < 0.01)
  }

  @Test("K8: another view has its own coordinates, nil the window's")
  func views() {
    map.region = region(berlin, 0.2)
    let window = UIView(frame: CGRect(x: 0, y: 0, width: 1000, height: 1000))
    let other = UIView(frame: CGRect(x: 5, y: 7, width: 10, height: 10))
    map.frame.origin = CGPoint(x: 100, y: 200)
    window.addSubview(map)
    window.addSubview(other)
    let inMap = map.convert(berlin, toPointTo: map)
    #expect(abs(inMap.x - 320) < 1e-9 && abs(inMap.y - 240) < 1e-9)
    let inWindow = map.convert(berlin, toPointTo: nil)
    #expect(abs(inWindow.x - 420) < 1e-9 && abs(inWindow.y - 440) < 1e-9)
    let inOther = map.convert(berlin, toPointTo: other)
    #expect(abs(inOther.x - 415) < 1e-9 && abs(inOther.y - 433) < 1e-9)
    for (point, view) in [(inMap, map as UIView?), (inWindow, nil), (inOther, other)] {
      let back = map.convert(point, toCoordinateFrom: view)
      #expect(abs(back.latitude - berlin.latitude) < 1e-12)
    }
  }

  @Test("K8: regions become rectangles and rectangles regions")
  func regions() {
    map.region = region(berlin, 0.2)
    let inner = region(berlin, 0.1)
    let rect = map.convert(inner, toRectTo: map)
    let back = map.convert(rect, toRegionFrom: map)
    #expect(abs(back.center.latitude - berlin.latitude) < 1e-9)
    #expect(abs(back.span.latitudeDelta - 0.1) < 1e-9)
    #expect(abs(back.span.longitudeDelta - 0.1) < 1e-9)
    #expect(map.bounds.contains(rect))
    let everything = map.convert(map.bounds, toRegionFrom: map)
    #expect(abs(everything.span.longitudeDelta - map.region.span.longitudeDelta) < 1e-9)
    // Across 180 degrees.
    map.region = region(place(0, 179.95), 0.2)
    let across = map.convert(region(place(0, -179.99), 0.02), toRectTo: map)
    #expect(across.midX > 320 && across.maxX < 640)
  }

  @Test("K8: what is nowhere has no point, and no coordinate")
  func nowhere() {
    map.region = MKCoordinateRegion(.world)
    #expect(map.convert(place(91, 0), toPointTo: map).x.isNaN)
    map.camera = MKMapCamera(lookingAtCenter: place(80, 0), fromDistance: 1e7, pitch: 0, heading: 0)
    let above = map.convert(CGPoint(x: 320, y: 0), toCoordinateFrom: map)
    #expect(!CLLocationCoordinate2DIsValid(above))
  }
}
