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
}
