import SensorHub

/// What a command could not do, in one line; the command ends with exit code 1.
struct CommandError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The end of input where somebody was asked to go on.
  static let unanswered = CommandError("nobody answers; what was stored stays")

  /// What Foundation says about a file.
  init(_ path: String, _ error: any Error) { self.init(FileProblem(path, error).description) }
}
