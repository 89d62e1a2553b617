import Testing

@testable import MapKit

private final class Older: MKOverlayView {}

/// What covers parts of the map.
@Suite struct OverlayTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }
  let circles = (0..<6).map { MKCircle(center: berlin, radius: Double(100 * ($0 + 1))) }

  func numbers(_ level: MKOverlayLevel) -> [Int] {
    map.overlays(in: level).compactMap { overlay in circles.firstIndex { $0 === overlay } }
  }

  @Test("K7: without a level overlays lie above labels, the newest on top")
  func levels() {
    map.addOverlay(circles[0])
    map.addOverlay(circles[1], level: .aboveRoads)
    map.addOverlays([circles[2], circles[3]])
    map.addOverlays([circles[4]], level: .aboveRoads)
    #expect(numbers(.aboveLabels) == [0, 2, 3] && numbers(.aboveRoads) == [1, 4])
    #expect(map.overlays.count == 5)
    map.addOverlay(circles[0], level: .aboveRoads)
    #expect(numbers(.aboveLabels) == [2, 3] && numbers(.aboveRoads) == [1, 4, 0])
  }

  @Test("K7: an index counts within its level, past the end on top")
  func insert() {
    map.addOverlays([circles[0], circles[1]])
    map.insertOverlay(circles[2], at: 1)
    map.insertOverlay(circles[3], at: 99)
    map.insertOverlay(circles[4], at: 0, level: .aboveRoads)
    map.insertOverlay(circles[5], at: 0, level: .aboveRoads)
    #expect(numbers(.aboveLabels) == [0, 2, 1, 3] && numbers(.aboveRoads) == [5, 4])
    map.insertOverlay(circles[3], at: -4)
    #expect(numbers(.aboveLabels) == [3, 0, 2, 1])
  }

  @Test("K7: above and below another, or on top where that is not above labels")
  func siblings() {
    map.addOverlays([circles[0], circles[1]])
    map.addOverlay(circles[2], level: .aboveRoads)
    map.insertOverlay(circles[3], above: circles[0])
    map.insertOverlay(circles[4], below: circles[0])
    #expect(numbers(.aboveLabels) == [4, 0, 3, 1])
    map.insertOverlay(circles[5], below: circles[2])
    #expect(numbers(.aboveLabels) == [4, 0, 3, 1, 5] && numbers(.aboveRoads) == [2])
    map.insertOverlay(circles[4], above: circles[1])
    #expect(numbers(.aboveLabels) == [0, 3, 1, 4, 5])
    map.insertOverlay(circles[1], above: circles[1])
    #expect(numbers(.aboveLabels) == [0, 3, 1, 4, 5])
  }

  @Test("K7: two are exchanged, their levels too")
  func exchange() {
    map.addOverlays([circles[0], circles[1], circles[2]])
    map.addOverlays([circles[3], circles[4]], level: .aboveRoads)
    map.exchangeOverlay(circles[0], with: circles[2])
    #expect(numbers(.aboveLabels) == [2, 1, 0])
    map.exchangeOverlay(circles[1], with: circles[3])
    #expect(numbers(.aboveLabels) == [2, 3, 0] && numbers(.aboveRoads) == [1, 4])
    map.exchangeOverlay(at: 0, withOverlayAt: 2)
    #expect(numbers(.aboveLabels) == [0, 3, 2])
    map.exchangeOverlay(at: 0, withOverlayAt: 3)
    map.exchangeOverlay(circles[0], with: circles[5])
    #expect(numbers(.aboveLabels) == [0, 3, 2])
  }

  @Test("K7: what is removed takes its renderer along; what is not there changes nothing")
  func remove() {
    map.region = region(berlin, 0.2)
    map.addOverlays([circles[0], circles[1]])
    #expect(map.renderer(for: circles[0]) != nil)
    map.removeOverlay(circles[0])
    map.removeOverlay(circles[0])
    #expect(map.renderer(for: circles[0]) == nil && map.overlays.count == 1)
    map.removeOverlays([circles[1], circles[5]])
    #expect(map.overlays.isEmpty)
  }

  @Test("K7: renderers are asked for when an overlay comes in sight, and gone out of sight")
  func renderers() throws {
    var asked = 0
    bench.spy.makeRenderer = { overlay in
      asked += 1
      return MKCircleRenderer(overlay: overlay)
    }
    map.camera = MKMapCamera(
      lookingAtCenter: place(0, 0), fromDistance: 5000, pitch: 0, heading: 0)
    map.addOverlay(circles[0])
    #expect(asked == 0 && map.renderer(for: circles[0]) == nil)
    map.centerCoordinate = berlin
    #expect(asked == 1 && bench.spy.calls.contains("renderers 1"))
    let renderer = try #require(map.renderer(for: circles[0]) as? MKCircleRenderer)
    #expect(renderer.circle === circles[0] && renderer.overlay === circles[0])
    map.centerCoordinate = place(52.51, 13.37)
    #expect(asked == 1 && map.renderer(for: circles[0]) === renderer)
    map.centerCoordinate = place(0, 0)
    #expect(map.renderer(for: circles[0]) == nil)
    map.centerCoordinate = berlin
    #expect(asked == 2)
  }

  @Test("K7: a delegate of before iOS 7 gives a view")
  func older() {
    map.region = region(berlin, 0.2)
    bench.spy.makeOlderView = { Older(overlay: $0) }
    map.addOverlay(circles[0])
    #expect(map.renderer(for: circles[0]) == nil)
    #expect((map as any OlderOverlayViews).view(for: circles[0]) is Older)
    map.centerCoordinate = place(0, 0)
    #expect((map as any OlderOverlayViews).view(for: circles[0]) == nil)
  }

  @Test("K7: an overlay across 180 degrees is in sight on both sides")
  func meridian() {
    let circle = MKCircle(center: place(0, 179.999), radius: 5000)
    map.addOverlay(circle)
    for longitude in [179.9, -179.9] {
      map.camera = MKMapCamera(
        lookingAtCenter: place(0, longitude), fromDistance: 50_000, pitch: 0, heading: 0)
      #expect(map.renderer(for: circle) != nil)
    }
  }
}

/// A witness may be deprecated without a warning where it is called.
private protocol OlderOverlayViews {
  func view(for overlay: any MKOverlay) -> MKOverlayView?
}
extension MKMapView: OlderOverlayViews {}
