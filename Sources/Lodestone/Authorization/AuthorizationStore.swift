// What was decided, from run to run.

import Foundation
import LocationServices
import SensorHub
import Synchronization

/// Keeps what was decided about the programs of one name: those of other users and units stand beside each other.
///
/// Where nothing can be written the decision holds for this run.
final class AuthorizationStore: Sendable {
  private struct Record: Codable {
    var client: AuthorizationClient
    var decision: AuthorizationDecision
    /// When it was decided, seconds since 1970.
    var date: Double
  }

  private struct Content: Codable {
    static let newest = 1
    var schema: Int
    var decisions: [Record]
  }

  private let client: AuthorizationClient
  private let file: ApplicationFile?
  // Two threads of one process may not write over each other's.
  private let isWriting = Mutex(())

  /// - Parameter folder: `StateDirectory.current()` on a board; `nil` keeps nothing.
  init(of client: AuthorizationClient, in folder: URL?) {
    self.client = client
    file = folder.map { ApplicationFile("authorization", of: client.name, in: $0) }
  }

  /// What was decided about the client; `nil`: nothing yet. Throws where it cannot be read: it is put aside then.
  func load() throws -> AuthorizationDecision? {
    try records().first { $0.client == client }?.decision
  }

  /// Keeps a decision.
  func keep(_ decision: AuthorizationDecision, at date: Double) throws {
    try isWriting.withLock { _ in
      guard let file else { return }
      var records = (try? records()) ?? []
      records.removeAll { $0.client == client }
      if decision != AuthorizationDecision(.notDetermined) {
        records.append(Record(client: client, decision: decision, date: date))
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
      try file.write(
        try encoder.encode(Content(schema: Content.newest, decisions: records)))
    }
  }

  private func records() throws -> [Record] {
    guard let file else { return [] }
    switch file.read() {
    case .missing: return []
    case .unreadable(let reason): throw StoreProblem(file.file.path, reason)
    case .data(let data):
      do {
        let content = try JSONDecoder().decode(Content.self, from: data)
        guard content.schema == Content.newest else {
          throw StoreProblem("schema", "\(content.schema) is not \(Content.newest)")
        }
        return content.decisions
      } catch {
        try? file.putAside()
        throw StoreProblem(
          file.file.path, "no list of decisions; it is put aside as '.damaged' (\(error))")
      }
    }
  }
}
