// What stands beside the map on it: the scale bar, the arrow, whose map it is.

import Geodesy
import LinearAlgebra

/// Shapes in the picture's corners, and the room they take.
struct Furniture: Sendable {
  private(set) var shapes: [MapShape] = []
  private(set) var taken: [PictureRect] = []

  private let view: Viewport
  private let palette: Palette

  /// From the picture's edge, points.
  private static let margin = 10.0

  init(
    view: Viewport, palette: Palette, attribution: String?, showsScale: Bool = true,
    showsCompass: Bool = true
  ) {
    self.view = view
    self.palette = palette
    if showsScale { addScaleBar() }
    if showsCompass, view.heading != 0 { addArrow() }
    if let attribution { add(attribution) }
  }

  private func style(_ size: Double, _ anchor: TextStyle.Anchor = .start) -> TextStyle {
    TextStyle(size: size, colour: palette.ink, halo: palette.halo, anchor: anchor)
  }

  private mutating func take(_ minX: Double, _ minY: Double, _ maxX: Double, _ maxY: Double) {
    taken.append(PictureRect(minX: minX, minY: minY, maxX: maxX, maxY: maxY))
  }

  // A bar in the lower left corner, in parts that are filled and empty by turns.
  private mutating func addScaleBar() {
    guard view.width >= 120, view.height >= 80,
      let bar = ScaleBar(view: view, widest: min(view.width * 0.28, 150))
    else { return }
    let (left, bottom) = (Self.margin, view.height - Self.margin)
    let height = 4.0
    let edge = Stroke(colour: palette.halo, width: 4, lineJoin: .miter)
    func part(_ number: Int, of count: Int, fill: Colour?, stroke: Stroke?) -> MapShape {
      let width = bar.width / Double(count)
      return .rectangle(
        x: left + width * Double(number), y: bottom - height, width: width, height: height,
        fill: fill, stroke: stroke)
    }
    shapes.append(part(0, of: 1, fill: palette.plate.withAlpha(1), stroke: edge))
    for number in stride(from: 0, to: bar.parts, by: 2) {
      shapes.append(part(number, of: bar.parts, fill: palette.ink, stroke: nil))
    }
    shapes.append(
      part(
        0, of: 1, fill: nil, stroke: Stroke(colour: palette.ink, width: 1, lineJoin: .miter)))
    let words = bar.text + (bar.isForMiddle ? " in the middle" : "")
    let textStyle = style(10.5)
    let base = bottom - height - 5
    shapes.append(.text(words, at: PicturePoint(x: left - 0.5, y: base), style: textStyle))
    take(
      0, base - textStyle.size - 3, left + max(bar.width, textStyle.width(of: words)) + 6,
      view.height)
  }

  // A needle in the upper right corner that points where north is in the middle of the picture.
  private mutating func addArrow() {
    guard view.width >= 120, view.height >= 80 else { return }
    let radius = 20.0
    let middle = PicturePoint(
      x: view.width - Self.margin - radius, y: Self.margin + radius)
    let (right, up) = (-sin(view.heading), cos(view.heading) * cos(view.pitch))
    let length = max(hypot(right, up), 1e-9)
    func place(along: Double, across: Double) -> PicturePoint {
      let (x, y) = (right / length, -up / length)
      return PicturePoint(
        x: middle.x + x * along - y * across, y: middle.y + y * along + x * across)
    }
    shapes.append(
      .circle(
        centre: middle, radius: radius, fill: palette.plate,
        stroke: Stroke(colour: palette.mainGrid, width: 1)))
    let (half, waist) = (4.5, -3.5)
    for (end, colour) in [(6.5, palette.north), (-13.5, palette.mainGrid)] {
      let corners = [
        place(along: end, across: 0), place(along: waist, across: half),
        place(along: waist, across: -half),
      ]
      shapes.append(.path(subpaths: [corners], closed: true, fill: colour, stroke: nil))
    }
    // From the middle of the letter to the line it stands on.
    let letter = place(along: 12.5, across: 0)
    shapes.append(
      .text(
        "N", at: PicturePoint(x: letter.x, y: letter.y + 3.3),
        style: TextStyle(size: 9, colour: palette.ink, anchor: .middle, isBold: true)))
    take(
      middle.x - radius - 3, 0, view.width, middle.y + radius + 3)
  }

  // In the lower right corner, on as many lines as it needs, three at most.
  private mutating func add(_ attribution: String) {
    let textStyle = style(9.5, .end)
    let widest = view.width * (view.width < 240 ? 0.92 : 0.56)
    let lines = Self.wrapped(attribution, widest: widest, style: textStyle)
    let (right, line) = (view.width - 6, textStyle.size + 2.5)
    for (number, words) in lines.enumerated() {
      let base = view.height - 6 - Double(lines.count - 1 - number) * line
      shapes.append(.text(words, at: PicturePoint(x: right, y: base), style: textStyle))
    }
    let width = lines.map(textStyle.width).max() ?? 0
    take(
      right - width - 4, view.height - 9 - Double(lines.count) * line, view.width, view.height)
  }

  static func wrapped(_ text: String, widest: Double, style: TextStyle) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ").map(String.init) {
      if let last = lines.last, style.width(of: last + " " + word) <= widest {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(word)
      }
    }
    guard lines.count > 3 else { return lines }
    return Array(lines[..<2]) + [lines[2] + " …"]
  }
}
