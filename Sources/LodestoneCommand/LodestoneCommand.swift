// Where the program begins, and how it ends.

import ArgumentParser
import Lodestone
import TerminalUI

/// Runs the command `lodestone` with the arguments of the process, and ends the process with the command's exit code.
package func runLodestone() -> Never { LodestoneCommand.main() }

/// The command `lodestone`.
struct LodestoneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lodestone",
    abstract: "Heading, altitude and position from the chips on this board.",
    discussion: """
      Which board: --board NAME or PATH, else LODESTONE_BOARD, else /etc/lodestone/board.yaml, else the \
      buses are probed. 'simulated' needs no hardware.

      The authorization policy of this machine (/etc/lodestone/authorization.yaml) binds these commands as it \
      binds every program; only root is exempt. What it keeps from a command ends it with exit code 77, and a \
      policy that cannot be used with 78: see lodestone authorization --help.

      Exit codes: 0 done; 1 a finding (a board that says nothing, something to mend, a calibration that is refused), or \
      standard output that cannot be written; 64 wrong options; 65 a file that does not hold what it should; 66 no such \
      file; 74 a file, bus or socket that cannot be read or written; 77 a right that is missing; 78 a board file or a part \
      of the system that is wrong or missing; 128 and its number after a signal. The README has the table ("Exit codes").
      """,
    version: LodestoneRuntime.version,
    subcommands: [
      ServeCommand.self, MonitorCommand.self, MapCommand.self, ScanCommand.self, DoctorCommand.self,
      CalibrateCommand.self, GNSSCommand.self, AltitudeCommand.self, RecordCommand.self,
      ReplayCommand.self, TrackCommand.self, DecodeCommand.self, DeclinationCommand.self,
      AuthorizationCommand.self, HILCommand.self,
    ])

  /// The argument parser takes a negative number for an option. Half the earth has a negative coordinate, and some of it a
  /// negative elevation: of the commands that take such numbers, those that belong to no option go behind `--`.
  static func numbersLast(_ arguments: [String]) -> [String] {
    guard arguments.first == "declination" || arguments.starts(with: ["altitude", "set"]),
      !arguments.contains("--")
    else { return arguments }
    var options: [String] = []
    var numbers: [String] = []
    for argument in arguments {
      let isValue = options.last.map { $0.hasPrefix("--") && !$0.contains("=") } ?? false
      if !isValue, Double(argument) != nil {
        numbers.append(argument)
      } else {
        options.append(argument)
      }
    }
    return numbers.isEmpty ? options : options + ["--"] + numbers
  }

  /// The exit code of an error.
  private static func code(of error: any Error) -> ExitCode {
    if let end = error as? CommandExit { return ExitCode(end.code) }
    return CommandErrorKind(of: error)?.exitCode ?? exitCode(for: error)
  }

  static func main() -> Never {
    OutputDescriptor.reserveStandardOnes()
    var code = ExitCode.success
    do {
      var command = try parseAsRoot(numbersLast(Array(CommandLine.arguments.dropFirst())))
      try command.run()
    } catch {
      code = Self.code(of: error)
      var message = error is CommandExit ? "" : fullMessage(for: error)
      if code.isSuccess {
        // Help, the version, a completion script.
        if !message.isEmpty { Terminal.write(message + "\n") }
      } else {
        // Usage texts name commands, but no board.
        if exitCode(for: error) != .validationFailure { message = Hints.complete(message) }
        // A message may quote a file.
        if !message.isEmpty { Terminal.warn(Terminal.fitting(message)) }
      }
    }
    Terminal.output.close()
    // The command succeeded, but its output is incomplete.
    if code.isSuccess, Terminal.output.failure != nil { code = .failure }
    exit(withError: code)
  }
}
