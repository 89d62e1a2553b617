import LocationServices
import Testing

struct GeodesicTests {
  /// Latitude and longitude of two points and their distance by Karney's GeographicLib (Python 2.0 package,
  /// `Geodesic.WGS84.Inverse`): near and far, across the date line and a pole, and nearly opposite points,
  /// where Vincenty's iteration alone fails.
  static let rows: [(Double, Double, Double, Double, Double)] = [
    (52.516272, 13.377722, 52.516372, 13.377722, 11.127714170),
    (37.33233141, -122.0312186, 37.33233141, -122.0302186, 88.622783062),
    (12.5, 33.0, 12.500001, 33.000001, 0.155091575),
    (40.6413111, -73.7781391, 51.4700223, -0.4542955, 5554910.136850049),
    (-33.8688, 151.2093, 51.5074, -0.1278, 16989295.770540450),
    (30.0, 179.9999, 30.0, -179.9999, 19.297256051),
    (89.999, 0.0, 89.999, 180.0, 223.387959119),
    (0.0, 0.0, 0.0, 1.0, 111319.490793274),
    (10.0, 20.0, 10.0, 20.0, 0.000000000),
    (0.0, 0.0, 0.5, 179.5, 19936288.578965314),
    (0.0, 0.0, 0.5, 179.7, 19944127.420750458),
    (0.0, 0.0, 0.0, 180.0, 20003931.458625447),
    (0.0, 0.0, 0.0, 179.5, 19980861.908890963),
    (0.0, 0.0, 0.0, 179.3, 19959584.699233953),
    (-30.0, 0.0, 29.9, 179.8, 19989832.827609532),
    (30.0, 0.0, -29.9, -179.8, 19989832.827609532),
    (5.0, 0.0, -5.0, 179.9, 20003008.421509411),
    (90.0, 0.0, -90.0, 50.0, 20003931.458625447),
    (90.0, 0.0, -45.0, 50.0, 14986910.107290467),
  ]

  @Test("distances agree with GeographicLib to a tenth of a millimetre", arguments: rows)
  func distance(row: (Double, Double, Double, Double, Double)) {
    let one = Position(latitude: row.0, longitude: row.1)
    let two = Position(latitude: row.2, longitude: row.3)
    #expect(abs(Geodesic.distance(from: one, to: two) - row.4) < 1e-4)
    #expect(abs(Geodesic.distance(from: two, to: one) - row.4) < 1e-4)
  }

  @Test("what is no point has no distance")
  func notANumber() {
    let one = Position(latitude: .nan, longitude: 0)
    let two = Position(latitude: 0, longitude: .infinity)
    #expect(Geodesic.distance(from: one, to: two).isNaN)
  }
}
