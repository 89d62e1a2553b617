// What the journal is told of the outputs.

package import LocationServices
package import SensorTypes

/// Turns the reports of outputs into lines for the journal: a problem that lasts, and its end.
package struct OutputJournal: Sendable {
  /// Seconds that a problem lasts before it is told: a broker that is started again is none.
  static let patience = 4.0
  /// Seconds between two lines about one output whose problem changes: attempts may fail in turns for several reasons.
  static let pause = 60.0

  private struct Entry: Sendable {
    var since: Timestamp
    var told: (problem: String, at: Timestamp)?
  }

  /// By name and place: an output that is gone is not told of any more.
  private var entries: [String: Entry] = [:]

  package init() {}

  /// Returns the lines for what is new.
  package mutating func lines(
    for reports: [DaemonStatus.OutputReport], at now: Timestamp
  ) -> [String] {
    var lines: [String] = []
    for report in reports {
      let output = "\(report.name) at \(report.place)"
      guard let problem = report.problem else {
        if entries.removeValue(forKey: output)?.told != nil {
          lines.append("\(output) works again")
        }
        continue
      }
      var entry = entries[output] ?? Entry(since: now)
      let isDue =
        if let told = entry.told {
          told.problem != problem && now.seconds(since: told.at) >= Self.pause
        } else {
          now.seconds(since: entry.since) >= Self.patience
        }
      if isDue {
        lines.append("\(output): \(problem)")
        entry.told = (problem, now)
      }
      entries[output] = entry
    }
    return lines
  }
}
