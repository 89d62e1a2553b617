// Where the program begins, and how it ends.

import ArgumentParser
import Foundation
import Glibc
import Lodestone

/// The command `lodestone`.
@main
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
      """,
    version: "0.1.0",
    subcommands: [
      MonitorCommand.self, MapCommand.self, ScanCommand.self, DoctorCommand.self,
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

  /// The exit code of an error (sysexits.h).
  private static func code(of error: any Error) -> ExitCode {
    switch error {
    case is PositionNotAuthorized: ExitCode(EX_NOPERM)
    case is AuthorizationPolicyError: ExitCode(EX_CONFIG)
    default: exitCode(for: error)
    }
  }

  static func main() {
    do {
      var command = try parseAsRoot(numbersLast(Array(CommandLine.arguments.dropFirst())))
      try command.run()
    } catch {
      let code = code(of: error)
      guard !code.isSuccess else { exit(withError: error) }
      // A message may quote a file.
      var message = fullMessage(for: error)
      // How a command is used is said of every board.
      if code != .validationFailure { message = Hints.complete(message) }
      if !message.isEmpty { Terminal.warn(Terminal.fitting(message)) }
      exit(withError: code)
    }
  }
}
