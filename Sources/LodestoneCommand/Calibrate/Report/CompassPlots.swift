// The predicted error of the heading round the compass, before and after.

import CalibrationCore
import SensorTypes

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
    """
    <figure><div class="two"><div><h4>Before</h4>\(before())\(key)</div>\
    <div><h4>After</h4>\(after())\(afterKey)</div></div>\
    <figcaption><p>A prediction, not a measurement: it takes the fit for the truth about the iron, and the \
    board for level. \(dipWords) The two drawings have scales of their own.</p></figcaption></figure>
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

  private func swatch(_ name: String) -> Markup {
    """
    <svg class="swatch wide" viewBox="0 0 28 12" aria-hidden="true">\
    <path class="\(name)" d="M1 6h26"/></svg>
    """
  }

  private var key: Markup {
    let none = Figures.degrees(errors.rms(of: nil))
    guard let former else {
      return "<ul class=\"key\"><li>\(swatch("curve bare")) without calibration, RMS \(none)</li></ul>"
    }
    let before = Figures.degrees(errors.rms(of: former.applied))
    return """
      <ul class="key"><li>\(swatch("curve bare")) without calibration, RMS \(none)</li>\
      <li>\(swatch("curve former")) with the record before, RMS \(before)</li></ul>
      """
  }

  private var afterKey: Markup {
    """
    <ul class="key"><li><svg class="swatch wide" viewBox="0 0 28 12" aria-hidden="true">\
    <rect class="band" width="28" height="12"/></svg> where 95 of 100 headings lie, RMS \
    \(Figures.degrees(errors.remaining))</li></ul>
    """
  }

  private func before() -> Markup {
    let used = [nil, former?.applied].enumerated().filter { $0.offset == 0 || $0.element != nil }
    let most = used.map { errors.worst(of: $0.element) }.max() ?? 1
    let reach = min(180, max(0.5, 1.1 * most))
    let frame = PlotFrame(width: 460, height: 230, x: 0...360, y: -reach...reach)
    let curves = used.map { entry in
      """
      <path class="\(entry.offset == 0 ? "curve bare" : "curve former")" \
      d="\(curve(entry.element, frame))"/>
      """ as Markup
    }
    return frame.drawing(
      id: "\(id)-before", title: "Predicted heading error before",
      description: """
        Without calibration the heading is off by up to \(Figures.degrees(errors.worst(of: nil))).
        """,
      "\(axes(frame, reach))\(frame.zero())\(curves)")
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
    let frame = PlotFrame(width: 460, height: 230, x: 0...360, y: -reach...reach)
    var path: Markup = ""
    for (heading, width) in zip(headings, widths) {
      path += "\(heading == 0 ? "M" : "L")\(frame.x(heading)) \(frame.y(min(reach, width)))"
    }
    for (heading, width) in zip(headings, widths).reversed() {
      path += "L\(frame.x(heading)) \(frame.y(max(-reach, -width)))"
    }
    return frame.drawing(
      id: "\(id)-after", title: "Predicted heading error after",
      description: """
        With the record 95 of 100 headings are right within \(Figures.degrees(widths.max() ?? 0)) at the \
        worst heading.
        """,
      "\(axes(frame, reach))<path class=\"band\" d=\"\(path)Z\"/>\(frame.zero())")
  }
}
