// The hardware tests as a library: against whatever a board file names, on a desk, in a rig, or simulated.

import BoardFile
import Diagnosis
import FoundationEssentials
import Glibc
import LinuxIO
import Lodestone
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes
import StateStore
import Threads

/// What was found so far: it stays when a run is broken off.
struct Findings {
  var checks: [Report.Check] = []
  var series: [Report.Series] = []
  /// What is being tried.
  var stage = "the beginning"
}

/// Tests a board and reports.
///
/// What it does, in order: the commands that a person would try (their output is in the report), the
/// wiring, the chips' self-tests, a measurement of the whole board left alone, then each scenario.
/// Nothing that was named and could not be tried counts as passed.
package struct HardwareSuite: Sendable {
  private let name: String?
  private let options: SuiteOptions

  /// A suite for the board called `name` (see `BoardLocator`); `nil` for the machine's own.
  package init(board name: String?, _ options: SuiteOptions = SuiteOptions()) {
    self.name = name
    self.options = options
  }

  /// Tests the board. Throws only what is wrong with what was asked for: everything else is in the report, a
  /// board that is not there too.
  ///
  /// - Parameters:
  ///   - files: Scenarios, in order; their mistakes, and steps that nobody here can carry out, are thrown before
  ///     anything is touched.
  ///   - desk: Whether a person is asked for what a desk allows, besides.
  package func run(scenarios files: [String], desk: Bool = false) throws -> Report {
    let start = ContinuousClock.now
    var report = Report(
      board: name ?? "probed", boardFile: "probed", machine: Self.machine,
      rig: options.person?.name ?? "nobody", date: Date())
    var found = Findings()
    do {
      let plan = try plan(files, desk: desk, &report)
      if let plan { try carryOut(plan, &report, &found) } else { try lookAround(&report, &found) }
    } catch let end as BrokenOff {
      report.brokenOff = Report.Interrupted(signal: end.name, during: found.stage)
    }
    report.checks += found.checks
    report.series = found.series
    report.seconds = Double((ContinuousClock.now - start) / .seconds(1))
    return report
  }

  /// What is to be done, and on which board.
  private struct Plan {
    let board: Board
    let isSimulated: Bool
    /// The board of the daemon that owns it; `nil` if this program opens it.
    let daemon: DaemonBoard?
    let scenarios: [Scenario]
  }

  /// Finds the board and reads everything that can be wrong with what was asked for. `nil` where there is no
  /// board, which the report then says.
  private func plan(_ files: [String], desk: Bool, _ report: inout Report) throws -> Plan? {
    let board: Board?
    var daemon: DaemonBoard?
    do {
      if name == nil, let path = DaemonLocator.socket() {
        daemon = try DaemonBoard(path: path, isPatient: true)
        report.boardFile = "that of the daemon at \(path)"
      }
      let located = try daemon == nil ? BoardLocator.locate(name) : nil
      if let located { report.boardFile = located.file.path }
      board =
        daemon?.board ?? located?.board
        ?? BoardProbe.board(with: LinuxBusProvider(), wait: { SystemThread.sleep(seconds: $0) })
    } catch let error as DaemonUnreachable {
      report.checks.append(
        Report.Check(
          "board", "the daemon can be asked", .failed, "\(error)",
          mend: "sudo systemctl restart lodestone"))
      return nil
    } catch {
      report.checks.append(
        Report.Check(
          "board", "there is a board", .failed, "\(error)",
          mend: "mend the board file, or name another with --board"))
      return nil
    }
    guard let board else {
      report.checks.append(
        Report.Check(
          "board", "there is a board", .failed, "\(Session.NothingFound())",
          mend: "--board FILE   # README.md, \"Wiring a board\", says what stands in one"))
      return nil
    }
    report.board = board.name
    let isSimulated = daemon?.summary.isSimulated ?? (board.simulation != nil)
    report.deviations = board.sensors.flatMap(\.deviations)
    if options.person == nil, isSimulated, daemon == nil {
      report.rig = SimulationOperator.title
    }
    if isSimulated, options.person?.isPerson == true {
      throw OperatorError(
        "nobody can turn or unplug a simulated board: take a --scenario instead of --interactive")
    }
    if board.hasReceiver {
      let what = "hil run reports what the receiver says"
      if let daemon {
        try daemon.demandExactPosition(what)
      } else {
        try PositionAccess.current().demandExact(what)
      }
    }
    var scenarios = try files.map { try Self.read($0, for: board) }
    if desk { scenarios.append(.desk(for: board)) }
    for scenario in scenarios {
      try scenario.check { action in
        if let person = options.person { return person.objection(to: action) }
        return !isSimulated || daemon != nil
          ? Nobody().objection(to: action) : SimulationOperator.objection(to: action)
      }
    }
    return Plan(board: board, isSimulated: isSimulated, daemon: daemon, scenarios: scenarios)
  }

  /// Without a board: what a person would look at first.
  private func lookAround(_ report: inout Report, _ found: inout Findings) throws(BrokenOff) {
    for check in report.checks { for line in check.lines { options.say(line) } }
    guard let transcripts else { return }
    found.stage = "the commands"
    let board = name.map { ["--board", $0] } ?? []
    report.transcripts.append(try transcripts.run(["doctor"] + board))
    report.transcripts.append(try transcripts.run(["scan"]))
  }

  private func carryOut(
    _ plan: Plan, _ report: inout Report, _ found: inout Findings
  ) throws {
    let board = plan.board
    let isSimulated = plan.isSimulated
    func note(_ checks: [Report.Check], _ found: inout Findings) {
      for check in checks { for line in check.lines { options.say(line) } }
      found.checks += checks
    }
    found.stage = "the wiring"
    let wiring = Wiring(
      board: board, provider: LinuxBusProvider(), doctor: Doctor(), wait: Self.sleep,
      check: check)
    let (checks, broken) = plan.daemon.map { wiring.checks(of: $0) } ?? wiring.checks()
    note(checks, &found)
    if let transcripts {
      found.stage = "the commands"
      for command in commands(isSimulated: isSimulated, scans: plan.daemon == nil) {
        let run = try transcripts.run(command)
        report.transcripts.append(run)
        note([Self.check(of: run)], &found)
      }
    }
    let testable = Wiring.testable(board)
    if isSimulated {
      if !testable.isEmpty {
        let left =
          "self-tests (\(testable.joined(separator: ", "))) are not run on the simulated board"
        options.say(left)
        report.deviations.append(left)
      }
    } else if plan.daemon != nil {
      note(Wiring.untestedSelfTests(of: board), &found)
    } else {
      found.stage = "the self-tests"
      if !testable.isEmpty { options.say("self-tests: let the board lie still") }
      note(try wiring.selfTests(), &found)
    }
    let opened: OpenedBoard
    do {
      opened = try plan.daemon.map { OpenedBoard($0) } ?? OpenedBoard(Session(board: name))
    } catch {
      note(
        [
          Report.Check(
            "board", "the board can be opened", .failed, "\(error)", mend: "lodestone doctor")
        ], &found)
      return
    }
    if let problem = opened.recordProblem {
      let lack = "headings are judged as on a board without calibration: \(problem)"
      options.say(lack)
      report.deviations.append(lack)
    }
    let person =
      options.person ?? opened.simulation.map { SimulationOperator($0) } ?? Nobody()
    report.rig = person.name
    let interruption = options.interruption
    let watch = SchedulingStallMonitor()
    let bench = Bench(
      board: opened.board, source: opened.source, calibrations: opened.calibrations,
      person: person, now: opened.now,
      pass: { (seconds) throws(BrokenOff) in try interruption.sleep(seconds) }, say: options.say,
      kernels: isSimulated
        ? [] : Set(board.sensors.indices.filter { Doctor().usesKernel(board.sensors[$0]) }),
      isSimulated: isSimulated, standstill: { watch.total })
    opened.source.setDemand(.everything)
    opened.begin()
    defer {
      opened.end()
      if bench.capture.dropped > 0 {
        report.deviations.append("\(bench.capture.dropped) samples were too many to keep")
      }
      bench.capture.end()
    }
    try Self.test(
      bench, broken: broken, seconds: options.seconds, scenarios: plan.scenarios, into: &found)
  }

  private func check() throws(BrokenOff) { try options.interruption.check() }

  private var transcripts: Transcripts? {
    options.executable.map { Transcripts(executable: $0, check: check) }
  }

  /// The part that needs a running hub: the measurement and the scenarios. Chips that are known to be
  /// `broken` are not waited for. What is found goes into `found` as it comes.
  static func test(
    _ bench: Bench, broken: Set<Int> = [], seconds: Double, scenarios: [Scenario],
    into found: inout Findings
  ) throws(BrokenOff) {
    found.stage = "the start of the chips"
    // Chips that are there start within a second; the others get what a loss gets.
    _ = try bench.wait(atMost: FaultTrial.returnLimit) {
      bench.source.status.allSatisfy { $0.state == .running || broken.contains($0.index) }
    }
    found.stage = "the measurement"
    bench.say(
      "measuring for \(Report.figure(seconds)) s"
        + (bench.isSimulated ? "" : ": let the board lie still"))
    // The filter settles, the receiver may find its sky.
    try bench.pass(2)
    let measurement = Measurement(bench, seconds: seconds)
    found.series = measurement.series()
    if let end = measurement.end { throw end }
    let checks = measurement.checks("measurement") + measurement.sanity("plausibility")
    for check in checks { bench.tell(check) }
    found.checks += checks
    let player = ScenarioPlayer(bench: bench)
    for scenario in scenarios { try player.play(scenario, into: &found) }
  }

  private func commands(isSimulated: Bool, scans: Bool) -> [[String]] {
    let board = name.map { ["--board", $0] } ?? []
    // Seconds are few: what is wrong shows in the measurement, this is what a person would see.
    return [
      ["doctor"] + board, scans ? ["scan"] + (isSimulated ? board : []) : nil,
      ["monitor"] + board + ["--seconds", "3"],
    ].compactMap(\.self)
  }

  static func check(of run: Report.Transcript) -> Report.Check {
    guard run.exitCode != 0 else {
      return Report.Check("commands", run.command, .passed, "exit code 0")
    }
    let cause = run.cause
    return Report.Check(
      "commands", run.command, .failed, "exit code \(run.exitCode): \(cause.text)",
      mend: cause.mend ?? "its output stands at the end of the report")
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

  private static let sleep: @Sendable (Double) -> Void = { SystemThread.sleep(seconds: $0) }

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

/// What is to be done.
package struct SuiteOptions: Sendable {
  /// Seconds of the measurement.
  package var seconds = 10.0
  /// Who carries out the scenarios' steps; `nil` for a board with nobody at it. On the simulated board
  /// it is the simulation itself.
  package var person: (any Operator)?
  /// This program, for the transcripts of its commands; `nil` for none.
  package var executable: String?
  /// Where the run learns that it is to end.
  package var interruption = Interruption()
  /// Takes lines of progress.
  package var say: @Sendable (String) -> Void = { _ in }

  /// Makes the usual options.
  package init() {}
}
