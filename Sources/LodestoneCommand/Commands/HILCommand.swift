import ArgumentParser
import Foundation
import HardwareSuite
import Lodestone
import SensorHub

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
      Writes report.html, junit.xml and report.json. Scenarios need somebody who lets things go wrong: a \
      rig (--rig, the tty of its control line), a person (--interactive), or the simulated board itself. \
      Exit code 0 only when everything that was to be tried was tried and is well.
      """)

  @OptionGroup var board: BoardOptions

  @Option(help: "A scenario to play; may stand several times.", completion: .file())
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
  }

  func run() throws {
    var options = HardwareSuite.Options()
    options.seconds = seconds
    options.say = { Terminal.write($0 + "\n") }
    options.executable = brief ? nil : "/proc/self/exe"
    if let rig { options.person = try RigLine(path: rig) }
    if interactive {
      options.person = Person(
        say: { Terminal.write("\n>>> \($0)\n") }, waitForReturn: { readLine() != nil })
    }
    let report = try HardwareSuite(board: board.name, options).run(
      scenarios: scenario, desk: interactive && scenario.isEmpty)
    if let folder = self.report {
      do {
        try report.write(to: URL(filePath: folder))
      } catch {
        throw CommandError(folder, error)
      }
    }
    for check in report.checks where check.outcome != .passed {
      Terminal.write("\(check.outcome.rawValue)  \(check.group), \(check.name): \(check.detail)\n")
      if let mend = check.mend { Terminal.write("         mend: \(mend)\n") }
    }
    Terminal.write(report.verdict + "\n")
    if !report.isPassed { throw ExitCode.failure }
  }
}
