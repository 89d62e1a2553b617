import Glibc
import Lodestone
package import SensorTypes
package import TextForms
import OutputProtocols

/// Writes the JSON lines of a board into files, for weeks.
package struct LineLogRun {
  private let path: String
  private let rotation: Rotation?
  private let truth: ((Timestamp, inout JSONLine) -> Void)?
  private let choice: LineChoice

  /// - Parameters:
  ///   - path: The file, which is continued if it exists, or the name of the series.
  ///   - rotation: How the files of a series follow each other; `nil` for one file.
  ///   - truth: Fills in what was really so, on a simulated board.
  ///   - choice: Which lines are written.
  package init(
    path: String, rotation: Rotation?, truth: ((Timestamp, inout JSONLine) -> Void)?,
    choice: LineChoice
  ) {
    self.path = path
    self.rotation = rotation
    self.truth = truth
    self.choice = choice
  }

  /// Writes until time is up or somebody ends it. Throws where lines are missing.
  package func run(_ watch: ObservationRun) throws {
    // A pipe without a reader is an error, and not the end of this process.
    signal(SIGPIPE, SIG_IGN)
    let hadTerminal = Terminal.isControlling
    let request = LineLog.RotationRequest()
    let files = try OutputFiles(path: path, rotation: rotation, appends: true)
    let log = try LineLog(files, request: request) { Terminal.warn("lodestone: \($0)") }
    var watch = watch
    watch.needsOutput = false
    watch.onHangup = {
      // The terminal has hung up: a log that was not started with nohup ends with it.
      if hadTerminal, !Terminal.isControlling { return true }
      request.make()
      return false
    }
    var (problem, dropped): ((any Error)?, Int) = (nil, 0)
    let printer = JSONPrinter(
      board: watch.board, truth: truth, choice: choice,
      write: { text in
        do {
          try log.write(text)
        } catch {
          problem = error
        }
        return problem == nil
      }, noteDropped: { dropped += $0 })
    do {
      try watch.run(printer: printer)
    } catch {
      try? log.finish()
      throw error
    }
    try log.finish()
    if let problem { throw CommandError("the log ended early: \(problem)", kind: .io) }
    guard dropped == 0 else {
      throw CommandError(
        "the log is not whole: \(dropped) observations came while the disk was too slow",
        kind: .io)
    }
  }
}
