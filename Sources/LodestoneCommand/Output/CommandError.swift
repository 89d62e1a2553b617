import SensorHub

/// What a command could not do, in one line; the command ends with exit code 1.
struct CommandError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// What Foundation says about a file.
  init(_ path: String, _ error: any Error) { self.init(FileProblem(path, error).description) }
}
