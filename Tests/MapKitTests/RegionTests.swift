import SimulatedDevices
import Testing

@testable import MapKit

/// What is visible after something was set.
@Suite struct RegionTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }

  func contains(_ outer: MKCoordinateRegion, _ inner: MKCoordinateRegion) -> Bool {
    let slack = 1e-9
    return abs(outer.center.latitude - inner.center.latitude) < slack
      && outer.span.latitudeDelta >= inner.span.latitudeDelta - slack
      && outer.span.longitudeDelta >= inner.span.longitudeDelta - slack
  }

  @Test("K2: a region is adjusted to the frame, contains what was asked for, and can be set again")
  func fits() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<1000 {
      let wanted = MKCoordinateRegion(
        center: place(
          .random(in: -70...70, using: &generator), .random(in: -180...180, using: &generator)),
        span: MKCoordinateSpan(
          latitudeDelta: .random(in: 0.001...20, using: &generator),
          longitudeDelta: .random(in: 0.001...40, using: &generator)))
      let fitting = map.regionThatFits(wanted)
      map.region = wanted
      #expect(contains(map.region, wanted), "\(wanted) \(map.region)")
      #expect(abs(fitting.span.latitudeDelta - map.region.span.latitudeDelta) < 1e-9)
      #expect(abs(fitting.span.longitudeDelta - map.region.span.longitudeDelta) < 1e-9)
      // The frame is filled: one of the two spans is what was asked for, or the half on the side of the pole is.
      let rect = map.visibleMapRect
      #expect(abs(rect.width / rect.height - 640.0 / 480) < 1e-6)
      let shown = map.region
      map.region = shown
      #expect(abs(map.region.span.latitudeDelta - shown.span.latitudeDelta) < 1e-9)
      #expect(abs(map.region.span.longitudeDelta - shown.span.longitudeDelta) < 1e-9)
      #expect(abs(map.region.center.latitude - shown.center.latitude) < 1e-9)
    }
  }

  @Test("K2: another centre alone may change the span; setting the centre keeps the scale")
  func centre() {
    map.region = region(berlin, 0.2)
    let before = map.visibleMapRect
    let span = map.region.span
    map.centerCoordinate = place(10, 20)
    #expect(abs(map.visibleMapRect.width - before.width) < 1e-3)
    #expect(abs(map.region.center.latitude - 10) < 1e-9)
    // The same map points are more degrees of latitude near the equator.
    #expect(map.region.span.latitudeDelta > span.latitudeDelta * 1.5)
    #expect(abs(map.region.span.longitudeDelta - span.longitudeDelta) < 1e-9)
    map.region = region(place(10, 20), 0.2)
    #expect(abs(map.visibleMapRect.width - before.width) > 1000)
  }

  @Test("K2: what is not on earth changes nothing")
  func invalid() {
    map.region = region(berlin, 0.2)
    let shown = map.region
    map.region = region(place(91, 0), 1)
    map.region = region(place(0, 0), -1)
    map.region = region(place(0, 0), .nan)
    map.centerCoordinate = place(.nan, 0)
    map.visibleMapRect = .null
    #expect(map.region.center.latitude == shown.center.latitude)
    #expect(map.region.span == shown.span)
    #expect(map.regionThatFits(region(place(91, 0), 1)).center.latitude == 91)
  }

  @Test("K2: the whole earth can be shown, and a region across 180 degrees")
  func edges() {
    map.region = MKCoordinateRegion(.world)
    #expect(map.region.span.longitudeDelta == 360)
    #expect(map.visibleMapRect.contains(.world))
    map.region = region(place(-17, 179.9), 4)
    #expect(abs(map.region.center.longitude - 179.9) < 1e-9)
    #expect(map.visibleMapRect.spans180thMeridian)
    map.region = region(berlin, 1e-9)
    #expect(map.region.span.latitudeDelta > 1e-6)
  }

  @Test("K3: a rectangle that is set is visible as a whole; the region says the same")
  func visibleRect() {
    let rect = MKMapRect(x: 1.4e8, y: 0.8e8, width: 2e6, height: 3e6)
    map.visibleMapRect = rect
    let shown = map.visibleMapRect
    #expect(shown.contains(rect))
    #expect(abs(shown.midX - rect.midX) < 1e-6 && abs(shown.midY - rect.midY) < 1e-6)
    #expect(abs(shown.height - rect.height) < 1e-6)
    let fits = map.mapRectThatFits(rect)
    #expect(abs(fits.minX - shown.minX) < 1e-6 && abs(fits.width - shown.width) < 1e-6)
    let region = MKMapRect(map.region)
    #expect(abs(region.minX - shown.minX) < 1 && abs(region.width - shown.width) < 1)
    #expect(MKMapRect(map.region).minY >= shown.minY - 1e-3)
  }

  @Test("K3: insets leave so many points around the rectangle")
  func insets() throws {
    let rect = MKMapRect(x: 1.4e8, y: 0.8e8, width: 4e6, height: 1e6)
    let insets = UIEdgeInsets(top: 10, left: 100, bottom: 50, right: 20)
    map.setVisibleMapRect(rect, edgePadding: insets, animated: false)
    let left = map.convert(MKMapPoint(x: rect.minX, y: rect.midY).coordinate, toPointTo: map)
    let right = map.convert(MKMapPoint(x: rect.maxX, y: rect.midY).coordinate, toPointTo: map)
    #expect(abs(left.x - 100) < 1e-3 && abs(right.x - 620) < 1e-3)
    // Of what is left in the height the rectangle is in the middle.
    #expect(abs(left.y - (10 + 430) / 2) < 1e-3)
    let fits = map.mapRectThatFits(rect, edgePadding: insets)
    #expect(abs(fits.minX - rect.minX) < 1e-3 && abs(fits.width - rect.width) < 1e-3)
    #expect(abs(fits.width / fits.height - 520.0 / 420) < 1e-9)
    #expect(abs(fits.midY - rect.midY) < 1e-3)
  }

  @Test("K2: a new frame keeps the centre and the scale")
  func frame() {
    map.region = region(berlin, 0.2)
    let before = map.visibleMapRect
    map.frame = CGRect(x: 0, y: 0, width: 320, height: 480)
    #expect(abs(map.visibleMapRect.width - before.width / 2) < 1e-3)
    #expect(abs(map.centerCoordinate.latitude - berlin.latitude) < 1e-9)
  }
}
