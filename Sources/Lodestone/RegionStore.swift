// The application's regions from run to run.

import FoundationEssentials
import JSONReading
import LocationServices
package import StateStore
import Synchronization

/// Keeps which regions are watched, and on which side of each boundary the application knows the board to be.
///
/// A crossing is kept in the moment before the application is told of it, on the thread that tells it, and forced to the
/// disk after that: a program that is killed between two of them, or while it is told of one, has neither lost nor doubled
/// one, and after a power cut the last one may be told again. Where nothing can be written all goes on, for this run.
package final class RegionStore: Sendable {
  private struct Content: Codable {
    static let newest = 1
    var schema: Int
    var regions: [RegionRecord]
  }

  private struct State {
    var records: [RegionRecord] = []
    /// Why it could not be read, until somebody was told.
    var unreadable: String?
    /// Why what was changed last is not kept.
    var problem: String?
  }

  private let file: ApplicationFile?
  private let state = Mutex(State())
  // Held until what was loaded is watched: whoever comes second finds it watched.
  private let beginning = Mutex(false)

  /// What is kept, in the order in which it was added.
  var records: [RegionRecord] { state.withLock { $0.records } }
  /// Why what is watched now is lost with the program, for a person; `nil` where it is kept.
  var problem: String? { state.withLock { $0.problem } }

  /// Whether what is watched now outlives the program.
  var isKept: Bool { file != nil && problem == nil }

  /// Makes a store that has read nothing yet.
  ///
  /// - Parameter file: `nil` keeps nothing.
  package init(_ file: ApplicationFile?) { self.file = file }

  /// The store of the running program.
  static func current() -> RegionStore {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let name = path.map { URL(filePath: $0).lastPathComponent } ?? "program"
    return RegionStore(ApplicationFile("regions", of: name, in: StateDirectory.current()))
  }

  /// Reads what earlier runs have kept, and has it watched; only the first call does anything.
  func begin(_ watch: ([RegionRecord]) -> Void) {
    beginning.withLock { hasBegun in
      guard !hasBegun else { return }
      hasBegun = true
      do {
        watch(try load())
      } catch {
        state.withLock { state in
          state.unreadable = "\(error)"
          state.problem = "\(error)"
        }
      }
    }
  }

  /// Why what earlier runs have watched cannot be read, for a person, once.
  func takeUnreadable() -> String? {
    state.withLock { state in
      defer { state.unreadable = nil }
      return state.unreadable
    }
  }

  /// What earlier runs have kept. Throws where it cannot be read: it is put aside then.
  private func load() throws -> [RegionRecord] {
    try state.withLock { state in
      guard let file else { return [] }
      file.close()
      switch file.read() {
      case .missing: return []
      case .unreadable(let reason): throw StoreProblem(file.file.path, reason)
      case .data(let data):
        do {
          state.records = try Self.decode(data)
        } catch {
          try? file.putAside()
          throw StoreProblem(
            file.file.path, "no list of regions; it is put aside as '.damaged' (\(error))")
        }
        return state.records
      }
    }
  }

  private static func decode(_ data: Data) throws -> [RegionRecord] {
    let content = try JSONDocument.decode(Content.self, from: Array(data))
    guard content.schema == Content.newest else {
      throw StoreProblem("schema", "\(content.schema) is not \(Content.newest)")
    }
    return content.regions
  }

  /// Keeps that a region is watched, and what is taken as known of it; of the same circle what was kept stays.
  func start(
    _ region: MonitoredRegion, assuming state: RegionState = .unknown, at date: Double
  ) throws {
    try change(isForced: true) { records in
      let same = records.first { $0.region.key == region.key && $0.region.hasShape(of: region) }
      records.removeAll { $0.region.key == region.key }
      records.append(
        RegionRecord(region: region, state: same?.state ?? state, date: same.map(\.date) ?? date))
    }
  }

  /// Keeps that a region is not watched any more.
  func stop(_ key: RegionKey) throws {
    try change(isForced: true) { $0.removeAll { $0.region.key == key } }
  }

  /// Keeps what the application is told next; `force` belongs after that. Told to a second manager nothing is written.
  func keep(_ key: RegionKey, _ new: RegionState, at date: Double) throws {
    try change(isForced: false) { records in
      guard let index = records.firstIndex(where: { $0.region.key == key }),
        records[index].state != new
      else { return }
      records[index].state = new
      records[index].date = date
    }
  }

  /// Removes the file if it was read and holds no region.
  func discardIfEmpty() {
    beginning.withLock { hasBegun in
      guard hasBegun, isKept, records.isEmpty else { return }
      file?.remove()
    }
  }

  /// Forces what is kept to the disk.
  func force() throws { try file?.force() }

  private func change(isForced: Bool, _ body: (inout [RegionRecord]) -> Void) throws {
    try state.withLock { state in
      let before = state.records
      body(&state.records)
      guard let file, !before.elementsEqual(state.records, by: Self.areSame) else { return }
      do {
        if isForced { file.close() }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try file.replace(
          try encoder.encode(Content(schema: Content.newest, regions: state.records)))
        if isForced { try file.force() }
        state.problem = nil
      } catch {
        state.problem = "\(error)"
        throw error
      }
    }
  }

  private static func areSame(_ a: RegionRecord, _ b: RegionRecord) -> Bool {
    a.region == b.region && a.state == b.state
  }
}

/// Why regions cannot be kept, or read: one line for a person.
struct StoreProblem: Error, CustomStringConvertible {
  let description: String

  init(_ path: String, _ reason: String) { description = "\(path): \(reason)" }
}
