// Clients that get the observations of the board as they are: commands and streams.

package import SensorTypes

/// What a client that observes the board has asked for.
struct BoardObserver: Sendable {
  let request: BoardRequest
  private var access: PositionAccess
  private var filter: ObservationFilter

  init(_ request: BoardRequest, _ access: PositionAccess) {
    self.request = request.bounded
    self.access = access
    filter = ObservationFilter(access, hasSaidWhy: true)
  }

  /// Changes the access of the client. Returns the reason if it gets no positions any more.
  mutating func take(_ access: PositionAccess) -> NoData? {
    guard access != self.access else { return nil }
    self.access = access
    filter = ObservationFilter(access, hasSaidWhy: true)
    return lossOfPlace
  }

  /// Why the client gets no positions although it asks for them.
  var lossOfPlace: NoData? {
    guard case .withheld(let why) = access, request.demand.location || request.demand.satellites
    else { return nil }
    return .notAuthorized(why)
  }

  /// Returns the observation as the client may know it, or `nil` if it gets nothing.
  mutating func pass(_ observation: Observation) -> Observation? {
    guard wants(observation) else { return nil }
    // A diagnostic may say how high the board is, or which position it goes by.
    if case .diagnostic = observation, access != .full { return nil }
    return filter.pass(observation)
  }

  private func wants(_ observation: Observation) -> Bool {
    let demand = request.demand
    return switch observation {
    case .heading, .headingUnavailable: demand.heading
    case .location, .locationUnavailable: demand.location
    case .altitude, .altitudeUnavailable, .absoluteAltitude: demand.altitude
    case .sky: demand.satellites
    case .motion, .motionUnavailable: demand.motion.isAny
    case .waves, .wavesUnavailable: demand.waves
    case .sensor, .diagnostic: true
    }
  }
}

extension LocationEngine {
  /// How much of the position an observer may know now.
  private func access(_ limit: PositionLimit) -> PositionAccess {
    guard limit != .none else {
      return .withheld("the board gives this reader no positions (positions, in serve.yaml)")
    }
    guard authorization.mayLocate else {
      return .withheld(AuthorizationProblem.notGranted.description)
    }
    return authorization.report.accuracy == .full && limit == .exact ? .full : .reduced
  }

  /// What the observers ask for, as far as they may know it.
  var observedDemand: Demand {
    var sum = Demand()
    for case let observer? in clients.lazy.map(\.observer) {
      var demand = observer.request.demand
      if !authorization.mayLocate || observer.request.positions == .none {
        (demand.location, demand.locationInterval) = (false, nil)
        (demand.satellites, demand.carriesPosition) = (false, false)
      }
      sum = sum.merged(with: demand)
    }
    return sum
  }

  /// Begins to pass observations to a client, or ends that. The states of the chips and what is missing are said first.
  mutating func observe(
    _ request: BoardRequest?, _ index: Int, at now: Timestamp, _ emit: (ServiceEvent) -> Void
  ) {
    clients[index].observer = request.map { BoardObserver($0, access($0.positions)) }
    guard request != nil else { return }
    for status in sensors.values.sorted(by: { $0.index < $1.index }) {
      observe(.sensor(status), index, emit)
    }
    if case .missing(let reason) = heading {
      observe(.headingUnavailable(reason, at: now), index, emit)
    }
    if case .missing(let reason) = altitude {
      observe(.altitudeUnavailable(reason, at: now), index, emit)
    }
    if let reason = wavesLoss { observe(.wavesUnavailable(reason, at: now), index, emit) }
    if let reason = clients[index].observer?.lossOfPlace {
      tell(reason, index, at: now, emit)
    } else if let loss {
      observe(.locationUnavailable(loss, at: now), index, emit)
    }
  }

  /// Has the observers know no more of the place than the application may know now.
  mutating func limitObservers(at now: Timestamp, _ emit: (ServiceEvent) -> Void) {
    for index in clients.indices {
      guard let limit = clients[index].observer?.request.positions else { continue }
      let access = access(limit)
      if let reason = clients[index].observer?.take(access) { tell(reason, index, at: now, emit) }
    }
  }

  private func tell(
    _ reason: NoData, _ index: Int, at now: Timestamp, _ emit: (ServiceEvent) -> Void
  ) {
    guard !clients[index].isSuspended else { return }
    let loss = Observation.locationUnavailable(reason, at: now)
    emit(ServiceEvent(client: clients[index].id, content: .observation(loss)))
  }

  /// Whether any client observes the board.
  package var isObserved: Bool { clients.contains { $0.observer != nil } }

  /// Whether any client asks for the samples of the chips.
  package var wantsReadings: Bool {
    clients.contains { $0.observer?.request.hasReadings == true && !$0.isSuspended }
  }

  /// Takes a sample of a chip, for the clients that ask for them.
  package func handle(_ reading: SensorReading, emit: (ServiceEvent) -> Void) {
    for client in clients where client.observer?.request.hasReadings == true {
      guard !client.isSuspended else { continue }
      emit(ServiceEvent(client: client.id, content: .reading(reading)))
    }
  }

  /// Passes an observation to the clients that observe the board.
  mutating func observe(_ observation: Observation, _ emit: (ServiceEvent) -> Void) {
    latest = max(latest, observation.time)
    for index in clients.indices where clients[index].observer != nil {
      observe(observation, index, emit)
    }
  }

  private mutating func observe(
    _ observation: Observation, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    guard !clients[index].isSuspended, let limit = clients[index].observer?.request.positions else {
      return
    }
    let access = access(limit)
    if let reason = clients[index].observer?.take(access) {
      tell(reason, index, at: observation.time, emit)
    }
    guard let shown = clients[index].observer?.pass(observation) else { return }
    emit(ServiceEvent(client: clients[index].id, content: .observation(shown)))
  }
}

extension BoardRequest {
  /// The same without intervals that are none: what a stranger sends may hold any number.
  fileprivate var bounded: BoardRequest {
    func interval(_ seconds: Double?) -> Double? {
      seconds.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    }
    var request = self
    request.demand.locationInterval = interval(demand.locationInterval)
    request.demand.motion.interval = interval(demand.motion.interval)
    return request
  }
}

extension Observation {
  /// The moment of the observation.
  fileprivate var time: Timestamp {
    switch self {
    case .heading(let heading): heading.time
    case .location(let location): location.fix.received
    case .altitude(let altitude): altitude.time
    case .absoluteAltitude(let altitude): altitude.time
    case .sky(let sky): sky.received
    case .motion(let motion): motion.time
    case .waves(let waves): waves.time
    case .sensor(let status): status.since
    case .headingUnavailable(_, let time), .locationUnavailable(_, let time),
      .altitudeUnavailable(_, let time), .motionUnavailable(_, _, let time),
      .wavesUnavailable(_, let time), .diagnostic(_, let time):
      time
    }
  }
}
