import MapDrawing
import RecordedFigures
import Testing

@testable import MapKit

@Suite("pictures of maps are as they were")
struct FigureTests {
  @Test(
    "a map with shapes and a pin, from above and aslant, near and far",
    arguments: [
      (2_000.0, 0.0, 0.0), (2_000, 40, 70), (300_000, 20, 200), (9_000_000, 0, 0),
    ])
  func cameras(distance: Double, pitch: Double, heading: Double) throws {
    let bench = MapBench()
    bench.spy.makeRenderer = { overlay in
      let renderer: MKOverlayPathRenderer =
        overlay is MKCircle
        ? MKCircleRenderer(overlay: overlay)
        : overlay is MKPolygon
          ? MKPolygonRenderer(overlay: overlay) : MKPolylineRenderer(overlay: overlay)
      renderer.strokeColor = .systemRed
      renderer.fillColor = UIColor.green.withAlphaComponent(0.25)
      renderer.lineWidth = 4
      renderer.lineDashPattern = [6, 3]
      return renderer
    }
    let map = bench.map
    map.camera = MKMapCamera(
      lookingAtCenter: berlin, fromDistance: distance, pitch: pitch, heading: heading)
    let size = distance / 200_000
    let corners = [(0, 0), (0, 1), (1, 1), (1, 0)].map {
      place(berlin.latitude + $0.0 * size, berlin.longitude + $0.1 * size)
    }
    map.addOverlay(MKPolygon(coordinates: corners, count: 4))
    map.addOverlay(MKPolyline(coordinates: corners.reversed(), count: 4))
    map.addOverlay(MKCircle(center: berlin, radius: distance / 8))
    let pin = MKPointAnnotation()
    (pin.coordinate, pin.title, pin.subtitle) = (corners[2], "a gate", "closed")
    map.addAnnotation(pin)
    for isDark in [false, true] {
      let text = try #require(map.image(isDark: isDark).svgData()).decoded
      var summary = FigureSummary()
      summary.add("picture", text: text)
      let name = "\(Int(distance)) m, \(Int(pitch)), \(Int(heading)), dark \(isDark)"
      #expect(try RecordedFigures("maps").differences(of: name, summary) == [])
    }
  }
}

extension Sequence<UInt8> {
  fileprivate var decoded: String { String(decoding: Array(self), as: UTF8.self) }
}
