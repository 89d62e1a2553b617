// Where the clients of a program and its board meet.

import Dispatch
import Inboxes
import LocationServices
import SensorHub
package import SensorTypes
import StateStore
import Synchronization

/// The location services of one program on a board. They merge the requests of its clients and send each client its events.
///
/// They run in the program's own process, or in a daemon that has them for each of its programs. The board is opened when the first
/// client asks for something, and stays open as long as the services exist. What nobody asks for sleeps.
package final class ProgramServices: Sendable {
  /// Opens the source of the services.
  package typealias Factory = @Sendable () throws -> any ObservationSource

  struct Services {
    var engine = LocationEngine()
    var clients: [ClientID: any ServiceClient] = [:]
    var lastID: UInt64 = 0
    var application = ApplicationState.foreground
    /// When the next alarm goes off.
    var alarm: Timestamp?
    var away = AwayClients()
  }

  struct BoardLink {
    var source: (any ObservationSource)?
    var subscription: (any ObservationSubscription)?
    var progress: (any ObservationSubscription)?
    /// There only while a client asks for the samples of the chips.
    var readings: (any ObservationSubscription)?
    var demand: Demand?
    var isPositionOpen: Bool?
    var failure: String?
    var lastAttempt: Timestamp?
    var isRetrying = false
  }

  /// How soon an opening that failed is tried again, seconds.
  static let retryPause = 2.0
  private let dropped = Atomic<UInt64>(0)

  // Taken in this order; with `services` held nothing but letter boxes is called.
  let link: OrderedLock<BoardLink>
  let services: OrderedLock<Services>
  let factory: Factory
  let clocks: RuntimeClocks
  let radio: BeaconRadio
  let regionStore: RegionStore
  let authorizationCoordinator: AuthorizationCoordinator
  // Opening a board can take seconds when buses are probed, and starting a service returns at once.
  let opener = DispatchQueue(label: "lodestone.open")
  package let stage = PromptStage()
  let diagnostics = DiagnosticLog()
  /// What has happened while the program was not there. Only a daemon keeps it.
  package let away: AwayEvents?
  /// The queue on which events of absent programs are written, of all programs: a slow disk holds up one thread.
  static let keeping = DispatchQueue(label: "lodestone.away")

  /// Makes services of all their parts.
  package init(
    open: @escaping Factory, regionStore: RegionStore, clocks: RuntimeClocks,
    radio: BeaconRadio = BeaconRadio(),
    authorization: AuthorizationCoordinator = AuthorizationCoordinator { AuthorizationSetup() },
    away: AwayEvents? = nil
  ) {
    services = OrderedLock("the services' lock", Services(), before: [stage.state])
    link = OrderedLock("the board's lock", BoardLink(), before: [services, stage.state])
    self.radio = radio
    authorizationCoordinator = authorization
    factory = open
    self.regionStore = regionStore
    self.away = away
    self.clocks = clocks
  }

  /// The services of this process, in itself.
  static func ofProcess(open: @escaping Factory) -> ProgramServices {
    ProgramServices(
      open: open, regionStore: .current(), clocks: .system,
      radio: BeaconRadio { try BeaconRadio.system() },
      authorization: AuthorizationCoordinator { .current() })
  }

  deinit {
    link.withLock {
      $0.subscription?.cancel()
      $0.progress?.cancel()
      $0.readings?.cancel()
    }
    radio.stop()
  }

  /// Puts another source in the place of the present one. Clients stay, and what they ask for is asked of
  /// the new one.
  package func install(_ source: any ObservationSource) {
    link.withLock { link in
      link.subscription?.cancel()
      link.progress?.cancel()
      link.readings?.cancel()
      link.readings = nil
      services.withLock { state in
        state.engine.forgetObservations()
        present(&state)
      }
      link.source = source
      link.failure = nil
      link.demand = nil
      // Before anything is published.
      tellPositionIsOpen(&link, services.withLock { $0.engine.positionIsOpen })
      link.progress = source.subscribe(progress: { [stage] in stage.update($0) })
      link.subscription = source.subscribe { [weak self] (observation: Observation) in
        self?.take(observation)
      }
    }
    applyDemand()
  }

  /// The reason why opening the board has failed, in one line of text.
  var openingFailure: String? { link.withLock { $0.failure } }

  /// What the board really has, including a heading for a vehicle if a client has declared one. Opens the board if necessary, which may
  /// take seconds. Nothing if there is no board.
  var capabilities: HardwareCapabilities {
    guard var capabilities = openedSource?.capabilities else {
      return HardwareCapabilities(heading: false, location: false, relativeAltitude: false)
    }
    if capabilities.vehicleHeading, services.withLock({ $0.engine.declaresVehicle }) {
      capabilities.heading = true
    }
    return capabilities
  }

  /// The source; opens it if need be.
  var openedSource: (any ObservationSource)? {
    let known = link.withLock { $0.source }
    return known ?? opener.sync { open() }
  }

  /// What the application is doing.
  package var applicationState: ApplicationState {
    get { services.withLock { $0.application } }
    set {
      services.withLock { state in
        let (was, isSuspended) = (state.application, newValue == .suspended)
        state.application = newValue
        let clients = state.clients
        state.engine.enter(foreground: newValue == .foreground) { hand($0, to: clients) }
        present(&state)
        guard isSuspended != (was == .suspended) else { return }
        for (id, client) in clients {
          if isSuspended { client.applicationChanged(isSuspended: true) }
          handle(ServiceRequest(id, isSuspended ? .suspend : .resume), &state)
          if !isSuspended { client.applicationChanged(isSuspended: false) }
        }
      }
      applyDemand()
    }
  }

  /// Takes what has become of the prompt to the presenter, and of the authorization to whoever is asked, in order; with
  /// `services` held.
  private func present(_ state: inout Services) {
    carryOut(&state)
    while let change = state.engine.takePromptChange() {
      stage.take(change) { [weak self] in self?.services.withLock { _ in } }
    }
  }

  /// Locations that were dropped because their client did not take them. The number only grows.
  package var droppedLocations: UInt64 { dropped.load(ordering: .relaxed) }

  /// Seconds since 1970, by the system's clock.
  var wallTime: Double { clocks.wallTime() }

  package func wallTime(of time: Timestamp) -> Double { clocks.wallTime(of: time) }

  /// Has the engine do what a client asks; with `services` held.
  func handle(
    _ request: ServiceRequest, _ state: inout Services, willHandle: () -> Void = {}
  ) {
    let clients = state.clients
    willHandle()
    state.engine.handle(request, at: clocks.now()) { hand($0, to: clients) }
    present(&state)
    setAlarm(&state)
  }

  /// Hands an event to its client, and counts the positions that were dropped for it; with `services` held.
  func hand(_ event: ServiceEvent, to clients: [ClientID: any ServiceClient]) {
    let count = clients[event.client]?.post(event.content) ?? 0
    if count > 0 { dropped.add(UInt64(count), ordering: .relaxed) }
  }

  func take(_ observation: Observation) {
    let isRare =
      switch observation {
      case .heading, .altitude, .sky, .motion, .waves, .sensor, .diagnostic: false
      default: true
      }
    let now: Timestamp? = if case .heading = observation { clocks.now() } else { nil }
    change(mayChangeDemand: isRare) { engine, emit in
      if let now { engine.noteHeading(at: now) }
      engine.handle(observation, emit: emit)
    }
  }

  /// Takes a sample of a chip to the clients that ask for them.
  func take(_ reading: SensorReading) {
    services.withLock { state in
      let clients = state.clients
      state.engine.handle(reading) { hand($0, to: clients) }
    }
  }

  /// Does what has become due by time alone.
  private func advance(_ alarm: Timestamp) {
    services.withLock { if $0.alarm == alarm { $0.alarm = nil } }
    let now = clocks.now()
    change { engine, emit in engine.advance(to: now, emit: emit) }
  }

  /// Changes the engine where no client has asked for it: what is wanted of the board may be another thing then. It is
  /// asked for on another thread, because this one may be the board's.
  ///
  /// - Parameter mayChangeDemand: Whether that is possible. Measurements come often, and most change nothing of it.
  func change(
    mayChangeDemand: Bool = true, _ body: (inout LocationEngine, (ServiceEvent) -> Void) -> Void
  ) {
    let isOther = services.withLock { state in
      let clients = state.clients
      func run() {
        body(&state.engine) { hand($0, to: clients) }
        present(&state)
        setAlarm(&state)
      }
      guard mayChangeDemand || state.engine.awaitsDeclination else {
        run()
        return false
      }
      let demand = state.engine.demand
      let (wantsBeacons, isPositionOpen) = (state.engine.wantsBeacons, state.engine.positionIsOpen)
      run()
      return state.engine.demand != demand || state.engine.wantsBeacons != wantsBeacons
        || state.engine.positionIsOpen != isPositionOpen
    }
    if isOther { opener.async { [weak self] in self?.applyDemand() } }
  }

  /// Sets an alarm for the engine's next deadline, unless one goes off before; with `services` held. Those that are not
  /// needed any more go off and find nothing due.
  private func setAlarm(_ state: inout Services) {
    guard let deadline = state.engine.nextDeadline,
      state.alarm.map({ deadline < $0 }) ?? true
    else { return }
    state.alarm = deadline
    clocks.alarm(max(0, deadline.seconds(since: clocks.now()))) { [weak self] in
      self?.advance(deadline)
    }
  }

  func tellPositionIsOpen(_ link: inout BoardLink, _ isOpen: Bool) {
    link.isPositionOpen = isOpen
    link.source?.setPositionIsOpen(isOpen)
  }
}
