import Dispatch
import FacadeTestSupport
import MapKit
import Testing

// The inventory of MapKit, drawing: pictures, and what UIKit and Core Graphics have of it; each symbol once, with its type.

struct InventoryMapDrawingTests {
  @Test("inventory: pictures without a map view")
  func snapshots() {
    typealias Options = MKMapSnapshotter.Options
    gives(MKMapSnapshotOptions.self, Options.Type.self)
    gives(MKMapSnapshot.self, MKMapSnapshotter.Snapshot.Type.self)
    gives(
      MKMapSnapshotCompletionHandler.self,
      (@Sendable (MKMapSnapshotter.Snapshot?, (any Error)?) -> Void).Type.self)
    changes(\Options.camera, MKMapCamera.self)
    changes(\Options.mapRect, MKMapRect.self)
    changes(\Options.region, MKCoordinateRegion.self)
    changes(\Options.mapType, MKMapType.self)
    changes(\Options.showsPointsOfInterest, Bool.self)
    changes(\Options.showsBuildings, Bool.self)
    changes(\Options.size, CGSize.self)
    changes(\Options.scale, CGFloat.self)
    gives({ $0.copy(with:) }, ((Options) -> (NSZone?) -> Any).self)
    let options = Options()
    options.mapType = .hybrid
    options.showsBuildings = false
    options.showsPointsOfInterest = false
    options.scale = 2
    let copy = options.copy() as? Options
    #expect(copy?.mapType == .hybrid && copy?.showsBuildings == false && copy?.scale == 2)
    #expect(copy?.showsPointsOfInterest == false && copy !== options)
    gives(MKMapSnapshotter.init(options:), ((Options) -> MKMapSnapshotter).self)
    has(\MKMapSnapshotter.isLoading, Bool.self)
    gives(MKMapSnapshotter.cancel, ((MKMapSnapshotter) -> () -> Void).self)
    gives(
      MKMapSnapshotter.start(completionHandler:),
      ((MKMapSnapshotter) -> (@escaping MKMapSnapshotCompletionHandler) -> Void).self)
    gives(
      MKMapSnapshotter.start(with:completionHandler:),
      ((MKMapSnapshotter) -> (DispatchQueue, @escaping MKMapSnapshotCompletionHandler) -> Void).self
    )
    gives(
      MKMapSnapshotter.start,
      ((MKMapSnapshotter) -> () async throws -> MKMapSnapshotter.Snapshot).self)
    has(\MKMapSnapshotter.Snapshot.image, UIImage.self)
    gives(
      MKMapSnapshotter.Snapshot.point(for:),
      ((MKMapSnapshotter.Snapshot) -> (CLLocationCoordinate2D) -> CGPoint).self)
  }

  @Test("inventory: views")
  func views() {
    changes(\UIView.frame, CGRect.self)
    changes(\UIView.bounds, CGRect.self)
    changes(\UIView.center, CGPoint.self)
    has(\UIView.superview, UIView?.self)
    has(\UIView.subviews, [UIView].self)
    changes(\UIView.isHidden, Bool.self)
    changes(\UIView.alpha, CGFloat.self)
    changes(\UIView.backgroundColor, UIColor?.self)
    changes(\UIView.tintColor, UIColor?.self)
    changes(\UIView.tag, Int.self)
    gives(UIView.init(frame:), ((CGRect) -> UIView).self)
    gives(UIView.init(coder:), ((NSCoder) -> UIView?).self)
    gives([UIView(), UIControl()], [UIView].self)
    gives({ $0.addSubview }, ((UIView) -> (UIView) -> Void).self)
    gives({ $0.convert(_:to:) }, ((UIView) -> (CGPoint, UIView?) -> CGPoint).self)
    gives({ $0.convert(_:from:) }, ((UIView) -> (CGPoint, UIView?) -> CGPoint).self)
    let hints: [(UIView) -> () -> Void] = [
      { $0.removeFromSuperview }, { $0.setNeedsDisplay }, { $0.setNeedsLayout },
      { $0.layoutIfNeeded }, { $0.layoutSubviews },
    ]
    gives(hints, [(UIView) -> () -> Void].self)
    let sides: [WritableKeyPath<UIEdgeInsets, CGFloat>] = [\.top, \.left, \.bottom, \.right]
    let insets = UIEdgeInsets(top: 1, left: 2, bottom: 3, right: 4)
    #expect(sides.map { insets[keyPath: $0] } == [1, 2, 3, 4])
    #expect(sides.allSatisfy { UIEdgeInsets()[keyPath: $0] == UIEdgeInsets.zero[keyPath: $0] })
  }

  @Test("inventory: colours and images")
  func looks() {
    typealias Parts = (CGFloat, CGFloat, CGFloat, CGFloat) -> UIColor
    gives(UIColor.init(red:green:blue:alpha:), Parts.self)
    gives(UIColor.init(hue:saturation:brightness:alpha:), Parts.self)
    gives(UIColor.init(white:alpha:), ((CGFloat, CGFloat) -> UIColor).self)
    gives(UIColor.withAlphaComponent, ((UIColor) -> (CGFloat) -> UIColor).self)
    typealias Part = UnsafeMutablePointer<CGFloat>?
    gives(UIColor.getRed, ((UIColor) -> (Part, Part, Part, Part) -> Bool).self)
    has(\UIColor.cgColor, CGColor.self)
    let colours: [UIColor] = [
      .black, .white, .gray, .darkGray, .lightGray, .red, .green, .blue, .cyan, .yellow, .magenta,
      .orange, .purple, .brown, .clear, .systemRed, .systemGreen, .systemBlue, .systemYellow,
      .systemOrange, .systemPurple,
    ]
    #expect(Set(colours).count == 21)
    gives(UIImage.init(data:), ((Data) -> UIImage?).self)
    gives(UIImage.init(data:scale:), ((Data, CGFloat) -> UIImage?).self)
    gives(UIImage.init(contentsOfFile:), ((String) -> UIImage?).self)
    has(\UIImage.size, CGSize.self)
    has(\UIImage.scale, CGFloat.self)
    gives(UIImage.pngData, ((UIImage) -> () -> Data?).self)
  }

  @Test("inventory: paths")
  func paths() {
    has(\CGPath.isEmpty, Bool.self)
    has(\CGPath.boundingBox, CGRect.self)
    has(\CGPath.currentPoint, CGPoint.self)
    gives(
      [CGPath(rect: .zero, transform: nil), CGPath(ellipseIn: .zero, transform: nil)], [CGPath].self
    )
    typealias Path = CGMutablePath
    let steps: [(Path) -> (CGPoint) -> Void] = [{ $0.move(to:) }, { $0.addLine(to:) }]
    let shapes: [(Path) -> (CGRect) -> Void] = [{ $0.addRect }, { $0.addEllipse(in:) }]
    gives(steps, [(Path) -> (CGPoint) -> Void].self)
    gives(shapes, [(Path) -> (CGRect) -> Void].self)
    gives({ $0.addLines(between:) }, ((Path) -> ([CGPoint]) -> Void).self)
    gives({ $0.addQuadCurve(to:control:) }, ((Path) -> (CGPoint, CGPoint) -> Void).self)
    gives(
      { $0.addCurve(to:control1:control2:) }, ((Path) -> (CGPoint, CGPoint, CGPoint) -> Void).self)
    gives(
      { $0.addArc(center:radius:startAngle:endAngle:clockwise:) },
      ((Path) -> (CGPoint, CGFloat, CGFloat, CGFloat, Bool) -> Void).self)
    gives({ $0.addPath }, ((Path) -> (CGPath) -> Void).self)
    gives({ $0.closeSubpath }, ((Path) -> () -> Void).self)
    let caps: [CGLineCap] = [.butt, .round, .square]
    #expect(caps.map(\.rawValue) == [0, 1, 2] && CGLineCap(rawValue: 3) == nil)
    let joins: [CGLineJoin] = [.miter, .round, .bevel]
    #expect(joins.map(\.rawValue) == [0, 1, 2] && CGLineJoin(rawValue: 3) == nil)
    let modes: [CGPathDrawingMode] = [.fill, .eoFill, .stroke, .fillStroke, .eoFillStroke]
    #expect(modes.map(\.rawValue) == [0, 1, 2, 3, 4] && CGPathDrawingMode(rawValue: 5) == nil)
  }

  @Test("inventory: what renderers draw into")
  func contexts() {
    typealias Context = CGContext
    let plain: [(Context) -> () -> Void] = [
      { $0.saveGState }, { $0.restoreGState }, { $0.beginPath }, { $0.closePath },
      { $0.fillPath }, { $0.strokePath },
    ]
    let numbers: [(Context) -> (CGFloat) -> Void] = [
      { $0.setLineWidth }, { $0.setMiterLimit }, { $0.setAlpha }, { $0.rotate(by:) },
    ]
    let moves: [(Context) -> (CGFloat, CGFloat) -> Void] = [
      { $0.translateBy(x:y:) }, { $0.scaleBy(x:y:) },
    ]
    let colours: [(Context) -> (CGColor) -> Void] = [
      { $0.setFillColor(_:) }, { $0.setStrokeColor(_:) },
    ]
    let parts: [(Context) -> (CGFloat, CGFloat, CGFloat, CGFloat) -> Void] = [
      { $0.setFillColor(red:green:blue:alpha:) }, { $0.setStrokeColor(red:green:blue:alpha:) },
    ]
    let rectangles: [(Context) -> (CGRect) -> Void] = [
      { $0.addRect }, { $0.addEllipse(in:) }, { $0.fill(_:) }, { $0.stroke(_:) },
      { $0.fillEllipse(in:) }, { $0.strokeEllipse(in:) },
    ]
    let points: [(Context) -> (CGPoint) -> Void] = [{ $0.move(to:) }, { $0.addLine(to:) }]
    gives(plain, [(Context) -> () -> Void].self)
    gives(numbers, [(Context) -> (CGFloat) -> Void].self)
    gives(moves, [(Context) -> (CGFloat, CGFloat) -> Void].self)
    gives(colours, [(Context) -> (CGColor) -> Void].self)
    gives(parts, [(Context) -> (CGFloat, CGFloat, CGFloat, CGFloat) -> Void].self)
    gives(rectangles, [(Context) -> (CGRect) -> Void].self)
    gives(points, [(Context) -> (CGPoint) -> Void].self)
    gives({ $0.setLineCap }, ((Context) -> (CGLineCap) -> Void).self)
    gives({ $0.setLineJoin }, ((Context) -> (CGLineJoin) -> Void).self)
    gives({ $0.setLineDash(phase:lengths:) }, ((Context) -> (CGFloat, [CGFloat]) -> Void).self)
    gives({ $0.addLines(between:) }, ((Context) -> ([CGPoint]) -> Void).self)
    gives({ $0.addPath }, ((Context) -> (CGPath) -> Void).self)
    gives({ $0.drawPath(using:) }, ((Context) -> (CGPathDrawingMode) -> Void).self)
    gives(
      { $0.addArc(center:radius:startAngle:endAngle:clockwise:) },
      ((Context) -> (CGPoint, CGFloat, CGFloat, CGFloat, Bool) -> Void).self)
  }
}
