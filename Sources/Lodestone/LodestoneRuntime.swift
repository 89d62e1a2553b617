// The public face of the location services of this process.

public import LocationServices
public import SensorTypes

/// The state of the application. On a phone the system knows it, on a board the application says it.
public enum ApplicationState: Sendable, Hashable {
  /// Running, and what the user looks at.
  case foreground
  /// Running, unseen.
  case background
  /// Frozen: nothing is delivered until it runs again.
  case suspended
}

/// Where the location services of this process are.
public enum ServiceConnection: Hashable, Sendable {
  /// In this process, which opens the board itself.
  case none
  /// In a daemon that has not answered yet.
  case connecting
  /// In a daemon, which owns the board of this name.
  case connected(board: String, version: String)
  /// In a daemon that cannot be reached, for this reason. The process tries again until it can.
  case away(reason: String)
}

/// The location services of this process, and what the system of a phone does for an application.
///
/// If `lodestone serve` runs on the machine, it owns the board, and many programs share it: this process then is one of its programs.
/// Otherwise this process opens the board itself, when the first client asks for something. The board then stays open for the life of the
/// process; what nobody asks for sleeps.
public final class LodestoneRuntime: Sendable {
  /// The runtime of the process.
  ///
  /// It connects to the daemon whose socket is `LODESTONE_SOCKET`, or else `/run/lodestone/lodestone.sock`, if there is such a file when the
  /// process first asks for the runtime. If `LODESTONE_BOARD` names a board, or if there is no such file, the process opens a board: the
  /// named one, the one of the machine's board file, or the one that probing finds.
  public static let shared = {
    guard let path = DaemonLocator.socket() else {
      return LodestoneRuntime(.ofProcess { try SessionSource() })
    }
    do {
      return LodestoneRuntime(try DaemonPort(path: path, usage: AuthorizationSetup.ownUsage))
    } catch {
      // The process has no descriptor left, and so no board either.
      return LodestoneRuntime(.ofProcess { throw error })
    }
  }()

  let backend: any RuntimeBackend
  /// The services, if they are in this process.
  package let services: ProgramServices?

  /// Makes a runtime with its services in this process.
  package init(_ services: ProgramServices) { (backend, self.services) = (services, services) }

  /// Makes a runtime with its services behind a daemon's port.
  ///
  /// - Parameter services: The services at the other end, if a test has both ends in this process.
  package init(_ port: DaemonPort, services: ProgramServices? = nil) {
    (backend, self.services) = (port, services)
  }

  /// Where the location services are: in this process, or in a daemon.
  ///
  /// After a daemon was lost, clients that have started something hear an error, and go on with the next daemon by themselves.
  public var connection: ServiceConnection { backend.connection }

  /// The reason why there is no board, in one line of text. `nil` if there is a board, or if no client has asked for one yet.
  public var openingFailure: String? {
    if case .away(let reason) = backend.connection { return reason }
    return ask(.program)?.openingFailure
  }

  /// What the board really has, including a heading for a vehicle if a client has declared one. Opens the board if necessary, which may
  /// take seconds. Nothing if there is no board.
  public var capabilities: HardwareCapabilities { ask(.capabilities) }

  /// The newest position of the board, for whichever program it was measured, with its age and the accuracy that is left at this age. `nil` before the
  /// first position, and while the application is not authorized. Starts no service.
  public var knownPosition: KnownPosition? { ask(.position(isReduced: false)).known }

  /// What the application is doing.
  ///
  /// While it is suspended nothing is delivered. Afterwards the locations of the meantime arrive in one batch, and headings and altitudes
  /// go on. An application counts as in use in the foreground. It also does in the background with a `CLBackgroundActivitySession`, or with
  /// updates that are allowed to go on there. Only then it gets what is authorized *when in use*, and updates can be started. Prompts are
  /// shown in the foreground.
  public var applicationState: ApplicationState {
    get { backend.applicationState }
    set { backend.applicationState = newValue }
  }

  // MARK: Calibration

  /// Shows the prompt that asks for a calibration of the compass, once a delegate has allowed it.
  ///
  /// `.none` at first: a library writes to no terminal without being asked to. A prompt that is shown while another presenter is set stays
  /// where it is, and is taken down there.
  public var calibrationPresenter: any HeadingCalibrationPresenter {
    get { backend.stage.presenter }
    set { backend.stage.presenter = newValue }
  }

  /// Whether the calibration prompt is shown.
  public var showsCalibrationPrompt: Bool { backend.stage.isShowing }

  /// Passes the progress of a calibration on to the presenter that shows the prompt; does nothing while none is shown. A presenter that is slower than
  /// the calibration is told the newest progress only.
  public func calibrationDidProgress(_ progress: CalibrationProgress) {
    backend.stage.update(progress)
  }

  // MARK: Authorization

  /// What the application is authorized to receive now.
  public var authorization: AuthorizationReport { ask(.authorization) }

  /// Who is asked whether the application may know where the board is, unless the machine's authorization file says it: `.terminal`, or
  /// `.closure { … }`.
  ///
  /// `nil` at first. Then a program about which the file says nothing may have everything at all times, `authorizedAlways` with full
  /// accuracy, and nobody is asked. With an agent nothing is allowed before somebody was asked, except for what was decided in
  /// earlier runs.
  public var authorizationAgent: (any AuthorizationAgent)? {
    get { backend.authorizationAgent }
    set { backend.authorizationAgent = newValue }
  }

  /// The newest problem with the program's requests for authorization, or with the machine's authorization file, in one line of text.
  /// `nil` if there was none.
  public var authorizationProblem: String? { ask(.program)?.authorizationProblem }

  /// The program that is asked about; `nil` while no daemon answers.
  public var authorizationClient: AuthorizationClient? { ask(.program)?.client }

  // MARK: Beacons

  /// The reason why beacons cannot be received, as text. `nil` if a Bluetooth adapter is present and powered. Asks the system's Bluetooth service,
  /// which may take two seconds.
  public var beaconProblem: String? { ask(.beacons) }

  /// Counters of the reception of beacons.
  public var beaconCounters: BeaconCounters { ask(.program)?.beacons ?? BeaconCounters() }

  // MARK: Diagnostics

  /// Takes a line, on any thread.
  public typealias DiagnosticHandler = @Sendable (_ line: String) -> Void

  /// Takes what the library reports about the program, a line each: for example that a delegate does not implement the method for what it
  /// has asked for. Each line is reported once.
  ///
  /// By default, lines go to standard error, so that mistakes show without any setup. A program that keeps a log sets another handler, or
  /// `{ _ in }`.
  public var diagnosticHandler: DiagnosticHandler {
    get { backend.diagnostics.handler }
    set { backend.diagnostics.handler = newValue }
  }
}

extension LodestoneRuntime: ServicePort {
  package func connect(_ client: any ServiceClient) -> ClientID { backend.connect(client) }
  package func send(_ request: ServiceRequest) { backend.send(request) }
  package func answer(_ question: ServiceQuestion) -> ServiceAnswer? { backend.answer(question) }
  package func wallTime(of time: Timestamp) -> Double { backend.wallTime(of: time) }
  package func note(_ line: String) { backend.note(line) }
}

extension LodestoneRuntime {
  /// Locations that were dropped because their client did not take them. The number only grows.
  package var droppedLocations: UInt64 { backend.droppedLocations }

  /// Waits until the queues of clients that were woken have returned, for a test.
  package func settleClients() { backend.settleClients() }
}

/// What stands behind a runtime: the services in this process, or a daemon.
///
/// Everything else that a runtime says is an answer to a question.
protocol RuntimeBackend: ServicePort {
  var connection: ServiceConnection { get }
  var applicationState: ApplicationState { get set }
  var stage: PromptStage { get }
  var authorizationAgent: (any AuthorizationAgent)? { get set }
  var diagnostics: DiagnosticLog { get }
  var droppedLocations: UInt64 { get }
  func settleClients()
}
