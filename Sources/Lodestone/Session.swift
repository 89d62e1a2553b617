public import Foundation
import LinuxIO
import SensorBus
public import SensorHub
public import SensorTypes
public import SimulatedDevices

/// A board that is open: its hub, and on a simulated board the truth behind it.
///
/// The composition root: here a board's name becomes a provider. Nothing falls back to the simulated
/// board; it is asked for by name or not at all.
public final class Session: Sendable {
  /// Nothing was found and nothing was named.
  public struct NothingFound: Error, Sendable, CustomStringConvertible {
    /// The only one there is.
    public init() {}

    /// One line for a person.
    public var description: String {
      "no board file and no known chip on any bus: name a board by LODESTONE_BOARD "
        + "(the command also takes --board), or run lodestone doctor"
    }
  }

  /// The hub; not started yet.
  public let hub: Hub
  /// The board.
  public let board: Board
  /// The simulated board behind the hub, where there is one.
  public let simulation: SimulatedBusProvider?
  /// What this machine keeps from run to run.
  public let state: StateStore
  // A simulated board's own folder, gone with the session.
  private let temporaryFolder: URL?
  private let provider: any BusProvider
  private let control: SimulationControl?

  /// Opens the board called `name` (see `BoardLocator`), or probes the buses where nothing names one.
  ///
  /// - Parameters:
  ///   - name: As given by the user; `nil` for the machine's own.
  ///   - stateDirectory: Where calibrations and the last position are kept; `nil` takes the machine's own.
  ///     A simulated board keeps its own in a folder of its name below `simulated` there; without
  ///     `$STATE_DIRECTORY` it starts fresh and leaves nothing.
  ///   - calibratesInUse: Whether the magnetometer is calibrated while the board is in use, unless the board file
  ///     forbids it. Not for a program that calibrates itself, or that only looks.
  ///   - recording: Where a recording goes.
  public init(
    board name: String?, stateDirectory: URL? = nil, calibratesInUse: Bool = false,
    recording: TraceSink? = nil
  ) throws {
    let linux = LinuxBusProvider()
    let located = try BoardLocator.locate(name)
    let found =
      located?.board
      ?? BoardProbe.board(with: linux, wait: { Thread.sleep(forTimeInterval: $0) })
    guard let board = found else { throw NothingFound() }
    self.board = board
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
    if let simulation {
      try Simulation.storeCalibrations(of: board, simulation, in: state.calibrations)
    }
    let (model, problems) = MagneticModelFile.newest()
    hub = try Hub(
      board: board, provider: provider, runner: ThreadRunner(), state: state,
      model: model.map { ($0.model, $0.text) }, notes: problems,
      isSimulated: board.simulation != nil, calibratesInUse: calibratesInUse,
      recording: recording.map {
        (located?.text ?? "", located?.file.lastPathComponent ?? "probed", $0)
      })
  }

  deinit {
    hub.stop()
    if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
  }

  /// The monotonic clock of the board.
  public func now() -> Timestamp { provider.now() }

  /// The system's clock.
  public var clock: ClockReading {
    ClockReading(seconds: provider.wallTime(), isSet: provider.isWallTimeSet)
  }

  /// What the system's clock shows at a moment, by what it shows now.
  public func clock(at time: Timestamp) -> ClockReading {
    ClockReading(seconds: wallTime(of: time), isSet: provider.isWallTimeSet)
  }

  /// UTC of a moment by the system's clock, seconds since 1970.
  public func wallTime(of time: Timestamp) -> Double {
    provider.wallTime() + time.seconds(since: provider.now())
  }

  /// Where what this machine keeps of a board (`nil`: of the one that probing finds) lies from run to run; `nil`
  /// for a simulated board without `$STATE_DIRECTORY`, of which nothing is kept.
  public static func keptState(
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
