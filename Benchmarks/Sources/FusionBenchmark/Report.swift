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
    return "{" + pairs.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
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
