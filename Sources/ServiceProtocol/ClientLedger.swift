// What a client has asked for and not taken back: what a daemon that has started again must be told.

import LocationServices
import SensorTypes

/// What one client of a program has asked for.
///
/// After the connection was lost, the requests of `settings` and `services` put a new daemon where the old one was. Monitored regions
/// are not among them: the daemon keeps those on disk.
struct ClientLedger: Sendable {
  /// A request that is answered once, with its number.
  private struct Pending<Request: Sendable>: Sendable {
    var request: Request
    var number: UInt64
  }

  private var configuration: ClientSettings?
  private var session: ServiceSession?
  private var started: [Service] = []
  private var constraints: [BeaconConstraint] = []
  private var observed: BoardRequest?
  private var authorization: Pending<AuthorizationRequest>?
  /// Whether the client awaits the answer to a request for one location. Until it has arrived, another request is the same one.
  private(set) var awaitsLocation = false
  /// The number of deferrals whose end was not reported yet.
  private var deferrals = 0
  /// The regions whose state was asked for.
  private var askedRegions: [MonitoredRegion] = []
  /// The last state that the client was told of a region, which another one of the same name may have replaced.
  private var toldRegions: [RegionKey: (region: MonitoredRegion, state: RegionState)] = [:]
  /// The number of the request before which events of a kind are stale.
  private var starts: [EventSource: UInt64] = [:]

  // MARK: Requests

  /// Records a request of the client.
  mutating func record(_ action: ServiceAction, number: UInt64) {
    switch action {
    case .configure(let settings):
      if settings.motion.frame != configuration?.motion.frame {
        starts[.service(.deviceMotion)] = number
      }
      if settings.headingOrientation != configuration?.headingOrientation {
        starts[.service(.heading)] = number
      }
      configuration = settings
    case .start(let service):
      if !started.contains(service) { started.append(service) }
      switch service {
      case .location: cancelRequest(number)
      // They begin again: what the former start has measured is of no use.
      case .accelerometer, .gyro, .magnetometer, .deviceMotion: starts[.service(service)] = number
      case .heading, .altitude, .significantChanges, .visits, .absoluteAltitude: break
      }
    case .stop(let service):
      started.removeAll { $0 == service }
      starts[.service(service)] = number
      if service == .location { cancelRequest(number) }
    case .requestLocation: awaitsLocation = true
    case .allowDeferral: deferrals += 1
    case .hold(let session): self.session = session
    case .observe(let request): observed = request
    case .startRanging(let constraint):
      if !constraints.contains(constraint) { constraints.append(constraint) }
    case .stopRanging(let constraint):
      constraints.removeAll { $0 == constraint }
      starts[.beacons(constraint)] = number
    case .requestAuthorization(let request):
      authorization = Pending(request: request, number: number)
    case .askRegion(let region):
      askedRegions.removeAll { $0.key == region.key }
      askedRegions.append(region)
    case .register, .disallowDeferral, .suspend, .resume, .answer, .dismissPrompt, .startRegion,
      .stopRegion, .regionTold, .release:
      break
    }
  }

  /// Takes note that no daemon answers the request for a location.
  mutating func giveUpLocation() { awaitsLocation = false }

  private mutating func cancelRequest(_ number: UInt64) {
    if awaitsLocation { starts[.answer] = number }
    awaitsLocation = false
  }

  /// Forgets what the client was told of a region, which some client begins to watch, or watches no longer.
  mutating func forget(_ region: RegionKey) { toldRegions[region] = nil }

  /// Returns the last state that the client was told of a region, or `nil` if it was told none.
  func told(_ region: MonitoredRegion) -> RegionState? {
    guard let told = toldRegions[region.key], told.region.hasShape(of: region) else { return nil }
    return told.state
  }

  // MARK: Events

  /// Returns whether the client is to be told an event, and records what it settles.
  ///
  /// - Parameter during: The request that the daemon was carrying out, or had carried out last, when the event arose. An event that was
  ///   on its way when its service was stopped is stale.
  mutating func accepts(_ content: EventContent, during: UInt64) -> Bool {
    if let source = content.source, let start = starts[source], during < start { return false }
    switch content {
    case .requestedLocation, .requestFailed: awaitsLocation = false
    case .deferralEnded: deferrals = max(0, deferrals - 1)
    case .fullAccuracyAnswered:
      if case .fullAccuracy = authorization?.request { authorization = nil }
    case .authorization(let report):
      guard let pending = authorization, during >= pending.number, !report.isBeingAsked else {
        break
      }
      if case .fullAccuracy = pending.request { break }
      authorization = nil
    case .failure(let failure):
      // These did not start it.
      if failure.cause == .notEquipped || failure.cause == .notInUse {
        started.removeAll { $0 == failure.service }
      }
    case .region(let event): return accepts(event)
    default: break
    }
    return true
  }

  /// A daemon that has started again finds crossings that the program was already told: those are not told twice.
  private mutating func accepts(_ event: RegionEvent) -> Bool {
    switch event.kind {
    case .answered: askedRegions.removeAll { $0.key == event.region.key }
    case .crossed(let state), .settled(let state):
      if let told = toldRegions[event.region.key], told == (event.region, state) { return false }
      toldRegions[event.region.key] = (event.region, state)
    case .started, .failed, .unkept: break
    }
    return true
  }

  /// Returns what the client is told when the connection is lost, with the reason in words.
  mutating func eventsAfterLoss(_ reason: String) -> [EventContent] {
    var events = started.map { Self.failure($0, reason) }
    for _ in 0..<deferrals { events.append(.deferralEnded(.failed(reason))) }
    deferrals = 0
    events += constraints.map { Self.failure($0, reason) }
    events += Self.services(of: observed?.demand).map { Self.failure($0, reason) }
    return events
  }

  /// Returns the answers that a client gets because no daemon can be reached.
  mutating func eventsOfDespair(_ reason: String) -> [EventContent] {
    var events: [EventContent] = []
    if awaitsLocation {
      events.append(.requestFailed(ServiceFailure(service: .location, reason: reason)))
    }
    if case .fullAccuracy? = authorization?.request {
      events.append(.fullAccuracyAnswered(.unanswered))
      authorization = nil
    }
    awaitsLocation = false
    return events
  }

  /// Returns what the client is told at once of a request that no daemon hears.
  ///
  /// Requests that last are carried out later, and have a failure for now. Requests with one answer keep waiting, except for deferrals.
  mutating func eventsWithoutDaemon(_ action: ServiceAction, _ reason: String) -> [EventContent] {
    switch action {
    case .start(let service): return [Self.failure(service, reason)]
    case .startRanging(let constraint): return [Self.failure(constraint, reason)]
    case .observe(let request):
      return Self.services(of: request?.demand).map { Self.failure($0, reason) }
    case .allowDeferral:
      deferrals = max(0, deferrals - 1)
      return [.deferralEnded(.failed(reason))]
    default: return []
    }
  }

  /// The services that stand for what is observed, when it fails.
  private static func services(of demand: Demand?) -> [Service] {
    guard let demand else { return [] }
    var services: [Service] = []
    if demand.heading { services.append(.heading) }
    if demand.location { services.append(.location) }
    if demand.altitude { services.append(.altitude) }
    if demand.motion.isAny || demand.waves { services.append(.deviceMotion) }
    return services
  }

  private static func failure(_ service: Service, _ reason: String) -> EventContent {
    .failure(ServiceFailure(service: service, reason: reason))
  }

  private static func failure(_ constraint: BeaconConstraint, _ reason: String) -> EventContent {
    .rangingFailed(
      RangingFailure(
        constraint: constraint, failure: BeaconFailure(isUnavailable: true, reason: reason)))
  }

  // MARK: Replay

  /// The requests that make a new daemon know the client. All clients' come before any service is started, because a session of one lets
  /// another one start.
  var settings: [ServiceAction] {
    var actions: [ServiceAction] = [.register]
    if let configuration { actions.append(.configure(configuration)) }
    if let session { actions.append(.hold(session)) }
    return actions
  }

  /// The requests that start what was started, and ask what was not answered.
  var services: [ServiceAction] {
    var actions = started.map { ServiceAction.start($0) }
    actions += constraints.map { .startRanging($0) }
    if let authorization { actions.append(.requestAuthorization(authorization.request)) }
    if awaitsLocation { actions.append(.requestLocation) }
    actions += askedRegions.map { .askRegion($0) }
    if let observed { actions.append(.observe(observed)) }
    return actions
  }
}

/// What an event comes from, as far as a later request can make it stale.
enum EventSource: Hashable, Sendable {
  case service(Service)
  /// A request for one location.
  case answer
  case beacons(BeaconConstraint)
}

extension EventContent {
  /// What the event comes from; `nil` for events that stay true.
  var source: EventSource? {
    switch self {
    case .location, .deferredLocations, .paused, .resumed: .service(.location)
    case .heading, .headingExpired: .service(.heading)
    case .significantChange: .service(.significantChanges)
    case .visit: .service(.visits)
    case .altitude: .service(.altitude)
    case .absoluteAltitude: .service(.absoluteAltitude)
    case .failure(let failure): .service(failure.service)
    case .motion(.force): .service(.accelerometer)
    case .motion(.angularRate): .service(.gyro)
    case .motion(.field): .service(.magnetometer)
    case .motion(.device): .service(.deviceMotion)
    case .requestedLocation, .requestFailed: .answer
    case .beacons(let report): .beacons(report.constraint)
    case .rangingFailed(let failure): .beacons(failure.constraint)
    case .deferralEnded, .region, .regionsUnreadable, .question, .questionClosed, .authorization,
      .fullAccuracyAnswered, .observation, .reading:
      nil
    }
  }
}
