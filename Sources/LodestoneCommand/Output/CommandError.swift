// How a command fails: a message and an exit code.

import ArgumentParser
import Glibc
import HardwareSuite
import Lodestone
import SensorBus
import SensorHub

/// What a command could not do, in one line, and the exit code that it ends with.
struct CommandError: Error, CustomStringConvertible {
  /// Why a command failed. The raw value is its exit code, the same for all commands (sysexits.h); the README has the
  /// table.
  enum Kind: Int32, CaseIterable {
    /// A finding: the command did what it was asked to, and something is not well. Also a write error on standard output.
    case finding = 1
    /// Wrong options or arguments.
    case usage = 64
    /// An input file that does not hold what it should.
    case data = 65
    /// An input file that is not there.
    case noInput = 66
    /// A file, a bus or a socket that cannot be read or written.
    case io = 74
    /// A right that the user lacks.
    case permission = 77
    /// A board file, a policy, or something that this machine lacks.
    case configuration = 78

    var exitCode: ExitCode { ExitCode(rawValue) }
  }

  let description: String
  let kind: Kind

  init(_ description: String, kind: Kind = .finding) {
    self.description = description
    self.kind = kind
  }

  /// The end of input where somebody was asked to go on.
  static let unanswered = CommandError("nobody answers; what was stored stays")

  /// What is wrong with a file that was to be read.
  init(reading problem: FileProblem) {
    let isAbsent = [ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG].contains(problem.code)
    self.init(problem.description, kind: isAbsent ? .noInput : Kind(problem))
  }

  /// What Foundation says about a file that was to be read.
  init(reading path: String, _ error: any Error) {
    self.init(reading: FileProblem(path, error))
  }
}

extension CommandError.Kind {
  /// The kind of what the system says about a file that was to be written, or of the command's own.
  init(_ problem: FileProblem) {
    self = [EACCES, EPERM, EROFS].contains(problem.code) ? .permission : .io
  }

  /// The kind of any error that ends a command; `nil` for an exit code, for what the argument parser throws, and for what
  /// is no more than a finding.
  init?(of error: any Error) {
    switch error {
    case let error as CommandError: self = error.kind
    case let problem as FileProblem: self.init(problem)
    case is BoardFileError, is BoardLocator.NotFound, is Session.NothingFound: self = .configuration
    case is AuthorizationPolicyError: self = .configuration
    case is PositionNotAuthorized: self = .permission
    case is KnownAltitudeError: self = .usage
    case let error as BusError:
      if case .permissionDenied = error.reason { self = .permission } else { self = .io }
    case is SimulationControl.Failure, is OperatorError: self = .io
    default: return nil
    }
  }
}
