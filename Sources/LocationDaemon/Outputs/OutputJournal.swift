// Problems of outputs and chips, as lines for the journal.

package import LocationServices
import OutputProtocols
package import SensorTypes

/// Turns the reports of outputs or chips into lines for the journal: a problem that lasts, and its end.
package struct OutputJournal: Sendable {
  /// The time in seconds for which a problem lasts before it is logged, so that the restart of a broker is not. A lasting one is logged at once.
  static let patience = 4.0
  /// Seconds between two lines about one of them whose problem changes: attempts may fail in turns for several reasons.
  static let pause = 60.0

  private struct Entry: Sendable {
    var since: Timestamp
    var told: (problem: String, at: Timestamp)?
  }

  /// By a key of each: what is gone is not told of any more.
  private var entries: [String: Entry] = [:]

  package init() {}

  /// Returns the lines for what is new of outputs.
  ///
  /// - Parameter reports: Those of all outputs, always in the same order: several outputs may go to one address.
  package mutating func lines(
    for reports: [DaemonStatus.OutputReport], at now: Timestamp
  ) -> [String] {
    let judged = reports.enumerated().map { index, report in
      ("\(index)", report.title, report.problem, report.isLasting == true)
    }
    return lines(for: judged, at: now)
  }

  /// Returns the lines for what is new of chips. One that starts or sleeps has not shown that it works again.
  package mutating func lines(
    for reports: [DaemonStatus.ChipReport], at now: Timestamp
  ) -> [String] {
    let judged = reports.filter { $0.problem != nil || $0.state == SensorState.running.word }
    return lines(for: judged.map { ($0.name, $0.name, $0.problem, false) }, at: now)
  }

  private mutating func lines(
    for reports: [(key: String, title: String, problem: String?, isLasting: Bool)],
    at now: Timestamp
  ) -> [String] {
    var lines: [String] = []
    for (key, title, problem, isLasting) in reports {
      guard let problem else {
        if entries.removeValue(forKey: key)?.told != nil { lines.append("\(title) works again") }
        continue
      }
      var entry = entries[key] ?? Entry(since: now)
      let isDue =
        if let told = entry.told {
          told.problem != problem && now.seconds(since: told.at) >= Self.pause
        } else {
          isLasting || now.seconds(since: entry.since) >= Self.patience
        }
      if isDue {
        lines.append("\(title): \(problem)")
        entry.told = (problem, now)
      }
      entries[key] = entry
    }
    return lines
  }
}
