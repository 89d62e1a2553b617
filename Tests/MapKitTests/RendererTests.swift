import MapDrawing
import Testing

@testable import MapKit

/// A witness may be deprecated without a warning where it is called.
private protocol OlderRenderer {
  func setNeedsDisplayIn(_ mapRect: MKMapRect)
  func setNeedsDisplayIn(_ mapRect: MKMapRect, zoomScale: MKZoomScale)
}
extension MKOverlayRenderer: OlderRenderer {}

/// Notes when it is asked to be drawn anew.
private final class Asked: MKOverlayRenderer {
  var rects: [MKMapRect] = []
  override func setNeedsDisplay(_ mapRect: MKMapRect) { rects.append(mapRect) }
  override func setNeedsDisplay(_ mapRect: MKMapRect, zoomScale: MKZoomScale) {
    rects.append(mapRect)
  }
}

/// A view of before iOS 7 that draws its rectangle.
private final class Filled: MKOverlayView {
  var isReady = true
  override func canDraw(_ mapRect: MKMapRect, zoomScale: MKZoomScale) -> Bool { isReady }
  override func draw(_ mapRect: MKMapRect, zoomScale: MKZoomScale, in context: CGContext) {
    context.setFillColor(UIColor.red.cgColor)
    context.fill(rect(for: overlay.boundingMapRect))
  }
}

@Suite struct RendererTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }
  let circle = MKCircle(center: berlin, radius: 500)

  private func fills(_ shapes: [MapShape]) -> [Colour] {
    shapes.flatMap { shape -> [Colour] in
      switch shape {
      case .path(_, _, let fill, _): [fill].compactMap { $0 }
      case .group(let shapes, _): fills(shapes)
      default: []
      }
    }
  }

  @Test("K7: a renderer's coordinates are map points from its overlay's corner, there and back")
  func coordinates() {
    let renderer = MKOverlayRenderer(overlay: circle)
    let rect = circle.boundingMapRect
    #expect(renderer.point(for: rect.origin) == .zero)
    let point = MKMapPoint(x: rect.minX + 3, y: rect.minY - 4)
    #expect(renderer.point(for: point) == CGPoint(x: 3, y: -4))
    #expect(renderer.mapPoint(for: CGPoint(x: 3, y: -4)) == point)
    let inner = MKMapRect(x: rect.minX + 1, y: rect.minY + 2, width: 5, height: 6)
    #expect(renderer.rect(for: inner) == CGRect(x: 1, y: 2, width: 5, height: 6))
    #expect(renderer.mapRect(for: CGRect(x: 1, y: 2, width: 5, height: 6)) == inner)
    #expect(renderer.rect(for: .null).isNull && renderer.mapRect(for: .null).isNull)
    #expect(renderer.alpha == 1 && renderer.contentScaleFactor == 1)
    #expect(renderer.canDraw(.world, zoomScale: 1) && renderer.overlay === circle)
    // The view of before iOS 7 has the same.
    let view = MKOverlayView(overlay: circle)
    #expect(view.point(for: point) == CGPoint(x: 3, y: -4))
    #expect(view.mapPoint(for: CGPoint(x: 3, y: -4)) == point)
    #expect(view.rect(for: inner) == renderer.rect(for: inner))
    #expect(view.mapRect(for: renderer.rect(for: inner)) == inner)
    #expect(view.canDraw(.world, zoomScale: 1) && view.overlay === circle)
  }

  @Test("K7: asking for another drawing is heard by a subclass, in the older spelling too")
  func needs() {
    let renderer = Asked(overlay: circle)
    renderer.setNeedsDisplay()
    renderer.setNeedsDisplay(.world)
    (renderer as any OlderRenderer).setNeedsDisplayIn(.null)
    (renderer as any OlderRenderer).setNeedsDisplayIn(.world, zoomScale: 1)
    #expect(renderer.rects == [.world, .null, .world])
  }

  @Test("K7: a path is made when it is asked for, and again when it was forgotten")
  func made() throws {
    final class Counted: MKOverlayPathRenderer {
      var count = 0
      override func createPath() {
        count += 1
        path = CGPath(rect: CGRect(x: 0, y: 0, width: count, height: 1))
      }
    }
    let renderer = Counted(overlay: circle)
    #expect(renderer.count == 0 && renderer.path?.boundingBox.width == 1)
    #expect(renderer.path?.boundingBox.width == 1 && renderer.count == 1)
    renderer.invalidatePath()
    #expect(renderer.path?.boundingBox.width == 2)
    renderer.path = CGPath(rect: CGRect(x: 0, y: 0, width: 9, height: 9))
    #expect(renderer.path?.boundingBox.width == 9)
    #expect(MKOverlayPathRenderer(overlay: circle).path == nil)
  }

  @Test("K7: what lines look like goes to the context in points of the picture")
  func properties() throws {
    let renderer = MKPolylineRenderer(polyline: MKPolyline(points: [MKMapPoint()], count: 1))
    renderer.strokeColor = .blue
    renderer.fillColor = .green
    renderer.lineCap = .square
    renderer.lineJoin = .bevel
    renderer.miterLimit = 3
    renderer.lineDashPattern = [6, 2]
    renderer.lineDashPhase = 4
    for (width, expected) in [(5.0, 5.0), (0, Double(MKRoadWidthAtZoomScale(0.5)) * 0.5)] {
      renderer.lineWidth = width
      let context = CGContext(zoomScale: 0.5) { PicturePoint(x: $0.x, y: $0.y) }
      renderer.applyStrokeProperties(to: context, atZoomScale: 0.5)
      renderer.applyFillProperties(to: context, atZoomScale: 0.5)
      let path = CGPath(rect: CGRect(x: 0, y: 0, width: 1, height: 1))
      renderer.strokePath(path, in: context)
      renderer.fillPath(path, in: context)
      guard case .path(_, _, _, let stroke?)? = context.shapes.first else {
        Issue.record("nothing is drawn")
        return
      }
      #expect(abs(stroke.width - expected) < 1e-9 && stroke.dash == [6, 2] && stroke.phase == 4)
      #expect(stroke.lineCap == .square && stroke.lineJoin == .bevel && stroke.miterLimit == 3)
      #expect(
        stroke.colour == UIColor.blue.colour() && fills(context.shapes) == [UIColor.green.colour()])
    }
    // Without a colour nothing is drawn.
    renderer.strokeColor = nil
    renderer.fillColor = nil
    let context = CGContext(zoomScale: 1) { PicturePoint(x: $0.x, y: $0.y) }
    renderer.draw(.world, zoomScale: 1, in: context)
    #expect(context.shapes.isEmpty)
  }

  @Test("K7: a renderer knows its overlay; of another kind it draws nothing")
  func kinds() {
    let line = MKPolyline(points: [MKMapPoint(x: 1, y: 2), MKMapPoint(x: 4, y: 6)], count: 2)
    let area = MKPolygon(points: [MKMapPoint(x: 1, y: 2), MKMapPoint(x: 4, y: 6)], count: 2)
    #expect(MKPolylineRenderer(overlay: line).polyline === line)
    #expect(MKPolylineRenderer(polyline: line).path?.boundingBox.width == 3)
    #expect(MKPolygonRenderer(overlay: area).polygon === area)
    #expect(MKPolygonRenderer(polygon: area).path?.boundingBox.height == 4)
    #expect(MKCircleRenderer(circle: circle).circle === circle)
    #expect(MKCircleRenderer(overlay: circle).path?.isEmpty == false)
    #expect(MKPolylineRenderer(overlay: circle).path?.isEmpty == true)
    #expect(MKPolygonRenderer(overlay: circle).path?.isEmpty == true)
    #expect(MKCircleRenderer(overlay: line).path?.isEmpty == true)
  }

  @Test("K7: a view of before iOS 7 draws, as opaque as it is, as soon as it can")
  func older() {
    let view = Filled(overlay: circle)
    map.region = region(berlin, 0.02)
    bench.spy.makeOlderView = { _ in view }
    map.addOverlay(circle)
    view.alpha = 0.5
    let red = Colour(red: 1, green: 0, blue: 0, alpha: 0.5)
    #expect(fills(map.picture(isDark: false, scale: 1).overlays) == [red])
    view.isReady = false
    #expect(map.picture(isDark: false, scale: 1).overlays.isEmpty)
  }
}
