// `lodestone record` into MCAP files.

import Glibc
import Lodestone
package import OutputProtocols
package import SensorTypes

/// Writes what a board measures into MCAP files, for weeks, and prints a line a second.
package struct MCAPRecordingRun {
  /// What is recorded: all that the board measures, motion as often as the board file says.
  package static let demand: Demand = {
    var demand = Demand.everything
    demand.satellites = true
    demand.motion = MotionDemand(samples: true, attitude: true, field: true)
    return demand
  }()

  private let path: String
  private let rotation: Rotation?
  private let keepsTrying: Bool
  private let audience: RobotMessages.Audience

  /// - Parameters:
  ///   - path: The file, or the name of the series.
  ///   - rotation: How the files of a series follow each other, which are always tried again; `nil` for one file.
  ///   - keepsTrying: Whether a file that cannot be written is tried again; otherwise a write error ends the recording.
  package init(
    path: String, rotation: Rotation?, keepsTrying: Bool, audience: RobotMessages.Audience
  ) {
    (self.path, self.rotation, self.audience) = (path, rotation, audience)
    self.keepsTrying = keepsTrying || rotation != nil
  }

  /// Records until time is up or somebody ends it. Throws where observations are missing.
  package func run(_ watch: ObservationRun) throws {
    // A pipe without a reader is an error, and not the end of this process.
    signal(SIGPIPE, SIG_IGN)
    let hadTerminal = Terminal.isControlling
    let board = watch.board
    let showsPosition: Bool
    do {
      try board.demandPosition("positions are recorded")
      showsPosition = true
    } catch {
      Terminal.warn("lodestone: \(error): the recording has no positions")
      showsPosition = false
    }
    let request = LineLog.RotationRequest()
    let files = try OutputFiles(path: path, rotation: rotation, appends: false)
    let program = "Lodestone \(LodestoneRuntime.version)"
    let recorder = try MCAPRecorder(
      files, request: request, keepsTrying: keepsTrying,
      makeLog: { [audience] in
        MCAPLog(program: program, audience: audience, showsPosition: showsPosition)
      }, warn: { Terminal.warn("lodestone: \($0)") })
    var watch = watch
    watch.needsOutput = !keepsTrying
    watch.onHangup = {
      // The terminal has hung up: a recording that was not started with nohup ends with it.
      if hadTerminal, !Terminal.isControlling { return true }
      request.make()
      return false
    }
    let printer = MCAPPrinter(board, recorder, needsOutput: !keepsTrying)
    do {
      try watch.run(printer: printer)
    } catch {
      try? recorder.finish()
      throw error
    }
    let isOver = recorder.isOver
    try recorder.finish()
    if let problem = printer.problem {
      throw CommandError("the recording ended early: \(problem)", kind: .io)
    }
    guard !isOver else { throw CommandError("the recording ended early: its file is full") }
    guard printer.dropped == 0 else {
      throw CommandError(
        "the recording is not whole: \(printer.dropped) observations came while the disk was too slow",
        kind: .io)
    }
    Terminal.warn("lodestone: \(recorder.written) bytes of messages in \(recorder.path)")
  }
}

/// Hands observations to a recorder, and prints a line a second.
private final class MCAPPrinter: ObservationPrinter {
  let patience = 0.5
  private let board: any BoardView
  private let recorder: MCAPRecorder
  private let needsOutput: Bool
  private var summary: SummaryPrinter
  /// Why the file cannot be written.
  private(set) var problem: (any Error)?
  /// Observations that came while nothing was written.
  private(set) var dropped = 0

  init(_ board: any BoardView, _ recorder: MCAPRecorder, needsOutput: Bool) {
    (self.board, self.recorder, self.needsOutput) = (board, recorder, needsOutput)
    summary = SummaryPrinter(board)
  }

  func print(_ batch: [Observation], dropped: Int) -> Bool {
    self.dropped += dropped
    do {
      try recorder.take(batch, clock: { board.clock(at: $0) })
    } catch {
      problem = error
    }
    let isRead = summary.print(batch, dropped: dropped)
    return problem == nil && !recorder.isOver && (isRead || !needsOutput)
  }

  func finish() { summary.finish() }
}
