import ArgumentParser
import Foundation
import FusionCore
import Lodestone
import SensorHub
import SensorTypes

/// `lodestone record FILE`: every transfer of a run, into one file.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record every transfer on the buses, to be replayed anywhere.",
    discussion: """
      The file is text and holds the board file too: one file says all about a problem. It says where the board was as \
      well: only its owner can read a new file, and the command needs authorization for the board's exact position \
      (exit code 77 without).
      """)

  @OptionGroup var board: BoardOptions

  @Argument(help: "Where the recording goes.", completion: .file())
  var file: String

  @OptionGroup var duration: DurationOptions

  @Flag(help: "Over a file that is there already.")
  var force = false

  func run() throws {
    try OutputFile.refuseTaken(file, unless: force)
    // The file is opened, not emptied, before the board: a slip in the board's name costs no recording.
    let output = try OutputFile(path: file)
    let session = try Session(board: board.name, calibratesInUse: true) { try output.write($0) }
    try Watch(session: session, seconds: duration.seconds).run(
      printer: SummaryPrinter(session.board))
    if let failure = session.hub.recordingFailure {
      Terminal.warn("lodestone: the recording ended early: \(failure)")
      throw ExitCode.failure
    }
    Terminal.warn("lodestone: \(output.written) bytes in \(file)")
  }
}

/// `lodestone replay FILE`: the same drivers through the same transfers.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Run a recording through the drivers and the fusion again.",
    discussion:
      "Prints JSON lines as monitor does, counted from the recording's start. Alike to the bit every time."
  )

  @Flag(
    help: """
      Give headings in the light of the whole recording, not only of what came before them; needs a gyro \
      and an accelerometer in it.
      """)
  var smooth = false

  @Argument(help: "A recording.", completion: .file())
  var file: String

  func run() throws {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: file))
    } catch {
      throw CommandError(file, error)
    }
    let recorded = try RecordedRun(Array(data), file: file)
    // Every worker looks at the date before it does anything else, so a line without one is never printed.
    var lines: ObservationLines?
    let smoother =
      smooth ? Replay.smoother(for: recorded.recording, board: recorded.board) : nil
    if let smoother, smoother.isEmpty {
      throw CommandError("\(file): nothing to smooth: no gyro and accelerometer have spoken in it")
    }
    try recorded.replay(
      smoother: smoother,
      wallTime: { seconds, time in
        let clock = { (moment: Timestamp) -> Double? in seconds + moment.seconds(since: time) }
        if lines == nil { lines = ObservationLines(start: time, wallTime: clock) }
        lines?.wallTime = clock
      },
      handler: { observation in
        guard let line = lines?.line(for: observation) else { return }
        Terminal.write(line + "\n")
      })
  }
}
