// How a command fails: a message and an exit code.

import Glibc
package import StateStore

/// What a command could not do, in one line, and the exit code that it ends with.
package struct CommandError: Error, CustomStringConvertible {
  package let description: String
  package let kind: CommandErrorKind

  package init(_ description: String, kind: CommandErrorKind = .finding) {
    self.description = description
    self.kind = kind
  }

  /// The end of input where somebody was asked to go on.
  package static let unanswered = CommandError("nobody answers; what was stored stays")

  /// What is wrong with a file that was to be read.
  package init(reading problem: FileProblem) {
    let isAbsent = [ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG].contains(problem.code)
    self.init(problem.description, kind: isAbsent ? .noInput : CommandErrorKind(problem))
  }
}

/// Why a command failed. The raw value is its exit code, the same for all commands (sysexits.h); the README has the
/// table.
package enum CommandErrorKind: Int32, CaseIterable {
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
}

extension CommandErrorKind {
  /// The kind of what the system says about a file that was to be written, or of the command's own.
  package init(_ problem: FileProblem) {
    self = [EACCES, EPERM, EROFS].contains(problem.code) ? .permission : .io
  }
}

/// Ends the command with an exit code and no further message.
package struct CommandExit: Error, Hashable, Sendable {
  package let code: Int32

  package init(_ code: Int32) { self.code = code }

  /// A finding that was told already.
  package static let finding = CommandExit(CommandErrorKind.finding.rawValue)
}
