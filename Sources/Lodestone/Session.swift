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
    /// One line for a person.
    public var description: String {
      "no board file and no known chip on any bus: name a board with --board or LODESTONE_BOARD, "
        + "or run lodestone doctor"
    }
  }

  /// The hub; not started yet.
  public let hub: Hub
  /// The board.
  public let board: Board
  /// The simulated board behind the hub, where there is one.
  public let simulation: SimulatedBusProvider?
  /// The calibrations of this machine.
  public let calibrations: CalibrationStore
  private let provider: any BusProvider

  /// Opens the board called `name` (see `BoardLocator`), or probes the buses where nothing names one.
  ///
  /// - Parameters:
  ///   - name: As given by the user; `nil` for the machine's own.
  ///   - stateDirectory: Where calibrations are kept; `nil` takes the machine's own, and for a simulated
  ///     board without one of its own a fresh folder.
  ///   - recording: Where a recording goes.
  public init(
    board name: String?, stateDirectory: URL? = nil, recording: TraceSink? = nil
  ) throws {
    let linux = LinuxBusProvider()
    let located = try BoardLocator.locate(name)
    guard let board = located?.board ?? BoardProbe.board(with: linux) else { throw NothingFound() }
    self.board = board
    if let plan = board.simulation {
      let simulation = SimulatedBusProvider(
        Simulation.board(board, plan: plan, utcStart: linux.wallTime()))
      Simulation.scheduleFaults(of: plan, on: simulation)
      self.simulation = simulation
      provider = simulation
    } else {
      simulation = nil
      provider = linux
    }
    let state = try stateDirectory ?? Self.stateDirectory(isSimulated: board.simulation != nil)
    let store = CalibrationStore(stateDirectory: state)
    if let simulation { try Simulation.storeCalibrations(of: board, simulation, in: store) }
    calibrations = store
    hub = try Hub(
      board: board, provider: provider, runner: ThreadRunner(), calibrations: store,
      isSimulated: board.simulation != nil,
      recording: recording.map {
        (located?.text ?? "", located?.file.lastPathComponent ?? "probed", $0)
      })
  }

  /// The monotonic clock of the board.
  public func now() -> Timestamp { provider.now() }

  /// UTC of a moment by the system's clock, seconds since 1970.
  public func wallTime(of time: Timestamp) -> Double {
    provider.wallTime() + time.seconds(since: provider.now())
  }

  // A simulated board must not read what a real one has stored under the same place, nor leave anything.
  private static func stateDirectory(isSimulated: Bool) throws -> URL {
    let environment = ProcessInfo.processInfo.environment
    if !isSimulated || environment["STATE_DIRECTORY"] != nil
      || environment["XDG_STATE_HOME"] != nil
    {
      return StateDirectory.current(environment: environment)
    }
    return FileManager.default.temporaryDirectory
      .appending(path: "lodestone-\(ProcessInfo.processInfo.processIdentifier)")
  }
}
