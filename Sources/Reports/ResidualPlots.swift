// How far each sample lies off the fit: in order of time, and how often.

import TerminalUI
import TextForms

struct ResidualPlots: Sendable {
  let set: SampleSet
  let id: String

  /// Bars of the histogram.
  static let bins = 31

  /// Beyond it a residual is drawn at the edge, microtesla.
  var reach: Double { 1.25 * set.gate }

  func figures() -> Markup {
    let off = set.points.count - set.inliers
    let words: String =
      switch off {
      case 0: "Every sample agrees with the record."
      case 1: "One sample (a cross) does not agree with the record and is not in the histogram."
      default:
        "\(off) samples (crosses) do not agree with the record and are not in the histogram."
      }
    let edge =
      set.points.contains { abs($0.residual) > reach }
      ? " What lies beyond the drawing stands at its edge." : ""
    return """
      <figure><div class="two">\(overTime())\(histogram())</div><figcaption><p>Length of each corrected \
      sample less the field of the record. A sample agrees within ±\(Figures.number(set.gate, 2)) µT, \
      \(Figures.number(SampleSet.reach, 1)) times the record's residual. \(words)\(edge)</p></figcaption></figure>
      """
  }

  private func overTime() -> Markup {
    let last = set.points.last?.seconds ?? 0
    // Samples without a time stand in their order.
    let isTimed = last > 0
    let end = isTimed ? last : Double(max(1, set.points.count - 1))
    let frame = PlotFrame(width: 460, height: 230, x: 0...end, y: -reach...reach)
    var (dots, crosses): (Markup, Markup) = ("", "")
    for (number, point) in set.points.enumerated() {
      let x = frame.x(isTimed ? point.seconds : Double(number))
      let y = frame.y(max(-reach, min(reach, point.residual)))
      if point.isInlier {
        dots += "M\(x) \(y)h0"
      } else {
        crosses += "M\(x - 2.2) \(y - 2.2)l4.4 4.4m0-4.4l-4.4 4.4"
      }
    }
    let axes = frame.axes(
      x: Tick.round(in: frame.xRange, about: 6), y: Tick.round(in: frame.yRange, about: 5),
      xTitle: isTimed ? "time, s" : "order of the samples", yTitle: "residual, µT")
    return frame.drawing(
      id: "\(id)-residuals", title: isTimed ? "Residuals over time" : "Residuals in order",
      description: """
        \(set.points.count) samples; \(set.inliers) agree with the record, with a root mean square of \
        \(Figures.number(set.residual, 2)) microtesla.
        """,
      """
      \(axes)\(frame.zero())<path class="dots near" d="\(dots)"/><path class="off" d="\(crosses)"/>
      """)
  }

  /// How many agreeing samples lie in each part of `-gate...gate`.
  var counts: [Int] {
    var counts = [Int](repeating: 0, count: Self.bins)
    for point in set.points where point.isInlier {
      let share = (point.residual + set.gate) / (2 * set.gate)
      counts[max(0, min(Self.bins - 1, Int(share * Double(Self.bins))))] += 1
    }
    return counts
  }

  private func histogram() -> Markup {
    let counts = counts
    let most = Double(max(1, counts.max() ?? 1))
    let frame = PlotFrame(width: 460, height: 230, x: -set.gate...set.gate, y: 0...(1.05 * most))
    let width = 2 * set.gate / Double(Self.bins)
    var bars: Markup = ""
    for (number, count) in counts.enumerated() where count > 0 {
      let left = -set.gate + Double(number) * width
      let (x, y) = (frame.x(left), frame.y(Double(count)))
      bars += """
        <rect x="\(x + 0.5)" y="\(y)" width="\(frame.x(left + width) - x - 1)" \
        height="\(frame.y(0) - y)"/>
        """
    }
    let axes = frame.axes(
      x: Tick.round(in: frame.xRange, about: 6),
      y: Tick.round(in: frame.yRange, about: 4).filter { $0.value == $0.value.rounded() },
      xTitle: "residual, µT", yTitle: "samples")
    return frame.drawing(
      id: "\(id)-histogram", title: "How often which residual",
      description: "A histogram of the residuals of the \(set.inliers) samples that agree.",
      "\(axes)<g class=\"bars\">\(bars)</g>\(frame.zero())")
  }
}
