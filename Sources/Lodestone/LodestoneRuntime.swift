// The one place of a process where clients and board meet.

import Dispatch
package import Foundation
import Inboxes
public import LocationServices
import SensorHub
public import SensorTypes
import StateStore
package import Synchronization

/// What the application is doing; on a phone the system knows, on a board the application says it.
public enum ApplicationState: Sendable, Hashable {
  /// Running, and what the user looks at.
  case foreground
  /// Running, unseen.
  case background
  /// Frozen: nothing is delivered until it runs again.
  case suspended
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
    authorization: AuthorizationCoordinator { .current() })

  /// Opens the source of a runtime.
  package typealias Factory = @Sendable () throws -> any ObservationSource

  struct Services {
    var engine = LocationEngine()
    var clients: [ClientID: any ServiceClient] = [:]
    var lastID: UInt64 = 0
    var application = ApplicationState.foreground
    /// The prompt that stands.
    var standing: ShownPrompt?
    /// When the next alarm goes off.
    var alarm: Timestamp?
  }

  struct BoardLink {
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
  static let retryPause = 2.0
  /// Locations that were dropped because their client did not take them; it only grows.
  package let droppedLocations = Atomic<UInt64>(0)

  // Taken in this order; with `services` held nothing but letter boxes is called.
  let link: OrderedLock<BoardLink>
  let services: OrderedLock<Services>
  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  struct Opening: Sendable { var open: Factory }
  let factory: Mutex<Opening>
  let clocks: RuntimeClocks
  let radio: BeaconRadio
  let regionStore: RegionStore
  let diagnostics = DiagnosticLog()
  let authorizationCoordinator: AuthorizationCoordinator
  // Opening a board can take seconds when buses are probed, and starting a service returns at once.
  let opener = DispatchQueue(label: "lodestone.open")
  // A presenter may write to a terminal that is slow: never on the thread that publishes, one after the other.
  private let stage = DispatchQueue(label: "lodestone.prompt")
  private struct Presenting: Sendable { var presenter: any HeadingCalibrationPresenter }
  private let presenting: OrderedLock<Presenting>

  /// Makes a runtime that opens its source when it is needed.
  package convenience init(open: @escaping Factory, clocks: RuntimeClocks = .system) {
    self.init(open: open, regionStore: RegionStore(nil), clocks: clocks)
  }

  /// Makes a runtime of all its parts.
  init(
    open: @escaping Factory, regionStore: RegionStore, clocks: RuntimeClocks,
    radio: BeaconRadio = BeaconRadio(),
    authorization: AuthorizationCoordinator = AuthorizationCoordinator { AuthorizationSetup() }
  ) {
    presenting = OrderedLock(
      "the presenter's lock", Presenting(presenter: NoCalibrationPresenter()))
    services = OrderedLock("the services' lock", Services(), before: [presenting])
    link = OrderedLock("the board's lock", BoardLink(), before: [services, presenting])
    self.radio = radio
    authorizationCoordinator = authorization
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
      authorization: AuthorizationCoordinator { authorization })
    install(source)
  }

  /// Makes a runtime on a source that is open, for a test.
  package convenience init(source: any ObservationSource, clocks: RuntimeClocks = .system) {
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
  package func setFactory(_ open: @escaping Factory) {
    factory.withLock { $0.open = open }
  }

  /// Puts another source in the place of the present one. Clients stay, and what they ask for is asked of
  /// the new one.
  package func install(_ source: any ObservationSource) {
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
  public var capabilities: HardwareCapabilities {
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

  /// The newest position of the board, whoever has asked for it, its age and what age makes of its accuracy; `nil`
  /// before the first, and while the application may not know it. Nothing is started for it.
  public var knownPosition: KnownPosition? { ask(.position(isReduced: false)).known }

  /// What the application is doing. While it is suspended nothing is delivered; afterwards the locations
  /// of the meantime arrive in one batch, and headings and altitudes go on. In use it is in the foreground, and in the
  /// background with a `CLBackgroundActivitySession`, or updates that are allowed to go on there: only then it gets what is
  /// authorized *when in use*, and updates can be started. Prompts stand in the foreground.
  public var applicationState: ApplicationState {
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
    services.withLock { state in _ = state.standing?.progress.post(progress) }
  }

  /// Takes what has become of the prompt to the presenter, and of the authorization to whoever is asked, in order; with
  /// `services` held.
  private func present(_ state: inout Services) {
    carryOut(&state)
    while let change = state.engine.takePromptChange() {
      switch change {
      case .show(let prompt):
        let standing = ShownPrompt(presenter: calibrationPresenter)
        state.standing = standing
        standing.progress.setWake(.atOnce { [stage] in stage.async(execute: standing.update) })
        stage.async { standing.presenter.show(prompt) }
      case .dismiss(let end):
        guard let standing = state.standing else { continue }
        state.standing = nil
        standing.progress.setWake(.nobody)
        stage.async { [weak self] in
          // The thread that holds `services` lets go of the presenter first: a `deinit` of it may call the runtime.
          self?.services.withLock { _ in }
          standing.presenter.dismiss(end)
        }
      }
    }
  }

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
    let dropped = clients[event.client]?.post(event.content) ?? 0
    if dropped > 0 { droppedLocations.add(UInt64(dropped), ordering: .relaxed) }
  }

  func take(_ observation: Observation) {
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
      body(&state.engine) { hand($0, to: clients) }
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

  func tellPositionIsOpen(_ link: inout BoardLink, _ isOpen: Bool) {
    link.isPositionOpen = isOpen
    link.source?.setPositionIsOpen(isOpen)
  }
}

/// Who shows a prompt that stands, and the newest progress, which waits to be shown by it.
struct ShownPrompt: Sendable {
  let presenter: any HeadingCalibrationPresenter
  let progress = Inbox<CalibrationProgress, OneKind>(InboxPolicy(.newest))

  /// Shows the newest progress.
  func update() {
    progress.beginRound()
    if let newest = progress.take() { presenter.update(newest) }
  }
}
