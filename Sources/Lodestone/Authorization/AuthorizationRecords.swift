// What a machine's owner sees of who may know where it is.

package import FoundationEssentials
package import LocationServices
import StateStore

/// What the owner's file says and what was decided about the programs of this machine, for whoever looks after it.
package struct AuthorizationRecords: Sendable {
  /// The files of rules; a program gets the lesser right of them.
  package let policies: [AuthorizationPolicy]
  /// Where decisions are kept.
  package let folder: URL

  /// Those that this user's programs on this machine have.
  package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.init(
      policies: AuthorizationPolicy.current(environment),
      folder: StateDirectory.current(environment: environment))
  }

  /// Those of files and a folder.
  package init(policies: [AuthorizationPolicy], folder: URL) {
    self.policies = policies
    self.folder = folder
  }

  /// What was decided, by program; and what cannot be read.
  package func entries() -> (entries: [AuthorizationEntry], problems: [String]) {
    var (entries, problems) = ([AuthorizationEntry](), [String]())
    for file in files {
      do {
        entries += try file.records().map(AuthorizationEntry.init)
      } catch {
        problems.append("\(error)")
      }
    }
    return (entries, problems)
  }

  /// Forgets what was decided about a program, by its name, or by its path (what has a slash in it), whoever has run it: it
  /// is asked anew, from its next run on.
  ///
  /// - Returns: What was forgotten.
  package func forget(_ program: String) throws -> [AuthorizationEntry] {
    let path = URL(filePath: program)
    // A program is known by its real path, and `.build/debug` is a link. One that is gone has no other than the one given.
    let paths =
      program.contains("/")
      ? [path.standardizedFileURL.path, path.resolvingSymlinksInPath().path] : []
    func isMeant(_ client: AuthorizationClient) -> Bool {
      paths.isEmpty ? client.name == program : paths.contains(client.executable)
    }
    var forgotten: [AuthorizationEntry] = []
    for file in files {
      guard var records = try? file.records() else { continue }
      let gone = records.filter { isMeant($0.client) }
      guard !gone.isEmpty else { continue }
      records.removeAll { isMeant($0.client) }
      try file.write(records)
      forgotten += gone.map(AuthorizationEntry.init)
    }
    return forgotten
  }

  private var files: [DecisionFile] {
    let place = folder.appending(path: DecisionFile.folder)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
    return names.filter { $0.hasSuffix(".json") }.sorted()
      .map { DecisionFile(of: String($0.dropLast(5)), in: folder) }
  }
}

/// What was decided about a program.
package struct AuthorizationEntry: Hashable, Sendable, CustomStringConvertible {
  package let client: AuthorizationClient
  package let decision: AuthorizationDecision
  package let date: Date

  init(_ record: DecisionRecord) {
    (client, decision) = (record.client, record.decision)
    date = Date(timeIntervalSince1970: record.date)
  }

  /// For a person, in one line.
  package var description: String {
    let (grant, accuracy) = (decision.grant.rawValue, decision.accuracy.rawValue)
    return "\(client): \(grant), \(accuracy) accuracy, on \(date.ISO8601Format().prefix(10))"
  }
}
