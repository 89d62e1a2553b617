// Authorization among the services: what clients may have, and what they are told of it.

import SensorTypes

extension LocationEngine {
  /// What the application may have now.
  package var authorizationReport: AuthorizationReport { authorization.report }

  /// What was decided about it.
  package var authorizationDecision: AuthorizationDecision { authorization.decision }

  /// What is to be done for the authorization, in order, one a call; `nil` when all was said.
  package mutating func takeAuthorizationOutcome() -> AuthorizationOutcome? {
    authorizationOutcomes.isEmpty ? nil : authorizationOutcomes.removeFirst()
  }

  /// Whether the application counts as in use.
  private var isInUse: Bool {
    isInForeground
      || clients.contains { client in
        client.session?.session.keepsInUse == true
          || (client.settings.allowsBackground && client.location.isWanted)
      }
  }

  /// Takes what happens to the authorization, and tells every client what has changed for it.
  package mutating func authorize(
    _ event: AuthorizationEvent, _ emit: (ServiceEvent) -> Void
  ) {
    let (before, could) = (authorization.report, authorization.mayLocate)
    for outcome in authorization.handle(event) {
      if case .answered(let client, let problem) = outcome {
        emit(ServiceEvent(client: client, content: .fullAccuracyAnswered(problem)))
      } else {
        authorizationOutcomes.append(outcome)
      }
    }
    let after = authorization.report
    if after != before {
      for client in clients {
        emit(ServiceEvent(client: client.id, content: .authorization(after)))
      }
      if after.isRefused || after.accuracy == .reduced { withholdDeferred(emit) }
      if after.isRefused, !before.isRefused { tellRefusal(emit) }
      if regionDenial != nil, before.accuracy == .full, !before.isRefused { tellRegions(emit) }
      let mayAgain = authorization.mayLocate && !could
      if mayAgain || after.accuracy != before.accuracy { resume(emit) }
      limitObservers(at: latest, emit)
    }
    pursueSessions(emit)
  }

  /// Goes to the foreground or leaves it.
  package mutating func enter(foreground: Bool, _ emit: (ServiceEvent) -> Void) {
    if foreground, !isInForeground {
      for index in clients.indices { clients[index].session?.begin() }
    }
    isInForeground = foreground
    noteUse(emit)
  }

  /// Sees whether the application is still in use.
  mutating func noteUse(_ emit: (ServiceEvent) -> Void) {
    let isInUse = isInUse
    guard isInUse != authorization.report.isInUse || isInForeground != authorization.isInForeground
    else { return }
    authorize(.situation(isInForeground: isInForeground, isInUse: isInUse), emit)
  }

  // MARK: What clients get

  /// Whether a client gets positions with reduced accuracy: it may have no others, or wants none.
  func isReduced(_ settings: ClientSettings) -> Bool {
    authorization.report.accuracy == .reduced || settings.desiredAccuracy >= ReducedAccuracy.desired
  }

  /// A client's settings as far as they count: with reduced accuracy it can have nothing better, and updates do not pause,
  /// because nobody can tell by it whether the board stands.
  func settings(of client: Client) -> ClientSettings {
    var settings = client.settings
    guard isReduced(settings) else { return settings }
    settings.desiredAccuracy = ReducedAccuracy.desired
    settings.pausesAutomatically = false
    return settings
  }

  /// The newest position as a client may know it.
  func known(for settings: ClientSettings) -> LocationReport? {
    known(isReduced: isReduced(settings))
  }

  func known(isReduced: Bool) -> LocationReport? {
    guard authorization.mayLocate else { return nil }
    return isReduced || authorization.report.accuracy == .reduced ? newestReduced : newest
  }

  /// Whether boundaries are judged: that takes exact positions, as in the SDK.
  var judgesRegions: Bool { authorization.report.accuracy == .full }

  /// Why the application may hear of no boundaries and beacons; `nil` where it may, now or once it is in use.
  var regionDenial: AuthorizationReport? {
    let report = authorization.report
    return report.isRefused || !judgesRegions ? report : nil
  }

  mutating func configure(
    _ settings: ClientSettings, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    if settings.allowsBackground, !clients[index].settings.allowsBackground,
      !authorization.declaresBackground
    {
      authorizationOutcomes.append(.problem(.undeclaredBackground))
    }
    clients[index].settings = settings
    let (client, counting) = (clients[index].id, self.settings(of: clients[index]))
    clients[index].location.configure(counting) {
      emit(ServiceEvent(client: client, content: $0))
    }
  }

  /// Tells a client that begins a service what it may not have of it; returns whether the service begins. Refused it
  /// begins all the same, and goes on when somebody decides otherwise; only updates do not begin while the application is
  /// not in use.
  mutating func admits(
    _ service: Service, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) -> Bool {
    let client = clients[index]
    switch service {
    // None of them says where the board is.
    case .heading, .altitude, .absoluteAltitude, .accelerometer, .gyro, .magnetometer,
      .deviceMotion:
      return true
    case .location:
      guard
        client.location.isUpdating || client.settings.waitsForUse
          || authorization.report.isInUse
      else {
        emit(ServiceEvent(client: client.id, content: .failure(.notInUse)))
        return false
      }
    case .significantChanges, .visits: break
    }
    let report = authorization.report
    if report.status != .always || report.accuracy == .reduced {
      emit(ServiceEvent(client: client.id, content: .authorization(report)))
    }
    if report.isRefused {
      emit(ServiceEvent(client: client.id, content: .failure(.denied(service))))
    }
    return true
  }

  /// The same of a request for one location, which is answered at once where there is no hope.
  mutating func admitsRequest(_ index: Int, _ emit: (ServiceEvent) -> Void) -> Bool {
    let client = clients[index]
    guard !client.location.isWanted else { return false }
    let failure: ServiceFailure
    if authorization.report.isRefused {
      failure = .denied(.location)
    } else if !authorization.report.isInUse {
      failure = .notInUse
    } else {
      return true
    }
    emit(ServiceEvent(client: client.id, content: .requestFailed(failure)))
    return false
  }

  /// A region was added: if nothing may be told of it somebody has to say so.
  mutating func regionWasAdded(
    _ region: MonitoredRegion, by client: ClientID, at now: Timestamp,
    _ emit: (ServiceEvent) -> Void
  ) {
    guard let denial = regionDenial else { return }
    let event = RegionEvent(region: region, kind: .failed(.denied(denial)), time: now)
    if region.monitor == nil {
      emit(ServiceEvent(client: client, content: .region(event)))
    } else {
      clients.tell(event, emit)
    }
  }

  // MARK: What changes

  /// Exact positions that wait for the end of a deferral are told nobody any more.
  private mutating func withholdDeferred(_ emit: (ServiceEvent) -> Void) {
    for index in clients.indices {
      let client = clients[index].id
      clients[index].location.withdraw { emit(ServiceEvent(client: client, content: $0)) }
    }
  }

  /// Somebody has said no: every client that waits for positions hears it, and a request is answered.
  private mutating func tellRefusal(_ emit: (ServiceEvent) -> Void) {
    for index in clients.indices {
      let client = clients[index]
      func tell(_ content: EventContent) {
        emit(ServiceEvent(client: client.id, content: content))
      }
      if client.location.isUpdating {
        tell(.failure(.denied(.location)))
      } else if client.location.isWanted {
        clients[index].location.stop(tell)
        tell(.requestFailed(.denied(.location)))
      }
      if client.changes != nil { tell(.failure(.denied(.significantChanges))) }
      if client.visits != nil { tell(.failure(.denied(.visits))) }
    }
  }

  private mutating func tellRegions(_ emit: (ServiceEvent) -> Void) {
    guard let denial = regionDenial else { return }
    let time = newest?.time ?? Timestamp(nanoseconds: 0)
    for region in monitoredRegions {
      clients.tell(RegionEvent(region: region, kind: .failed(.denied(denial)), time: time), emit)
    }
    beacons.ranging.forEach { client, constraint in
      let told = RangingFailure(constraint: constraint, failure: .denied(denial))
      emit(ServiceEvent(client: client, content: .rangingFailed(told)))
    }
  }

  /// Positions may come again, or come as others: what has kept them away is told.
  private mutating func resume(_ emit: (ServiceEvent) -> Void) {
    for index in clients.indices {
      let (client, settings) = (clients[index].id, settings(of: clients[index]))
      clients[index].location.configure(settings) {
        emit(ServiceEvent(client: client, content: $0))
      }
      guard let loss, authorization.mayLocate else { continue }
      clients[index].location.lose(loss) { emit(ServiceEvent(client: client, content: $0)) }
    }
  }

  /// A position that the application may not know. Where Always is provisional, and it would have been told something of
  /// it, that is the moment of the second prompt. A crossing stays to be made: it is told as soon as it may be.
  mutating func withhold(_ report: LocationReport, _ emit: (ServiceEvent) -> Void) {
    guard authorization.awaitsEvent else { return }
    var isDue = clients.contains { client in
      var (changes, visits) = (client.changes, client.visits)
      return client.location.isWanted
        || changes?.accepts(report, distance: distance) == true
        || visits?.take(report, distance: distance) != nil
    }
    for index in clients.indices {
      _ = clients[index].visits?.take(report, distance: distance)
    }
    if judgesRegions {
      var crossed: [(RegionKey, RegionState)] = []
      let states = monitoredRegions.map { ($0.key, regions.state(of: $0.key) ?? .unknown) }
      judgeRegions(report) { event in
        if let state = states.first(where: { $0.0 == event.region.key }) { crossed.append(state) }
        if case .crossed = event.kind { isDue = true }
      } answer: {
        emit($0)
      }
      for (key, state) in crossed { regions.reset(key, to: state) }
    }
    if isDue { authorize(.eventIsDue, emit) }
  }

  // MARK: Sessions

  mutating func hold(
    _ session: ServiceSession, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    clients[index].session = HeldSession(session)
    emit(ServiceEvent(client: clients[index].id, content: .authorization(authorization.report)))
    pursueSessions(emit)
  }

  /// Asks for what sessions need, one after the other.
  private mutating func pursueSessions(_ emit: (ServiceEvent) -> Void) {
    guard isInForeground, authorization.prompt == nil else { return }
    for index in clients.indices {
      guard let request = clients[index].session?.next(authorization.report) else { continue }
      // What comes of it asks for the next.
      return authorize(.request(request, by: clients[index].id), emit)
    }
  }
}

extension ServiceFailure {
  /// The application may not use a service.
  static func denied(_ service: Service) -> ServiceFailure {
    ServiceFailure(
      service: service, reason: AuthorizationProblem.notGranted.description, isDenied: true)
  }

  /// Updates are to begin while the application is not in use.
  static let notInUse = ServiceFailure(
    service: .location,
    reason: "updates cannot be started in the background without a session", cause: .notInUse,
    isDenied: true)
}

extension BeaconFailure {
  /// The application may not know of beacons.
  static func denied(_ report: AuthorizationReport) -> BeaconFailure {
    BeaconFailure(isUnavailable: true, reason: RegionProblem.denied(report).description)
  }
}
