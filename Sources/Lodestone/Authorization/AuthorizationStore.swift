// What was decided, from run to run.

import FoundationEssentials
import LocationServices
import StateStore
import Synchronization

/// Keeps what was decided about the running program.
///
/// Where nothing can be written the decision holds for this run.
final class AuthorizationStore: Sendable {
  private let client: AuthorizationClient
  private let file: DecisionFile?
  // Two programs of one name, and two threads of one process, may not write over each other's.
  private static let isWriting = Mutex(())

  /// - Parameter folder: `StateDirectory.current()` on a board; `nil` keeps nothing.
  init(of client: AuthorizationClient, in folder: URL?) {
    self.client = client
    file = folder.map { DecisionFile(of: client.name, in: $0) }
  }

  /// What was decided about the client; `nil`: nothing yet. Throws where it cannot be read: it is put aside then.
  func load() throws -> AuthorizationDecision? {
    do {
      return try file?.records().first { $0.client == client }?.decision
    } catch let damaged as DecisionFile.Damaged {
      try? file?.file.putAside()
      throw StoreProblem(
        damaged.path, "no list of decisions; it is put aside as '.damaged' (\(damaged.reason))")
    }
  }

  func keep(_ decision: AuthorizationDecision, at date: Double) throws {
    try Self.isWriting.withLock { _ in
      guard let file else { return }
      // Those of other programs of the name stand there, too: a file that cannot be read is not written over.
      var records = try readable(file)
      records.removeAll { $0.client == client }
      if decision != AuthorizationDecision(.notDetermined) {
        records.append(DecisionRecord(client: client, decision: decision, date: date))
      }
      try file.write(records)
    }
  }

  /// Returns the decisions in a file. One that holds something else is put aside.
  private func readable(_ file: DecisionFile) throws -> [DecisionRecord] {
    do {
      return try file.records()
    } catch is DecisionFile.Damaged {
      try file.file.putAside()
      return []
    }
  }
}
