// What the journal is told of the outputs, and of the chips.

package import LocationServices
import OutputProtocols
package import SensorTypes

/// Turns the reports of outputs or chips into lines for the journal: a problem that lasts, and its end.
package struct OutputJournal: Sendable {
  /// Seconds that a problem lasts before it is told: a broker that is started again is none.
  static let patience = 4.0
  /// Seconds between two lines about one of them whose problem changes: attempts may fail in turns for several reasons.
  static let pause = 60.0

  private struct Entry: Sendable {
    var since: Timestamp
    var told: (problem: String, at: Timestamp)?
  }

  /// By name and place: what is gone is not told of any more.
  private var entries: [String: Entry] = [:]

  package init() {}

  /// Returns the lines for what is new of outputs.
  package mutating func lines(
    for reports: [DaemonStatus.OutputReport], at now: Timestamp
  ) -> [String] { lines(for: reports.map { ("\($0.name) at \($0.place)", $0.problem) }, at: now) }

  /// Returns the lines for what is new of chips. One that starts or sleeps has not shown that it works again.
  package mutating func lines(
    for reports: [DaemonStatus.ChipReport], at now: Timestamp
  ) -> [String] {
    let judged = reports.filter { $0.problem != nil || $0.state == SensorState.running.word }
    return lines(for: judged.map { ($0.name, $0.problem) }, at: now)
  }

  private mutating func lines(
    for reports: [(name: String, problem: String?)], at now: Timestamp
  ) -> [String] {
    var lines: [String] = []
    for (name, problem) in reports {
      guard let problem else {
        if entries.removeValue(forKey: name)?.told != nil { lines.append("\(name) works again") }
        continue
      }
      var entry = entries[name] ?? Entry(since: now)
      let isDue =
        if let told = entry.told {
          told.problem != problem && now.seconds(since: told.at) >= Self.pause
        } else {
          now.seconds(since: entry.since) >= Self.patience
        }
      if isDue {
        lines.append("\(name): \(problem)")
        entry.told = (problem, now)
      }
      entries[name] = entry
    }
    return lines
  }
}
