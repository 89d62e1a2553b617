import CTestSupport
import Geodesy
import Glibc
import Testing

/// The bound that Karney's paper states, with its own 15 nm, for what is measured in metres.
private let bound = 1.5e-8

@Suite("Geodesics")
struct GeodesicTests {
  @Test("the direct example of Karney 2013, table 2")
  func paperDirect() {
    let end = Geodesic.direct(
      from: Position(latitude: 40, longitude: 0), azimuth: 30, distance: 10_000_000)
    #expect(abs(end.position.latitude - 41.79331020506) < 6e-12)
    #expect(abs(end.position.longitude - 137.84490004377) < 6e-12)
    #expect(abs(end.finalAzimuth - 149.09016931807) < 6e-12)
  }

  @Test("the short line of Karney 2013, table 3")
  func paperShort() {
    let line = Geodesic.inverse(
      from: Position(latitude: -30.12345, longitude: 0),
      to: Position(latitude: -30.12344, longitude: 0.00005))
    #expect(abs(line.initialAzimuth - 77.04353354237) < 1e-8)
    #expect(abs(line.finalAzimuth - 77.04350844913) < 1e-8)
    #expect(abs(line.distance - 4.944208) < 6e-7)
  }

  @Test("the nearly antipodal line of Karney 2013, table 4")
  func paperAntipodal() {
    let line = Geodesic.inverse(
      from: Position(latitude: -30, longitude: 0), to: Position(latitude: 29.9, longitude: 179.8))
    #expect(abs(line.initialAzimuth - 161.890524736) < 6e-10)
    #expect(abs(line.finalAzimuth - 18.090737246) < 6e-10)
    #expect(abs(line.distance - 19_989_832.827610) < 6e-7)
  }

  @Test("lines agree with geographiclib's, to and fro")
  func inverseVectors() {
    var worst = (metres: 0.0, across: 0.0, degrees: 0.0)
    for row in GeodesicVector.inverse {
      let one = Position(latitude: row.latitude1, longitude: row.longitude1)
      let two = Position(latitude: row.latitude2, longitude: row.longitude2)
      let line = Geodesic.inverse(from: one, to: two)
      let back = Geodesic.inverse(from: two, to: one)
      let error = max(abs(line.distance - row.distance), abs(back.distance - row.distance))
      #expect(error < bound, "\(row)")
      worst.metres = max(worst.metres, error)
      guard row.distance > 0 else { continue }
      var turned = max(
        abs(between(line.initialAzimuth, row.initialAzimuth)),
        abs(between(line.finalAzimuth, row.finalAzimuth)))
      // Of two equally short lines the way back may take the other.
      if row.kind != "nearly opposite", row.reducedLength > 1e5 {
        turned = max(
          turned, abs(between(back.finalAzimuth + 180, row.initialAzimuth)),
          abs(between(back.initialAzimuth + 180, row.finalAzimuth)))
      }
      // An azimuth is as good as the place it leads to; short lines and conjugate points tell less of it.
      let across = turned * degree * abs(row.reducedLength)
      #expect(across < bound, "\(row) \(line)")
      worst.across = max(worst.across, across)
      if row.reducedLength > 1e5 {
        #expect(turned < 1e-11, "\(row) \(line)")
        worst.degrees = max(worst.degrees, turned)
      }
    }
    print(
      "inverse: \(worst.metres) m, azimuths \(worst.across) m across,",
      "\(worst.degrees) deg where they are well determined")
  }

  @Test("ends agree with geographiclib's")
  func directVectors() {
    var worst = (metres: 0.0, degrees: 0.0)
    for row in GeodesicVector.direct {
      let end = Geodesic.direct(
        from: Position(latitude: row.latitude1, longitude: row.longitude1),
        azimuth: row.initialAzimuth, distance: row.distance)
      let error = gap(
        end.position, Position(latitude: row.latitude2, longitude: row.longitude2))
      let turned = abs(between(end.finalAzimuth, row.finalAzimuth))
      // After several turns round the earth the angle itself is rounded more coarsely.
      #expect(error < max(bound, abs(row.distance) * 1e-15), "\(row) \(end)")
      #expect(turned < 1e-11, "\(row) \(end)")
      worst = (max(worst.metres, error), max(worst.degrees, turned))
    }
    print("direct: \(worst.metres) m, \(worst.degrees) deg")
  }

  @Test("500 lines between random points lead where they should")
  func roundTrip() {
    var random = Uniform(seed: 500)
    var worst = (metres: 0.0, degrees: 0.0, symmetry: 0.0)
    for _ in 0..<500 {
      let (one, two) = (random.position(), random.position())
      let line = Geodesic.inverse(from: one, to: two)
      let end = Geodesic.direct(
        from: one, azimuth: line.initialAzimuth, distance: line.distance)
      worst.metres = max(worst.metres, gap(two, end.position))
      worst.degrees = max(worst.degrees, abs(between(line.finalAzimuth, end.finalAzimuth)))
      let back = Geodesic.inverse(from: two, to: one)
      worst.symmetry = max(worst.symmetry, abs(back.distance - line.distance))
    }
    #expect(worst.metres < bound)
    #expect(worst.symmetry < 1e-8)
    print("500 lines: \(worst)")
  }

  @Test(
    "lines of every kind lead where they should",
    arguments: [1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.5, 2, 20])
  func kinds(spread: Double) {
    var random = Uniform(seed: UInt64(spread * 1e9))
    var worst = (near: 0.0, opposite: 0.0, equator: 0.0, pole: 0.0)
    func miss(_ one: Position, _ two: Position) -> Double {
      let line = Geodesic.inverse(from: one, to: two)
      let end = Geodesic.direct(
        from: one, azimuth: line.initialAzimuth, distance: line.distance)
      #expect(line.distance <= 20_003_931.4587, "\(one) \(two)")
      return gap(two, end.position)
    }
    for _ in 0..<500 {
      let one = random.position()
      let (x, y) = (random.next(in: -spread...spread), random.next(in: -spread...spread))
      func bounded(_ latitude: Double) -> Double { max(-90, min(90, latitude)) }
      worst.near = max(
        worst.near,
        miss(one, Position(latitude: bounded(one.latitude + x), longitude: one.longitude + y)))
      worst.opposite = max(
        worst.opposite,
        miss(
          one, Position(latitude: bounded(x - one.latitude), longitude: one.longitude + 180 + y)))
      worst.equator = max(
        worst.equator,
        miss(
          Position(latitude: x * random.next().rounded(), longitude: 0),
          Position(latitude: y * random.next().rounded(), longitude: one.longitude)))
      worst.pole = max(
        worst.pole,
        miss(
          Position(latitude: bounded(90 - abs(x)), longitude: one.longitude),
          Position(latitude: bounded(abs(y) - 90), longitude: one.latitude * 2)))
    }
    #expect(max(worst.near, worst.opposite, worst.equator, worst.pole) < bound)
    print("spread \(spread) deg: \(worst)")
  }

  @Test("nearly opposite points of the equator leave it")
  func equator() {
    // Karney 2013, section 4: the equator is shortest up to a longitude of (1 - f) 180 degrees.
    let edge = 180 * (1 - WGS84.flattening)
    let origin = Position(latitude: 0, longitude: 0)
    let along = Geodesic.inverse(from: origin, to: Position(latitude: 0, longitude: edge - 1e-9))
    #expect(along.initialAzimuth == 90)
    #expect(along.finalAzimuth == 90)
    #expect(abs(along.distance - WGS84.equatorialRadius * (edge - 1e-9) * degree) < 1e-8)
    let over = Geodesic.inverse(from: origin, to: Position(latitude: 0, longitude: edge + 1e-3))
    #expect(over.initialAzimuth < 90)
    #expect(over.finalAzimuth > 90)
    let opposite = Geodesic.inverse(from: origin, to: Position(latitude: 0, longitude: 180))
    #expect(opposite.initialAzimuth == 0)
    #expect(abs(between(opposite.finalAzimuth, 180)) == 0)
    // No path is shorter than the one before for a point that is further on.
    #expect(along.distance < over.distance)
    #expect(over.distance < opposite.distance)
  }

  @Test("a meridian that ends at a pole exactly still has a direction")
  func atThePole() {
    // GeodSolve's lines from the pole; backwards they end there. At the north pole azimuth and longitude
    // turn together, and a line south along a meridian is that meridian.
    for (latitude, longitude, distance) in [
      (43.984252064035, -94.850855905424, 5_129_893.1456495058),
      (14.955297910162, 126.357341987534, 8_347_922.3581854319),
    ] {
      let end = Geodesic.direct(
        from: Position(latitude: latitude, longitude: longitude), azimuth: 180, distance: -distance)
      #expect(abs(end.position.latitude - 90) < 1e-13)
      let meridian = end.position.longitude + 180 - end.finalAzimuth
      #expect(abs(between(meridian, longitude)) < 1e-9)
    }
  }

  @Test("points that coincide have no distance and azimuths of zero")
  func coincident() {
    let none = Geodesic.inverse(
      from: Position(latitude: 12, longitude: -180), to: Position(latitude: 12, longitude: 180))
    #expect(none.distance == 0)
    #expect(none.initialAzimuth == 0)
    #expect(none.finalAzimuth == 0)
    for latitude in [-90.0, -45, 0, 1e-300, 33.3, 90] {
      for longitude in [-180.0, 0, 77.7, 180, 540] {
        let point = Position(latitude: latitude, longitude: longitude)
        #expect(Geodesic.inverse(from: point, to: point).distance == 0)
        let still = Geodesic.direct(from: point, azimuth: 45, distance: 0)
        #expect(gap(point, still.position) < 2e-9)
      }
    }
  }

  @Test("what is no point or no number has no line")
  func hostile() {
    let good = Position(latitude: 1, longitude: 2)
    let bad = [
      Position(latitude: .nan, longitude: 0), Position(latitude: 0, longitude: .nan),
      Position(latitude: .infinity, longitude: 0), Position(latitude: 0, longitude: -.infinity),
      Position(latitude: 90.000_000_000_001, longitude: 0), Position(latitude: -91, longitude: 0),
      Position(latitude: .greatestFiniteMagnitude, longitude: 0),
    ]
    for point in bad {
      for line in [
        Geodesic.inverse(from: point, to: good), Geodesic.inverse(from: good, to: point),
        Geodesic.inverse(from: point, to: point),
      ] {
        #expect(line.distance.isNaN && line.initialAzimuth.isNaN && line.finalAzimuth.isNaN)
      }
      let end = Geodesic.direct(from: point, azimuth: 0, distance: 1)
      #expect(end.position.latitude.isNaN && end.position.longitude.isNaN)
      #expect(end.finalAzimuth.isNaN)
    }
    for (azimuth, distance) in [
      (Double.nan, 1.0), (.infinity, 1), (0, .nan), (0, .infinity), (0, -.infinity),
    ] {
      let end = Geodesic.direct(from: good, azimuth: azimuth, distance: distance)
      #expect(end.position.latitude.isNaN && end.position.longitude.isNaN)
      #expect(end.finalAzimuth.isNaN)
    }
    // Extreme but numbers: an answer on earth.
    for longitude in [1e300, -1e300, Double.leastNonzeroMagnitude] {
      for latitude in [-90, -Double.leastNonzeroMagnitude, 1e-200, 90 - 1e-13] {
        let line = Geodesic.inverse(
          from: good, to: Position(latitude: latitude, longitude: longitude))
        #expect(line.distance > 0 && line.distance < 20_003_932)
        #expect(abs(line.initialAzimuth) <= 180 && abs(line.finalAzimuth) <= 180)
        let end = Geodesic.direct(
          from: Position(latitude: latitude, longitude: longitude), azimuth: longitude,
          distance: longitude)
        #expect(abs(end.position.latitude) <= 90)
        #expect(abs(end.position.longitude) <= 180)
      }
    }
  }

  @Test("nothing is allocated, and a line takes microseconds")
  func cost() {
    var random = Uniform(seed: 1)
    let points = (0..<2000).map { _ in (random.position(), random.position()) }
    // The first call of each in a process may make what all later ones share.
    var sum = Geodesic.inverse(from: points[0].0, to: points[0].1).distance
    sum += Geodesic.direct(from: points[0].0, azimuth: 45, distance: 1e6).finalAzimuth
    let before = test_allocations()
    let clock = ContinuousClock()
    let taken = clock.measure {
      for index in 0..<points.count {
        let (one, two) = points[index]
        let line = Geodesic.inverse(from: one, to: two)
        sum +=
          Geodesic.direct(
            from: one, azimuth: line.initialAzimuth, distance: line.distance
          ).finalAzimuth
      }
    }
    let allocated = test_allocations() - before
    #expect(allocated == 0)
    #expect(sum.isFinite)
    print("inverse and direct together: \(taken / points.count)")
  }
}
