// The predicted error of the heading round the compass, before and after.

import CalibrationCore
import SensorTypes
import TerminalUI
import TextForms

/// Draws what a level board's heading would be off by.
struct CompassPlots: Sendable {
  let errors: CompassErrors
  /// The record that the one in use took the place of.
  let former: CalibrationRecord?
  let id: String

  private static let points = [
    "N", "NE", "E", "SE", "S", "SW", "W", "NW", "N",
  ].enumerated().map { Tick(value: Double($0) * 45, label: $1) }

  func figures() -> Markup {
    let bare = drawing(
      of: nil, name: "bare", words: "Without calibration", curve: "curve bare")
    let before = former.map {
      drawing(
        of: $0.applied, name: "former", words: "With the record before", curve: "curve former")
    }
    return """
      <figure><div class="compasses">\(bare)\(before)\(after())</div>\
      <figcaption><p>A prediction, not a measurement: it takes the fit for the truth about the iron, and \
      the board for level. 95 of 100 headings with this record lie in the band. \(dipWords) Each drawing has \
      a scale of its own.</p></figcaption></figure>
      """
  }

  private var dipWords: String {
    let dip = Figures.degrees((errors.dip * 180 / .pi * 10).rounded() / 10)
    switch errors.source {
    case .samples: return "The field's dip is \(dip), by the samples themselves."
    case .model: return "The field's dip is \(dip), by the magnetic model for the board's position."
    case .assumed: return "The field's dip is not known; \(dip) is assumed."
    }
  }

  private func frame(reach: Double) -> PlotFrame {
    PlotFrame(width: 330, height: 230, x: 0...360, y: -reach...reach)
  }

  /// The error with one calibration, or with none.
  private func drawing(
    of calibration: AppliedCalibration?, name: String, words: String, curve kind: String
  ) -> Markup {
    let worst = errors.worst(of: calibration)
    let reach = min(180, max(0.5, 1.1 * worst))
    let frame = frame(reach: reach)
    let drawn = frame.drawing(
      id: "\(id)-\(name)", title: "Predicted heading error: \(words)",
      description: "The heading is off by up to \(Figures.degrees(worst)).",
      """
      \(axes(frame, reach))\(frame.zero())\
      <path class="\(kind)" d="\(curve(calibration, frame))"/>
      """)
    let rms = Figures.degrees(errors.rms(of: calibration))
    return """
      <div><h4>\(words)</h4>\
      <p class="soft">RMS \(rms), at worst \(Figures.degrees(worst))</p>\(drawn)</div>
      """
  }

  private func axes(_ frame: PlotFrame, _ reach: Double) -> Markup {
    let ticks =
      reach > 100
      ? [-180, -90, 0, 90, 180].map { Tick(value: $0, label: Figures.number($0, 0)) }
        .filter { abs($0.value) <= reach }
      : Tick.round(in: frame.yRange, about: 5)
    return frame.axes(
      x: Self.points, y: ticks, xTitle: "true heading of the board", yTitle: "error, degrees")
  }

  /// One line round the compass, broken where the error jumps from one side of south to the other.
  private func curve(_ calibration: AppliedCalibration?, _ frame: PlotFrame) -> Markup {
    var path: Markup = ""
    var last: Double?
    for heading in CompassErrors.headings + [360] {
      let error = errors.error(of: calibration, at: heading)
      let isJump = last.map { abs($0 - error) > 180 } ?? true
      path += "\(isJump ? "M" : "L")\(frame.x(heading)) \(frame.y(error))"
      last = error
    }
    return path
  }

  private func after() -> Markup {
    let headings = CompassErrors.headings + [360]
    let widths = headings.map { errors.uncertainty(at: $0) }
    let reach = min(180, max(0.5, 1.25 * (widths.max() ?? 0)))
    let frame = frame(reach: reach)
    var path: Markup = ""
    for (heading, width) in zip(headings, widths) {
      path += "\(heading == 0 ? "M" : "L")\(frame.x(heading)) \(frame.y(min(reach, width)))"
    }
    for (heading, width) in zip(headings, widths).reversed() {
      path += "L\(frame.x(heading)) \(frame.y(max(-reach, -width)))"
    }
    let widest = Figures.degrees(widths.max() ?? 0)
    let drawn = frame.drawing(
      id: "\(id)-after", title: "Predicted heading error: With this record",
      description: "At the worst heading 95 of 100 are right within \(widest).",
      "\(axes(frame, reach))<path class=\"band\" d=\"\(path)Z\"/>\(frame.zero())")
    let rms = Figures.degrees(errors.remaining)
    let kind = errors.record.headingError == nil ? "hard iron alone, RMS" : "RMS"
    return """
      <div><h4>With this record</h4>\
      <p class="soft">\(kind) \(rms)</p>\(drawn)</div>
      """
  }
}
