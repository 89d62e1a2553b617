// What has happened for a program while it was not there.

import FoundationEssentials
import JSONReading
package import LocationServices
package import StateStore
import Synchronization

/// Crossings and visits that a program has not heard of yet, from run to run of program and daemon.
///
/// A crossing goes once the program has said that it tells its delegate. A visit goes once it is sent.
package final class AwayEvents: Sendable {
  /// The number of crossings of one region that are kept; an even number, so that the oldest pair goes when there are more.
  private static let mostCrossings = 16
  /// The number of visits that are kept. The oldest goes when there are more.
  private static let mostVisits = 100

  /// What is kept of a program.
  package struct Content: Hashable, Codable, Sendable {
    static let newest = 1
    var schema = newest
    /// The program.
    package var client: AuthorizationClient
    /// What it needs positions for, in its own words.
    package var usage: UsageDescriptions?
    /// Whether it was waiting for visits.
    var wantsVisits = false
    var crossings: [RegionEvent] = []
    var visits: [VisitReport] = []
  }

  private struct State: Sendable {
    var content: Content
    /// The content that was last written to the file, or `nil` if the file does not exist.
    var written: Content?
    var problem: String?
  }

  /// The largest file in bytes. The longest content is shorter.
  private static let largest = 1_048_576

  private let file: ApplicationFile?
  private let state: Mutex<State>
  /// Held while the file is written, so that the newest content is the last.
  private let writing = Mutex(())

  /// Makes an empty list for a program.
  ///
  /// - Parameter file: Where it is kept, or `nil` to keep it in memory.
  package init(of client: AuthorizationClient, in file: ApplicationFile?) {
    self.file = file
    state = Mutex(State(content: Content(client: client)))
  }

  /// Reads what is kept of a program in a file.
  ///
  /// - Throws: An error if it is no such file. The file is then set aside.
  package static func load(_ file: ApplicationFile) throws -> AwayEvents? {
    switch file.read(limit: largest) {
    case .missing: return nil
    case .unreadable(let reason): throw StoreProblem(file.file.path, reason)
    case .data(let data):
      do {
        let content = try JSONDocument.decode(Content.self, from: Array(data))
        guard content.schema == Content.newest else {
          throw StoreProblem("schema", "\(content.schema) is not \(Content.newest)")
        }
        let events = AwayEvents(of: content.client, in: file)
        events.state.withLock { ($0.content, $0.written) = (content, content) }
        return events
      } catch {
        try? file.putAside()
        throw StoreProblem(
          file.file.path, "no list of a program's events; it is put aside as '.damaged' (\(error))")
      }
    }
  }

  /// The program.
  package var client: AuthorizationClient { state.withLock { $0.content.client } }
  /// What the program needs positions for, in its own words.
  package var usage: UsageDescriptions? {
    get { state.withLock { $0.content.usage } }
    set { change { $0.usage = newValue } }
  }
  /// The reason why the events are lost with the daemon, or `nil` if they are kept.
  package var problem: String? { state.withLock { $0.problem } }
  /// Whether the program was waiting for visits when it went.
  package var wantsVisits: Bool {
    get { state.withLock { $0.content.wantsVisits } }
    set { change { $0.wantsVisits = newValue } }
  }
  /// The number of crossings and visits that the program has not heard of.
  package var count: Int { state.withLock { $0.content.crossings.count + $0.content.visits.count } }

  /// Takes the last state that was found of a region, or `nil` if nothing waits.
  func state(of region: RegionKey) -> RegionState? {
    state.withLock { $0.content.crossings.last { $0.region.key == region }?.state }
  }

  /// Returns the crossings of a monitor's regions (`nil`: of the location managers), in order.
  func crossings(of monitor: String?) -> [RegionEvent] {
    state.withLock { $0.content.crossings.filter { $0.region.monitor == monitor } }
  }

  /// Adds a crossing.
  func add(_ event: RegionEvent) {
    change { content in
      content.crossings.append(event)
      let same = content.crossings.indices.filter {
        content.crossings[$0].region.key == event.region.key
      }
      // Two of them lead back to where the first one began.
      guard same.count > Self.mostCrossings else { return }
      for index in same.prefix(2).reversed() { content.crossings.remove(at: index) }
    }
  }

  /// The program tells its delegate a crossing: it goes, with those of the region that are no newer, in seconds since 1970.
  func told(_ event: RegionEvent, at date: Double) {
    remove(until: event.region.key) { $0 == event || $0.utc ?? .infinity <= date }
  }

  /// The program was told a crossing before a daemon ended that has not written so.
  func told(_ record: RegionRecord) {
    remove(until: record.region.key) { $0.state == record.state && $0.utc == record.date }
  }

  private func remove(until key: RegionKey, _ isTold: (RegionEvent) -> Bool) {
    change { content in
      let last = content.crossings.lastIndex { $0.region.key == key && isTold($0) }
      guard let last else { return }
      content.crossings.replaceSubrange(
        ...last, with: content.crossings[...last].filter { $0.region.key != key })
    }
  }

  /// A region is monitored from now on: what was found of another circle of its name is of no interest.
  func replace(_ region: MonitoredRegion) {
    change { content in
      content.crossings.removeAll {
        $0.region.key == region.key && !$0.region.hasShape(of: region)
      }
    }
  }

  /// A region is monitored no longer.
  func forget(_ region: RegionKey) { change { $0.crossings.removeAll { $0.region.key == region } } }

  /// Adds a visit.
  func add(_ visit: VisitReport) {
    change { content in
      content.visits.append(visit)
      if content.visits.count > Self.mostVisits { content.visits.removeFirst() }
    }
  }

  /// Returns the visits and removes them.
  func takeVisits() -> [VisitReport] {
    var visits: [VisitReport] = []
    change { swap(&$0.visits, &visits) }
    return visits
  }

  private func change(_ body: (inout Content) -> Void) { state.withLock { body(&$0.content) } }

  /// Writes the file if its content has changed, or removes it if nothing is left to remember. Waits for the disk.
  ///
  /// - Parameter hasRegions: Whether regions of the program are monitored.
  package func save(hasRegions: Bool) {
    guard let file else { return }
    writing.withLock { _ in write(file, hasRegions) }
  }

  private func write(_ file: ApplicationFile, _ hasRegions: Bool) {
    let (new, old) = state.withLock { state -> (Content?, Content?) in
      let content = state.content
      let isNeeded = hasRegions || content.wantsVisits || !content.visits.isEmpty
      return (isNeeded ? content : nil, state.written)
    }
    guard new != old else { return }
    do {
      if let new {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try file.write(try encoder.encode(new))
      } else {
        file.remove()
      }
      state.withLock { ($0.written, $0.problem) = (new, nil) }
    } catch {
      state.withLock { $0.problem = "\(error)" }
    }
  }
}
