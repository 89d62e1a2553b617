// What draws overlays.

public import CoreLocation
import MapDrawing

/// Draws an overlay.
///
/// Its coordinates are map points from the north-western corner of the overlay's rectangle.
open class MKOverlayRenderer: NSObject {
  /// What it draws.
  public let overlay: any MKOverlay
  /// How opaque all of it is, 0 to 1.
  open var alpha: CGFloat = 1
  /// Pixels a point of the picture; 1, because a picture is made of lines.
  open var contentScaleFactor: CGFloat { 1 }

  /// Makes a renderer that draws nothing; subclasses do.
  public init(overlay: any MKOverlay) { self.overlay = overlay }

  private var origin: MKMapPoint {
    let rect = overlay.boundingMapRect
    return rect.isNull ? MKMapPoint() : rect.origin
  }

  /// Where a point of the map lies in its coordinates.
  public func point(for mapPoint: MKMapPoint) -> CGPoint {
    CGPoint(x: mapPoint.x - origin.x, y: mapPoint.y - origin.y)
  }

  /// What of the map lies at a point of its coordinates.
  public func mapPoint(for point: CGPoint) -> MKMapPoint {
    MKMapPoint(x: point.x + origin.x, y: point.y + origin.y)
  }

  /// Where a rectangle of the map lies in its coordinates.
  public func rect(for mapRect: MKMapRect) -> CGRect {
    guard !mapRect.isNull else { return .null }
    return CGRect(
      origin: point(for: mapRect.origin),
      size: CGSize(width: mapRect.width, height: mapRect.height))
  }

  /// What of the map lies at a rectangle of its coordinates.
  public func mapRect(for rect: CGRect) -> MKMapRect {
    guard !rect.isNull else { return .null }
    return MKMapRect(
      origin: mapPoint(for: rect.origin),
      size: MKMapSize(width: rect.width, height: rect.height))
  }

  /// Whether it has what it needs to draw a part of the map; true unless a subclass says otherwise.
  open func canDraw(_ mapRect: MKMapRect, zoomScale: MKZoomScale) -> Bool { true }

  /// Draws the part of the overlay that lies in a rectangle of the map; nothing, unless a subclass does.
  open func draw(_ mapRect: MKMapRect, zoomScale: MKZoomScale, in context: CGContext) {}

  /// Does nothing: overlays are drawn when a picture is.
  open func setNeedsDisplay() {}
  /// Does nothing: overlays are drawn when a picture is.
  open func setNeedsDisplay(_ mapRect: MKMapRect) {}
  /// Does nothing: overlays are drawn when a picture is.
  open func setNeedsDisplay(_ mapRect: MKMapRect, zoomScale: MKZoomScale) {}
}

extension MKOverlayRenderer {
  /// The name that `setNeedsDisplay(_:)` had in Swift 3.
  @available(*, deprecated, renamed: "setNeedsDisplay(_:)")
  public func setNeedsDisplayIn(_ mapRect: MKMapRect) { setNeedsDisplay(mapRect) }
  /// The name that `setNeedsDisplay(_:zoomScale:)` had in Swift 3.
  @available(*, deprecated, renamed: "setNeedsDisplay(_:zoomScale:)")
  public func setNeedsDisplayIn(_ mapRect: MKMapRect, zoomScale: MKZoomScale) {
    setNeedsDisplay(mapRect, zoomScale: zoomScale)
  }
}

/// How wide a road is drawn at a scale, in map points.
public func MKRoadWidthAtZoomScale(_ zoomScale: MKZoomScale) -> CGFloat {
  // Four points of the picture, and eight metres at the equator where that is wider.
  max(4 / zoomScale, 8 / MKMetersPerMapPointAtLatitude(0))
}

/// Draws the lines and areas of a path.
open class MKOverlayPathRenderer: MKOverlayRenderer {
  /// What areas are filled with; nil for nothing.
  open var fillColor: UIColor?
  /// What lines are drawn with; nil for nothing.
  open var strokeColor: UIColor?
  /// How wide lines are, points of the picture; 0 for the width of a road.
  open var lineWidth: CGFloat = 0
  /// How lines turn.
  open var lineJoin = CGLineJoin.round
  /// How lines end.
  open var lineCap = CGLineCap.round
  /// How long a tip may be, in line widths.
  open var miterLimit: CGFloat = 10
  /// How far into the dashes a line begins, points of the picture.
  open var lineDashPhase: CGFloat = 0
  /// Lengths of dashes and gaps, points of the picture; nil for a line without gaps.
  open var lineDashPattern: [NSNumber]?

  private var made: CGPath?

  /// What is drawn, in the renderer's coordinates; made when it is asked for.
  open var path: CGPath? {
    get {
      if made == nil { createPath() }
      return made
    }
    set { made = newValue }
  }

  /// Makes the path. A subclass sets `path`.
  open func createPath() {}

  /// Forgets the path, so that it is made again.
  open func invalidatePath() { made = nil }

  /// Sets up a context for the lines.
  open func applyStrokeProperties(to context: CGContext, atZoomScale zoomScale: MKZoomScale) {
    if let strokeColor { context.setStrokeColor(strokeColor) }
    context.setLineWidth(
      lineWidth > 0 ? lineWidth / zoomScale : MKRoadWidthAtZoomScale(zoomScale))
    context.setLineCap(lineCap)
    context.setLineJoin(lineJoin)
    context.setMiterLimit(miterLimit)
    context.setLineDash(
      phase: lineDashPhase / zoomScale,
      lengths: (lineDashPattern ?? []).map { CGFloat($0.doubleValue) / zoomScale })
  }

  /// Sets up a context for the areas.
  open func applyFillProperties(to context: CGContext, atZoomScale zoomScale: MKZoomScale) {
    if let fillColor { context.setFillColor(fillColor) }
  }

  /// Draws the lines of a path, where there is a colour for them.
  open func strokePath(_ path: CGPath, in context: CGContext) {
    guard strokeColor != nil else { return }
    context.addPath(path)
    context.strokePath()
  }

  /// Fills the areas of a path, where there is a colour for them.
  open func fillPath(_ path: CGPath, in context: CGContext) {
    guard fillColor != nil else { return }
    context.addPath(path)
    context.fillPath()
  }

  /// Draws the path.
  open override func draw(
    _ mapRect: MKMapRect, zoomScale: MKZoomScale, in context: CGContext
  ) {
    guard let path else { return }
    applyFillProperties(to: context, atZoomScale: zoomScale)
    fillPath(path, in: context)
    applyStrokeProperties(to: context, atZoomScale: zoomScale)
    strokePath(path, in: context)
  }
}

/// Draws a line.
open class MKPolylineRenderer: MKOverlayPathRenderer {
  /// What it draws.
  public let polyline: MKPolyline

  /// Makes a renderer that draws a line as soon as it has a `strokeColor`.
  public init(polyline: MKPolyline) {
    self.polyline = polyline
    super.init(overlay: polyline)
  }

  /// Makes a renderer of an overlay that is a line; of another it draws nothing.
  public override convenience init(overlay: any MKOverlay) {
    self.init(polyline: overlay as? MKPolyline ?? MKPolyline(mapPoints: []))
  }

  /// Makes the path of the line's points.
  open override func createPath() {
    let path = CGMutablePath()
    path.addLines(between: polyline.mapPoints.map(point))
    self.path = path
  }
}

/// Draws an area.
open class MKPolygonRenderer: MKOverlayPathRenderer {
  /// What it draws.
  public let polygon: MKPolygon

  /// Makes a renderer that draws an area as soon as it has a colour.
  public init(polygon: MKPolygon) {
    self.polygon = polygon
    super.init(overlay: polygon)
  }

  /// Makes a renderer of an overlay that is an area; of another it draws nothing.
  public override convenience init(overlay: any MKOverlay) {
    self.init(polygon: overlay as? MKPolygon ?? MKPolygon(points: [], count: 0))
  }

  /// Makes the path of the area's outline and of its holes.
  open override func createPath() {
    let path = CGMutablePath()
    func add(_ polygon: MKPolygon) {
      guard polygon.pointCount > 0 else { return }
      path.addLines(between: polygon.mapPoints.map(point))
      path.closeSubpath()
      for hole in polygon.interiorPolygons ?? [] { add(hole) }
    }
    add(polygon)
    self.path = path
  }
}

/// Draws a circle.
open class MKCircleRenderer: MKOverlayPathRenderer {
  /// What it draws.
  public let circle: MKCircle

  /// Makes a renderer that draws a circle as soon as it has a colour.
  public init(circle: MKCircle) {
    self.circle = circle
    super.init(overlay: circle)
  }

  /// Makes a renderer of an overlay that is a circle; of another it draws nothing.
  public override convenience init(overlay: any MKOverlay) {
    self.init(
      circle: overlay as? MKCircle
        ?? MKCircle(center: kCLLocationCoordinate2DInvalid, radius: 0))
  }

  /// Makes the path of the circle.
  open override func createPath() {
    let rect = rect(for: circle.boundingMapRect)
    path = rect.isNull ? CGPath() : CGPath(ellipseIn: rect)
  }
}
