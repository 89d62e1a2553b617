// The hardware tests as a library: against whatever a board file names, on a desk, in a rig, or simulated.

import Foundation
import LinuxIO
import Lodestone
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Tests a board and reports.
///
/// What it does, in order: the commands that a person would try (their output is in the report), the
/// wiring, the chips' self-tests, a measurement of the whole board left alone, then each scenario.
/// Nothing that was named and could not be tried counts as passed.
public struct HardwareSuite: Sendable {
  /// What is to be done.
  public struct Options: Sendable {
    /// Seconds of the measurement.
    public var seconds = 10.0
    /// Who carries out the scenarios' steps; `nil` for a board with nobody at it. On the simulated board
    /// it is the simulation itself.
    public var person: (any Operator)?
    /// This program, for the transcripts of its commands; `nil` for none.
    public var executable: String?
    /// Takes lines of progress.
    public var say: @Sendable (String) -> Void = { _ in }

    /// Makes the usual options.
    public init() {}
  }

  private let name: String?
  private let options: Options

  /// A suite for the board called `name` (see `BoardLocator`); `nil` for the machine's own.
  public init(board name: String?, _ options: Options = Options()) {
    self.name = name
    self.options = options
  }

  /// Tests the board. Throws only where there is no board to be tested: everything else is in the report.
  ///
  /// - Parameters:
  ///   - files: Scenarios, in order; their mistakes are thrown before anything is touched.
  ///   - desk: Whether a person is asked for what a desk allows, besides.
  public func run(scenarios files: [String], desk: Bool = false) throws -> Report {
    let located = try BoardLocator.locate(name)
    let start = ContinuousClock.now
    var report = Report(
      board: located?.board.name ?? "probed", boardFile: located?.file.path ?? "probed",
      machine: Self.machine, rig: options.person?.name ?? "nobody", date: Date())
    func note(_ checks: [Report.Check]) {
      for check in checks { options.say("\(check.outcome.rawValue)  \(check.name)") }
      report.checks += checks
    }
    // The scenarios are read before the first chip is touched: a slip costs no minute.
    let scenarios = try located.map { located in
      try files.map { try Self.read($0, for: located.board) }
    }
    var broken: Set<Int> = []
    if let board = located?.board {
      report.deviations = board.sensors.flatMap(\.deviations)
      let wiring = wiring(of: board).checks()
      broken = wiring.broken
      note(wiring.checks)
    }
    if let executable = options.executable {
      let (checks, transcripts) = commands(
        Transcripts(executable: executable), isSimulated: located?.board.simulation != nil)
      report.transcripts = transcripts
      note(checks)
    }
    if let board = located?.board, board.simulation == nil {
      note(wiring(of: board).selfTests())
    }
    let session = try Session(board: name)
    report.board = session.board.name
    let person =
      options.person
      ?? session.simulation.map { SimulationOperator($0, board: session.board) } ?? Nobody()
    report.rig = person.name
    let bench = Bench(
      board: session.board, hub: session.hub, person: person, now: { session.now() },
      pass: Self.sleep, say: options.say)
    session.hub.setDemand(.everything)
    session.hub.start()
    var steps = try scenarios ?? files.map { try Self.read($0, for: session.board) }
    if desk { steps.append(.desk(for: session.board)) }
    let part = Self.test(
      bench, broken: broken, seconds: options.seconds, scenarios: steps)
    session.hub.stop()
    report.checks += part.checks
    report.series = part.series
    if bench.capture.dropped > 0 {
      report.deviations.append("\(bench.capture.dropped) samples were too many to keep")
    }
    bench.capture.end()
    report.seconds = Double((ContinuousClock.now - start) / .seconds(1))
    return report
  }

  private func wiring(of board: Board) -> Wiring {
    Wiring(board: board, provider: LinuxBusProvider(), doctor: Doctor(), wait: Self.sleep)
  }

  /// The part that needs a running hub: the measurement and the scenarios. Chips that are known to be
  /// `broken` are not waited for.
  static func test(
    _ bench: Bench, broken: Set<Int> = [], seconds: Double, scenarios: [Scenario]
  ) -> (checks: [Report.Check], series: [Report.Series]) {
    // Chips that are there start within a second; the others get what a loss gets.
    _ = bench.wait(atMost: FaultTrial.returnLimit) {
      bench.hub.status.allSatisfy { $0.state == .running || broken.contains($0.index) }
    }
    // The filter settles, the receiver may find its sky.
    bench.pass(2)
    let measurement = Measurement(bench, seconds: seconds)
    var checks = measurement.checks("measurement") + measurement.sanity("plausibility")
    for check in checks { bench.say("\(check.outcome.rawValue)  \(check.name)") }
    let series = measurement.series()
    let player = ScenarioPlayer(bench: bench)
    for scenario in scenarios { checks += player.play(scenario) }
    return (checks, series)
  }

  private func commands(
    _ transcripts: Transcripts, isSimulated: Bool
  ) -> (checks: [Report.Check], transcripts: [Report.Transcript]) {
    let board = name.map { ["--board", $0] } ?? []
    // Seconds are few: what is wrong shows in the measurement, this is what a person would see.
    let runs = [
      transcripts.run(["doctor"] + board), transcripts.run(["scan"] + (isSimulated ? board : [])),
      transcripts.run(["monitor"] + board + ["--seconds", "3"]),
    ]
    let checks = runs.map { run in
      let isGood = run.exitCode == 0
      return Report.Check(
        "commands", run.command, isGood ? .passed : .failed,
        isGood
          ? "exit code 0"
          : "exit code \(run.exitCode): "
            + (run.output.split(separator: "\n").last.map(String.init) ?? "no output"),
        mend: isGood ? nil : "its output stands at the end of the report")
    }
    return (checks, runs)
  }

  private static func read(_ file: String, for board: Board) throws -> Scenario {
    let text: String
    do {
      text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
      throw FileProblem(file, error)
    }
    return try Scenario.parse(text, file: file, board: board)
  }

  private static let sleep: @Sendable (Double) -> Void = { Thread.sleep(forTimeInterval: $0) }

  // The Pi says what it is in the device tree; other machines have their kernel's word alone.
  private static var machine: String {
    var name = utsname()
    uname(&name)
    func text<T>(_ tuple: T) -> String {
      withUnsafeBytes(of: tuple) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
    }
    let kernel = "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
    let model = (try? Data(contentsOf: URL(filePath: "/proc/device-tree/model")))
      .map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return model.map { "\($0), \(kernel)" } ?? kernel
  }
}
