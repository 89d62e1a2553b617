import MapKit
import Testing

// The inventory of MapKit, overlays, their renderers and tiles: their values before anything is set.

/// An overlay that says no more than it has to.
private final class Patch: NSObject, MKOverlay {
  var coordinate: CLLocationCoordinate2D { place(0, 0) }
  var boundingMapRect: MKMapRect { MKMapRect(x: 10, y: 10, width: 5, height: 5) }
}

struct InventoryMapOverlayTests {
  @Test("K7: inventory: overlays of the map: none at first, above labels unless it is said")
  func map() {
    let map = MKMapView()
    #expect(
      map.overlays.isEmpty && MKOverlayLevel.allCases.allSatisfy { map.overlays(in: $0).isEmpty })
    map.addOverlay(Patch())
    #expect(map.overlays(in: .aboveLabels).count == 1 && map.overlays(in: .aboveRoads).isEmpty)
  }

  @Test("K7: inventory: shapes")
  func shapes() {
    let patch: any MKOverlay = Patch()
    #expect(patch.intersects(.world) && !patch.canReplaceMapContent)
    let places = [place(0, 0), place(1, 1)]
    let shapes: [MKMultiPoint] = [
      MKPolyline(coordinates: places, count: 2), MKGeodesicPolyline(coordinates: places, count: 1),
      MKPolygon(coordinates: places, count: 2),
    ]
    #expect(shapes.map(\.pointCount) == [2, 1, 2])
  }

  @Test("K7: inventory: renderers keep their shape, and have none of an overlay of another kind")
  func renderers() {
    let line = MKPolyline(coordinates: [place(0, 0), place(1, 1)], count: 2)
    let area = MKPolygon(coordinates: [place(0, 0), place(1, 1)], count: 2)
    let circle = MKCircle(center: place(0, 0), radius: 1)
    #expect(MKPolylineRenderer(polyline: line).polyline === line)
    #expect(MKPolylineRenderer(overlay: line).polyline === line)
    #expect(MKPolygonRenderer(polygon: area).polygon === area)
    #expect(MKPolygonRenderer(overlay: area).polygon === area)
    #expect(MKCircleRenderer(circle: circle).circle === circle)
    #expect(MKCircleRenderer(overlay: circle).circle === circle)
    #expect(MKPolylineRenderer(overlay: Patch()).polyline.pointCount == 0)
    #expect(MKPolygonRenderer(overlay: Patch()).polygon.pointCount == 0)
    #expect(MKCircleRenderer(overlay: Patch()).circle.boundingMapRect.isNull)
  }

  @Test("K7: inventory: how paths are drawn")
  func paths() {
    let renderer = MKOverlayPathRenderer(overlay: Patch())
    #expect(renderer.fillColor == nil && renderer.strokeColor == nil && renderer.path == nil)
    #expect(renderer.lineWidth == 0 && renderer.lineJoin == .round && renderer.lineCap == .round)
    #expect(renderer.miterLimit == 10 && renderer.lineDashPhase == 0)
    #expect(renderer.lineDashPattern == nil)
  }

  @Test("K7: inventory: views of overlays, of before iOS 7")
  func views() {
    let patch = Patch()
    let view = MKOverlayView(overlay: patch)
    #expect(view.overlay === patch && view.canDraw(.world, zoomScale: 1))
  }

  @Test("K7: inventory: tiles")
  func tiles() {
    let parts: [WritableKeyPath<MKTileOverlayPath, Int>] = [\.x, \.y, \.z]
    let path = MKTileOverlayPath(x: 1, y: 2, z: 3, contentScaleFactor: 1)
    #expect(parts.map { path[keyPath: $0] } == [1, 2, 3] && MKTileOverlayPath().z == 0)
  }
}
