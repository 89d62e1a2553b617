package import BoardFile
package import FoundationEssentials
import LinuxIO
import LocationServices
package import Recording
import SensorBus
import SensorDrivers
package import SensorHub
package import SensorTypes
package import SimulatedDevices
package import StateStore
import Synchronization
import Threads

/// A board that is open: its hub, and on a simulated board the truth behind it.
///
/// The composition root: here a board's name becomes a provider. Nothing falls back to the simulated
/// board; it is asked for by name or not at all. What the hub publishes is as much as the machine's authorization policy
/// allows the program to know.
package final class Session: Sendable {
  /// Nothing was found and nothing was named.
  package struct NothingFound: Error, Sendable, CustomStringConvertible {
    /// The only one there is.
    package init() {}

    /// The message, in one line.
    package var description: String {
      "no board file and no known chip on any bus: name a board by LODESTONE_BOARD "
        + "(the command also takes --board), or run lodestone doctor"
    }
  }

  /// The hub; not started yet.
  package let hub: Hub
  package let board: Board
  /// The simulated board behind the hub, where there is one.
  package let simulation: SimulatedBusProvider?
  /// What this machine keeps from run to run.
  package let state: StateStore
  /// How much of the board's position the program may know.
  package let access: PositionAccess
  // A simulated board's own folder, gone with the session.
  private let temporaryFolder: URL?
  private let provider: any BusProvider
  /// What `begin(_:_:)` has begun.
  let viewing = Mutex<Hub.Subscription?>(nil)
  /// The samples that `begin(_:readings:_:)` hands on.
  let listening = Mutex<Hub.Subscription?>(nil)
  private let control: SimulationControl?
  /// The text of the board file and its name, for a recording.
  private let source: (text: String, name: String)

  /// Opens the board called `name` (see `BoardLocator`), or probes the buses where nothing names one.
  ///
  /// - Parameters:
  ///   - name: As given by the user; `nil` for the machine's own.
  ///   - stateDirectory: Where calibrations and the last position are kept; `nil` takes the machine's own.
  ///     A simulated board keeps its own in a folder of its name below `simulated` there; without
  ///     `$STATE_DIRECTORY` it starts fresh and leaves nothing.
  ///   - calibratesInUse: Whether the magnetometer is calibrated while the board is in use, unless the board file
  ///     forbids it. Not for a program that calibrates itself, or that only looks.
  ///   - recording: Where a recording goes; it says where the board is, whatever the hub publishes.
  ///
  /// Throws `AuthorizationPolicyError` where the machine's authorization policy cannot be used, and `PositionNotAuthorized`
  /// where it keeps exact positions from the program and there is a recording that would hold them.
  package convenience init(
    board name: String?, stateDirectory: URL? = nil, calibratesInUse: Bool = false,
    recording: TraceSink? = nil
  ) throws {
    try self.init(
      board: name, access: AuthorizationSetup.currentAccess(), stateDirectory: stateDirectory,
      calibratesInUse: calibratesInUse, recording: recording)
  }

  /// Opens a board for a program with this access. Location services use `full`, because they withhold positions themselves.
  ///
  /// - Parameter realtime: The real-time priority of the threads of the buses, or `nil` for none.
  package init(
    board name: String?, access: PositionAccess, stateDirectory: URL? = nil,
    calibratesInUse: Bool = false, recording: TraceSink? = nil, realtime: Int32? = nil
  ) throws {
    self.access = access
    let linux = LinuxBusProvider()
    let located = try BoardLocator.locate(name)
    let found =
      located?.board
      ?? BoardProbe.board(with: linux, wait: { SystemThread.sleep(seconds: $0) })
    guard let board = found else { throw NothingFound() }
    self.board = board
    source = (located?.text ?? "", located?.file.lastPathComponent ?? "probed")
    if let plan = board.simulation {
      let now = linux.wallTime()
      let simulation = SimulatedBusProvider(
        Simulation.board(board, plan: plan, utcStart: now),
        elapsed: Simulation.elapsed(at: now))
      Simulation.scheduleFaults(of: plan, on: simulation)
      self.simulation = simulation
      provider = simulation
      // Only twins of the chips that the board names are there to be told something.
      control = try plan.control.map {
        try SimulationControl(path: $0, of: simulation, names: Simulation.names(of: board))
      }
    } else {
      simulation = nil
      provider = linux
      control = nil
    }
    let folder = Self.stateFolder(stateDirectory, board)
    temporaryFolder = folder.isTemporary ? folder.url : nil
    state = StateStore(folder: folder.url)
    // What an earlier version, or systemd, has left open to other users.
    let exposures = StateFolder(stateDirectory ?? StateDirectory.current()).close()
    if recording != nil, let what = Self.placeInRecording(board, state) {
      try access.demandExact(what)
    }
    if let simulation {
      try Simulation.storeCalibrations(of: board, simulation, in: state.calibrations)
    }
    let screen: Hub.Screen = { Self.screen(access) }
    let (model, problems) = MagneticModelFile.newest()
    hub = try Hub(
      board: board, provider: provider, runner: ThreadRunner(priority: realtime), state: state,
      model: model.map { ($0.model, $0.text) },
      notes: problems + exposures.filter { !$0.isShared }.map(\.description)
        + (simulation == nil ? [] : board.sensors.compactMap(Simulation.correctionNote)),
      isSimulated: board.simulation != nil, calibratesInUse: calibratesInUse,
      program: "Lodestone/\(LodestoneRuntime.version)",
      screen: access == .full ? nil : screen,
      recording: recording.map { [source] in (source.text, source.name, $0) })
    hub.setPositionIsOpen(access == .full)
  }

  deinit {
    hub.stop()
    if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
  }

  /// The recording that the session was opened with, if it was.
  package var recording: HubRecording? { hub.newestRecording }

  /// Begins a recording of a board that runs, for a program that may know where the board is.
  package func beginRecording(_ sink: @escaping TraceSink) throws -> HubRecording {
    try hub.beginRecording(boardText: source.text, boardName: source.name, sink: sink)
  }

  /// What one subscriber gets of an observation.
  package static func screen(_ access: PositionAccess) -> @Sendable (Observation) -> Observation? {
    let filter = Mutex(ObservationFilter(access))
    return { observation in filter.withLock { $0.pass(observation) } }
  }

  /// What a recording of a board has that says where it is; `nil` for nothing.
  private static func placeInRecording(_ board: Board, _ state: StateStore) -> String? {
    if board.hasReceiver { return "a recording holds what the receiver says" }
    return state.lastPosition == nil ? nil : "a recording holds the last position that is kept"
  }

  /// Throws unless the program may know the exact position of the board.
  ///
  /// - Parameter what: What needs it, a clause for a message.
  package func demandExactPosition(_ what: String) throws(PositionNotAuthorized) {
    try access.demandExact(what)
  }

  /// Throws unless the program may know the position of the board, exactly or not.
  package func demandPosition(_ what: String) throws(PositionNotAuthorized) {
    if access != .reduced { try access.demandExact(what) }
  }

  /// The monotonic clock of the board.
  package func now() -> Timestamp { provider.now() }

  package var clock: ClockReading {
    clock(at: provider.now())
  }

  /// What the system's clock shows at a moment, by what it shows now.
  package func clock(at time: Timestamp) -> ClockReading {
    clocks.reading(of: time) { provider.isWallTimeSet }
  }

  /// UTC of a moment by the system's clock, seconds since 1970.
  package func wallTime(of time: Timestamp) -> Double {
    clocks.wallTime(of: time)
  }

  /// The clocks of the board.
  private var clocks: RuntimeClocks {
    RuntimeClocks(
      now: { [provider] in provider.now() }, wallTime: { [provider] in provider.wallTime() })
  }

  /// Where what this machine keeps of a board (`nil`: of the one that probing finds) lies from run to run; `nil`
  /// for a simulated board without `$STATE_DIRECTORY`, of which nothing is kept.
  package static func keptState(
    of board: Board?, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> URL? {
    if board?.simulation != nil, environment["STATE_DIRECTORY"] == nil { return nil }
    return stateFolder(of: board, in: StateDirectory.current(environment: environment))
  }

  // A simulated board has the places of a real one, and of every other simulated one: what is stored of the one
  // must never be read as another's.
  private static func stateFolder(of board: Board?, in folder: URL) -> URL {
    guard let board, board.simulation != nil else { return folder }
    let name = board.name.map { character in
      character.isASCII && (character.isLetter || character.isNumber || character == "-")
        ? character : "_"
    }
    return folder.appending(path: "simulated").appending(path: String(name))
  }

  private static func stateFolder(_ given: URL?, _ board: Board) -> (url: URL, isTemporary: Bool) {
    if let kept = given.map({ stateFolder(of: board, in: $0) }) ?? keptState(of: board) {
      return (kept, false)
    }
    let name =
      "lodestone-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(8))"
    return (FileManager.default.temporaryDirectory.appending(path: name), true)
  }
}

extension Board {
  /// Whether the board file names a receiver.
  package var hasReceiver: Bool {
    sensors.contains { ChipCatalog.chip(named: $0.chip)?.kind == .receiver }
  }
}

extension PositionAccess {
  /// What the running program may know of the board's position, for one that opens no board.
  package static func current() throws -> PositionAccess { try AuthorizationSetup.currentAccess() }

  /// Throws unless exact positions are allowed.
  ///
  /// - Parameter what: What needs them, a clause for a message.
  package func demandExact(_ what: String) throws(PositionNotAuthorized) {
    switch self {
    case .full: return
    case .reduced:
      throw PositionNotAuthorized(
        description: "\(what), and this program is authorized for reduced accuracy only")
    case .withheld(let why):
      throw PositionNotAuthorized(
        description: "\(what): \(why). lodestone authorization shows the rules")
    }
  }
}
