import MapDrawing
import Testing

@testable import MapKit

/// Paths, and what a context makes of them.
@Suite struct GraphicsTests {
  private func points(_ path: CGPath) -> [CGPoint] { path.lines.flatMap(\.points) }

  @Test("a path has the lines that it was given")
  func lines() {
    let path = CGMutablePath()
    #expect(path.isEmpty && path.boundingBox.isNull && path.currentPoint == .zero)
    path.move(to: CGPoint(x: 1, y: 2))
    path.addLine(to: CGPoint(x: 4, y: 6))
    path.addLine(to: CGPoint(x: -1, y: 5))
    #expect(!path.isEmpty && path.currentPoint == CGPoint(x: -1, y: 5))
    #expect(path.boundingBox == CGRect(x: -1, y: 2, width: 5, height: 4))
    path.closeSubpath()
    #expect(path.currentPoint == CGPoint(x: 1, y: 2))
    // What comes after the end of a line that is closed begins at its beginning.
    path.addLine(to: CGPoint(x: 0, y: 0))
    #expect(path.lines.count == 2 && path.lines[1].points.first == CGPoint(x: 1, y: 2))
    path.addLines(between: [CGPoint(x: 9, y: 9), CGPoint(x: 8, y: 8)])
    path.addRect(CGRect(x: 0, y: 0, width: 2, height: 3))
    let other = CGMutablePath()
    other.addPath(path)
    #expect(other.lines == path.lines && other.lines.count == 4)
    #expect(other.lines[3].isClosed && other.lines[3].points.count == 4)
    #expect(CGPath().isEmpty)
  }

  @Test("an ellipse is one: every point has its equation, and it touches its rectangle")
  func ellipses() {
    let rect = CGRect(x: 10, y: 20, width: 40, height: 10)
    let added = CGMutablePath()
    added.addEllipse(in: rect)
    for path in [CGPath(ellipseIn: rect), added] {
      for point in points(path) {
        let (x, y) = ((point.x - 30) / 20, (point.y - 25) / 5)
        #expect(abs(x * x + y * y - 1) < 1e-12)
      }
      #expect(abs(path.boundingBox.width - 40) < 1e-9 && abs(path.boundingBox.height - 10) < 1e-9)
    }
    #expect(CGPath(rect: rect).boundingBox == rect)
  }

  @Test("a curve is a polynomial: of a line it is the line, of three points a parabola")
  func curves() {
    let line = CGMutablePath()
    line.move(to: .zero)
    line.addCurve(
      to: CGPoint(x: 3, y: 6), control1: CGPoint(x: 1, y: 2), control2: CGPoint(x: 2, y: 4))
    for point in points(line) { #expect(abs(point.y - 2 * point.x) < 1e-12) }
    #expect(line.currentPoint == CGPoint(x: 3, y: 6))
    // From (-1, 1) by (0, -1) to (1, 1) it is y = x².
    let parabola = CGMutablePath()
    parabola.move(to: CGPoint(x: -1, y: 1))
    parabola.addQuadCurve(to: CGPoint(x: 1, y: 1), control: CGPoint(x: 0, y: -1))
    #expect(points(parabola).count == CGPath.pieces + 1)
    for point in points(parabola) { #expect(abs(point.y - point.x * point.x) < 1e-12) }
    // A cubic one leaves towards its first control point.
    let cubic = CGMutablePath()
    cubic.move(to: .zero)
    cubic.addCurve(
      to: CGPoint(x: 10, y: 0), control1: CGPoint(x: 0, y: 10), control2: CGPoint(x: 10, y: 10))
    // Its middle, by De Casteljau: the mean of (2.5, 7.5) and (7.5, 7.5).
    #expect(points(cubic)[CGPath.pieces / 2] == CGPoint(x: 5, y: 7.5))
  }

  @Test("an arc goes from angle to angle, and straight to its beginning")
  func arcs() {
    for (clockwise, quarter) in [(false, CGPoint(x: 0, y: 2)), (true, CGPoint(x: 0, y: -2))] {
      let arc = CGMutablePath()
      arc.addArc(
        center: .zero, radius: 2, startAngle: 0, endAngle: .pi, clockwise: clockwise)
      #expect(arc.lines.count == 1 && points(arc).first == CGPoint(x: 2, y: 0))
      let middle = points(arc)[CGPath.pieces / 2]
      #expect(hypot(middle.x - quarter.x, middle.y - quarter.y) < 1e-12)
      for point in points(arc) { #expect(abs(hypot(point.x, point.y) - 2) < 1e-12) }
    }
    let whole = CGMutablePath()
    whole.addArc(
      center: CGPoint(x: 5, y: 5), radius: 1, startAngle: 0, endAngle: 2 * .pi, clockwise: false)
    #expect(abs(whole.boundingBox.width - 2) < 1e-9 && abs(whole.boundingBox.height - 2) < 1e-9)
    let joined = CGMutablePath()
    joined.move(to: .zero)
    joined.addArc(center: .zero, radius: 2, startAngle: 0, endAngle: 1, clockwise: false)
    #expect(joined.lines.count == 1 && points(joined)[1] == CGPoint(x: 2, y: 0))
  }

  /// A context whose units are two points of the picture, moved by (100, 10).
  private func context() -> CGContext {
    CGContext(zoomScale: 2) { point in
      let (x, y): (CGFloat, CGFloat) = (point.x * 2 + 100, point.y * 2 + 10)
      return PicturePoint(x: x, y: y)
    }
  }

  private struct Drawn: Equatable {
    var points: [[PicturePoint]]
    var isClosed: Bool
    var fill: Colour?
    var stroke: Stroke?
  }

  private func drawn(_ context: CGContext) -> [Drawn] {
    context.shapes.compactMap { shape in
      guard case .path(let points, let isClosed, let fill, let stroke) = shape else { return nil }
      return Drawn(points: points, isClosed: isClosed, fill: fill, stroke: stroke)
    }
  }

  @Test("how lines are drawn is said in the context's units")
  func strokes() throws {
    let context = context()
    context.setStrokeColor(UIColor.red.cgColor)
    context.setLineWidth(3)
    context.setLineCap(.square)
    context.setLineJoin(.bevel)
    context.setMiterLimit(5)
    context.setLineDash(phase: 1, lengths: [4, 2])
    context.setAlpha(0.5)
    context.beginPath()
    context.move(to: CGPoint(x: 1, y: 1))
    context.addLine(to: CGPoint(x: 2, y: 3))
    context.strokePath()
    let line = try #require(drawn(context).first)
    #expect(line.points == [[PicturePoint(x: 102, y: 12), PicturePoint(x: 104, y: 16)]])
    #expect(!line.isClosed && line.fill == nil)
    let stroke = try #require(line.stroke)
    #expect(stroke.width == 6 && stroke.dash == [8, 4] && stroke.phase == 2)
    #expect(stroke.lineCap == .square && stroke.lineJoin == .bevel && stroke.miterLimit == 5)
    #expect(stroke.colour == Colour(red: 1, green: 0, blue: 0, alpha: 0.5))
    context.setStrokeColor(red: 0, green: 1, blue: 0, alpha: 1)
    context.setLineCap(.round)
    context.setLineJoin(.round)
    context.stroke(CGRect(x: 0, y: 0, width: 1, height: 1))
    let square = try #require(drawn(context).last)
    #expect(
      square.isClosed && square.stroke?.lineCap == .round && square.stroke?.lineJoin == .round)
    #expect(square.stroke?.colour == Colour(red: 0, green: 1, blue: 0, alpha: 0.5))
  }

  @Test("a path is forgotten when it is drawn; what is drawn apart leaves it alone")
  func paths() {
    let context = context()
    context.setFillColor(UIColor.blue.cgColor)
    context.addRect(CGRect(x: 0, y: 0, width: 1, height: 1))
    context.fillEllipse(in: CGRect(x: 5, y: 5, width: 2, height: 2))
    context.fill(CGRect(x: 9, y: 9, width: 1, height: 1))
    context.strokeEllipse(in: CGRect(x: 5, y: 5, width: 2, height: 2))
    context.fillPath()
    context.fillPath()
    let all = drawn(context)
    #expect(
      all.map { $0.points.flatMap { $0 }.count } == [4 * CGPath.pieces, 4, 4 * CGPath.pieces, 4, 0])
    #expect(all[0].fill == Colour(red: 0, green: 0, blue: 1, alpha: 1) && all[0].stroke == nil)
    #expect(
      all[2].fill == nil && all[2].stroke?.lineCap == .butt && all[2].stroke?.lineJoin == .miter)
  }

  @Test("a path can be filled, drawn, or both")
  func modes() {
    for (mode, fills, strokes) in [
      (CGPathDrawingMode.fill, true, false), (.eoFill, true, false), (.stroke, false, true),
      (.fillStroke, true, true), (.eoFillStroke, true, true),
    ] {
      let context = context()
      context.addLines(between: [.zero, CGPoint(x: 1, y: 0), CGPoint(x: 1, y: 1)])
      context.closePath()
      context.drawPath(using: mode)
      #expect(drawn(context).contains { $0.fill != nil } == fills)
      #expect(drawn(context).contains { $0.stroke != nil } == strokes)
    }
  }

  @Test("a slice of a cake is one line: from the middle, around, and back")
  func slice() {
    let context = context()
    context.move(to: .zero)
    context.addArc(center: .zero, radius: 1, startAngle: 0, endAngle: .pi / 2, clockwise: false)
    context.closePath()
    context.fillPath()
    let slice = drawn(context)[0].points
    #expect(slice.count == 1 && slice[0].count == CGPath.pieces + 2)
    #expect(slice[0][0] == PicturePoint(x: 100, y: 10))
    #expect(slice[0][1] == PicturePoint(x: 102, y: 10))
    // A quarter of a circle, by the surveyor's formula: 32 chords are 0.04 % less.
    var area = 0.0
    for (one, next) in zip(slice[0], slice[0].dropFirst() + [slice[0][0]]) {
      area += (one.x * next.y - next.x * one.y) / 2
    }
    #expect(abs(area / (.pi * 4 / 4) - 1) < 0.001)
  }

  @Test("states are kept and come back; transforms act on what is added next")
  func states() {
    let context = context()
    context.setFillColor(red: 1, green: 0, blue: 0, alpha: 1)
    context.saveGState()
    context.setFillColor(red: 0, green: 0, blue: 1, alpha: 1)
    context.translateBy(x: 10, y: 0)
    context.rotate(by: .pi / 2)
    context.scaleBy(x: 2, y: 3)
    context.addLines(between: [CGPoint(x: 1, y: 0), CGPoint(x: 0, y: 1)])
    let path = CGMutablePath()
    path.addEllipse(in: CGRect(x: -1, y: -1, width: 2, height: 2))
    context.addPath(path)
    context.addEllipse(in: CGRect(x: -1, y: -1, width: 2, height: 2))
    context.fillPath()
    context.restoreGState()
    context.restoreGState()
    context.fill(CGRect(x: 1, y: 0, width: 1, height: 1))
    let all = drawn(context)
    // (1, 0) is (2, 0), turned (0, 2), moved (10, 2); (0, 1) is (0, 3), turned (-3, 0), moved (7, 0).
    let expected = [PicturePoint(x: 120, y: 14), PicturePoint(x: 114, y: 10)]
    for (point, wanted) in zip(all[0].points[0], expected) {
      #expect(hypot(point.x - wanted.x, point.y - wanted.y) < 1e-9)
    }
    #expect(all[0].points[1].count == 4 * CGPath.pieces && all[0].points[1] == all[0].points[2])
    #expect(all[0].fill == Colour(red: 0, green: 0, blue: 1, alpha: 1))
    #expect(all[1].fill == Colour(red: 1, green: 0, blue: 0, alpha: 1))
    #expect(all[1].points[0][0] == PicturePoint(x: 102, y: 10))
  }
}
