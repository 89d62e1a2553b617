// The page: one file that needs nothing else.

import TerminalUI
import TextForms

/// Builds a page from a report.
package enum ReportPage {
  /// The whole page as HTML.
  package static func html(_ report: CalibrationReport) -> String {
    let sections = report.magnetometers.enumerated().map {
      MagnetometerSection(chip: $1, number: $0 + 1).section()
    }
    let page: Markup = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
      style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
      form-action 'none'">
      <link rel="icon" href="data:,">
      <title>Calibration of \(report.board)</title>
      <style>
      \(ReportStyle.css)
      </style></head>
      <body><main><header><h1>Calibration of <bdi>\(report.board)</bdi></h1>
      <p>\(report.program), \(Figures.date(report.date)). \(summary(report))</p></header>
      \(sections)\(others(report))
      </main><script>
      \(TurnedSphere.script)
      </script></body></html>

      """
    return page.text
  }

  private static func summary(_ report: CalibrationReport) -> String {
    guard !report.magnetometers.isEmpty else { return "The board has no magnetometer." }
    return Figures.count(report.magnetometers.count, "magnetometer") + "."
  }

  private static func others(_ report: CalibrationReport) -> Markup {
    guard !report.others.isEmpty else { return "" }
    let parts = report.others.map { other -> Markup in
      let facts = other.facts.map {
        "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>" as Markup
      }
      let notice = other.problem.map {
        "<p class=\"notice\">It is not applied: \($0).</p>" as Markup
      }
      return """
        <h3><bdi>\(other.title)</bdi></h3>\(notice)\
        <dl class="numbers">\(facts)</dl>
        """
    }
    return """
      <section aria-labelledby="others"><h2 id="others">Level and gyro</h2>\(parts)</section>
      """
  }
}
