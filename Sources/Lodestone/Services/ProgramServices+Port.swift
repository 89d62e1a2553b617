// The services of this process, for the programs' classes above: what they send and ask, and who is told.

import BoardFile
package import LocationServices
import SensorBus
import SensorHub
import SensorTypes
import ServiceProtocol

extension ProgramServices: RuntimeBackend {
  package var connection: ServiceConnection { .none }
  package var authorizationAgent: (any AuthorizationAgent)? {
    get { authorizationCoordinator.agent }
    set {
      authorizationCoordinator.agent = newValue
      beginAuthorization(anew: true)
    }
  }

  package func connect(_ client: any ServiceClient) -> ClientID { connect(client) {} }

  /// Connects a client. `willHandle` is called with the services locked, before any event can arise from it.
  package func connect(_ client: any ServiceClient, willHandle: () -> Void) -> ClientID {
    beginAuthorization()
    defer { applyDemand() }
    return services.withLock { state in
      state.lastID += 1
      let id = ClientID(rawValue: state.lastID)
      state.clients[id] = client
      handle(ServiceRequest(id, .register), &state, willHandle: willHandle)
      if state.application == .suspended {
        client.applicationChanged(isSuspended: true)
        handle(ServiceRequest(id, .suspend), &state)
      }
      return id
    }
  }

  package func send(_ request: ServiceRequest) { send(request) {} }

  /// Sends a request. `willHandle` is called with the services locked, before any event can arise from it.
  package func send(_ request: ServiceRequest, willHandle: () -> Void) {
    var untold: [RegionRecord] = []
    switch request.action {
    case .regionTold:
      // Where it cannot be kept the application is told by the next run once more.
      try? regionStore.force()
      return
    case .startRegion, .stopRegion, .askRegion: beginRegions()
    case .configure(let settings) where settings.hearsRegions:
      beginRegions()
      if let monitor = settings.monitor {
        untold = regionStore.records.filter { $0.region.monitor == monitor }
      }
    default: break
    }
    let client = services.withLock { state in
      let client = state.clients[request.client]
      if case .configure(let settings) = request.action,
        state.engine.settings(of: request.client)?.monitor != settings.monitor
      {
        // What was found of them and told nobody is found again, for who begins to hear of them.
        for record in untold {
          let told = away?.state(of: record.region.key) ?? record.state
          state.engine.reset(record.region.key, to: told)
        }
      }
      let old = state.engine.settings(of: request.client)
      handle(request, &state, willHandle: willHandle)
      welcome(request, after: old, &state)
      tellUnreadable(request, &state)
      if request.action == .release { state.clients[request.client] = nil }
      return client
    }
    keepRegion(request)
    if request.action.changesAway { saveAway() }
    applyDemand()
    // A client that nobody else holds ends here, without a lock: what it holds may be the application's.
    withExtendedLifetime(client) {}
  }

  package func answer(_ question: ServiceQuestion) -> ServiceAnswer? {
    services.preconditionNotHeld()
    switch question {
    case .authorization: return .authorization(authorization)
    case .capabilities: return .capabilities(capabilities)
    case .beacons: return .beacons(problem: radio.problem?.description)
    case .position(let isReduced):
      beginAuthorization()
      let now = clocks.now()
      return services.withLock { state in
        .position(
          PositionAnswer(
            isGranted: state.engine.authorizationReport.isGranted,
            known: state.engine.knownPosition(at: now, isReduced: isReduced)))
      }
    case .regions(let monitor): return .regions(regions(of: monitor))
    case .keep(let event): return .kept(keep(event))
    case .program: return .program(report)
    // A daemon answers it itself.
    case .daemon: return nil
    case .board:
      let source = openedSource
      return .board(
        BoardReport(
          board: source?.board?.summary, file: source?.board.flatMap(encoded),
          sensors: source?.sensors ?? [], problem: source == nil ? openingFailure : nil))
    case .records: return .records(records)
    case .saveRecord(let save): return .recordSaved(self.save(save))
    case .setAltitude(let statement): return .altitudeSet(set(statement))
    }
  }

  private func encoded(_ board: Board) -> [UInt8]? {
    var board = board
    let authorization = authorization
    if !authorization.isGranted || authorization.accuracy != .full { board.position = nil }
    var bytes: [UInt8] = []
    do { try CBOREncoder.append(board, to: &bytes) } catch { return nil }
    return bytes
  }

  /// The program as the services know it.
  private var report: ProgramReport {
    ProgramReport(
      client: authorizationCoordinator.setup.client,
      authorizationProblem: authorizationCoordinator.problem, openingFailure: openingFailure,
      beacons: beaconCounters)
  }

  package func note(_ line: String) { diagnostics.add(line) }

  /// Waits until the queues of clients that were woken have returned, for a test.
  package func settleClients() {
    let clients = services.withLock { Array($0.clients.values) }
    for case let client as any SettlingClient in clients { client.settle() }
  }
}
