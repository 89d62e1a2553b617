import CoreLocation
import Testing

struct LocationTests {
  @Test("distances are lengths of geodesics, between nearly opposite points too")
  func distance() {
    // Karney 2013, table 4, and the quarter meridian.
    let south = CLLocation(latitude: -30, longitude: 0)
    let north = CLLocation(latitude: 29.9, longitude: 179.8)
    #expect(abs(south.distance(from: north) - 19_989_832.827610) < 1e-6)
    #expect(abs(north.distance(from: south) - 19_989_832.827610) < 1e-6)
    #expect(south.distance(from: south) == 0)
    let equator = CLLocation(latitude: 0, longitude: 77)
    let pole = CLLocation(latitude: 90, longitude: 0)
    #expect(abs(equator.distance(from: pole) - 10_001_965.729) < 6e-4)
    #expect(equator.distance(from: CLLocation(latitude: .nan, longitude: 0)).isNaN)
    #expect(equator.distance(from: CLLocation(latitude: 91, longitude: 0)).isNaN)
  }

  @Test("distances are GeodSolve's, to the micrometre")
  func geodSolve() {
    // Of each kind one of Scripts/geodesics.py's lines: both points in degrees, metres.
    let lines: [(Double, Double, Double, Double, Double)] = [
      (-1.293577832, -89.493, -9.066840409, -153.641464126, 7154680.3367489073),
      (-47.6305354484958, 59.12, -47.6305354481331, 59.1201403011393, 10.5445591630),
      (53.591699769, 75.993, -44.938136479, 75.993, 10918541.1378319655),
      (0, 177.429, 0, -3.104819621, 19977636.6095638014),
      (90, 110.898, -89.999999982214, 70.734762222038, 20003931.4566388577),
      (-73.0522703012, 180, 28.3276180644, -179.999520661, 11244303.6077834442),
      (83.7379602815525, -83.813, -83.7379602815819, 96.1869999697264, 20003931.4586221650),
      (-19.621523058455, -105.524, 19.621523124568, 75.044627414619, 19974097.0106985681),
      (-53.754416503, 24.267, 53.754416503, -155.733, 20003931.4586254470),
    ]
    var worst = 0.0
    for (latitude1, longitude1, latitude2, longitude2, metres) in lines {
      let one = CLLocation(latitude: latitude1, longitude: longitude1)
      let two = CLLocation(latitude: latitude2, longitude: longitude2)
      worst = max(
        worst, abs(one.distance(from: two) - metres), abs(two.distance(from: one) - metres))
    }
    #expect(worst < 1e-6)
    print("CLLocation's distances: \(worst) m")
  }
}
