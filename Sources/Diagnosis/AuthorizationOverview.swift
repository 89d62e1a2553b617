import FoundationEssentials
package import Lodestone

/// The rules of a machine and what was decided about programs: what `lodestone authorization show` prints.
package struct AuthorizationOverview {
  package private(set) var lines: [String] = []
  /// The reason why the rules cannot be used, so that no program may know where the machine is; `nil` if they can.
  package private(set) var problem: String?
  package var isUnusable: Bool { problem != nil }
  /// Whether decisions cannot be read.
  package let hasProblems: Bool

  package init(_ records: AuthorizationRecords) {
    let (entries, problems) = records.entries()
    hasProblems = !problems.isEmpty
    do {
      for policy in records.policies {
        guard let rules = try policy.rules() else {
          lines.append("no rules: there is no \(policy.file.path)")
          continue
        }
        lines.append("\(policy.file.path): the first rule that fits a program counts")
        lines += rules.map { "  \(Self.words($0))" }
      }
    } catch {
      let problem = "no program may know where this machine is: \(error)"
      self.problem = problem
      lines.append(problem)
    }
    lines.append(
      entries.isEmpty
        ? "nothing was decided about a program so far"
        : "decided, in \(records.folder.path):")
    lines += entries.map { "  \($0)" }
    lines += problems.map { "problem  \($0)" }
  }

  static func words(_ rule: AuthorizationRule) -> String {
    let who = [
      rule.executable, rule.user.map { "as \($0)" }, rule.unit.map { "in \($0)" },
    ].compactMap { $0 }
    let accuracy = rule.isReduced.map { $0 ? ", reduced accuracy" : ", full accuracy" } ?? ""
    let answers = rule.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return (who.isEmpty ? "every program" : who.joined(separator: " "))
      + ": \(rule.authorization.rawValue)\(accuracy)"
      + (answers.isEmpty ? "" : ", answered by \(answers.joined(separator: ", "))")
  }
}
