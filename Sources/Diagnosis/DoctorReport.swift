package import BoardFile

/// The text that `lodestone doctor` prints: a line a finding, followed by the line that mends it.
package struct DoctorReport {
  /// Whether any of the findings so far is a problem.
  package private(set) var hasProblems = false
  /// Whether something could not be looked at by this user.
  private var hasUnseen = false
  private let complete: (String) -> String

  /// - Parameter complete: Turns a command of ours into one that this user can type.
  package init(completing complete: @escaping (String) -> String) { self.complete = complete }

  /// Returns the line of a board file that can be used; without one, what is done instead.
  package mutating func take(_ board: Board?, file: String?) -> [String] {
    guard let board, let file else {
      return take(.init(.good, "no board file: the buses are probed"))
    }
    let count = board.sensors.count
    return take(.init(.good, "board file \(file): \(count) chip\(count == 1 ? "" : "s")"))
  }

  /// Returns the line of a daemon whose board is looked at.
  package mutating func take(_ board: Board, ofDaemon path: String) -> [String] {
    let count = board.sensors.count
    return take(
      .init(
        .good,
        "the daemon at \(path) owns the board \(board.name): \(count) chip\(count == 1 ? "" : "s")")
    )
  }

  /// Returns the lines of a daemon that should be there and cannot be asked.
  package mutating func take(unreachable error: any Error, at path: String) -> [String] {
    take(.init(.problem, "\(error)", mend: Doctor.remedy(forDaemonAt: path)))
  }

  /// Returns the lines of a board file that cannot be used.
  package mutating func take(unusable error: any Error) -> [String] {
    take(
      .init(.problem, "\(error)", mend: "edit the board file, or name another with --board"))
  }

  /// Returns the lines of a finding.
  package mutating func take(_ finding: Doctor.Finding) -> [String] {
    if finding.level == .problem { hasProblems = true }
    if finding.isUnseen { hasUnseen = true }
    let level = finding.level.rawValue
    let indent = String(repeating: " ", count: Self.indent - level.count)
    let line = level + indent + finding.text
    guard let mend = finding.mend else { return [line] }
    return [line, String(repeating: " ", count: Self.indent) + "mend: \(complete(mend))"]
  }

  /// The last line of a report without a problem.
  package var conclusion: String {
    hasUnseen
      ? "no problem found; a note above says what this user cannot see" : "nothing to mend"
  }

  /// The column in which the text begins.
  private static let indent = 9
}
