// The record in use and those before it.

import CalibrationCore
import TerminalUI
import TextForms

/// Lists a chip's records, newest first.
struct HistoryTable: Sendable {
  let present: CalibrationRecord?
  let former: [ReportedFormerRecord]

  func table() -> Markup {
    let rows =
      (present.map { [row($0, $0.isLocked ? "in use, locked" : "in use")] } ?? [])
      + former.map { entry in
        guard let record = entry.record else {
          return "<tr><td colspan=\"6\">a record that cannot be read</td></tr>"
        }
        return row(record, entry.isUndone ? "gone back from" : "replaced")
      }
    guard !rows.isEmpty else { return "<p>There is no record.</p>" }
    return """
      <table class="history"><thead><tr>\
      <th scope="col">Made</th><th scope="col">Method</th><th scope="col">Score</th>\
      <th scope="col" class="n">Residual, µT</th>\
      <th scope="col" class="n">Heading error</th><th scope="col">State</th></tr></thead>\
      <tbody>\(rows)</tbody></table>
      """
  }

  private func row(_ record: CalibrationRecord, _ state: String) -> Markup {
    """
    <tr><td class="nowrap">\(Figures.date(record.date))</td>\
    <td data-name="Method">\(RecordPhrases.method(record.method))</td>\
    <td data-name="Score">\(score(record.score))</td>\
    <td data-name="Residual, µT" class="n">\(Figures.number(record.residual, 2))</td>\
    <td data-name="Heading error" class="n">\(record.headingError.map(Figures.degrees) ?? "–")</td>\
    <td data-name="State">\(state)</td></tr>
    """
  }

  private func score(_ score: Int?) -> Markup {
    guard let score else { return "–" }
    return """
      <span class="score"><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">\
      <rect class="track" width="100" height="8"/><rect class="fill" width="\(score)" height="8"/></svg>\
      \(score)</span>
      """
  }
}

/// RecordPhrases for what a record says in one.
enum RecordPhrases {
  /// How a record came about, for people; what this version does not know as it is.
  static func method(_ name: String) -> String {
    switch CalibrationMethod(rawValue: name) {
    case .sphere: "sphere (hard iron)"
    case .diagonal: "diagonal (hard iron, scales)"
    case .ellipsoid: "ellipsoid (hard and soft iron)"
    case .planar: "turned in the plane"
    case .knownHeading: "one known heading"
    case .deviation: "deviation card"
    case .course: "by course"
    case .background: "in the background"
    case .simulated: "truth of the simulated board"
    case nil: name
    }
  }

  static func score(_ score: Int) -> String {
    score >= 80 ? "good" : (score >= 50 ? "fair" : "poor")
  }
}
