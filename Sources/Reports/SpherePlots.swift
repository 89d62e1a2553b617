// The samples in space, seen along the three axes: as the chip gave them, and corrected.

import CalibrationCore
import LinearAlgebra
import TerminalUI
import TextForms

/// A direction to look from.
enum SphereView: String, Sendable, CaseIterable {
  case xy
  case xz
  case yz

  /// Two axes of the drawing and the one towards the reader.
  func project(_ v: Vector3) -> (across: Double, up: Double, near: Double) {
    switch self {
    case .xy: (v.x, v.y, v.z)
    case .xz: (v.x, v.z, -v.y)
    case .yz: (v.y, v.z, v.x)
    }
  }

  var across: String { String(rawValue.prefix(1)) }
  var up: String { String(rawValue.suffix(1)) }

  /// Where the reader stands.
  var from: String {
    switch self {
    case .xy: "+z"
    case .xz: "\u{2212}y"
    case .yz: "+x"
    }
  }
}

/// Draws samples about a sphere or an ellipsoid.
struct SpherePlots: Sendable {
  let record: CalibrationRecord
  let set: SampleSet
  /// In front of every name in the drawing, to tell magnetometers apart.
  let id: String

  /// What one row of drawings has in common.
  private struct Row {
    var name: String
    var words: String
    /// The sphere's middle, and what makes a unit sphere into the shape.
    var center: Vector3
    var shape: Matrix3
    var middle: Vector3
    var half: Double
    var place: @Sendable (ReportPoint) -> Vector3
    var showsOffset: Bool
  }

  /// How far the drawings of raw samples reach from their middle, microtesla, and where that is.
  private var rawRow: Row {
    let shape = record.field * (record.matrix.inverse ?? .identity)
    var low = Vector3.zero
    var high = Vector3.zero
    func include(_ v: Vector3) {
      low = pointwiseMin(low, v)
      high = pointwiseMax(high, v)
    }
    let rows = shape.transposed.columns
    let reach = Vector3(rows.x.length, rows.y.length, rows.z.length)
    include(record.offset - reach)
    include(record.offset + reach)
    for point in set.points where point.isInlier { include(point.raw) }
    return Row(
      name: "raw", words: "as the chip gave them", center: record.offset, shape: shape,
      middle: (low + high) / 2, half: 1.06 * (high - low).max() / 2, place: \.raw,
      showsOffset: true)
  }

  private var correctedRow: Row {
    Row(
      name: "corrected", words: "corrected", center: .zero,
      shape: Matrix3(diagonal: Vector3(repeating: record.field)), middle: .zero,
      half: 1.25 * record.field + set.gate, place: \.corrected, showsOffset: false)
  }

  /// The two rows, each with the samples that lie too far out to be drawn.
  func figures() -> Markup {
    let raw = rawRow
    let corrected = correctedRow
    let offset = Figures.vector(record.offset, 1)
    return """
      <figure><figcaption><h4>Before: as the chip gave them</h4>\
      <p>The cross is zero field. A chip without iron around it would have its samples on a sphere about \
      the cross; the board's hard iron moves them by the line, \(offset) µT, and its soft iron makes \
      the sphere the outlined ellipsoid.\(leftOut(raw))</p></figcaption>\
      <div class="three">\(SphereView.allCases.map { drawing(raw, $0) })</div></figure>\
      <figure><figcaption><h4>After: corrected</h4>\
      <p>The same samples with the record applied. They should lie on the outlined sphere of \
      \(Figures.number(record.field, 1)) µT about zero.\(leftOut(corrected))</p></figcaption>\
      <div class="three">\(SphereView.allCases.map { drawing(corrected, $0) })</div></figure>
      """
  }

  private func isDrawn(_ v: Vector3, _ row: Row) -> Bool {
    let away = v - row.middle
    return max(abs(away.x), abs(away.y), abs(away.z)) <= row.half
  }

  private func leftOut(_ row: Row) -> String {
    let count = set.points.count { !isDrawn(row.place($0), row) }
    guard count > 0 else { return "" }
    return count == 1
      ? " One sample lies outside the drawing." : " \(count) samples lie outside the drawing."
  }

  private func frame(_ row: Row, _ view: SphereView) -> PlotFrame {
    let (across, up, _) = view.project(row.middle)
    var frame = PlotFrame(
      width: 250, height: 246, x: (across - row.half)...(across + row.half),
      y: (up - row.half)...(up + row.half))
    (frame.left, frame.right, frame.top, frame.bottom) = (40, 6, 6, 36)
    return frame
  }

  private func drawing(_ row: Row, _ view: SphereView) -> Markup {
    let frame = frame(row, view)
    let center = view.project(row.center)
    var (near, far, off): (Markup, Markup, Markup) = ("", "", "")
    for point in set.points where isDrawn(row.place(point), row) {
      let seen = view.project(row.place(point))
      let (x, y) = (frame.x(seen.across), frame.y(seen.up))
      if !point.isInlier {
        off += "M\(x - 2.2) \(y - 2.2)l4.4 4.4m0-4.4l-4.4 4.4"
      } else if seen.near >= center.near {
        near += "M\(x) \(y)h0"
      } else {
        far += "M\(x) \(y)h0"
      }
    }
    let (zeroX, zeroY) = (frame.x(0), frame.y(0))
    var marks: Markup = """
      <path class="cross" d="M\(zeroX - 5) \(zeroY)h10M\(zeroX) \(zeroY - 5)v10"/>
      """
    if row.showsOffset {
      let (x, y) = (frame.x(center.across), frame.y(center.up))
      marks += """
        <path class="offset" d="M\(zeroX) \(zeroY)L\(x) \(y)"/>\
        <circle class="offset" cx="\(x)" cy="\(y)" r="3.5"/>
        """
    }
    let axes = frame.axes(
      x: Tick.round(in: frame.xRange, about: 4), y: Tick.round(in: frame.yRange, about: 4),
      xTitle: "\(view.across), µT", yTitle: "\(view.up), µT")
    return frame.drawing(
      id: "\(id)-\(row.name)-\(view.rawValue)",
      title: "Samples \(row.words), seen from \(view.from)",
      description: """
        \(set.points.count) samples over \(view.across) and \(view.up) in microtesla, with the outline of \
        the fit.
        """,
      """
      \(axes)<path class="dots far" d="\(far)"/>\(outline(row, view, frame))\
      <path class="dots near" d="\(near)"/><path class="off" d="\(off)"/>\(marks)
      """)
  }

  /// The edge of the shape as it is seen: an ellipse, of which `shape` times its transpose knows the axes.
  private func outline(_ row: Row, _ view: SphereView, _ frame: PlotFrame) -> Markup {
    let square = row.shape * row.shape.transposed
    let (first, second) = (view.project(square.columns.x), view.project(square.columns.y))
    let third = view.project(square.columns.z)
    // The two rows of the drawing's part of it.
    let across = view.project(Vector3(first.across, second.across, third.across))
    let up = view.project(Vector3(first.up, second.up, third.up))
    let a = max(0, across.across).squareRoot()
    let b = a > 0 ? across.up / a : 0
    let c = max(0, up.up - b * b).squareRoot()
    let center = view.project(row.center)
    var path: Markup = ""
    for step in 0..<72 {
      let (x, y) = CoveragePlot.unit(Double(step) / 72)
      let place: Markup = """
        \(frame.x(center.across + a * x)) \(frame.y(center.up + b * x + c * y))
        """
      path += step == 0 ? "M\(place)" : "L\(place)"
    }
    return "<path class=\"outline\" d=\"\(path)Z\"/>"
  }
}
