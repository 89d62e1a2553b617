import Foundation

/// Runs this program's own commands, as a person would, and keeps what they print.
struct Transcripts {
  /// Longest that a command may take, seconds.
  private static let limit = 30.0
  /// Bytes of output that are kept of each command.
  private static let kept = 200_000

  let executable: URL

  /// One command with its arguments; both of its streams as they come.
  func run(_ arguments: [String]) -> Report.Transcript {
    let command = (["lodestone"] + arguments).joined(separator: " ")
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      return Report.Transcript(command: command, exitCode: -1, output: "\(error)")
    }
    // A command that does not end is ended: its output ends with it, and so does the reading.
    let guardian = DispatchWorkItem { process.terminate() }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.limit, execute: guardian)
    var output = Data()
    while let part = try? pipe.fileHandleForReading.read(upToCount: 65_536), !part.isEmpty {
      if output.count < Self.kept { output += part }
    }
    process.waitUntilExit()
    guardian.cancel()
    let wasEnded = process.terminationReason == .uncaughtSignal
    return Report.Transcript(
      command: command, exitCode: wasEnded ? -1 : Int(process.terminationStatus),
      output: String(decoding: output.prefix(Self.kept), as: UTF8.self))
  }
}
