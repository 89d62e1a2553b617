/// How a line is drawn.
package struct Stroke: Hashable, Sendable {
  /// How a line ends.
  package enum LineCap: String, Hashable, Sendable {
    /// Where its last point is.
    case butt
    /// In half a circle about its last point.
    case round
    /// Half of its width behind its last point.
    case square
  }

  /// How a line turns.
  package enum LineJoin: String, Hashable, Sendable {
    /// With a tip, and without one where that would be long.
    case miter
    case round
    /// With the tip cut off.
    case bevel
  }

  package var colour: Colour
  /// The line's width, points.
  package var width: Double
  /// Lengths of dashes and gaps in turn, points; none for a line without gaps.
  package var dash: [Double]
  /// How far into the dashes the line begins, points.
  package var phase: Double
  /// How the line ends.
  package var lineCap: LineCap
  /// How the line turns.
  package var lineJoin: LineJoin
  /// How many times as long as the line is wide a tip may be.
  package var miterLimit: Double

  /// Makes a line without gaps and with round ends and turns, unless something else is said.
  package init(
    colour: Colour, width: Double, dash: [Double] = [], phase: Double = 0,
    lineCap: LineCap = .round, lineJoin: LineJoin = .round, miterLimit: Double = 10
  ) {
    self.colour = colour
    self.width = width
    self.dash = dash
    self.phase = phase
    self.lineCap = lineCap
    self.lineJoin = lineJoin
    self.miterLimit = miterLimit
  }

  /// Whether something of it is seen and all of its numbers are some.
  var isDrawable: Bool {
    !colour.isInvisible && width > 0 && width < 1e5 && phase.isFinite
  }

  /// The dashes, where they are some: as SVG demands, none is negative and not all are zero.
  var drawnDash: [Double] {
    dash.allSatisfy { $0 >= 0 && $0 < 1e6 } && dash.reduce(0, +) > 0.05 ? dash : []
  }

  /// How far from its points the line reaches, points.
  var reach: Double {
    guard isDrawable else { return 0 }
    // A tip's length is measured from its inner corner: half of it lies before the point.
    let tip = lineJoin == .miter ? max(1, miterLimit.isFinite ? miterLimit : 1) : 1
    return width / 2 * min(max(tip, lineCap == .square ? 1.5 : 1), 50)
  }
}
