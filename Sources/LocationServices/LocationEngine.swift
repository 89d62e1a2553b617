// The services as a value: what clients ask for and what the board says go in, what each client is to be
// told comes out.

package import Geodesy
package import SensorTypes

/// All clients, what they have started, and what they have been told.
///
/// It reads no clock and starts nothing: `demand` says what is wanted of the hardware, `nextDeadline` when time alone
/// makes a difference, and the caller sees to both. Per observation it allocates nothing.
///
/// A position is handed out as it was measured, with its own time and the accuracy of that time, however old it is:
/// `CLLocationManager.location`, what answers a start or a request, and what is delivered. What age makes of it is
/// `LocationReport.uncertainty(at:activity:)`; by that the engine decides whether an old position is of use, and which
/// one of a request is the best.
package struct LocationEngine: Sendable {
  /// How far apart two points are, metres.
  package typealias Distance = @Sendable (_ from: Position, _ to: Position) -> Double

  /// The age up to which a known position answers a client that has just started, seconds. Its time says
  /// how old it is.
  package static let locationLifetime = 10.0
  /// The same for headings, seconds.
  package static let headingLifetime = 1.0
  /// How long interference has to last before it is a failure, seconds: a passing magnet is none, the negative
  /// accuracy of its headings says it all.
  package static let interferencePatience = 5.0

  struct Client: Sendable {
    let id: ClientID
    var settings = ClientSettings()
    var isSuspended = false
    var location = ClientLocation()
    var heading: HeadingFilter?
    var altitude: AltitudeRhythm?
    var changes: SignificantChanges?
    var visits: VisitDetector?
    var motion = ClientMotion()
    var absoluteAltitude: AbsoluteAltitudeService?
    // What has been said about a loss, so that it is said once.
    var hasToldHeadingLoss = false
    var hasToldAltitudeLoss = false
    /// The question that the client was asked last.
    var asked: UInt64 = 0
    var session: HeldSession?
    var observer: BoardObserver?
  }

  /// What the board has said last about one quantity.
  enum Latest<Value: Sendable>: Sendable {
    case nothing
    case value(Value)
    case missing(NoData)
  }

  let distance: Distance
  var clients: [Client] = []
  var regions = RegionMonitor()
  var beacons = BeaconServices()
  /// When headings arrived, on the clock that requests are dated by.
  var headingFreshness = Freshness()
  var motion = MotionServices()
  /// The newest position of this board, and why there is none at the moment.
  var newest: LocationReport?
  var loss: NoData?
  /// The newest one as whoever may not know it exactly gets it.
  var newestReduced: LocationReport?
  var reducedAccuracy = ReducedAccuracy()
  var authorization = AuthorizationMachine()
  var authorizationOutcomes: [AuthorizationOutcome] = []
  var heading = Latest<HeadingEstimate>.nothing
  var altitude = Latest<Void>.nothing
  /// Why there is neither heave nor sea state, if that was said and stands.
  var wavesLoss: NoData?
  /// The newest state of each chip, by its place in the board file.
  var sensors: [Int: SensorStatus] = [:]
  /// Since when interference has kept heading from being valid.
  var interferenceSince: Timestamp?
  var prompt = HeadingCalibrationPrompt()
  /// The question that clients were told of and not yet that it is closed.
  var toldQuestion: UInt64?
  /// Who wanted the prompt that stands.
  var wanting: ClientID?
  var promptChanges: [CalibrationPromptChange] = []
  /// The newest time that anything has said.
  var latest = Timestamp(nanoseconds: 0)

  /// Whether the application is in the foreground: only there clients are asked for prompts, and people for
  /// authorization.
  package var isInForeground = true

  /// Makes an engine without clients.
  ///
  /// - Parameter distance: Measures the movement that the distance filter asks for.
  package init(distance: @escaping Distance = { Geodesic.inverse(from: $0, to: $1).distance }) {
    self.distance = distance
  }

  /// What all clients together ask for.
  package var demand: Demand {
    var demand = Demand()
    func ask(_ interval: Double?, _ demand: inout Demand) {
      demand.locationInterval =
        demand.location ? Self.lesser(demand.locationInterval, interval) : interval
      demand.location = true
    }
    for client in clients {
      if authorization.mayLocate || authorization.awaitsEvent {
        if client.location.isWanted {
          ask(client.location.interval(settings(of: client)), &demand)
        }
        // The first position is not to wait for the next minute.
        let shortest = ClientLocation.shortestInterval
        if let changes = client.changes {
          ask(changes.hasTold ? SignificantChanges.interval : shortest, &demand)
        }
        if let visits = client.visits {
          ask(visits.hasBegun ? VisitDetector.interval : shortest, &demand)
        }
        // Nobody is asked for a boundary of which nobody would hear.
        if judgesRegions, client.settings.hearsRegions,
          let wait = regions.interval(of: client.settings.monitor)
        {
          ask(wait, &demand)
        }
      }
      demand.heading = demand.heading || client.heading != nil
      demand.altitude = demand.altitude || client.altitude != nil
      let isActive = client.location.isWanted || client.heading != nil
      let follows = client.settings.activity.followsCourse
      demand.followsCourse = demand.followsCourse || (isActive && follows)
    }
    addMotion(to: &demand, askForLocation: ask)
    return demand.merged(with: observedDemand)
  }

  // Nothing is as fast as it goes.
  private static func lesser(_ a: Double?, _ b: Double?) -> Double? {
    guard let a, let b else { return nil }
    return min(a, b)
  }

  /// Whether any client has declared a vehicle, with or without a service that runs.
  package var declaresVehicle: Bool { clients.contains { $0.settings.activity.followsCourse } }

  /// The newest position of the board, whoever has asked for it, and what it is worth at `now`; `nil` before the
  /// first, and while the application may not know it.
  ///
  /// - Parameter isReduced: Whether it is wanted no better than with reduced accuracy.
  package func knownPosition(at now: Timestamp, isReduced: Bool = false) -> KnownPosition? {
    guard let newest = known(isReduced: isReduced) else { return nil }
    // Of what clients have declared the widest.
    let flies = clients.contains { $0.settings.activity == .airborne }
    return KnownPosition(
      report: newest, age: now.seconds(since: newest.time),
      uncertainty: newest.uncertainty(at: now, activity: flies ? .airborne : .other))
  }

  /// When `advance` is to be called at the latest, unless something else is handled before; `nil`: time alone makes
  /// no difference.
  package var nextDeadline: Timestamp? {
    let next = Self.earlier(clients.lazy.compactMap(\.location.deadline).min(), headingDeadline)
    return Self.earlier(Self.earlier(next, regions.deadline), beaconDeadline)
  }

  static func earlier(_ a: Timestamp?, _ b: Timestamp?) -> Timestamp? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
  }

  /// The regions that are watched.
  package var monitoredRegions: [MonitoredRegion] { regions.regions }

  /// The state of a region that is watched; `nil` where it is not.
  package func state(of region: RegionKey) -> RegionState? { regions.state(of: region) }

  /// Watches a region of which an earlier run knew on which side of its boundary the board was; nothing where it cannot be
  /// watched, or is already.
  package mutating func restore(_ region: MonitoredRegion, state: RegionState) {
    guard regions.state(of: region.key) == nil else { return }
    _ = regions.start(region, state: state)
  }

  /// Holds what is known of a region to be another state: what was found since then was told nobody.
  package mutating func reset(_ region: RegionKey, to state: RegionState) {
    regions.reset(region, to: state)
  }

  /// What a client has set; `nil` of one that has not registered.
  package func settings(of client: ClientID) -> ClientSettings? {
    clients.first { $0.id == client }?.settings
  }

  /// Whether the application may hear of regions now.
  package var tellsRegions: Bool { authorization.mayLocate && judgesRegions }

  /// Whether a client waits for visits.
  package func hasVisits(_ client: ClientID) -> Bool {
    clients.first { $0.id == client }?.visits != nil
  }

  /// Has one client wait for visits in the place of another one. A stay that has begun goes on.
  package mutating func moveVisits(from old: ClientID, to new: ClientID) {
    guard let from = clients.firstIndex(where: { $0.id == old }),
      let to = clients.firstIndex(where: { $0.id == new })
    else { return }
    clients[to].visits = clients[from].visits
  }

  /// Does what the time alone makes due.
  package mutating func advance(to now: Timestamp, emit: (ServiceEvent) -> Void) {
    latest = max(latest, now)
    for index in clients.indices {
      let client = clients[index].id
      clients[index].location.advance(to: now, loss) {
        emit(ServiceEvent(client: client, content: $0))
      }
    }
    regions.advance(to: now) { emit(ServiceEvent(client: $0, content: .region($1))) }
    advanceBeacons(to: now, emit)
    advanceHeading(to: now, emit)
  }

  /// Forgets what the board has said, and what each client got of it: another board speaks now.
  package mutating func forgetObservations() {
    (newest, loss, newestReduced) = (nil, nil, nil)
    reducedAccuracy = ReducedAccuracy()
    (heading, altitude) = (.nothing, .nothing)
    sensors = [:]
    headingFreshness = Freshness()
    interferenceSince = nil
    motion = MotionServices()
    regions.forget()
    if prompt.reset() { promptChanges.append(.dismiss(.boardChanged)) }
    wanting = nil
    for index in clients.indices {
      clients[index].location.forget()
      if clients[index].heading != nil { clients[index].heading = HeadingFilter() }
      if clients[index].altitude != nil { clients[index].altitude = AltitudeRhythm() }
      if clients[index].changes != nil { clients[index].changes = SignificantChanges() }
      if clients[index].visits != nil { clients[index].visits = VisitDetector() }
      clients[index].motion.forget()
      if clients[index].absoluteAltitude != nil {
        clients[index].absoluteAltitude = AbsoluteAltitudeService()
      }
      clients[index].hasToldHeadingLoss = false
      clients[index].hasToldAltitudeLoss = false
    }
  }

  /// Does what a client asks, after what the time makes due; a client that has not registered is not heard.
  ///
  /// - Parameters:
  ///   - request: What is asked.
  ///   - now: The time of the request; what is known already answers it if it is fresh.
  ///   - emit: Gets the events that follow at once.
  package mutating func handle(
    _ request: ServiceRequest, at now: Timestamp, emit: (ServiceEvent) -> Void
  ) {
    advance(to: now, emit: emit)
    let found = clients.firstIndex { $0.id == request.client }
    if request.action == .register, found == nil { clients.append(Client(id: request.client)) }
    guard let index = found else { return }
    switch request.action {
    case .register: break
    case .configure(let settings):
      // What was said of one frame says nothing of another.
      if settings.motion.frame != clients[index].settings.motion.frame {
        clients[index].motion.device?.told = nil
      }
      configure(settings, index, emit)
    case .start(let service):
      if admits(service, index, emit) { start(service, index, at: now, emit) }
    case .stop(let service): stop(service, index, emit)
    case .requestLocation:
      guard admitsRequest(index, emit) else { break }
      let settings = settings(of: clients[index])
      clients[index].location.ask(known(for: settings), loss, at: now, settings) {
        emit(ServiceEvent(client: request.client, content: $0))
      }
    case .allowDeferral(let distance, let timeout):
      clients[index].location.allowDeferral(
        distance: distance, timeout: timeout, loss, at: now, settings(of: clients[index])
      ) { emit(ServiceEvent(client: request.client, content: $0)) }
    case .disallowDeferral:
      clients[index].location.endDeferral(.canceled) {
        emit(ServiceEvent(client: request.client, content: $0))
      }
    case .suspend: clients[index].isSuspended = true
    case .resume: clients[index].isSuspended = false
    case .answer(let question, let display): answer(question, display, of: request.client)
    case .dismissPrompt: dismissPrompt(.dismissed)
    case .startRegion(let region, let state):
      let problem = regions.start(region, state: state)
      let kind = problem.map { RegionEventKind.failed($0) } ?? .started
      let event = RegionEvent(region: region, kind: kind, time: now)
      if region.monitor == nil {
        emit(ServiceEvent(client: request.client, content: .region(event)))
      } else {
        clients.tell(event, emit)
      }
      beaconsWereAdded(region, by: request.client, at: now, emit)
      if problem == nil { regionWasAdded(region, by: request.client, at: now, emit) }
    case .stopRegion(let key): regions.stop(key)
    case .askRegion(let region):
      guard authorization.mayLocate, judgesRegions else {
        let event = RegionEvent(region: region, kind: .answered(.unknown), time: now)
        emit(ServiceEvent(client: request.client, content: .region(event)))
        break
      }
      regions.ask(region, by: request.client, at: now, newest, distance: distance) {
        emit(ServiceEvent(client: $0, content: .region($1)))
      }
    case .startRanging(let constraint): startRanging(constraint, by: request.client, at: now, emit)
    case .stopRanging(let constraint): beacons.ranging.stop(constraint, by: request.client)
    case .requestAuthorization(let wanted):
      authorize(.request(wanted, by: request.client), emit)
    case .hold(let session): hold(session, index, emit)
    case .observe(let request): observe(request, index, at: now, emit)
    // What the application was told is its port's to keep.
    case .regionTold: break
    case .release:
      regions.release(request.client)
      beacons.ranging.release(request.client)
      clients.remove(at: index)
      if wanting == request.client { dismissPrompt(.unwanted) }
    }
    closeQuestion(emit)
    noteUse(emit)
  }

  private mutating func start(
    _ service: Service, _ index: Int, at now: Timestamp, _ emit: (ServiceEvent) -> Void
  ) {
    switch service {
    case .location:
      let (client, settings) = (clients[index].id, settings(of: clients[index]))
      let (known, loss) = (known(for: settings), authorization.mayLocate ? loss : nil)
      clients[index].location.start(known, loss, at: now, settings, distance: distance) {
        emit(ServiceEvent(client: client, content: $0))
      }
    case .heading: startHeading(index, at: now, emit)
    case .altitude:
      guard clients[index].altitude == nil else { return }
      clients[index].altitude = AltitudeRhythm()
      clients[index].hasToldAltitudeLoss = false
      if case .missing(let reason) = altitude { tellAltitudeLoss(reason, index, emit) }
    case .significantChanges:
      guard clients[index].changes == nil else { return }
      clients[index].changes = SignificantChanges()
      let settings = settings(of: clients[index])
      if authorization.mayLocate, let newest, newest.isOfUse(at: now, ClientSettings()),
        let shown = known(for: settings)
      {
        tellChange(newest, as: shown, index, emit)
      }
    case .visits: clients[index].visits = clients[index].visits ?? VisitDetector()
    case .absoluteAltitude:
      guard clients[index].absoluteAltitude == nil else { return }
      clients[index].absoluteAltitude = AbsoluteAltitudeService()
      if case .missing(let reason) = altitude { tellAltitudeLoss(reason, index, emit) }
    case .accelerometer, .gyro, .magnetometer, .deviceMotion: startMotion(service, index, emit)
    }
  }

  private mutating func stop(
    _ service: Service, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    switch service {
    case .location:
      let client = clients[index].id
      clients[index].location.stop { emit(ServiceEvent(client: client, content: $0)) }
    case .heading: clients[index].heading = nil
    case .altitude: clients[index].altitude = nil
    case .significantChanges: clients[index].changes = nil
    case .visits: clients[index].visits = nil
    case .absoluteAltitude: clients[index].absoluteAltitude = nil
    case .accelerometer, .gyro, .magnetometer, .deviceMotion: clients[index].motion[service] = nil
    }
  }
}

extension [LocationEngine.Client] {
  /// Whether anybody hears of a monitor's regions, or of the managers'.
  func hearRegions(of monitor: String?) -> Bool {
    contains { $0.settings.hearsRegions && $0.settings.monitor == monitor }
  }

  /// Tells everybody who hears of a region.
  func tell(_ event: RegionEvent, _ emit: (ServiceEvent) -> Void) {
    for client in self
    where client.settings.hearsRegions && client.settings.monitor == event.region.monitor {
      emit(ServiceEvent(client: client.id, content: .region(event)))
    }
  }
}
