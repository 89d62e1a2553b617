// Scores as text: a table for people, one line of JSON for programs. Pure.

internal import Foundation

/// The lines that `broad` prints.
package enum Report {
  /// The table: a line a trial, and the last line over all of them.
  package static func table(_ run: RunScore) -> [String] {
    let width = max(16, run.trials.map(\.name.count).max() ?? 0)
    func line(_ name: String, _ rest: [String]) -> String {
      name.padding(toLength: width, withPad: " ", startingAt: 0)
        + rest.map { padded($0, 9) }.joined()
    }
    var lines = [
      line(
        "degrees", ["heading", "inclin.", "total", "inside %", "width", "no bnd %", "none %"])
    ]
    for trial in run.trials {
      let missing = trial.rows > 0 ? Double(trial.missing) / Double(trial.rows) : nil
      lines.append(
        line(
          trial.name,
          figures(trial.rms) + [
            percent(trial.coverage), fixed(trial.width), percent(trial.invalid), percent(missing),
          ]))
    }
    lines.append(
      line(
        "mean of \(run.trials.count)",
        figures(run.rms) + [
          percent(run.coverage), fixed(run.width), percent(run.invalid), percent(run.missing),
        ]))
    lines.append(
      "width over the tenth of rows with the smallest error, by that with the largest: "
        + fixed(run.tenthRatio))
    return lines
  }

  /// The head of a table with a line a group.
  package static let groupHeader = groupLine(
    "degrees",
    [
      "trials", "heading", "- offset", "inclin.", "inside %", "width", "corr.", "no bnd %",
      "tilt in %", "width",
    ])

  /// A group's line, and one for each trial in which the bound does not hold.
  package static func group(_ name: String, _ run: RunScore) -> [String] {
    let rms = run.rms
    return [
      groupLine(
        name,
        [
          String(run.trials.count), fixed(rms?.x), fixed(run.headingWithoutOffset), fixed(rms?.y),
          percent(run.coverage), fixed(run.width), fixed(run.correlation), percent(run.invalid),
          percent(run.tiltCoverage), fixed(run.tiltWidth),
        ])
    ]
      + run.trials(coveredLessThan: 0.9).map {
        "    inside \(percent($0.coverage)) %, half-width \(fixed($0.width)): \($0.name)"
      }
  }

  private static func groupLine(_ name: String, _ cells: [String]) -> String {
    name.padding(toLength: 18, withPad: " ", startingAt: 0) + cells.map { padded($0, 9) }.joined()
  }

  /// One line of JSON. Degrees; shares from 0 to 1; null where there is no row to make it of.
  package static func json(_ run: RunScore) -> String {
    let rms = run.rms
    let pairs: [(String, String)] = [
      ("trials", String(run.trials.count)),
      ("heading", number(rms?.x)), ("inclination", number(rms?.y)), ("total", number(rms?.z)),
      ("coverage", number(run.coverage)), ("width", number(run.width)),
      ("invalid", number(run.invalid)),
      ("worstCoverage", number(run.worstCoverage)), ("worstInvalid", number(run.worstInvalid)),
      ("tenthRatio", number(run.tenthRatio)), ("missing", number(run.missing)),
    ]
    return object(pairs)
  }

  /// The same of a group, with what only groups have.
  package static func json(_ name: String, smooth: Bool, _ run: RunScore) -> String {
    object([
      ("group", "\"\(name)\""), ("smooth", String(smooth)), ("trials", String(run.trials.count)),
      ("heading", number(run.rms?.x)), ("headingWithoutOffset", number(run.headingWithoutOffset)),
      ("inclination", number(run.rms?.y)), ("coverage", number(run.coverage)),
      ("width", number(run.width)), ("correlation", number(run.correlation)),
      ("invalid", number(run.invalid)), ("worstCoverage", number(run.worstCoverage)),
      ("uncovered", String(run.trials(coveredLessThan: 0.9).count)),
      ("tiltCoverage", number(run.tiltCoverage)), ("tiltWidth", number(run.tiltWidth)),
    ])
  }

  private static func object(_ pairs: [(String, String)]) -> String {
    "{" + pairs.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }

  private static func figures(_ rms: SIMD3<Double>?) -> [String] {
    [fixed(rms?.x), fixed(rms?.y), fixed(rms?.z)]
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }

  /// Two decimals; `-` for nothing.
  package static func fixed(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "-" }
    return String(format: "%.2f", value)
  }

  private static func percent(_ share: Double?) -> String { fixed(share.map { 100 * $0 }) }

  /// A JSON number with four decimals, or null.
  package static func number(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "null" }
    return String(format: "%.4f", value)
  }
}
