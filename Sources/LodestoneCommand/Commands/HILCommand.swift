import ArgumentParser
import FoundationEssentials
import Glibc
import HardwareSuite
import StateStore
import TerminalUI

/// `lodestone hil`: tests of the hardware.
struct HILCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hil", abstract: "Hardware-in-the-loop tests of this board.",
    subcommands: [HILRunCommand.self], defaultSubcommand: HILRunCommand.self)
}

/// `lodestone hil run`: the hardware tests against whatever the board file names.
struct HILRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Test the board: wiring, self-tests, rates, noise, plausibility, scenarios.",
    discussion: """
      --report writes report.html, junit.xml and report.json, which only their owner can read. Scenarios need somebody who lets \
      things go wrong: a rig (--rig, the tty of its control line), a person (--interactive), or the simulated board itself. \
      Exit codes: 0 when everything that was to be tried was tried and is well; 1 when something failed; \
      2 when nothing failed and something was skipped; those of all commands (64 to 78) when the run could not \
      begin or its report cannot be written, 77 where the board has a receiver and the command is not authorized for its \
      position; 130 and 143 when Ctrl-C or SIGTERM broke it off, which leaves a report of what was found so far.
      """)

  @OptionGroup var board: BoardOptions

  @Option(
    help: "A scenario's file, as those of Tests/Hardware/scenarios; may stand several times.",
    completion: .file())
  var scenario: [String] = []

  @Option(help: "The folder for the report.", completion: .directory)
  var report: String?

  @Option(help: "The tty of a rig's control line.", completion: .file())
  var rig: String?

  @Flag(help: "Ask a person to turn, tilt, lift and unplug.")
  var interactive = false

  @Flag(help: "Leave out doctor, scan and monitor, whose output is in the report otherwise.")
  var brief = false

  @Option(parsing: .unconditional, help: "Seconds of the measurement.")
  var seconds = 10.0

  func validate() throws {
    guard seconds >= 1, seconds <= 600 else {
      throw ValidationError("--seconds takes 1 to 600")
    }
    if rig != nil, interactive { throw ValidationError("either --rig or --interactive") }
    if interactive, !Keyboard.isTerminal {
      throw ValidationError("--interactive asks questions, and standard input is no terminal")
    }
  }

  func run() throws {
    let folder = report.map { URL(filePath: $0) }
    // A report that cannot be written is no news for the end.
    if let folder { try attempt(folder) { try Report.prepare(folder: folder) } }
    let interruption = Interruption()
    let interrupts = Interrupts { signal in
      guard interruption.interrupt(by: signal) else { _exit(128 + signal) }
      Terminal.write("\nending in order; once more ends at once\n")
    }
    defer { withExtendedLifetime(interrupts) {} }
    var options = SuiteOptions()
    options.seconds = seconds
    options.interruption = interruption
    options.say = { Terminal.say(Hints.complete($0)) }
    options.executable = brief ? nil : "/proc/self/exe"
    if let rig { options.person = try RigLine(path: rig) }
    if interactive {
      let keyboard = Keyboard { interruption.signal }
      options.person = Person(say: options.say) { (question) throws(BrokenOff) in
        do throws(SignalInterruption) { return try keyboard.answer(to: question) } catch {
          throw BrokenOff(signal: error.signal)
        }
      }
    }
    let report: Report
    do {
      report = try HardwareSuite(board: board.name, options).run(
        scenarios: scenario, desk: interactive && scenario.isEmpty
      ).completed { Hints.complete($0) }
    } catch let problem as FileProblem {
      throw CommandError(reading: problem)
    } catch let error as OperatorError {
      throw CommandError("\(error)", kind: .usage)
    }
    Terminal.write("\n")
    for line in report.remarks { Terminal.say(line) }
    Terminal.write(report.verdict + "\n")
    if let folder {
      try attempt(folder) { try report.write(to: folder) }
      Terminal.write("report: \(folder.appending(path: "report.html").path)\n")
    }
    do throws(BrokenOff) {
      try interruption.check()
    } catch {
      // A run that a late signal did not break off ends as it is.
      if report.brokenOff != nil { throw ExitCode(error.exitCode) }
    }
    if report.exitCode != 0 { throw ExitCode(report.exitCode) }
  }

  private func attempt(_ folder: URL, _ write: () throws -> Void) throws {
    do {
      try write()
    } catch let problem as FileProblem {
      throw CommandError(
        "the report cannot be written: \(problem)", kind: CommandErrorKind(problem))
    } catch {
      let problem = FileProblem(folder.path, error)
      throw CommandError(
        "the report cannot be written: \(problem)", kind: CommandErrorKind(problem))
    }
  }
}
