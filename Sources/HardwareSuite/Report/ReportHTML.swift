// The report for a person: one file, no script, nothing loaded from elsewhere.

import FoundationEssentials
import LinearAlgebra
import TextForms

extension Report {
  /// The report as one self-contained page.
  package var html: String {
    var page = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(XMLText.escaped(board)): \(result.rawValue)</title>
      <style>\(Self.style)</style></head><body>
      <h1>\(XMLText.escaped(board)) <span class="\(style(of: result))">\(result.rawValue)</span></h1>
      <p>\(XMLText.escaped(verdict))</p>
      <table class="facts">
      \(fact("board file", boardFile))\(fact("machine", machine))\(fact("steps by", rig))\
      \(fact("date", date.formatted(.iso8601)))
      </table>

      """
    if !deviations.isEmpty {
      page += "<h2>Deviations</h2>\n<ul>"
      for text in deviations { page += "<li>\(XMLText.escaped(text))</li>" }
      page += "</ul>\n"
    }
    let failures = checks.filter { $0.outcome != .passed }
    if !failures.isEmpty {
      page += "<h2>What to mend</h2>\n" + table(failures)
    }
    for group in groups {
      page += "<h2>\(XMLText.escaped(group))</h2>\n" + table(checks.filter { $0.group == group })
    }
    if !series.isEmpty { page += "<h2>Measured</h2>\n<div class=\"plots\">" }
    for curve in series { page += Plot.svg(curve) }
    if !series.isEmpty { page += "</div>\n" }
    if !transcripts.isEmpty { page += "<h2>Commands</h2>\n" }
    for transcript in transcripts {
      page +=
        "<h3><code>\(XMLText.escaped(transcript.command))</code>, exit code \(transcript.exitCode)</h3>\n"
        + "<pre>\(XMLText.escaped(transcript.output))</pre>\n"
    }
    return page + "</body></html>\n"
  }

  private var groups: [String] {
    var seen: Set<String> = []
    return checks.map(\.group).filter { seen.insert($0).inserted }
  }

  private func style(of result: SuiteResult) -> String {
    switch result {
    case .passed: "passed"
    case .failed, .brokenOff: "failed"
    case .notPassed: "skipped"
    }
  }

  private func fact(_ name: String, _ value: String) -> String {
    "<tr><th>\(name)</th><td>\(XMLText.escaped(value))</td></tr>"
  }

  private func table(_ checks: [Check]) -> String {
    var text = "<table class=\"checks\">"
    for check in checks {
      let outcome = check.outcome.rawValue
      text +=
        "<tr><td class=\"\(outcome)\">\(outcome)</td><td>\(XMLText.escaped(check.name))</td><td>"
        + XMLText.escaped(check.detail)
      if let mend = check.mend { text += "<br><b>mend:</b> \(XMLText.escaped(mend))" }
      for measure in check.measures {
        text +=
          "<br><span class=\"measure\">\(XMLText.escaped(measure.name)): \(Self.figure(measure.value))"
          + (measure.unit.isEmpty ? "" : " \(XMLText.escaped(measure.unit))")
        if let limit = measure.limit { text += " (\(XMLText.escaped(limit)))" }
        text += "</span>"
      }
      text += "</td></tr>\n"
    }
    return text + "</table>\n"
  }

  private static let style = """
    body{font:15px/1.45 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}
    table{border-collapse:collapse;width:100%}td,th{border-top:1px solid #ddd;padding:.35em .6em;\
    text-align:left;vertical-align:top}.facts{width:auto}.facts th{font-weight:600}
    .checks{table-layout:fixed}.checks td{overflow-wrap:anywhere}.checks td:nth-child(1){width:5em}\
    .checks td:nth-child(2){width:22em}
    .passed{color:#17692f}.failed{color:#b00020;font-weight:600}.skipped{color:#8a5a00}
    .measure{color:#555;font-size:.9em}pre{background:#f5f5f3;padding:.8em;overflow:auto;font-size:13px}
    .plots{display:flex;flex-wrap:wrap;gap:1em}.plots figure{margin:0;width:420px}figcaption{font-size:.9em;color:#555}
    """
}

/// A curve as a picture.
enum Plot {
  private static let (width, height, left, bottom) = (420.0, 170.0, 62.0, 22.0)

  static func svg(_ series: Report.Series) -> String {
    let points = zip(series.times, series.values).filter { $0.0.isFinite && $0.1.isFinite }
    guard let first = points.first else { return "" }
    var (low, high) = (first.1, first.1)
    var (start, end) = (first.0, first.0)
    for (time, value) in points {
      (low, high) = (min(low, value), max(high, value))
      (start, end) = (min(start, time), max(end, time))
    }
    // Limits that are near the values are in the picture; far ones would make a line of it.
    let reach = max(high - low, 1e-9)
    let near = series.limits.filter { $0 > low - reach && $0 < high + reach }
    for limit in near { (low, high) = (min(low, limit), max(high, limit)) }
    // A level line is drawn in the middle, not on the edge, and what is level but for the rounding of a clock is
    // one: a hundred-thousandth is a pascal, and a tenth of a microsecond of an interval.
    let margin = max(0.05 * (high - low), 0.5e-5 * max(abs(low), abs(high)), 1e-6)
    (low, high) = (low - margin, high + margin)
    let span = max(1e-9, end - start)
    func x(_ time: Double) -> Double { left + (time - start) / span * (width - left - 8) }
    func y(_ value: Double) -> Double {
      8 + (high - value) / (high - low) * (height - bottom - 8)
    }
    var text =
      "<figure><svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" width=\"\(Int(width))\" "
      + "height=\"\(Int(height))\" role=\"img\">"
    // As many digits as tell the labels apart.
    let digits = max(0, min(9, Int((0.7 - log10((high - low) / 2)).rounded(.up))))
    for share in [0.0, 0.5, 1.0] {
      let value = low + share * (high - low)
      let line = DecimalText.steady(y(value), 1)
      let label = DecimalText.steady(value, digits)
      text +=
        "<line x1=\"\(Int(left))\" x2=\"\(Int(width - 8))\" y1=\"\(line)\" y2=\"\(line)\" "
        + "stroke=\"#ddd\"/><text x=\"\(Int(left - 4))\" y=\"\(line)\" font-size=\"10\" fill=\"#555\" "
        + "text-anchor=\"end\" dominant-baseline=\"middle\">\(label)</text>"
    }
    for limit in near {
      let line = DecimalText.steady(y(limit), 1)
      text +=
        "<line x1=\"\(Int(left))\" x2=\"\(Int(width - 8))\" y1=\"\(line)\" y2=\"\(line)\" "
        + "stroke=\"#b00020\" stroke-dasharray=\"5 4\"/>"
    }
    text += "<polyline fill=\"none\" stroke=\"#1b5fa7\" stroke-width=\"1.2\" points=\""
    text += points.map { "\(DecimalText.steady(x($0.0), 1)),\(DecimalText.steady(y($0.1), 1))" }
      .joined(separator: " ")
    text += "\"/>"
    for (time, anchor) in [(start, "start"), (end, "end")] {
      text +=
        "<text x=\"\(DecimalText.steady(x(time), 1))\" y=\"\(Int(height - 6))\" font-size=\"10\" "
        + "fill=\"#555\" text-anchor=\"\(anchor)\">\(DecimalText.steady(time, 1)) s</text>"
    }
    let limits =
      series.limits.isEmpty
      ? ""
      : "; limit\(series.limits.count > 1 ? "s" : "") \(series.limits.map(Report.figure).joined(separator: " and "))"
    return text
      + "</svg><figcaption>\(XMLText.escaped(series.title)), \(XMLText.escaped(series.unit))\(limits)"
      + "</figcaption></figure>\n"
  }
}
