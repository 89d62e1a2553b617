// Clients that get the observations of the board as they are: commands and streams.

import SensorTypes

/// What a client that observes the board has asked for.
struct BoardObserver: Sendable {
  let demand: Demand
  private var access: PositionAccess
  private var filter: ObservationFilter

  init(_ demand: Demand, _ access: PositionAccess) {
    self.demand = demand
    self.access = access
    filter = ObservationFilter(access)
  }

  /// Returns the observation as the client may know it, or `nil` if it gets nothing.
  mutating func pass(_ observation: Observation, _ access: PositionAccess) -> Observation? {
    guard wants(observation) else { return nil }
    if access != self.access {
      self.access = access
      filter = ObservationFilter(access)
    }
    // A diagnostic may say how high the board is, or which position it goes by.
    if case .diagnostic = observation, access != .full { return nil }
    return filter.pass(observation)
  }

  private func wants(_ observation: Observation) -> Bool {
    switch observation {
    case .heading, .headingUnavailable: demand.heading
    case .location, .locationUnavailable: demand.location
    case .altitude, .altitudeUnavailable, .absoluteAltitude: demand.altitude
    case .sky: demand.satellites
    case .motion, .motionUnavailable: demand.motion.isAny
    case .sensor, .diagnostic: true
    }
  }
}

extension LocationEngine {
  /// How much of the position the application may know now.
  private var access: PositionAccess {
    guard authorization.mayLocate else {
      return .withheld(AuthorizationProblem.notGranted.description)
    }
    return authorization.report.accuracy == .full ? .full : .reduced
  }

  /// What the observers ask for, as far as they may know it.
  var observedDemand: Demand {
    var sum = Demand()
    for case let observer? in clients.lazy.map(\.observer) {
      var demand = observer.demand
      if !authorization.mayLocate {
        (demand.location, demand.locationInterval) = (false, nil)
        (demand.satellites, demand.carriesPosition) = (false, false)
      }
      sum = sum.merged(with: demand)
    }
    return sum
  }

  /// Begins to pass observations to a client, or ends that. What is missing is said first.
  mutating func observe(
    _ demand: Demand?, _ index: Int, at now: Timestamp, _ emit: (ServiceEvent) -> Void
  ) {
    clients[index].observer = demand.map { BoardObserver($0, access) }
    guard demand != nil else { return }
    if case .missing(let reason) = heading {
      observe(.headingUnavailable(reason, at: now), index, emit)
    }
    if case .missing(let reason) = altitude {
      observe(.altitudeUnavailable(reason, at: now), index, emit)
    }
    if let loss { observe(.locationUnavailable(loss, at: now), index, emit) }
  }

  /// Passes an observation to the clients that observe the board.
  mutating func observe(_ observation: Observation, _ emit: (ServiceEvent) -> Void) {
    for index in clients.indices where clients[index].observer != nil {
      observe(observation, index, emit)
    }
  }

  private mutating func observe(
    _ observation: Observation, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    let access = access
    guard !clients[index].isSuspended,
      let shown = clients[index].observer?.pass(observation, access)
    else { return }
    emit(ServiceEvent(client: clients[index].id, content: .observation(shown)))
  }
}
