// What stood for overlays before there were renderers.

public import CoreLocation

/// Draws an overlay, in code of before iOS 7. Its coordinates are those of a renderer.
open class MKOverlayView: UIView {
  /// What it draws.
  public let overlay: any MKOverlay

  /// Makes a view that draws nothing; subclasses do.
  public init(overlay: any MKOverlay) {
    self.overlay = overlay
    super.init(frame: .zero)
  }

  /// Nil: no archive of views is read.
  public required init?(coder: NSCoder) { nil }

  /// Where a point of the map lies in its coordinates.
  public func point(for mapPoint: MKMapPoint) -> CGPoint { geometry.point(for: mapPoint) }
  /// What of the map lies at a point of its coordinates.
  public func mapPoint(for point: CGPoint) -> MKMapPoint { geometry.mapPoint(for: point) }
  /// Where a rectangle of the map lies in its coordinates.
  public func rect(for mapRect: MKMapRect) -> CGRect { geometry.rect(for: mapRect) }
  /// What of the map lies at a rectangle of its coordinates.
  public func mapRect(for rect: CGRect) -> MKMapRect { geometry.mapRect(for: rect) }

  private var geometry: MKOverlayRenderer { MKOverlayRenderer(overlay: overlay) }

  /// Whether it has what it needs to draw a part of the map; true unless a subclass says otherwise.
  open func canDraw(_ mapRect: MKMapRect, zoomScale: MKZoomScale) -> Bool { true }
  /// Draws the part of the overlay that lies in a rectangle of the map; nothing, unless a subclass does.
  open func draw(_ mapRect: MKMapRect, zoomScale: MKZoomScale, in context: CGContext) {}
}

/// Draws what a view draws.
final class OverlayViewRenderer: MKOverlayRenderer {
  let view: MKOverlayView

  init(_ view: MKOverlayView) {
    self.view = view
    super.init(overlay: view.overlay)
  }

  override func canDraw(_ mapRect: MKMapRect, zoomScale: MKZoomScale) -> Bool {
    view.canDraw(mapRect, zoomScale: zoomScale)
  }

  override func draw(_ mapRect: MKMapRect, zoomScale: MKZoomScale, in context: CGContext) {
    context.setAlpha(view.alpha)
    view.draw(mapRect, zoomScale: zoomScale, in: context)
  }
}
