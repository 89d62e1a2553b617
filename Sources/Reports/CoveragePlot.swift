// The hundred cells of the sphere as two maps of equal area, one for each half.

import CalibrationCore
import LinearAlgebra
import TerminalUI
import TextForms

/// Draws which cells of the sphere hold samples.
struct CoveragePlot: Sendable {
  let set: SampleSet
  let id: String

  private static let radius = 104.0
  private static let middle = 125.0

  /// The point of the unit circle that lies `turns` from the first axis.
  static func unit(_ turns: Double) -> (x: Double, y: Double) {
    (cos(2 * .pi * turns), sin(2 * .pi * turns))
  }

  func figure() -> Markup {
    let gaps = SphereCells.count - set.seenCells
    return """
      <figure><div class="two maps">\(half(isUpper: true))\(half(isUpper: false))</div>\
      <figcaption><p>Directions of the corrected field in the chip's frame. Every cell is a hundredth of \
      the sphere and has the same area on the map. \(gapWords(gaps))</p>\(key)</figcaption></figure>
      """
  }

  private func gapWords(_ gaps: Int) -> String {
    switch gaps {
    case 0: "No cell is empty."
    case 1: "One cell is empty."
    default: "\(gaps) cells are empty."
    }
  }

  private var key: Markup {
    func swatch(_ name: String) -> Markup {
      """
      <svg class="swatch" viewBox="0 0 16 12" aria-hidden="true">\
      <rect class="cell \(name)" x=".5" y=".5" width="15" height="11"/></svg>
      """
    }
    return """
      <ul class="key"><li>\(swatch("gap")) no sample</li><li>\(swatch("few")) 1 or 2</li>\
      <li>\(swatch("seen")) 3 or more</li></ul>
      """
  }

  static func level(_ count: Int) -> String {
    count == 0 ? "gap" : (count < 3 ? "few" : "seen")
  }

  /// One half of the sphere, seen from outside: Lambert's azimuthal projection, in which the share of the
  /// half that lies within a circle is the share of the area.
  private func half(isUpper: Bool) -> Markup {
    var cells: Markup = ""
    var first = 0
    var gaps = 0
    for count in SphereCells.rings {
      for number in 0..<count where (first < SphereCells.count / 2) == isUpper {
        let level = Self.level(set.cellCounts[first + number])
        if level == "gap" { gaps += 1 }
        let path = path(first: first, count: count, number: number, isUpper: isUpper)
        cells += "<path class=\"cell \(level)\" d=\"\(path)\"/>"
      }
      first += count
    }
    let name = isUpper ? "+z" : "\u{2212}z"
    return PlotFrame.drawing(
      id: "\(id)-map-\(isUpper ? "upper" : "lower")", width: 250, height: 262,
      title: "Coverage of the half of the sphere about \(name)",
      description: "\(gaps) of its 50 cells are empty.",
      """
      \(cells)\(axisWords(isUpper: isUpper))\
      <text class="axis" x="125" y="258" text-anchor="middle">about \(name), seen from outside</text>
      """)
  }

  private func axisWords(isUpper: Bool) -> Markup {
    let (right, left) = isUpper ? ("+x", "\u{2212}x") : ("\u{2212}x", "+x")
    let (middle, out) = (Self.middle, Self.radius + 5)
    return """
      <text x="\(middle + out)" y="\(middle + 4)">\(right)</text>\
      <text x="\(middle - out)" y="\(middle + 4)" text-anchor="end">\(left)</text>\
      <text x="\(middle)" y="\(middle - out)" text-anchor="middle">+y</text>\
      <text x="\(middle)" y="\(middle + out + 8)" text-anchor="middle">\u{2212}y</text>
      """
  }

  /// The edge of a cell; `first` is the number of cells before its ring.
  private func path(first: Int, count: Int, number: Int, isUpper: Bool) -> Markup {
    func radius(_ cells: Int) -> Double {
      let within = isUpper ? cells : SphereCells.count - cells
      return Self.radius * (Double(within) / 50).squareRoot()
    }
    let (one, other) = (radius(first), radius(first + count))
    let (inner, outer) = (min(one, other), max(one, other))
    let middle = Self.middle
    if count == 1 {
      return """
        M\(middle - outer) \(middle)a\(outer) \(outer) 0 1 0 \(2 * outer) 0\
        a\(outer) \(outer) 0 1 0 \(-2 * outer) 0Z
        """
    }
    // From outside the lower half x runs to the left.
    let side = isUpper ? 1.0 : -1.0
    func place(_ radius: Double, _ turns: Double) -> Markup {
      let (x, y) = Self.unit(turns)
      return "\(middle + side * radius * x) \(middle - radius * y)"
    }
    let (start, end) = (Double(number) / Double(count), Double(number + 1) / Double(count))
    let (there, back) = isUpper ? (0, 1) : (1, 0)
    return """
      M\(place(inner, start))L\(place(outer, start))\
      A\(outer) \(outer) 0 0 \(there) \(place(outer, end))\
      L\(place(inner, end))A\(inner) \(inner) 0 0 \(back) \(place(inner, start))Z
      """
  }
}
