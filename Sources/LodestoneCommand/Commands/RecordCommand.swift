import ArgumentParser
import Foundation
import FusionCore
import Lodestone
import SensorHub
import SensorTypes
import Synchronization

/// `lodestone record FILE`: every transfer of a run, into one file.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record every transfer on the buses, to be replayed anywhere.",
    discussion: """
      The file is text and holds the board file too: one file says all about a problem. After \
      the file was moved away, SIGHUP makes it begin a new one of the same name (log rotation). Each file is a recording \
      by itself; about a second between two of them is in neither. A terminal that hangs up ends it, unless it was \
      started with nohup.
      """)

  @OptionGroup var board: BoardOptions

  @Argument(help: "Where the recording goes.", completion: .file())
  var file: String

  @OptionGroup var duration: DurationOptions

  @Flag(help: "Over a file that is there already.")
  var force = false

  @Flag(
    help: """
      Go on when the file cannot be written (a full disk): try again every second, and say every minute what was lost \
      by then. Without it a write error ends the recording.
      """)
  var keepTrying = false

  func run() throws {
    try OutputFile.refuseTaken(file, unless: force)
    let start = ContinuousClock.now
    var left = duration.seconds
    // A part after the other, each a recording by itself.
    while try record(for: left) {
      left = duration.seconds.map { $0 - (ContinuousClock.now - start) / .seconds(1) }
      if let left, left <= 0 { return }
    }
  }

  /// Records until the end, or until SIGHUP asks for a new file. Returns whether it did.
  private func record(for seconds: Double?) throws -> Bool {
    // The file is opened, not emptied, before the board: a slip in the board's name costs no recording.
    let file = try OutputFile(path: self.file)
    let output = RecordingOutput(path: self.file, keepsTrying: keepTrying) {
      try file.writeSome($0)
    }
    let session = try Session(board: board.name, calibratesInUse: true) { try output.write($0) }
    let rotation = Rotation()
    let hadTerminal = Terminal.isControlling
    var watch = Watch(session: session, seconds: seconds)
    watch.needsOutput = !keepTrying
    watch.onHangup = {
      // The terminal has hung up: a recording that was not started with nohup ends with it.
      if hadTerminal, !Terminal.isControlling { return true }
      do {
        guard try file.isToBeReopened() else {
          Terminal.warn(
            "lodestone: \(self.file) has not been moved away: the recording goes on in it")
          return false
        }
      } catch {
        Terminal.warn("lodestone: \(error); the recording goes on in the file that it began in")
        return false
      }
      rotation.isDue.store(true, ordering: .releasing)
      return true
    }
    try watch.run(
      printer: RecordPrinter(session: session, output: output, needsOutput: !keepTrying))
    let isRotated = rotation.isDue.load(ordering: .acquiring)
    try finish(session, file, output, isRotated: isRotated)
    return isRotated
  }

  /// Says what came of a file, and throws where it is not whole.
  private func finish(
    _ session: Session, _ file: OutputFile, _ output: RecordingOutput, isRotated: Bool
  ) throws {
    if let failure = session.hub.recordingFailure {
      throw CommandError("the recording ended early: \(failure)", kind: .io)
    }
    var problem: String?
    do {
      try output.finish()
      try file.finish()
    } catch {
      problem = "the recording is not whole: \(error)"
    }
    Terminal.warn(
      "lodestone: \(file.written) bytes in \(self.file)"
        + (isRotated ? ", which was moved away: a new file begins" : ""))
    if output.loss.bytes > 0 {
      problem = "the recording has a hole: \(output.loss.bytes) bytes could not be written"
    }
    guard let problem else { return }
    // The next one may be whole.
    guard isRotated, keepTrying else { throw CommandError(problem, kind: .io) }
    Terminal.warn("lodestone: \(problem)")
  }
}

/// Whether a recording ends because its file was moved away.
private final class Rotation: Sendable {
  let isDue = Atomic<Bool>(false)
}

/// A line a second, and what is wrong with the recording's file as soon as it is known.
private struct RecordPrinter: ObservationPrinter {
  let patience = 0.5
  private let session: Session
  private let output: RecordingOutput
  private let needsOutput: Bool
  private var summary: SummaryPrinter

  init(session: Session, output: RecordingOutput, needsOutput: Bool) {
    self.session = session
    self.output = output
    self.needsOutput = needsOutput
    summary = SummaryPrinter(session)
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    let isRead = summary.print(batch, dropped: dropped)
    if let note = output.note() { Terminal.warn("lodestone: \(note)") }
    return session.hub.recordingFailure == nil && (isRead || !needsOutput)
  }

  mutating func finish() { summary.finish() }
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
      throw CommandError(reading: file, error)
    }
    let recorded = try RecordedRun(Array(data), file: file)
    // Every worker looks at the date before it does anything else, so a line without one is never printed.
    var lines: ObservationLines?
    let smoother =
      smooth ? Replay.smoother(for: recorded.recording, board: recorded.board) : nil
    if let smoother, smoother.isEmpty {
      throw CommandError("\(file): nothing to smooth: no gyro and accelerometer have spoken in it")
    }
    var isRead = true
    try recorded.replay(
      smoother: smoother, isWanted: { isRead },
      clock: { reading, time in
        let clock = { (moment: Timestamp) -> ClockReading? in
          ClockReading(
            seconds: reading.seconds + moment.seconds(since: time), isSet: reading.isSet)
        }
        if lines == nil { lines = ObservationLines(start: time, clock: clock) }
        lines?.clock = clock
      },
      handler: { observation in
        guard let line = lines?.line(for: observation) else { return }
        isRead = Terminal.write(line + "\n")
      })
  }
}
