// Lines of a drawing, as far as renderers of overlays draw them.

public import CoreLocation

/// How a line ends.
public enum CGLineCap: Int32, Sendable {
  /// Where its last point is.
  case butt
  /// In half a circle around its last point.
  case round
  /// Half of its width behind its last point.
  case square
}

/// How a line turns.
public enum CGLineJoin: Int32, Sendable {
  /// With a tip.
  case miter
  /// In an arc.
  case round
  /// With the tip cut off.
  case bevel
}

/// Lines and areas in a plane. Curves become lines of 32 pieces.
public class CGPath: NSObject {
  fileprivate(set) var lines: [Subpath] = []

  /// A path of nothing.
  public override init() {}

  /// A rectangle.
  public convenience init(rect: CGRect, transform: UnsafePointer<Never>? = nil) {
    self.init()
    lines = [Self.rectangle(rect)]
  }

  /// The ellipse that touches a rectangle's sides.
  public convenience init(ellipseIn rect: CGRect, transform: UnsafePointer<Never>? = nil) {
    self.init()
    lines = [Self.ellipse(in: rect)]
  }

  /// Whether it has no points.
  public var isEmpty: Bool { lines.allSatisfy(\.points.isEmpty) }

  /// The smallest rectangle that holds all points; null without any.
  public var boundingBox: CGRect { CGRect(holding: lines.flatMap(\.points)) }

  /// Where the next line would begin.
  public var currentPoint: CGPoint {
    guard let last = lines.last else { return .zero }
    return (last.isClosed ? last.points.first : last.points.last) ?? .zero
  }

  static func rectangle(_ rect: CGRect) -> Subpath {
    Subpath(
      points: [
        CGPoint(x: rect.minX, y: rect.minY), CGPoint(x: rect.maxX, y: rect.minY),
        CGPoint(x: rect.maxX, y: rect.maxY), CGPoint(x: rect.minX, y: rect.maxY),
      ], isClosed: true)
  }

  static func ellipse(in rect: CGRect) -> Subpath {
    let pieces = 4 * pieces
    return Subpath(
      points: (0..<pieces).map { piece in
        let angle = 2 * Double.pi * Double(piece) / Double(pieces)
        return CGPoint(
          x: rect.midX + rect.width / 2 * cos(angle), y: rect.midY + rect.height / 2 * sin(angle))
      }, isClosed: true)
  }

  /// Points of a part of a circle. Angles grow towards y: `clockwise` goes to smaller ones, as in the SDK.
  static func arc(
    center: CGPoint, radius: CGFloat, startAngle: CGFloat, endAngle: CGFloat, clockwise: Bool
  ) -> [CGPoint] {
    var sweep = (endAngle - startAngle).truncatingRemainder(dividingBy: 2 * .pi)
    if clockwise, sweep > 0 { sweep -= 2 * .pi }
    if !clockwise, sweep < 0 { sweep += 2 * .pi }
    if sweep == 0, endAngle != startAngle { sweep = clockwise ? -2 * .pi : 2 * .pi }
    return (0...pieces).map { piece in
      let angle = startAngle + sweep * Double(piece) / Double(pieces)
      return CGPoint(x: center.x + radius * cos(angle), y: center.y + radius * sin(angle))
    }
  }

  static let pieces = 32
}

/// One line of it, and whether its end is joined to its beginning.
struct Subpath: Equatable {
  var points: [CGPoint]
  var isClosed = false
}

/// A path that is being made.
public final class CGMutablePath: CGPath {
  /// Begins a line.
  public func move(to point: CGPoint) { lines.append(Subpath(points: [point])) }

  /// Goes on with a straight piece.
  public func addLine(to point: CGPoint) {
    if lines.isEmpty || lines[lines.count - 1].isClosed { move(to: currentPoint) }
    lines[lines.count - 1].points.append(point)
  }

  /// Adds a line through points.
  public func addLines(between points: [CGPoint]) {
    guard !points.isEmpty else { return }
    lines.append(Subpath(points: points))
  }

  /// Goes on with a parabola that leaves towards, and arrives from, a control point.
  public func addQuadCurve(to end: CGPoint, control: CGPoint) {
    let start = currentPoint
    addCurve(
      to: end,
      control1: CGPoint(
        x: start.x + (control.x - start.x) * 2 / 3, y: start.y + (control.y - start.y) * 2 / 3),
      control2: CGPoint(
        x: end.x + (control.x - end.x) * 2 / 3, y: end.y + (control.y - end.y) * 2 / 3))
  }

  /// Goes on with a cubic curve that leaves towards one control point and arrives from another.
  public func addCurve(to end: CGPoint, control1: CGPoint, control2: CGPoint) {
    let start = currentPoint
    for piece in 1...Self.pieces {
      let t = Double(piece) / Double(Self.pieces)
      let u = 1 - t
      let (a, b, c, d) = (u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t)
      addLine(
        to: CGPoint(
          x: a * start.x + b * control1.x + c * control2.x + d * end.x,
          y: a * start.y + b * control1.y + c * control2.y + d * end.y))
    }
  }

  /// Adds a rectangle.
  public func addRect(_ rect: CGRect) { lines.append(Self.rectangle(rect)) }

  /// Adds the ellipse that touches a rectangle's sides.
  public func addEllipse(in rect: CGRect) { lines.append(Self.ellipse(in: rect)) }

  /// Goes on with a part of a circle, from one angle to another (radians from x towards y).
  public func addArc(
    center: CGPoint, radius: CGFloat, startAngle: CGFloat, endAngle: CGFloat, clockwise: Bool
  ) {
    goOn(
      along: Self.arc(
        center: center, radius: radius, startAngle: startAngle, endAngle: endAngle,
        clockwise: clockwise))
  }

  /// Goes on through points; where no line is open they begin one.
  func goOn(along points: [CGPoint]) {
    if lines.isEmpty || lines[lines.count - 1].isClosed {
      addLines(between: points)
    } else {
      lines[lines.count - 1].points += points
    }
  }

  /// Adds what another path consists of.
  public func addPath(_ path: CGPath) { lines += path.lines }

  /// Joins the end of the last line to its beginning.
  public func closeSubpath() {
    guard !lines.isEmpty else { return }
    lines[lines.count - 1].isClosed = true
  }
}
