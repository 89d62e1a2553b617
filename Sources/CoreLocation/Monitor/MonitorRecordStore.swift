// The conditions of a monitor, and their way to the services.

import Foundation
import Inboxes
import LocationServices
import Synchronization

/// Knows a monitor's conditions and what was said of each; the services know those that are watched.
///
/// What was said stands here a second time, because a record tells what was handled, and the services keep what was handed
/// out.
final class MonitorRecordStore: Sendable {
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

  private let name: String
  private let port: any ServicePort
  private let client: ClientID
  private let state = Mutex(State())

  init(_ name: String, _ port: any ServicePort) {
    self.name = name
    self.port = port
    client = port.connect(EventInbox(.mute))
    let known = port.ask(.regions(of: name))
    state.withLock { state in
      state.isUnkept = known.problem != nil
      for record in known.records {
        let identifier = record.region.identifier
        let event = CLMonitor.Event(
          identifier: identifier, state: CLMonitor.Event.State(record.state),
          date: record.date.map { Date(timeIntervalSince1970: $0) } ?? .distantPast)
        state.put(CLMonitor.Record(condition: record.region.condition, lastEvent: event))
      }
    }
  }

  deinit { port.send(ServiceRequest(client, .release)) }

  var identifiers: [String] { state.withLock { $0.identifiers } }

  func record(for identifier: String) -> CLMonitor.Record? {
    state.withLock { $0.records[identifier] }
  }

  /// A client that hears of the conditions, from where the last one stopped.
  func feed() -> LiveFeed {
    LiveFeed(port, [.configure(ClientSettings(hearsRegions: true, monitor: name))])
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
    if let region { port.send(ServiceRequest(client, .startRegion(region, assuming: side))) }
    // The question may block the actor for a moment: the SDK's `add` is not asynchronous within it.
    let watched = port.ask(.regions(of: name))
    if let region, watched.records.contains(where: { $0.region == region }) {
      state.withLock { $0.isUnkept = watched.problem != nil }
      // Of the same circle, or the same beacons, what is known stays.
      if let before, before.lastEvent.state != .unmonitored,
        MonitoredRegion(before.condition, identifier: identifier, monitor: name)?
          .hasShape(of: region) == true
      {
        event = before.lastEvent
      }
    } else {
      // The one whose place it should have taken is not watched any more either.
      port.send(ServiceRequest(client, .stopRegion(RegionKey(identifier, monitor: name))))
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
      identifier: identifier, state: state, date: Date())
  }

  func remove(_ identifier: String) {
    state.withLock { $0.remove(identifier) }
    port.send(ServiceRequest(client, .stopRegion(RegionKey(identifier, monitor: name))))
  }

  /// Notes that an event was handled.
  func note(_ event: CLMonitor.Event) {
    state.withLock { $0.records[event.identifier]?.lastEvent = event }
  }

  /// What the services say of a region, as it is handed out: from then on it is known from run to run. `nil` where there is
  /// nothing to say.
  func event(_ told: RegionEvent) -> CLMonitor.Event? {
    let identifier = told.region.identifier
    let date = port.date(utc: told.utc, told.time)
    var event: CLMonitor.Event?
    switch told.kind {
    case .started, .answered, .unkept: return nil
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
      guard port.ask(.keep(told)) else { break }
      event = CLMonitor.Event(
        identifier: identifier, state: CLMonitor.Event.State(side), date: date)
      port.send(ServiceRequest(client, .regionTold(told.region.key)))
    }
    let isUnkept = state.withLock { $0.isUnkept }
    event?.persistenceUnavailable = isUnkept
    return event
  }
}
