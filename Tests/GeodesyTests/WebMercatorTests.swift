import Geodesy
import Testing

/// What Web Mercator makes of the earth, against published corners of its tiles.
@Suite struct WebMercatorTests {
  /// Tiles and the coordinates of their upper left corners as mercantile 1.2.1 (`mercantile.ul`) prints them.
  static let corners: [(zoom: Int, x: Int, y: Int, longitude: Double, latitude: Double)] = [
    (0, 0, 0, -180.0, 85.0511287798066),
    (1, 1, 1, 0.0, 0.0),
    (2, 1, 2, -90.0, 0.0),
    (5, 6, 25, -112.5, -70.61261423801925),
    (9, 490, 158, 164.53125, 56.55948248376224),
    (13, 1476, 1089, -115.13671875, 78.62133875728087),
    (17, 5194, 105274, -165.7342529296875, -73.06904503033267),
    (22, 2427459, 493644, 28.35047721862793, 79.65449647300777),
    (28, 119146781, 193405014, -20.211714953184128, -61.9028066039816),
  ]

  @Test("a tile's corner is where others have it", arguments: corners)
  func corner(zoom: Int, x: Int, y: Int, longitude: Double, latitude: Double) {
    let size = Double(1 << zoom)
    let point = MercatorPoint(x: Double(x) / size, y: Double(y) / size)
    let position = WebMercator.position(of: point)
    #expect(abs(position.longitude - longitude) < 1e-12)
    #expect(abs(position.latitude - latitude) < 1e-12)
    let back = WebMercator.project(Position(latitude: latitude, longitude: longitude))
    #expect(abs(back.x - point.x) < 1e-15 && abs(back.y - point.y) < 1e-15)
  }

  @Test("the map ends where it is square, and what lies beyond lies on its edge")
  func edges() {
    #expect(abs(WebMercator.latitudeLimit - 85.0511287798066) < 1e-12)
    #expect(WebMercator.project(Position(latitude: 90, longitude: 180)) == .init(x: 1, y: 0))
    #expect(WebMercator.project(Position(latitude: -90, longitude: -180)) == .init(x: 0, y: 1))
    #expect(WebMercator.project(Position(latitude: 0, longitude: 190)).x == 370.0 / 360)
    for latitude in [91, .nan, .infinity] {
      let point = WebMercator.project(Position(latitude: latitude, longitude: 0))
      #expect(point.x.isNaN && point.y.isNaN)
    }
  }

  @Test("a degree is as long as a geodesic along it", arguments: [0.0, 12, -45, 60, 85])
  func degrees(latitude: Double) {
    let length = WGS84.metresPerDegree(atLatitude: latitude)
    func distance(north: Double, east: Double) -> Double {
      Geodesic.inverse(
        from: Position(latitude: latitude - north / 2, longitude: 0),
        to: Position(latitude: latitude + north / 2, longitude: east)
      ).distance
    }
    #expect(abs(distance(north: 0.001, east: 0) * 1000 - length.north) < 0.001)
    #expect(abs(distance(north: 0, east: 0.001) * 1000 - length.east) < 0.001)
  }
}
