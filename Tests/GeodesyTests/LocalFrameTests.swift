import Geodesy
import LinearAlgebra
import Testing

@Suite("Earth-centred and local coordinates")
struct LocalFrameTests {
  @Test("points whose coordinates are known without a formula")
  func known() {
    let (a, b) = (6_378_137.0, 6_356_752.314_245_179)
    #expect(abs(WGS84.polarRadius - b) < 1e-9)
    let rows: [(GeodeticCoordinate, Vector3)] = [
      (GeodeticCoordinate(latitude: 0, longitude: 0, height: 0), Vector3(a, 0, 0)),
      (GeodeticCoordinate(latitude: 0, longitude: 90, height: 100), Vector3(0, a + 100, 0)),
      (GeodeticCoordinate(latitude: 0, longitude: 180, height: -100), Vector3(100 - a, 0, 0)),
      (GeodeticCoordinate(latitude: 90, longitude: 0, height: 5), Vector3(0, 0, b + 5)),
      (GeodeticCoordinate(latitude: -90, longitude: 0, height: 0), Vector3(0, 0, -b)),
    ]
    for (geodetic, earth) in rows {
      #expect((geodetic.earthCentred - earth).length < 2e-9)
      let back = GeodeticCoordinate(earthCentred: earth)
      #expect(back.position.latitude == geodetic.position.latitude)
      #expect(back.position.longitude == geodetic.position.longitude)
      #expect(abs(back.height - geodetic.height) < 2e-9)
    }
  }

  @Test("the perpendicular's foot lies on the ellipsoid, and the perpendicular on its normal")
  func perpendicular() {
    var random = Uniform(seed: 9)
    var worst = (surface: 0.0, normal: 0.0)
    let (a, b) = (WGS84.equatorialRadius, WGS84.polarRadius)
    for _ in 0..<500 {
      let foot = random.position()
      let place = GeodeticCoordinate(foot, height: 0).earthCentred
      let scaled = place / Vector3(a, a, b)
      worst.surface = max(worst.surface, abs(scaled.length - 1) * a)
      let gradient = scaled / Vector3(a, a, b)
      let rise = GeodeticCoordinate(foot, height: 1e6).earthCentred - place
      worst.normal = max(
        worst.normal, (rise / 1e6 - gradient / gradient.length).length)
    }
    #expect(worst.surface < 3e-9)
    #expect(worst.normal < 1e-14)
    print("perpendicular: \(worst)")
  }

  @Test(
    "there and back at any height",
    arguments: [-6_000_000.0, -5000, 0, 50, 9000, 400_000, 10_000_000, 36_000_000, 4e8])
  func thereAndBack(height: Double) {
    var random = Uniform(seed: 3)
    var worst = (position: 0.0, height: 0.0, place: 0.0)
    for _ in 0..<500 {
      let point = GeodeticCoordinate(random.position(), height: height)
      let back = GeodeticCoordinate(earthCentred: point.earthCentred)
      worst.position = max(worst.position, gap(point.position, back.position))
      worst.height = max(worst.height, abs(back.height - height))
      worst.place = max(worst.place, (back.earthCentred - point.earthCentred).length)
    }
    #expect(worst.place < max(5e-9, abs(height) * 1e-15))
    // Near the centre a place turns about it more than it moves.
    if height > -6e6 { #expect(worst.position < 5e-9) }
    #expect(worst.height < max(5e-9, abs(height) * 1e-15))
    print("height \(height) m: \(worst)")
  }

  @Test("close to the centre and on the axes there is an answer")
  func centre() {
    let (a, b, e2) = (WGS84.equatorialRadius, WGS84.polarRadius, WGS84.eccentricitySquared)
    let centre = GeodeticCoordinate(earthCentred: .zero)
    #expect(centre.position.latitude == 90)
    #expect(abs(centre.height + b) < 1e-8)
    var random = Uniform(seed: 6)
    for _ in 0..<500 {
      let place =
        1.2 * a * e2
        * Vector3(
          random.next(in: -1...1) * random.next().rounded(), random.next(in: -1...1),
          random.next(in: -1...1) * random.next().rounded())
      let point = GeodeticCoordinate(earthCentred: place)
      #expect((point.earthCentred - place).length < 2e-8)
      // It is the shortest perpendicular: no point of its meridian is nearer.
      let out = hypot(place.x, place.y)
      for step in 0...360 {
        let beta = Double(step) * degree
        let distance = hypot(a * cos(beta) - out, b * sin(beta) - place.z)
        #expect(distance > -point.height - 1e-8)
      }
    }
  }

  @Test("a local frame's axes point east, north and up")
  func axes() {
    var random = Uniform(seed: 12)
    for _ in 0..<200 {
      let origin = GeodeticCoordinate(random.position(), height: random.next(in: -100...9000))
      let frame = LocalFrame(origin: origin)
      #expect(frame.toLocal(origin) == .zero)
      var up = origin
      up.height += 1000
      #expect((frame.toLocal(up) - Vector3(0, 0, 1000)).length < 3e-9)
      let (latitude, longitude) = (origin.position.latitude, origin.position.longitude)
      let north = frame.toLocal(
        GeodeticCoordinate(
          latitude: latitude + (latitude > 0 ? -1e-3 : 1e-3), longitude: longitude,
          height: origin.height))
      #expect(abs(north.x) < 3e-9)
      #expect(abs(abs(north.y) - 111.1) < 0.8)
      let east = frame.toLocal(
        GeodeticCoordinate(latitude: latitude, longitude: longitude + 1e-4, height: origin.height))
      #expect(east.x > 0 && east.x > 1000 * abs(east.y))
    }
  }

  @Test("local vectors come back, at the poles too")
  func localRoundTrip() {
    var random = Uniform(seed: 15)
    var worst = 0.0
    for count in 0..<500 {
      let foot = count < 20 ? Position(latitude: 90, longitude: Double(count)) : random.position()
      let frame = LocalFrame(origin: GeodeticCoordinate(foot, height: 100))
      let vector = Vector3(
        random.next(in: -1e5...1e5), random.next(in: -1e5...1e5), random.next(in: -1e3...1e3))
      worst = max(worst, (frame.toLocal(frame.toGeodetic(vector)) - vector).length)
    }
    #expect(worst < 5e-9)
    print("local frame: \(worst) m")
  }

  @Test("short ways in the frame are as long as the geodesic, and as directed")
  func againstGeodesic() {
    var random = Uniform(seed: 21)
    for _ in 0..<100 {
      let origin = random.position()
      let end = Geodesic.direct(from: origin, azimuth: 33, distance: 100)
      let vector = LocalFrame(origin: GeodeticCoordinate(origin, height: 0))
        .toLocal(GeodeticCoordinate(end.position, height: 0))
      // The chord of 100 m is shorter by s^3 / 24 R^2, 1 nm, and falls by s^2 / 2 R.
      #expect(abs(vector.length - 100) < 1e-8)
      #expect(abs(atan2(vector.x, vector.y) / degree - 33) < 1e-7)
      #expect(vector.z < -7e-4 && vector.z > -9e-4)
    }
  }

  @Test("what is no point has no coordinates")
  func hostile() {
    for bad in [
      GeodeticCoordinate(latitude: .nan, longitude: 0, height: 0),
      GeodeticCoordinate(latitude: 0, longitude: .infinity, height: 0),
      GeodeticCoordinate(latitude: 0, longitude: 0, height: .infinity),
      GeodeticCoordinate(latitude: 90.1, longitude: 0, height: 0),
    ] {
      let place = bad.earthCentred
      #expect(place.x.isNaN && place.y.isNaN && place.z.isNaN)
      let local = LocalFrame(origin: bad).toLocal(
        GeodeticCoordinate(latitude: 0, longitude: 0, height: 0))
      #expect(local.x.isNaN && local.y.isNaN && local.z.isNaN)
      let back = LocalFrame(origin: bad).toGeodetic(.zero)
      #expect(back.position.latitude.isNaN && back.height.isNaN)
    }
    for bad in [Vector3(.nan, 0, 0), Vector3(0, .infinity, 0), Vector3(0, 0, -.infinity)] {
      let point = GeodeticCoordinate(earthCentred: bad)
      #expect(point.position.latitude.isNaN && point.position.longitude.isNaN)
      #expect(point.height.isNaN)
    }
    for size in [1e300, 1e-300] {
      let point = GeodeticCoordinate(earthCentred: Vector3(size, size, size))
      #expect(abs(point.position.latitude) <= 90 && point.height.isFinite)
    }
  }
}
