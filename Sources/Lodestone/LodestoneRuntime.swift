// The one place of a process where clients and board meet.

package import Dispatch
package import Foundation
public import LocationServices
import SensorHub
public import SensorTypes
public import Synchronization

/// What the application is doing; on a phone the system knows, on a board the application says it.
public enum ApplicationState: Sendable, Hashable {
  /// Running, and what the user looks at.
  case foreground
  /// Running, unseen.
  case background
  /// Frozen: nothing is delivered until it runs again.
  case suspended
}

/// A client's letter box.
public protocol ServiceClient: AnyObject, Sendable {
  /// Takes an event. Called on the thread that publishes, with the services locked: it must return at
  /// once, and must not call the runtime.
  func receive(_ content: ServiceEvent.Content)

  /// The application runs again: what waits may be delivered. Called on any thread.
  func applicationDidResume()
}

/// Runs the services of this process on its one board: merges what all clients ask for, and hands each
/// what it is to be told.
///
/// The board is opened when the first client asks for something, never before. It stays open for the
/// life of the process; what nobody asks for sleeps.
public final class LodestoneRuntime: Sendable {
  /// The runtime of the process, on the board that `LODESTONE_BOARD` or the system's board file names,
  /// or that probing finds.
  public static let shared = LodestoneRuntime(
    open: { try SessionSource() }, regionStore: .current(), clocks: .system,
    radio: BeaconRadio { try BeaconRadio.system() },
    authorization: AuthorizationKeeper { .current() })

  /// Opens the source of a runtime.
  public typealias Factory = @Sendable () throws -> any ObservationSource

  struct Services {
    var engine = LocationEngine()
    var clients: [ClientID: any ServiceClient] = [:]
    var lastID: UInt64 = 0
    var application = ApplicationState.foreground
    /// The prompt that stands.
    var standing: Standing?
    /// When the next alarm goes off.
    var alarm: Timestamp?
  }

  /// Who shows a prompt that stands, and the newest progress that waits to be shown by it.
  final class Standing: Sendable {
    let presenter: any HeadingCalibrationPresenter
    private let waiting = Mutex<CalibrationProgress?>(nil)

    init(_ presenter: any HeadingCalibrationPresenter) { self.presenter = presenter }

    /// Puts progress in the place of what waits; whether nothing did, and somebody has to come for it.
    func put(_ progress: CalibrationProgress) -> Bool {
      waiting.withLock { waiting in
        defer { waiting = progress }
        return waiting == nil
      }
    }

    func take() -> CalibrationProgress? {
      waiting.withLock { waiting in
        defer { waiting = nil }
        return waiting
      }
    }
  }

  private struct Link {
    var source: (any ObservationSource)?
    var subscription: (any ObservationSubscription)?
    var progress: (any ObservationSubscription)?
    var demand: Demand?
    var isPositionOpen: Bool?
    var failure: String?
    var lastAttempt: Timestamp?
    var isRetrying = false
  }

  /// How soon an opening that failed is tried again, seconds.
  private static let retryPause = 2.0
  /// How often the clocks are compared at most, and how far apart two looks may be, seconds.
  private static let clockLooks = 4
  private static let clockSpan = 0.000_05

  /// Locations that were dropped because their client did not take them; it only grows.
  public let droppedLocations = Atomic<UInt64>(0)

  // Taken in this order; with `services` held nothing but letter boxes is called.
  private let link: OrderedLock<Link>
  let services: OrderedLock<Services>
  private let isFrozen = Atomic<Bool>(false)
  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Opening: Sendable { var open: Factory }
  private let factory: Mutex<Opening>
  let clocks: RuntimeClocks
  let radio: BeaconRadio
  let regionStore: RegionStore
  let diagnostics = Diagnostics()
  let authorizationKeeper: AuthorizationKeeper
  /// The rounds that call queues and executors of clients; tests wait for them.
  package let handovers = DispatchGroup()
  // Opening a board can take seconds when buses are probed, and starting a service returns at once.
  private let opener = DispatchQueue(label: "lodestone.open")
  // A presenter may write to a terminal that is slow: never on the thread that publishes, one after the other.
  private let stage = DispatchQueue(label: "lodestone.prompt")
  private struct Presenting: Sendable { var presenter: any HeadingCalibrationPresenter }
  private let presenting: OrderedLock<Presenting>

  /// Makes a runtime that opens its source when it is needed.
  public convenience init(open: @escaping Factory, clocks: RuntimeClocks = .system) {
    self.init(open: open, regionStore: RegionStore(nil), clocks: clocks)
  }

  private init(
    open: @escaping Factory, regionStore: RegionStore, clocks: RuntimeClocks,
    radio: BeaconRadio = BeaconRadio(),
    authorization: AuthorizationKeeper = AuthorizationKeeper { AuthorizationSetup() }
  ) {
    presenting = OrderedLock(
      "the presenter's lock", Presenting(presenter: NoCalibrationPresenter()))
    services = OrderedLock("the services' lock", Services(), before: [presenting])
    link = OrderedLock("the board's lock", Link(), before: [services, presenting])
    self.radio = radio
    authorizationKeeper = authorization
    factory = Mutex(Opening(open: open))
    self.regionStore = regionStore
    self.clocks = clocks
  }

  /// Makes a runtime that keeps its regions in a folder, on a source that is open, for a test.
  package convenience init(
    source: any ObservationSource, regionsIn folder: URL, clocks: RuntimeClocks = .system
  ) {
    let store = RegionStore(ApplicationFile("regions", of: "test", in: folder))
    self.init(open: { source }, regionStore: store, clocks: clocks)
    install(source)
  }

  /// Makes a runtime for a program of which the machine says something, on a source that is open, for a test.
  package convenience init(
    source: any ObservationSource, authorization: AuthorizationSetup,
    clocks: RuntimeClocks = .system
  ) {
    self.init(
      open: { source }, regionStore: RegionStore(nil), clocks: clocks,
      authorization: AuthorizationKeeper { authorization })
    install(source)
  }

  /// Makes a runtime on a source that is open, for a test.
  public convenience init(source: any ObservationSource, clocks: RuntimeClocks = .system) {
    self.init(open: { source }, clocks: clocks)
    install(source)
  }

  deinit {
    link.withLock {
      $0.subscription?.cancel()
      $0.progress?.cancel()
    }
    radio.stop()
  }

  /// Sets what opens the board, for the next time that it is opened: the composition root's business.
  public func setFactory(_ open: @escaping Factory) {
    factory.withLock { $0.open = open }
  }

  /// Puts another source in the place of the present one. Clients stay, and what they ask for is asked of
  /// the new one.
  public func install(_ source: any ObservationSource) {
    link.withLock { link in
      link.subscription?.cancel()
      link.progress?.cancel()
      services.withLock { state in
        state.engine.forgetObservations()
        present(&state)
      }
      link.source = source
      link.failure = nil
      link.demand = nil
      // Before anything is published.
      tellPositionIsOpen(&link, services.withLock { $0.engine.positionIsOpen })
      link.progress = source.subscribe(progress: { [weak self] in self?.calibrationDidProgress($0) }
      )
      link.subscription = source.subscribe { [weak self] in self?.take($0) }
    }
    applyDemand()
  }

  /// Why there is no board, if opening it failed: one line for a person.
  public var openingFailure: String? { link.withLock { $0.failure } }

  /// What the board really has, a heading for a vehicle included where a client has declared one; opens it if need
  /// be, which may take seconds. Nothing when there is no board.
  public var equipment: Equipment {
    guard var equipment = openedSource?.equipment else {
      return Equipment(heading: false, location: false, relativeAltitude: false)
    }
    if equipment.vehicleHeading, services.withLock({ $0.engine.declaresVehicle }) {
      equipment.heading = true
    }
    return equipment
  }

  /// The source; opens it if need be.
  var openedSource: (any ObservationSource)? {
    let known = link.withLock { $0.source }
    return known ?? opener.sync { open() }
  }

  /// The newest position of the board, whoever has asked for it, its age and what age makes of its accuracy; `nil`
  /// before the first, and while the application may not know it. Nothing is started for it.
  public var knownPosition: KnownPosition? { knownPosition(isReduced: false) }

  /// The same, with reduced accuracy where no better is wanted.
  package func knownPosition(isReduced: Bool) -> KnownPosition? {
    beginAuthorization()
    return services.withLock { $0.engine.knownPosition(at: clocks.now(), isReduced: isReduced) }
  }

  /// What the application is doing. While it is suspended nothing is delivered; afterwards the locations
  /// of the meantime arrive in one batch, and headings and altitudes go on. In use it is in the foreground, and in the
  /// background with a `CLBackgroundActivitySession`, or updates that are allowed to go on there: only then it gets what is
  /// authorized *when in use*, and updates can be started. Prompts stand in the foreground.
  public var applicationState: ApplicationState {
    get { services.withLock { $0.application } }
    set {
      let waking: [any ServiceClient] = services.withLock { state in
        let wasSuspended = state.application == .suspended
        state.application = newValue
        let clients = state.clients
        state.engine.enter(foreground: newValue == .foreground) {
          clients[$0.client]?.receive($0.content)
        }
        present(&state)
        let isSuspended = newValue == .suspended
        isFrozen.store(isSuspended, ordering: .sequentiallyConsistent)
        guard isSuspended != wasSuspended else { return [] }
        for id in state.clients.keys {
          handle(ServiceRequest(id, isSuspended ? .suspend : .resume), &state)
        }
        return isSuspended ? [] : Array(state.clients.values)
      }
      applyDemand()
      for client in waking { client.applicationDidResume() }
    }
  }

  /// Whether nothing may be delivered now.
  public var isSuspended: Bool { isFrozen.load(ordering: .sequentiallyConsistent) }

  /// Shows the prompt that asks for a calibration of the compass, once a delegate has allowed it.
  ///
  /// `.none` at first: a library writes to no terminal unasked. A prompt that stands while another presenter is
  /// set stays where it is shown and is taken down there.
  public var calibrationPresenter: any HeadingCalibrationPresenter {
    get { presenting.withLock { $0.presenter } }
    set {
      // The old one goes outside of the lock: its `deinit` may call the runtime.
      let old = presenting.withLock { presenting in
        let old = presenting.presenter
        presenting.presenter = newValue
        return old
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Whether the calibration prompt stands.
  public var showsCalibrationPrompt: Bool { services.withLock { $0.engine.showsPrompt } }

  /// Passes on how far a calibration has come to whoever shows the prompt; nothing while none stands. A presenter
  /// that is slower than the calibration is told the newest only.
  public func calibrationDidProgress(_ progress: CalibrationProgress) {
    services.withLock { state in
      guard let standing = state.standing, standing.put(progress) else { return }
      stage.async { if let newest = standing.take() { standing.presenter.update(newest) } }
    }
  }

  /// Takes what has become of the prompt to the presenter, and of the authorization to whoever is asked, in order; with
  /// `services` held.
  private func present(_ state: inout Services) {
    carryOut(&state)
    while let change = state.engine.takePromptChange() {
      switch change {
      case .show(let prompt):
        let presenter = calibrationPresenter
        state.standing = Standing(presenter)
        stage.async { presenter.show(prompt) }
      case .dismiss(let end):
        guard let standing = state.standing else { continue }
        state.standing = nil
        stage.async { [weak self] in
          // The thread that holds `services` lets go of the presenter first: a `deinit` of it may call the runtime.
          self?.services.withLock { _ in }
          standing.presenter.dismiss(end)
        }
      }
    }
  }

  /// Seconds since 1970, by the system's clock.
  package var wallTime: Double { clocks.wallTime() }

  /// Seconds since 1970 of a moment, by the system's clock as it stands now.
  ///
  /// The two clocks are read one after the other. A thread that is put aside between them would be wrong by
  /// as much, so that the wall is read between two looks at the other clock, and again if they are apart.
  public func wallTime(of time: Timestamp) -> Double {
    var before = clocks.now()
    var best: (span: Double, middle: Timestamp, wall: Double)?
    for _ in 0..<Self.clockLooks {
      let wall = clocks.wallTime()
      let after = clocks.now()
      let span = after.seconds(since: before)
      if span < best?.span ?? .infinity {
        best = (span, before.advanced(bySeconds: span / 2), wall)
      }
      if span <= Self.clockSpan { break }
      before = after
    }
    guard let best else { return clocks.wallTime() + time.seconds(since: clocks.now()) }
    return best.wall + time.seconds(since: best.middle)
  }

  /// Takes a client in; nothing is started for it.
  public func register(_ client: any ServiceClient) -> ClientID {
    beginAuthorization()
    defer { applyDemand() }
    return services.withLock { state in
      state.lastID += 1
      let id = ClientID(rawValue: state.lastID)
      state.clients[id] = client
      handle(ServiceRequest(id, .register), &state)
      if state.application == .suspended { handle(ServiceRequest(id, .suspend), &state) }
      return id
    }
  }

  /// Does what a client asks, and asks the board for what all clients together need.
  public func send(_ request: ServiceRequest) {
    services.withLock { state in
      handle(request, &state)
      if request.action == .release { state.clients[request.client] = nil }
    }
    applyDemand()
  }

  private func handle(_ request: ServiceRequest, _ state: inout Services) {
    let clients = state.clients
    state.engine.handle(request, at: clocks.now()) { event in
      clients[event.client]?.receive(event.content)
    }
    present(&state)
    setAlarm(&state)
  }

  private func take(_ observation: Observation) {
    let now: Timestamp? = if case .heading = observation { clocks.now() } else { nil }
    change { engine, emit in
      if let now { engine.noteHeading(at: now) }
      engine.handle(observation, emit: emit)
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
  func change(_ body: (inout LocationEngine, (ServiceEvent) -> Void) -> Void) {
    let isOther = services.withLock { state in
      let (demand, clients) = (state.engine.demand, state.clients)
      let (wantsBeacons, isPositionOpen) = (state.engine.wantsBeacons, state.engine.positionIsOpen)
      body(&state.engine) { clients[$0.client]?.receive($0.content) }
      present(&state)
      setAlarm(&state)
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

  private func tellPositionIsOpen(_ link: inout Link, _ isOpen: Bool) {
    link.isPositionOpen = isOpen
    link.source?.setPositionIsOpen(isOpen)
  }

  // The demand is read and set under one lock: two clients that start and stop at once cannot leave the
  // older of two demands standing.
  func applyDemand() {
    let isMissing = link.withLock { link in
      let (demand, isPositionOpen) = services.withLock {
        ($0.engine.demand, $0.engine.positionIsOpen)
      }
      guard let source = link.source else { return demand != Demand() }
      if link.isPositionOpen != isPositionOpen { tellPositionIsOpen(&link, isPositionOpen) }
      if link.demand != demand {
        link.demand = demand
        source.setDemand(demand)
      }
      return false
    }
    if isMissing {
      opener.async { [weak self] in self?.openOrRetry() }
    }
    applyBeaconDemand()
  }

  // A board that could not be opened may be there later (a bus whose driver loads late, a file that is
  // being mended): tried again for as long as somebody asks for something.
  private func openOrRetry() {
    guard open() == nil else { return }
    let isFirst = link.withLock { link in
      defer { link.isRetrying = true }
      return !link.isRetrying
    }
    guard isFirst else { return }
    opener.asyncAfter(deadline: .now() + Self.retryPause) { [weak self] in
      guard let self else { return }
      link.withLock { $0.isRetrying = false }
      if services.withLock({ $0.engine.demand }) != Demand() { openOrRetry() }
    }
  }

  // Only ever on `opener`.
  private func open() -> (any ObservationSource)? {
    let now = clocks.now()
    let isTooSoon = link.withLock { link in
      guard link.source == nil, let last = link.lastAttempt else { return link.source != nil }
      return now.seconds(since: last) < Self.retryPause
    }
    guard !isTooSoon else { return link.withLock { $0.source } }
    do {
      let source = try factory.withLock { $0 }.open()
      install(source)
      return source
    } catch {
      link.withLock { link in
        link.lastAttempt = now
        link.failure = String(describing: error)
      }
      // A client that waits must hear that it waits for nothing.
      let reason = NoData.noBoard("\(error)")
      take(.locationUnavailable(reason, at: now))
      take(.headingUnavailable(reason, at: now))
      take(.altitudeUnavailable(reason, at: now))
      for sensor in MotionSensor.allCases {
        take(.motionUnavailable(sensor, reason, at: now))
      }
      return nil
    }
  }
}
