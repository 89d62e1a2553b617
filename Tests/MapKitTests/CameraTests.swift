import MapKit
import Testing

/// From where the map is looked at, and what the flags make of it.
@Suite struct CameraTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }

  @Test("K4: a camera is shown at once and read back as a copy")
  func copy() {
    let camera = MKMapCamera(
      lookingAtCenter: berlin, fromDistance: 3000, pitch: 45, heading: 120)
    map.camera = camera
    #expect(bench.spy.calls == ["will false", "did false"])
    camera.heading = 5
    #expect(abs(map.camera.heading - 120) < 1e-9)
    #expect(abs(map.camera.pitch - 45) < 1e-9)
    #expect(abs(map.camera.centerCoordinateDistance - 3000) < 1e-6)
    #expect(abs(map.camera.altitude - 3000 * cos(45 * Double.pi / 180)) < 1e-6)
    let read = map.camera
    read.pitch = 0
    #expect(map.camera !== read && abs(map.camera.pitch - 45) < 1e-9)
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 0, heading: 0)
    #expect(map.camera.pitch == 0)
  }

  /// From 3000 m with 30 degrees from edge to edge, straight down: 2 * 3000 * tan(15 degrees) are visible.
  @Test("K4: the distance says how much is visible")
  func distance() {
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 0, heading: 0)
    let top = map.convert(CGPoint(x: 320, y: 0), toCoordinateFrom: map)
    let side = map.convert(CGPoint(x: 0, y: 240), toCoordinateFrom: map)
    let middle = MKMapPoint(berlin)
    let expected = 3000 * tan(15 * Double.pi / 180)
    // North to south the ellipsoid's map is 0.25 % off at this latitude.
    #expect(abs(middle.distance(to: MKMapPoint(top)) / expected - 1) < 0.004)
    #expect(abs(middle.distance(to: MKMapPoint(side)) / expected / (640.0 / 480) - 1) < 1e-5)
  }

  @Test("K4: an eye over one place that looks at another has the pitch and the heading for it")
  func eye() {
    let south = place(52.5, 13.3777)
    let camera = MKMapCamera(
      lookingAtCenter: berlin, fromEyeCoordinate: south, eyeAltitude: 1000)
    let ground = MKMapPoint(berlin).distance(to: MKMapPoint(south))
    #expect(abs(camera.pitch - atan2(ground, 1000) * 180 / .pi) < 1e-9)
    #expect(min(camera.heading, 360 - camera.heading) < 1e-6)
    #expect(abs(camera.altitude - 1000) < 1e-6)
  }

  @Test("K4: numbers that are none change nothing; too steep a pitch is the steepest")
  func invalid() {
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 20, heading: 10)
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: .nan, pitch: 0, heading: 0)
    map.camera = MKMapCamera(
      lookingAtCenter: place(100, 0), fromDistance: 10, pitch: 0, heading: 0)
    #expect(abs(map.camera.heading - 10) < 1e-9)
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 89, heading: -90)
    #expect(abs(map.camera.pitch - 60) < 1e-9 && abs(map.camera.heading - 270) < 1e-9)
  }

  @Test("K4: a camera can be archived")
  func archive() throws {
    let camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 45, heading: 120)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: camera, requiringSecureCoding: true)
    let back = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: MKMapCamera.self, from: data))
    #expect(back.heading == 120 && back.pitch == 45 && back.centerCoordinateDistance == 3000)
    #expect(back.centerCoordinate.latitude == berlin.latitude)
    #expect(MKMapCamera.supportsSecureCoding)
    // An archive of something else is none of a camera.
    let other = try NSKeyedUnarchiver(
      forReadingFrom: NSKeyedArchiver.archivedData(
        withRootObject: NSString("camera"), requiringSecureCoding: true))
    #expect(MKMapCamera(coder: other) == nil)
  }

  @Test("K1: all flags are true at first, and the map is the standard one, without the board")
  func defaults() {
    #expect(map.isZoomEnabled && map.isScrollEnabled && map.isPitchEnabled && map.isRotateEnabled)
    #expect(map.showsPointsOfInterest && map.showsBuildings && map.mapType == .standard)
    #expect(!map.showsUserLocation && map.userTrackingMode == .none)
    #expect(MKMapView().delegate == nil)
    #expect(MKMapView().bounds.size == CGSize(width: 640, height: 480))
  }

  @Test("K1: what gestures may do does not bind the program")
  func gestures() {
    map.isZoomEnabled = false
    map.isScrollEnabled = false
    map.region = region(berlin, 0.2)
    let width = map.visibleMapRect.width
    map.region = region(place(10, 10), 2)
    #expect(abs(map.centerCoordinate.latitude - 10) < 1e-9 && map.visibleMapRect.width > width)
  }

  @Test("K1: without pitch the map is flat, without rotation north is up; both come back")
  func flags() {
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 45, heading: 120)
    map.isPitchEnabled = false
    #expect(map.camera.pitch == 0 && abs(map.camera.heading - 120) < 1e-9)
    map.isRotateEnabled = false
    #expect(map.camera.heading == 0)
    let up = map.convert(CGPoint(x: 320, y: 0), toCoordinateFrom: map)
    #expect(abs(up.longitude - berlin.longitude) < 1e-9 && up.latitude > berlin.latitude)
    let scales = [10.0, 470].map { y in
      map.convert(CGPoint(x: 330, y: y), toCoordinateFrom: map).longitude - berlin.longitude
    }
    #expect(abs(scales[0] - scales[1]) < 1e-12)
    map.isPitchEnabled = true
    map.isRotateEnabled = true
    #expect(abs(map.camera.pitch - 45) < 1e-9 && abs(map.camera.heading - 120) < 1e-9)
  }

  @Test("K1: a delegate is not kept")
  func delegate() {
    var spy: MapSpy? = MapSpy()
    map.delegate = spy
    #expect(map.delegate === spy)
    spy = nil
    #expect(map.delegate == nil)
  }
}
