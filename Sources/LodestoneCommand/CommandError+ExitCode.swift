// Exit codes of errors.

import ArgumentParser
import BoardFile
import Diagnosis
import HardwareSuite
import Lodestone
import SensorBus
import SensorTypes
import StateStore
import TerminalUI

extension CommandErrorKind {
  var exitCode: ExitCode { ExitCode(rawValue) }
}

extension CommandErrorKind {
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
    case let problem as CasterProblem:
      self =
        switch problem.kind {
        case .unreachable: .io
        case .refused: .permission
        case .foreign: .data
        }
    case is SimulationControlError, is OperatorError: self = .io
    case let error as DaemonUnreachable: self = error.isRight ? .permission : .io
    default: return nil
    }
  }
}

extension OutputFormat: ExpressibleByArgument {}
