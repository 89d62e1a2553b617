import Foundation
import Lodestone
import Testing

@testable import Diagnosis

/// The rules of a machine and what was decided, in words.
final class AuthorizationOverviewTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func overview(_ text: String) throws -> AuthorizationOverview {
    let file = folder.appending(path: "rules.yaml")
    try Data(text.utf8).write(to: file)
    return AuthorizationOverview(
      AuthorizationRecords(policies: [AuthorizationPolicy(file)], folder: folder))
  }

  @Test("a rule says whom it is about, what they may, and who answers")
  func rules() throws {
    let overview = try overview(
      """
      schema: 1
      rules:
        - {executable: /usr/bin/log, user: root, authorization: always, accuracy: reduced}
        - {authorization: denied}
      """)
    #expect(!overview.isUnusable && !overview.hasProblems)
    #expect(
      overview.lines.dropFirst().prefix(2) == [
        "  /usr/bin/log as root: always, reduced accuracy", "  every program: denied",
      ])
    #expect(overview.lines.first?.hasSuffix("the first rule that fits a program counts") == true)
  }

  @Test("rules that cannot be used allow nothing, and the reason is said")
  func unusable() throws {
    let overview = try overview("schema: 1\nrules:\n  - {authorization: perhaps}\n")
    #expect(overview.isUnusable && overview.lines.count == 2)
    #expect(
      overview.lines.first?.hasPrefix("no program may know where this machine is: ") == true)
    #expect(overview.lines.first?.contains("rules.yaml:3") == true)
  }

  @Test("where nothing was decided and there are no rules, it says so")
  func nothing() {
    let overview = AuthorizationOverview(AuthorizationRecords(policies: [], folder: folder))
    #expect(overview.lines == ["nothing was decided about a program so far"])
    #expect(!overview.isUnusable && !overview.hasProblems)
  }
}
