// Axes of a plot: from values to places in a drawing, with ticks at round numbers.

import LinearAlgebra
import TerminalUI
import TextForms

/// A value on an axis and the words at it.
struct Tick: Sendable, Equatable {
  var value: Double
  var label: String

  /// About `count` round numbers (1, 2 or 5 times a power of ten) in a range.
  static func round(in range: ClosedRange<Double>, about count: Int) -> [Tick] {
    let span = range.upperBound - range.lowerBound
    guard span > 0, span.isFinite, count > 0 else { return [] }
    let rough = span / Double(count)
    let power = pow(10, floor(log10(rough)))
    let step = power * ([1, 2, 5, 10].first { $0 * power >= rough * 0.999 } ?? 10)
    let digits = max(0, Int(-floor(log10(step) + 1e-9)))
    let first = (range.lowerBound / step).rounded(.up)
    let last = (range.upperBound / step).rounded(.down)
    guard last - first < 50 else { return [] }
    return stride(from: first, through: last, by: 1).map {
      Tick(value: $0 * step, label: Figures.number($0 * step, digits))
    }
  }
}

/// A rectangle of a drawing on which values are laid out.
struct PlotFrame: Sendable {
  var width: Double
  var height: Double
  var left = 40.0
  var right = 10.0
  var top = 10.0
  var bottom = 34.0
  let xRange: ClosedRange<Double>
  let yRange: ClosedRange<Double>

  init(width: Double, height: Double, x: ClosedRange<Double>, y: ClosedRange<Double>) {
    self.width = width
    self.height = height
    xRange = Self.wide(x)
    yRange = Self.wide(y)
  }

  /// A range in which something can be told apart.
  private static func wide(_ range: ClosedRange<Double>) -> ClosedRange<Double> {
    guard range.lowerBound.isFinite, range.upperBound.isFinite else { return 0...1 }
    let middle = (range.lowerBound + range.upperBound) / 2
    let least = max(1e-6, abs(middle) * 1e-9)
    guard range.upperBound - range.lowerBound < least else { return range }
    return (middle - least)...(middle + least)
  }

  func x(_ value: Double) -> Double {
    let share = (value - xRange.lowerBound) / (xRange.upperBound - xRange.lowerBound)
    return left + share * (width - left - right)
  }

  func y(_ value: Double) -> Double {
    let share = (value - yRange.lowerBound) / (yRange.upperBound - yRange.lowerBound)
    return height - bottom - share * (height - top - bottom)
  }

  /// Grid lines, words at them, and what the axes are.
  func axes(x xTicks: [Tick], y yTicks: [Tick], xTitle: String, yTitle: String) -> Markup {
    let floor = height - bottom
    var lines: Markup = ""
    var words: Markup = ""
    for tick in xTicks {
      let place = x(tick.value)
      lines += "M\(place) \(top)V\(floor)"
      words += """
        <text x="\(place)" y="\(floor + 13)" text-anchor="middle">\(tick.label)</text>
        """
    }
    for tick in yTicks {
      let place = y(tick.value)
      lines += "M\(left) \(place)H\(width - right)"
      words += """
        <text x="\(left - 5)" y="\(place + 3.5)" text-anchor="end">\(tick.label)</text>
        """
    }
    let middle = (top + floor) / 2
    return """
      <path class="grid" d="\(lines)"/>\(words)\
      <text class="axis" x="\((left + width - right) / 2)" y="\(height - 4)" \
      text-anchor="middle">\(xTitle)</text>\
      <text class="axis" transform="translate(9 \(middle)) rotate(-90)" \
      text-anchor="middle">\(yTitle)</text>
      """
  }

  /// The line where a value is zero.
  func zero() -> Markup {
    "<path class=\"zero\" d=\"M\(left) \(y(0))H\(width - right)\"/>"
  }

  /// A whole drawing with what it is called and what it shows, for who cannot see it.
  func drawing(id: String, title: String, description: String, _ content: Markup) -> Markup {
    Self.drawing(
      id: id, width: width, height: height, title: title, description: description, content)
  }

  static func drawing(
    id: String, width: Double, height: Double, title: String, description: String,
    _ content: Markup
  ) -> Markup {
    """
    <svg viewBox="0 0 \(width) \(height)" role="img" aria-labelledby="\(id)-t \(id)-d">\
    <title id="\(id)-t">\(title)</title><desc id="\(id)-d">\(description)</desc>\(content)</svg>
    """
  }
}
