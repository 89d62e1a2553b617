// The conditions of a monitor, and their way to the services.

import Foundation
import LocationServices
import Lodestone
import Synchronization

/// Knows a monitor's conditions and what was said of each; the services know those that are watched.
///
/// What was said stands here a second time, because a record tells what was handled, and the services keep what was handed
/// out.
final class MonitorBook: Sendable {
  private struct State {
    var identifiers: [String] = []
    var records: [String: CLMonitor.Record] = [:]
    /// Whether what is added now is lost with the program.
    var isUnkept = false

    mutating func put(_ record: CLMonitor.Record) {
      let identifier = record.lastEvent.identifier
      if records.updateValue(record, forKey: identifier) == nil { identifiers.append(identifier) }
    }

    mutating func remove(_ identifier: String) {
      records[identifier] = nil
      identifiers.removeAll { $0 == identifier }
    }
  }

  /// Adds and removes; it hears nothing.
  private final class Mute: ServiceClient {
    func receive(_ content: ServiceEvent.Content) {}
    func applicationDidResume() {}
  }

  private let name: String
  private let runtime: LodestoneRuntime
  private let client: ClientID
  private let state = Mutex(State())

  init(_ name: String, _ runtime: LodestoneRuntime) {
    self.name = name
    self.runtime = runtime
    client = runtime.register(Mute())
    let isUnkept = runtime.restoreRegions() != nil
    let known = runtime.regionRecords(of: name)
    state.withLock { state in
      state.isUnkept = isUnkept
      for record in known {
        let identifier = record.region.identifier
        let event = CLMonitor.Event(
          identifier: identifier, state: CLMonitor.Event.State(record.state),
          date: record.date.map { Date(timeIntervalSince1970: $0) } ?? .distantPast)
        state.put(CLMonitor.Record(condition: record.region.condition, lastEvent: event))
      }
    }
  }

  deinit { runtime.send(ServiceRequest(client, .release)) }

  var identifiers: [String] { state.withLock { $0.identifiers } }

  func record(for identifier: String) -> CLMonitor.Record? {
    state.withLock { $0.records[identifier] }
  }

  /// A client that hears of the conditions, from where the last one stopped.
  func feed() -> LiveFeed {
    runtime.rewindRegions(of: name)
    return LiveFeed(
      runtime, settings: ClientSettings(hearsRegions: true, monitor: name), service: nil)
  }

  func add(
    _ condition: any CLCondition, _ identifier: String, assuming assumed: CLMonitor.Event.State
  ) {
    let side = assumed.region ?? .unknown
    let region = MonitoredRegion(condition, identifier: identifier, monitor: name)
    var event = event(identifier, CLMonitor.Event.State(side))
    let before = state.withLock { state in
      defer { state.put(CLMonitor.Record(condition: condition, lastEvent: event)) }
      return state.records[identifier]
    }
    // Whoever hears of the monitor is told where it cannot be watched, and finds the record.
    let problem = region.flatMap { runtime.startMonitoring($0, assuming: side, by: client) }
    if let region, runtime.monitoredRegions.contains(region) {
      if problem != nil { state.withLock { $0.isUnkept = true } }
      // Of the same circle, or the same beacons, what is known stays.
      if let before, before.lastEvent.state != .unmonitored,
        MonitoredRegion(before.condition, identifier: identifier, monitor: name)?
          .hasShape(of: region) == true
      {
        event = before.lastEvent
      }
    } else {
      // The one whose place it should have taken is not watched any more either.
      runtime.stopMonitoring(RegionKey(identifier, monitor: name), by: client)
      event = self.event(identifier, .unmonitored)
      event.conditionUnsupported = region?.problem != nil || region == nil
      event.conditionLimitExceeded = !event.conditionUnsupported
    }
    state.withLock { state in
      event.persistenceUnavailable = state.isUnkept
      state.put(CLMonitor.Record(condition: condition, lastEvent: event))
    }
  }

  private func event(_ identifier: String, _ state: CLMonitor.Event.State) -> CLMonitor.Event {
    CLMonitor.Event(
      identifier: identifier, state: state, date: Date(timeIntervalSince1970: runtime.wallTime))
  }

  func remove(_ identifier: String) {
    state.withLock { $0.remove(identifier) }
    runtime.stopMonitoring(RegionKey(identifier, monitor: name), by: client)
  }

  /// Notes that an event was handled.
  func note(_ event: CLMonitor.Event) {
    state.withLock { $0.records[event.identifier]?.lastEvent = event }
  }

  /// What the services say of a region, as it is handed out: from then on it is known from run to run. `nil` where there is
  /// nothing to say.
  func event(_ told: RegionEvent) -> CLMonitor.Event? {
    let identifier = told.region.identifier
    let date = runtime.date(utc: told.utc, told.time)
    var event: CLMonitor.Event?
    switch told.kind {
    case .started, .answered: return nil
    case .failed(let problem):
      var failed = CLMonitor.Event(identifier: identifier, state: .unmonitored, date: date)
      switch problem {
      case .tooMany: failed.conditionLimitExceeded = true
      case .unfit: failed.conditionUnsupported = true
      case .denied(let report):
        failed.authorizationDenied = report.status == .denied
        failed.authorizationRestricted = report.status == .restricted
        failed.authorizationRequestInProgress = report.isBeingAsked
        failed.accuracyLimited = report.isGranted && report.accuracy == .reduced
        failed.insufficientlyInUse = report.status == .whenInUse && !report.isInUse
      case .unheard: break
      }
      event = failed
    case .settled(let side), .crossed(let side):
      runtime.tell(told) {
        event = CLMonitor.Event(
          identifier: identifier, state: CLMonitor.Event.State(side), date: date)
      }
    }
    let isUnkept = state.withLock { $0.isUnkept }
    event?.persistenceUnavailable = isUnkept
    return event
  }
}
