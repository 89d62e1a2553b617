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
      MKOverlayRenderer.setNeedsDisplayIn(_:), ((MKOverlayRenderer) -> (MKMapRect) -> Void).self)
    gives(
      MKOverlayRenderer.setNeedsDisplayIn(_:zoomScale:),
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
    gives(MKMapView.overlays(in:), ((MKMapView) -> (MKOverlayLevel) -> [any MKOverlay]).self)
    gives(MKMapView.addOverlay(_:), One.self)
    gives(MKMapView.removeOverlay, One.self)
    gives(
      MKMapView.addOverlay(_:level:), ((MKMapView) -> (any MKOverlay, MKOverlayLevel) -> Void).self)
    gives(MKMapView.addOverlays(_:), ((MKMapView) -> ([any MKOverlay]) -> Void).self)
    gives(MKMapView.removeOverlays, ((MKMapView) -> ([any MKOverlay]) -> Void).self)
    gives(
      MKMapView.addOverlays(_:level:),
      ((MKMapView) -> ([any MKOverlay], MKOverlayLevel) -> Void).self)
    gives(MKMapView.insertOverlay(_:at:), ((MKMapView) -> (any MKOverlay, Int) -> Void).self)
    gives(
      MKMapView.insertOverlay(_:at:level:),
      ((MKMapView) -> (any MKOverlay, Int, MKOverlayLevel) -> Void).self)
    gives(MKMapView.insertOverlay(_:above:), Two.self)
    gives(MKMapView.insertOverlay(_:below:), Two.self)
    gives(MKMapView.exchangeOverlay(_:with:), Two.self)
    gives(MKMapView.exchangeOverlay(at:withOverlayAt:), ((MKMapView) -> (Int, Int) -> Void).self)
    gives(MKMapView.renderer(for:), ((MKMapView) -> (any MKOverlay) -> MKOverlayRenderer?).self)
  }

  @Test("K7: inventory: shapes")
  func shapes() {
    let patch: any MKOverlay = Patch()
    #expect(patch.intersects(.world) && !patch.canReplaceMapContent)
    gives(patch.boundingMapRect, MKMapRect.self)
    has(\MKMultiPoint.pointCount, Int.self)
    has(\MKMultiPoint.boundingMapRect, MKMapRect.self)
    has(\MKMultiPoint.coordinate, CLLocationCoordinate2D.self)
    gives(MKMultiPoint.points, ((MKMultiPoint) -> () -> UnsafeMutablePointer<MKMapPoint>).self)
    gives(
      MKMultiPoint.getCoordinates(_:range:),
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
    gives(MKOverlayRenderer.point(for:), ((MKOverlayRenderer) -> (MKMapPoint) -> CGPoint).self)
    gives(MKOverlayRenderer.mapPoint(for:), ((MKOverlayRenderer) -> (CGPoint) -> MKMapPoint).self)
    gives(MKOverlayRenderer.rect(for:), ((MKOverlayRenderer) -> (MKMapRect) -> CGRect).self)
    gives(MKOverlayRenderer.mapRect(for:), ((MKOverlayRenderer) -> (CGRect) -> MKMapRect).self)
    gives(
      MKOverlayRenderer.canDraw(_:zoomScale:),
      ((MKOverlayRenderer) -> (MKMapRect, MKZoomScale) -> Bool).self)
    gives(
      MKOverlayRenderer.draw(_:zoomScale:in:),
      ((MKOverlayRenderer) -> (MKMapRect, MKZoomScale, CGContext) -> Void).self)
    gives(MKOverlayRenderer.setNeedsDisplay, ((MKOverlayRenderer) -> () -> Void).self)
    gives(
      MKOverlayRenderer.setNeedsDisplay(_:), ((MKOverlayRenderer) -> (MKMapRect) -> Void).self)
    gives(
      MKOverlayRenderer.setNeedsDisplay(_:zoomScale:),
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
      MKOverlayPathRenderer.createPath, MKOverlayPathRenderer.invalidatePath,
    ]
    typealias Apply = (MKOverlayPathRenderer) -> (CGContext, MKZoomScale) -> Void
    let properties: [Apply] = [
      MKOverlayPathRenderer.applyStrokeProperties(to:atZoomScale:),
      MKOverlayPathRenderer.applyFillProperties(to:atZoomScale:),
    ]
    let drawings: [(MKOverlayPathRenderer) -> (CGPath, CGContext) -> Void] = [
      MKOverlayPathRenderer.strokePath(_:in:), MKOverlayPathRenderer.fillPath(_:in:),
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
    gives(MKOverlayView.point(for:), ((MKOverlayView) -> (MKMapPoint) -> CGPoint).self)
    gives(MKOverlayView.mapPoint(for:), ((MKOverlayView) -> (CGPoint) -> MKMapPoint).self)
    gives(MKOverlayView.rect(for:), ((MKOverlayView) -> (MKMapRect) -> CGRect).self)
    gives(MKOverlayView.mapRect(for:), ((MKOverlayView) -> (CGRect) -> MKMapRect).self)
    gives(
      MKOverlayView.canDraw(_:zoomScale:),
      ((MKOverlayView) -> (MKMapRect, MKZoomScale) -> Bool).self)
    gives(
      MKOverlayView.draw(_:zoomScale:in:),
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
      MKTileOverlay.url(forTilePath:), ((MKTileOverlay) -> (MKTileOverlayPath) -> URL).self)
    gives(
      MKTileOverlay.loadTile(at:result:),
      ((MKTileOverlay) -> (MKTileOverlayPath, @escaping (Data?, (any Error)?) -> Void) -> Void).self
    )
    let parts: [WritableKeyPath<MKTileOverlayPath, Int>] = [\.x, \.y, \.z]
    sets(\MKTileOverlayPath.contentScaleFactor, CGFloat.self)
    let path = MKTileOverlayPath(x: 1, y: 2, z: 3, contentScaleFactor: 1)
    #expect(parts.map { path[keyPath: $0] } == [1, 2, 3] && MKTileOverlayPath().z == 0)
    gives(
      MKTileOverlayRenderer.init(tileOverlay:), ((MKTileOverlay) -> MKTileOverlayRenderer).self)
    gives(MKTileOverlayRenderer.init(overlay:), ((any MKOverlay) -> MKTileOverlayRenderer).self)
    gives(MKTileOverlayRenderer.reloadData, ((MKTileOverlayRenderer) -> () -> Void).self)
  }
}
