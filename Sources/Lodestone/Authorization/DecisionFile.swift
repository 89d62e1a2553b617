// The file of what was decided about the programs of one name.

import FoundationEssentials
import JSONReading
import LocationServices
import StateStore

/// Reads and writes decisions. Those of other users and units, and of other programs of the same name, stand beside each
/// other in a file.
struct DecisionFile: Sendable {
  /// The folder of all of them, in that of what this machine keeps.
  static let folder = "authorization"

  private struct Content: Codable {
    static let newest = 1
    var schema: Int
    var decisions: [DecisionRecord]
  }

  let file: ApplicationFile

  init(of program: String, in folder: URL) {
    file = ApplicationFile(Self.folder, of: program, in: folder)
  }

  /// What it holds; none where there is no file. Throws where it cannot be read, or is no list of decisions.
  func records() throws -> [DecisionRecord] {
    switch file.read() {
    case .missing: return []
    case .unreadable(let reason): throw StoreProblem(file.file.path, reason)
    case .data(let data):
      let content: Content
      do {
        content = try JSONDocument.decode(Content.self, from: Array(data))
      } catch {
        throw Damaged(path: file.file.path, reason: "\(error)")
      }
      guard content.schema == Content.newest else {
        throw Damaged(
          path: file.file.path, reason: "schema \(content.schema) is not \(Content.newest)")
      }
      return content.decisions
    }
  }

  /// Replaces what it holds.
  func write(_ records: [DecisionRecord]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try file.write(try encoder.encode(Content(schema: Content.newest, decisions: records)))
  }

  /// No list of decisions.
  struct Damaged: Error, CustomStringConvertible {
    let path: String
    let reason: String
    var description: String { "\(path): no list of decisions (\(reason))" }
  }
}

struct DecisionRecord: Codable, Sendable {
  var client: AuthorizationClient
  var decision: AuthorizationDecision
  /// When it was decided, seconds since 1970.
  var date: Double
}
