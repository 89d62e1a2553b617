import FacadeTestSupport
import MapKit
import Testing

// The inventory of MapKit, overlays, their renderers and tiles: each symbol once, with its type.

private protocol OlderRenderers {
  func names()
}
private struct Older: OlderRenderers {
  @available(*, deprecated)
  func names() {
    gives(
      { $0.setNeedsDisplayIn(_:) }, ((MKOverlayRenderer) -> (MKMapRect) -> Void).self)
    gives(
      { $0.setNeedsDisplayIn(_:zoomScale:) },
      ((MKOverlayRenderer) -> (MKMapRect, MKZoomScale) -> Void).self)
  }
}

/// An overlay that says no more than it has to.
private final class Patch: NSObject, MKOverlay {
  var coordinate: CLLocationCoordinate2D { place(0, 0) }
  var boundingMapRect: MKMapRect { MKMapRect(x: 10, y: 10, width: 5, height: 5) }
}

struct InventoryMapOverlayTests {
  private typealias One = (MKMapView) -> (any MKOverlay) -> Void
  private typealias Two = (MKMapView) -> (any MKOverlay, any MKOverlay) -> Void

  @Test("K7: inventory: overlays of the map")
  func map() {
    has(\MKMapView.overlays, [any MKOverlay].self)
    gives({ $0.overlays(in:) }, ((MKMapView) -> (MKOverlayLevel) -> [any MKOverlay]).self)
    gives({ $0.addOverlay(_:) }, One.self)
    gives({ $0.removeOverlay }, One.self)
    gives(
      { $0.addOverlay(_:level:) }, ((MKMapView) -> (any MKOverlay, MKOverlayLevel) -> Void).self)
    gives({ $0.addOverlays(_:) }, ((MKMapView) -> ([any MKOverlay]) -> Void).self)
    gives({ $0.removeOverlays }, ((MKMapView) -> ([any MKOverlay]) -> Void).self)
    gives(
      { $0.addOverlays(_:level:) },
      ((MKMapView) -> ([any MKOverlay], MKOverlayLevel) -> Void).self)
    gives({ $0.insertOverlay(_:at:) }, ((MKMapView) -> (any MKOverlay, Int) -> Void).self)
    gives(
      { $0.insertOverlay(_:at:level:) },
      ((MKMapView) -> (any MKOverlay, Int, MKOverlayLevel) -> Void).self)
    gives({ $0.insertOverlay(_:above:) }, Two.self)
    gives({ $0.insertOverlay(_:below:) }, Two.self)
    gives({ $0.exchangeOverlay(_:with:) }, Two.self)
    gives({ $0.exchangeOverlay(at:withOverlayAt:) }, ((MKMapView) -> (Int, Int) -> Void).self)
    gives({ $0.renderer(for:) }, ((MKMapView) -> (any MKOverlay) -> MKOverlayRenderer?).self)
  }

  @Test("K7: inventory: shapes")
  func shapes() {
    let patch: any MKOverlay = Patch()
    #expect(patch.intersects(.world) && !patch.canReplaceMapContent)
    gives(patch.boundingMapRect, MKMapRect.self)
    has(\MKMultiPoint.pointCount, Int.self)
    has(\MKMultiPoint.boundingMapRect, MKMapRect.self)
    has(\MKMultiPoint.coordinate, CLLocationCoordinate2D.self)
    gives({ $0.points }, ((MKMultiPoint) -> () -> UnsafeMutablePointer<MKMapPoint>).self)
    gives(
      { $0.getCoordinates(_:range:) },
      ((MKMultiPoint) -> (UnsafeMutablePointer<CLLocationCoordinate2D>, NSRange) -> Void).self)
    typealias Points<Shape> = (UnsafePointer<MKMapPoint>, Int) -> Shape
    typealias Places<Shape> = (UnsafePointer<CLLocationCoordinate2D>, Int) -> Shape
    gives(MKPolyline.init(points:count:), Points<MKPolyline>.self)
    gives(MKPolyline.init(coordinates:count:), Places<MKPolyline>.self)
    gives(MKGeodesicPolyline.init(points:count:), Points<MKGeodesicPolyline>.self)
    gives(MKGeodesicPolyline.init(coordinates:count:), Places<MKGeodesicPolyline>.self)
    gives(
      MKPolygon.init(points:count:interiorPolygons:),
      ((UnsafePointer<MKMapPoint>, Int, [MKPolygon]?) -> MKPolygon).self)
    gives(
      MKPolygon.init(coordinates:count:interiorPolygons:),
      ((UnsafePointer<CLLocationCoordinate2D>, Int, [MKPolygon]?) -> MKPolygon).self)
    has(\MKPolygon.interiorPolygons, [MKPolygon]?.self)
    gives(
      MKCircle.init(center:radius:), ((CLLocationCoordinate2D, CLLocationDistance) -> MKCircle).self
    )
    gives(MKCircle.init(mapRect:), ((MKMapRect) -> MKCircle).self)
    has(\MKCircle.radius, CLLocationDistance.self)
    has(\MKCircle.coordinate, CLLocationCoordinate2D.self)
    has(\MKCircle.boundingMapRect, MKMapRect.self)
  }

  @Test("K7: inventory: renderers")
  func renderers() {
    has(\MKOverlayRenderer.overlay, (any MKOverlay).self)
    changes(\MKOverlayRenderer.alpha, CGFloat.self)
    has(\MKOverlayRenderer.contentScaleFactor, CGFloat.self)
    gives(MKOverlayRenderer.init(overlay:), ((any MKOverlay) -> MKOverlayRenderer).self)
    gives({ $0.point(for:) }, ((MKOverlayRenderer) -> (MKMapPoint) -> CGPoint).self)
    gives({ $0.mapPoint(for:) }, ((MKOverlayRenderer) -> (CGPoint) -> MKMapPoint).self)
    gives({ $0.rect(for:) }, ((MKOverlayRenderer) -> (MKMapRect) -> CGRect).self)
    gives({ $0.mapRect(for:) }, ((MKOverlayRenderer) -> (CGRect) -> MKMapRect).self)
    gives(
      { $0.canDraw(_:zoomScale:) },
      ((MKOverlayRenderer) -> (MKMapRect, MKZoomScale) -> Bool).self)
    gives(
      { $0.draw(_:zoomScale:in:) },
      ((MKOverlayRenderer) -> (MKMapRect, MKZoomScale, CGContext) -> Void).self)
    gives({ $0.setNeedsDisplay }, ((MKOverlayRenderer) -> () -> Void).self)
    gives(
      { $0.setNeedsDisplay(_:) }, ((MKOverlayRenderer) -> (MKMapRect) -> Void).self)
    gives(
      { $0.setNeedsDisplay(_:zoomScale:) },
      ((MKOverlayRenderer) -> (MKMapRect, MKZoomScale) -> Void).self)
    (Older() as any OlderRenderers).names()
    gives(MKPolylineRenderer.init(polyline:), ((MKPolyline) -> MKPolylineRenderer).self)
    gives(MKPolylineRenderer.init(overlay:), ((any MKOverlay) -> MKPolylineRenderer).self)
    has(\MKPolylineRenderer.polyline, MKPolyline.self)
    gives(MKPolygonRenderer.init(polygon:), ((MKPolygon) -> MKPolygonRenderer).self)
    gives(MKPolygonRenderer.init(overlay:), ((any MKOverlay) -> MKPolygonRenderer).self)
    has(\MKPolygonRenderer.polygon, MKPolygon.self)
    gives(MKCircleRenderer.init(circle:), ((MKCircle) -> MKCircleRenderer).self)
    gives(MKCircleRenderer.init(overlay:), ((any MKOverlay) -> MKCircleRenderer).self)
    has(\MKCircleRenderer.circle, MKCircle.self)
    gives(
      [
        MKPolylineRenderer.createPath(MKPolylineRenderer(overlay: Patch())),
        MKPolygonRenderer.createPath(MKPolygonRenderer(overlay: Patch())),
        MKCircleRenderer.createPath(MKCircleRenderer(overlay: Patch())),
      ], [() -> Void].self)
  }

  @Test("K7: inventory: how paths are drawn")
  func paths() {
    changes(\MKOverlayPathRenderer.fillColor, UIColor?.self)
    changes(\MKOverlayPathRenderer.strokeColor, UIColor?.self)
    changes(\MKOverlayPathRenderer.lineWidth, CGFloat.self)
    changes(\MKOverlayPathRenderer.lineJoin, CGLineJoin.self)
    changes(\MKOverlayPathRenderer.lineCap, CGLineCap.self)
    changes(\MKOverlayPathRenderer.miterLimit, CGFloat.self)
    changes(\MKOverlayPathRenderer.lineDashPhase, CGFloat.self)
    changes(\MKOverlayPathRenderer.lineDashPattern, [NSNumber]?.self)
    changes(\MKOverlayPathRenderer.path, CGPath?.self)
    let makings: [(MKOverlayPathRenderer) -> () -> Void] = [
      { $0.createPath }, { $0.invalidatePath },
    ]
    typealias Apply = (MKOverlayPathRenderer) -> (CGContext, MKZoomScale) -> Void
    let properties: [Apply] = [
      { $0.applyStrokeProperties(to:atZoomScale:) },
      { $0.applyFillProperties(to:atZoomScale:) },
    ]
    let drawings: [(MKOverlayPathRenderer) -> (CGPath, CGContext) -> Void] = [
      { $0.strokePath(_:in:) }, { $0.fillPath(_:in:) },
    ]
    gives(makings, [(MKOverlayPathRenderer) -> () -> Void].self)
    gives(properties, [Apply].self)
    gives(drawings, [(MKOverlayPathRenderer) -> (CGPath, CGContext) -> Void].self)
  }

  @Test("K7: inventory: views of overlays, of before iOS 7")
  func views() {
    has(\MKOverlayView.overlay, (any MKOverlay).self)
    gives(MKOverlayView.init(overlay:), ((any MKOverlay) -> MKOverlayView).self)
    gives(MKOverlayView.init(coder:), ((NSCoder) -> MKOverlayView?).self)
    gives({ $0.point(for:) }, ((MKOverlayView) -> (MKMapPoint) -> CGPoint).self)
    gives({ $0.mapPoint(for:) }, ((MKOverlayView) -> (CGPoint) -> MKMapPoint).self)
    gives({ $0.rect(for:) }, ((MKOverlayView) -> (MKMapRect) -> CGRect).self)
    gives({ $0.mapRect(for:) }, ((MKOverlayView) -> (CGRect) -> MKMapRect).self)
    gives(
      { $0.canDraw(_:zoomScale:) },
      ((MKOverlayView) -> (MKMapRect, MKZoomScale) -> Bool).self)
    gives(
      { $0.draw(_:zoomScale:in:) },
      ((MKOverlayView) -> (MKMapRect, MKZoomScale, CGContext) -> Void).self)
  }

  @Test("K7: inventory: tiles")
  func tiles() {
    gives(MKTileOverlay.init(urlTemplate:), ((String?) -> MKTileOverlay).self)
    has(\MKTileOverlay.urlTemplate, String?.self)
    has(\MKTileOverlay.coordinate, CLLocationCoordinate2D.self)
    has(\MKTileOverlay.boundingMapRect, MKMapRect.self)
    changes(\MKTileOverlay.tileSize, CGSize.self)
    changes(\MKTileOverlay.isGeometryFlipped, Bool.self)
    changes(\MKTileOverlay.minimumZ, Int.self)
    changes(\MKTileOverlay.maximumZ, Int.self)
    changes(\MKTileOverlay.canReplaceMapContent, Bool.self)
    gives(
      { $0.url(forTilePath:) }, ((MKTileOverlay) -> (MKTileOverlayPath) -> URL).self)
    gives(
      { $0.loadTile(at:result:) },
      ((MKTileOverlay) -> (MKTileOverlayPath, @escaping (Data?, (any Error)?) -> Void) -> Void).self
    )
    let parts: [WritableKeyPath<MKTileOverlayPath, Int>] = [\.x, \.y, \.z]
    sets(\MKTileOverlayPath.contentScaleFactor, CGFloat.self)
    let path = MKTileOverlayPath(x: 1, y: 2, z: 3, contentScaleFactor: 1)
    #expect(parts.map { path[keyPath: $0] } == [1, 2, 3] && MKTileOverlayPath().z == 0)
    gives(
      MKTileOverlayRenderer.init(tileOverlay:), ((MKTileOverlay) -> MKTileOverlayRenderer).self)
    gives(MKTileOverlayRenderer.init(overlay:), ((any MKOverlay) -> MKTileOverlayRenderer).self)
    gives({ $0.reloadData }, ((MKTileOverlayRenderer) -> () -> Void).self)
  }
}
