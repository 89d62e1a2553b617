// Regions and visits of a program that has gone: the daemon goes on with them.

import Dispatch
import LocationServices
import SensorHub
import SensorTypes

/// The clients that hear of regions and visits in the place of a program that is away.
struct AwayClients {
  /// A client for each monitor (`nil`: the location managers).
  var monitors: [String?: ClientID] = [:]
  var visits: ClientID?
}

extension ProgramServices {
  /// Takes note that the program has gone. Its regions and visits go on, and what happens waits for it.
  ///
  /// Call it before the program's clients are released.
  ///
  /// - Returns: Whether there is anything that goes on.
  package func goAway() -> Bool {
    guard let away else { return false }
    // Without the rules everything would be allowed.
    beginAuthorization()
    beginRegions()
    let records = regionStore.records
    let wantsVisits = away.wantsVisits
    for record in records { away.told(record) }
    services.withLock { state in
      for monitor in Set(records.map(\.region.monitor)) where state.away.monitors[monitor] == nil {
        recall(records, of: monitor, &state)
        state.away.monitors[monitor] = add(&state) { settings in
          (settings.hearsRegions, settings.monitor) = (true, monitor)
        }
      }
      guard wantsVisits, state.away.visits == nil else { return }
      let id = add(&state) { _ in }
      handle(ServiceRequest(id, .start(.visits)), &state)
      if let client = state.clients.keys.first(where: { state.engine.hasVisits($0) && $0 != id }) {
        state.engine.moveVisits(from: client, to: id)
      }
      state.away.visits = id
    }
    applyDemand()
    saveAway()
    return !records.isEmpty || wantsVisits
  }

  /// Adds a client that hears in the place of the program, with `services` held.
  private func add(_ state: inout Services, _ change: (inout ClientSettings) -> Void) -> ClientID {
    state.lastID += 1
    let id = ClientID(rawValue: state.lastID)
    state.clients[id] = AwayClient { [weak self] content in self?.keep(content) }
    handle(ServiceRequest(id, .register), &state)
    var settings = ClientSettings()
    change(&settings)
    handle(ServiceRequest(id, .configure(settings)), &state)
    return id
  }

  /// Holds of regions what the program was told, or will be told first; with `services` held. What was found since then is found again.
  func recall(_ records: [RegionRecord], of monitor: String?, _ state: inout Services) {
    for record in records where record.region.monitor == monitor {
      let told = away?.state(of: record.region.key) ?? record.state
      guard state.engine.state(of: record.region.key) != told else { continue }
      state.engine.reset(record.region.key, to: told)
    }
  }

  /// Keeps what has happened. The disk is slow, so it is written on another thread.
  private func keep(_ content: EventContent) {
    guard let away else { return }
    switch content {
    case .region(var event) where event.state != nil:
      // The monotonic clock begins again with the machine.
      event.utc = event.utc ?? wallTime(of: event.time)
      away.add(event)
    case .visit(var visit):
      visit.arrival = visit.arrival.map(dated)
      visit.departure = visit.departure.map(dated)
      away.add(visit)
    default: return
    }
    Self.keeping.async { [weak self] in self?.saveAway() }
  }

  private func dated(_ phase: VisitPhase) -> VisitPhase {
    var dated = phase
    dated.utc = phase.utc ?? wallTime(of: phase.time)
    return dated
  }

  /// Writes what waits for the program. Waits for the disk.
  package func saveAway() {
    // Regions that cannot be read may be there.
    away?.save(hasRegions: !regionStore.records.isEmpty || regionStore.problem != nil)
  }

  /// The reason why the regions are lost with the services, in one line.
  package var regionProblem: String? { regionStore.problem }

  /// Waits until what has happened so far is written, of all programs.
  package static func settleAway() { keeping.sync {} }

  // MARK: The program is back

  /// Takes note of what a request changes for what waits, after it was carried out, with `services` held. A client that begins to hear
  /// gets what has happened.
  ///
  /// - Parameter old: The client's settings before.
  func welcome(_ request: ServiceRequest, after old: ClientSettings?, _ state: inout Services) {
    guard let away else { return }
    switch request.action {
    case .configure(let settings) where settings.hearsRegions:
      if let absent = state.away.monitors.removeValue(forKey: settings.monitor) {
        release(absent, &state)
      } else if old?.hearsRegions == true, old?.monitor == settings.monitor {
        return
      }
      guard state.engine.tellsRegions else { return }
      for event in away.crossings(of: settings.monitor) {
        hand(ServiceEvent(client: request.client, content: .region(event)), to: state.clients)
      }
    case .start(.visits):
      guard state.engine.hasVisits(request.client) else { return }
      away.wantsVisits = true
      guard let absent = state.away.visits else { return }
      state.away.visits = nil
      state.engine.moveVisits(from: absent, to: request.client)
      release(absent, &state)
      // Their places are exact, whatever the program may know now.
      guard state.engine.tellsRegions else { return }
      for visit in away.takeVisits() {
        hand(ServiceEvent(client: request.client, content: .visit(visit)), to: state.clients)
      }
    case .stop(.visits), .release:
      if let absent = state.away.visits {
        // The clients of a program that has gone are released as well.
        guard request.action != .release else { return }
        state.away.visits = nil
        release(absent, &state)
        _ = away.takeVisits()
      }
      away.wantsVisits = state.clients.keys.contains { state.engine.hasVisits($0) }
    case .startRegion(let region, _): away.replace(region)
    case .stopRegion(let key): away.forget(key)
    default: break
    }
  }

  private func release(_ client: ClientID, _ state: inout Services) {
    handle(ServiceRequest(client, .release), &state)
    state.clients[client] = nil
  }
}

extension ServiceAction {
  /// Whether it changes what goes on while the program is away.
  var changesAway: Bool {
    switch self {
    case .startRegion, .stopRegion, .start(.visits), .stop(.visits): true
    default: false
    }
  }
}

/// Hears in the place of a program that is away.
private final class AwayClient: ServiceClient {
  private let keep: @Sendable (EventContent) -> Void

  init(_ keep: @escaping @Sendable (EventContent) -> Void) { self.keep = keep }

  func post(_ content: EventContent) -> Int {
    keep(content)
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}
}
