// What a renderer draws into: it remembers what was drawn, in points of the picture.

public import CoreLocation
import MapDrawing

/// What becomes of a path. What overlaps itself is filled where an odd number of layers lie in every mode.
public enum CGPathDrawingMode: Int32, Sendable {
  /// Its areas are filled.
  case fill
  /// Its areas are filled.
  case eoFill
  /// Its lines are drawn.
  case stroke
  /// Its areas are filled, then its lines drawn.
  case fillStroke
  /// Its areas are filled, then its lines drawn.
  case eoFillStroke
}

/// Takes what the renderer of an overlay draws, and puts it where it belongs in the picture of the map.
///
/// It has the operations that renderers use: paths, rectangles, ellipses, their fills and strokes. Lengths are those of the
/// renderer's coordinates, as in the SDK: a line of two points of the screen is `2 / zoomScale` wide.
public final class CGContext: NSObject {
  private struct State {
    var transform = AffineTransform.identity
    var fill = UIColor.black
    var stroke = UIColor.black
    var lineWidth: CGFloat = 1
    var lineCap = CGLineCap.butt
    var lineJoin = CGLineJoin.miter
    var miterLimit: CGFloat = 10
    var dash: [CGFloat] = []
    var phase: CGFloat = 0
    var alpha: CGFloat = 1
  }

  private let place: (CGPoint) -> PicturePoint?
  private let zoomScale: Double
  private var state = State()
  private var saved: [State] = []
  private var path = CGMutablePath()
  var shapes: [MapShape] = []

  /// - Parameters:
  ///   - zoomScale: Points of the picture a unit of the renderer's coordinates.
  ///   - place: Where a point of the renderer lies in the picture.
  init(zoomScale: Double, place: @escaping (CGPoint) -> PicturePoint?) {
    self.zoomScale = zoomScale
    self.place = place
  }

  // MARK: State

  /// Keeps how things are drawn, for `restoreGState`. Of a thousand that are kept the next is not.
  public func saveGState() { if saved.count < 1000 { saved.append(state) } }

  /// Draws as was kept last.
  public func restoreGState() { state = saved.popLast() ?? state }

  /// Moves what is drawn from now on.
  public func translateBy(x: CGFloat, y: CGFloat) {
    state.transform.prepend(AffineTransform(translationByX: x, byY: y))
  }

  /// Scales what is drawn from now on.
  public func scaleBy(x: CGFloat, y: CGFloat) {
    state.transform.prepend(AffineTransform(scaleByX: x, byY: y))
  }

  /// Turns what is drawn from now on, radians from x towards y.
  public func rotate(by angle: CGFloat) {
    state.transform.prepend(AffineTransform(rotationByRadians: angle))
  }

  /// What areas are filled with.
  public func setFillColor(_ color: CGColor) { state.fill = color }
  /// What areas are filled with, of its parts.
  public func setFillColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    state.fill = UIColor(red: red, green: green, blue: blue, alpha: alpha)
  }
  /// What lines are drawn with.
  public func setStrokeColor(_ color: CGColor) { state.stroke = color }
  /// What lines are drawn with, of its parts.
  public func setStrokeColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    state.stroke = UIColor(red: red, green: green, blue: blue, alpha: alpha)
  }
  /// How wide lines are.
  public func setLineWidth(_ width: CGFloat) { state.lineWidth = width }
  /// How lines end.
  public func setLineCap(_ cap: CGLineCap) { state.lineCap = cap }
  /// How lines turn.
  public func setLineJoin(_ join: CGLineJoin) { state.lineJoin = join }
  /// How long a tip may be, in line widths.
  public func setMiterLimit(_ limit: CGFloat) { state.miterLimit = limit }
  /// Lengths of dashes and gaps, and how far into them a line begins.
  public func setLineDash(phase: CGFloat, lengths: [CGFloat]) {
    state.phase = phase
    state.dash = lengths
  }
  /// How opaque everything is, 0 to 1.
  public func setAlpha(_ alpha: CGFloat) { state.alpha = min(max(alpha, 0), 1) }

  // MARK: The path

  /// Forgets the path.
  public func beginPath() { path = CGMutablePath() }
  /// Begins a line.
  public func move(to point: CGPoint) { path.move(to: turned(point)) }
  /// Goes on with a straight piece.
  public func addLine(to point: CGPoint) { path.addLine(to: turned(point)) }
  /// Adds a line through points.
  public func addLines(between points: [CGPoint]) { path.addLines(between: points.map(turned)) }
  /// Adds a rectangle.
  public func addRect(_ rect: CGRect) { addPath(CGPath(rect: rect)) }
  /// Adds an ellipse.
  public func addEllipse(in rect: CGRect) { addPath(CGPath(ellipseIn: rect)) }
  /// Goes on with a part of a circle, straight to its beginning first; where there is no line it begins one.
  public func addArc(
    center: CGPoint, radius: CGFloat, startAngle: CGFloat, endAngle: CGFloat, clockwise: Bool
  ) {
    path.goOn(
      along: CGPath.arc(
        center: center, radius: radius, startAngle: startAngle, endAngle: endAngle,
        clockwise: clockwise
      ).map(turned))
  }
  /// Adds what a path consists of.
  public func addPath(_ added: CGPath) {
    for line in added.lines {
      path.addLines(between: line.points.map(turned))
      if line.isClosed { path.closeSubpath() }
    }
  }
  /// Joins the end of the last line to its beginning.
  public func closePath() { path.closeSubpath() }

  // MARK: Drawing

  /// Fills the path, and forgets it. Where it overlaps itself an odd number of layers is filled.
  public func fillPath() { draw(fill: true, stroke: false) }
  /// Draws the path's lines, and forgets it.
  public func strokePath() { draw(fill: false, stroke: true) }
  /// Fills the path, draws its lines, or both, and forgets it.
  public func drawPath(using mode: CGPathDrawingMode) {
    draw(fill: mode != .stroke, stroke: mode != .fill && mode != .eoFill)
  }
  /// Fills a rectangle.
  public func fill(_ rect: CGRect) {
    apart {
      $0.addRect(rect); $0.fillPath()
    }
  }
  /// Draws the sides of a rectangle.
  public func stroke(_ rect: CGRect) {
    apart {
      $0.addRect(rect); $0.strokePath()
    }
  }
  /// Fills an ellipse.
  public func fillEllipse(in rect: CGRect) {
    apart {
      $0.addEllipse(in: rect); $0.fillPath()
    }
  }
  /// Draws the line of an ellipse.
  public func strokeEllipse(in rect: CGRect) {
    apart {
      $0.addEllipse(in: rect); $0.strokePath()
    }
  }

  private func apart(_ body: (CGContext) -> Void) {
    let kept = path
    path = CGMutablePath()
    body(self)
    path = kept
  }

  private func turned(_ point: CGPoint) -> CGPoint { state.transform.transform(point) }

  private func draw(fill: Bool, stroke: Bool) {
    let lines = path.lines
    path = CGMutablePath()
    func points(_ line: Subpath) -> [PicturePoint] { line.points.compactMap(place) }
    if fill {
      shapes.append(
        .path(
          subpaths: lines.map(points), closed: true, fill: state.fill.colour(state.alpha),
          stroke: nil))
    }
    guard stroke else { return }
    // Lines that are closed and lines that are not are two shapes.
    for isClosed in [true, false] {
      let subpaths = lines.filter { $0.isClosed == isClosed }.map(points)
      guard !subpaths.isEmpty else { continue }
      shapes.append(
        .path(subpaths: subpaths, closed: isClosed, fill: nil, stroke: self.stroke))
    }
  }

  private var stroke: Stroke {
    let caps: [CGLineCap: Stroke.LineCap] = [.round: .round, .square: .square]
    let joins: [CGLineJoin: Stroke.LineJoin] = [.round: .round, .bevel: .bevel]
    return Stroke(
      colour: state.stroke.colour(state.alpha), width: state.lineWidth * zoomScale,
      dash: state.dash.map { $0 * zoomScale }, phase: state.phase * zoomScale,
      lineCap: caps[state.lineCap] ?? .butt, lineJoin: joins[state.lineJoin] ?? .miter,
      miterLimit: state.miterLimit)
  }
}

extension UIColor {
  /// The same for a picture.
  func colour(_ alpha: Double = 1) -> Colour {
    Colour(red: red, green: green, blue: blue, alpha: opacity * alpha)
  }
}
