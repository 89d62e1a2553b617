import ArgumentParser
import Foundation
import FusionCore
import Glibc
import Lodestone
import LogConversion
import SensorHub
import SensorTypes
import StateStore
import Synchronization
import TerminalUI

/// `lodestone record FILE`: every transfer of a run, into one file.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record every transfer on the buses, to be replayed anywhere.",
    discussion: """
      The file is text and holds the board file too: one file says all about a problem. It says where the board was as \
      well: only its owner can read a new file, and the command needs authorization for the board's exact position \
      (exit code 77 without). After the file was moved away, SIGHUP makes it begin a new one of the same name (log \
      rotation). Each file is a recording by itself; about a second between two of them is in neither. A terminal that \
      hangs up ends it, unless it was started with nohup, which also makes it ignore SIGHUP: rotate the recordings of a \
      service (systemd).
      """)

  @OptionGroup var board: BoardOptions

  @Argument(help: "Where the recording goes.", completion: .file())
  var file: String

  @OptionGroup var duration: DurationOptions

  @Flag(help: "Over a file that is there already.")
  var force = false

  @Flag(
    help: """
      Go on when the file cannot be written (a full disk): try again every second, and print every minute what was lost \
      by then. Without it a write error ends the recording.
      """)
  var keepTrying = false

  /// Why a run of the recording has ended.
  private enum Ending {
    /// Time is up, or somebody has ended it.
    case over
    /// The file was moved away: a new one is due.
    case rotated
    /// Steps are missing: what follows can be replayed only as a run of its own.
    case broken
  }

  func run() throws {
    try OutputFile.refuseTaken(file, unless: force)
    // The recording goes on without somebody who reads the summary.
    if keepTrying { signal(SIGPIPE, SIG_IGN) }
    let hadTerminal = Terminal.isControlling
    let start = ContinuousClock.now
    // The file is opened, not emptied, before the board: a slip in the board's name costs no recording.
    var output = try OutputFile(path: file)
    // While the board is opened, and between two runs, nobody listens for signals. Until something is recorded the others
    // may end the command at once.
    let signals = Interrupts.Hold()
    defer { withExtendedLifetime(signals) {} }
    signals.keep([SIGHUP])
    var isWhole = true
    while true {
      let left = duration.seconds.map { $0 - (ContinuousClock.now - start) / .seconds(1) }
      if signals.isStopping { break }
      if let left, left <= 0 { break }
      let (ending, problem) = try record(
        into: output, for: left, keeping: signals, hadTerminal: hadTerminal)
      if let problem {
        isWhole = false
        Terminal.warn("lodestone: \(problem)")
      }
      switch ending {
      case .over:
        try close(output, why: "")
        guard isWhole else { throw CommandError("the recording is not whole", kind: .io) }
        return
      case .rotated:
        do {
          let new = try OutputFile(path: file)
          try close(output, why: ", which was moved away: a new file begins")
          output = new
        } catch let problem as FileProblem where keepTrying {
          isWhole = false
          Terminal.warn(
            "lodestone: \(problem): the recording goes on in the file that was moved away")
          try? Array("\n".utf8).withUnsafeBytes { try output.write($0) }
        }
      // The next run starts on a new line, because the last one may be cut off.
      case .broken: try? Array("\n".utf8).withUnsafeBytes { try output.write($0) }
      }
    }
    try close(output, why: "")
    guard isWhole else { throw CommandError("the recording is not whole", kind: .io) }
  }

  /// Records a run, which can be replayed by itself. Returns why it has ended, and what is missing in it.
  private func record(
    into file: OutputFile, for seconds: Double?, keeping signals: Interrupts.Hold,
    hadTerminal: Bool
  ) throws -> (Ending, problem: String?) {
    let output = RecordingOutput(path: self.file, keepsTrying: keepTrying) {
      try file.writeSome($0)
    }
    let session = try Session(board: board.name, calibratesInUse: true) { try output.write($0) }
    signals.keep([SIGINT, SIGTERM])
    let rotation = Rotation()
    var watch = ObservationRun(session: session, seconds: seconds)
    watch.needsOutput = !keepTrying
    watch.onHangup = {
      // The terminal has hung up: a recording that was not started with nohup ends with it.
      if hadTerminal, !Terminal.isControlling {
        rotation.isDue.store(false, ordering: .releasing)
        return true
      }
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
    let signal = try watch.run(
      printer: RecordPrinter(
        session: session, output: output, file: self.file, needsOutput: !keepTrying))
    if let failure = session.hub.recordingFailure {
      throw CommandError("the recording ended early: \(failure)", kind: .io)
    }
    var missing: [String] = []
    if session.hub.droppedSteps > 0 {
      missing.append("\(session.hub.droppedSteps) steps, because the file was too slow")
    }
    if output.lost > 0 { missing.append("\(output.lost) bytes, which could not be written") }
    let problem =
      missing.isEmpty ? nil : "\(self.file) lacks " + missing.joined(separator: " and ")
    // Another signal that came behind SIGHUP, while the board was put to sleep, ends the recording.
    if rotation.isDue.load(ordering: .acquiring), signal == SIGHUP { return (.rotated, problem) }
    let isBroken = output.isOver || session.hub.recordingIsBroken
    return (isBroken && signal == nil ? .broken : .over, problem)
  }

  /// Closes a file and says what came of it.
  private func close(_ output: OutputFile, why: String) throws {
    do {
      try output.finish()
    } catch {
      throw CommandError("the recording is not whole: \(error)", kind: .io)
    }
    Terminal.warn("lodestone: \(output.written) bytes in \(file)\(why)")
  }
}

/// Whether a recording ends because its file was moved away.
private final class Rotation: Sendable {
  let isDue = Atomic<Bool>(false)
}

/// A line a second, and what is wrong with the recording's file as soon as it is known.
private struct RecordPrinter: ObservationPrinter {
  /// Seconds between two notes of the same trouble.
  private static let noteInterval = 60.0

  let patience = 0.5
  private let session: Session
  private let output: RecordingOutput
  private let file: String
  private let needsOutput: Bool
  private var summary: SummaryPrinter
  private var saidDropped: UInt64 = 0
  private var nextNote = ContinuousClock.now

  init(session: Session, output: RecordingOutput, file: String, needsOutput: Bool) {
    self.session = session
    self.output = output
    self.file = file
    self.needsOutput = needsOutput
    summary = SummaryPrinter(session)
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    let isRead = summary.print(batch, dropped: dropped)
    sayNote()
    let steps = session.hub.droppedSteps
    if steps > saidDropped, ContinuousClock.now >= nextNote {
      saidDropped = steps
      nextNote = ContinuousClock.now.advanced(by: .seconds(Self.noteInterval))
      Terminal.warn("lodestone: \(file) is too slow: \(steps) steps are missing so far")
    }
    return session.hub.recordingFailure == nil && (isRead || !needsOutput) && !output.isOver
      && !session.hub.recordingIsBroken
  }

  /// Reports what has happened since the last batch. Called after the last write.
  mutating func finish() {
    summary.finish()
    sayNote(isLast: true)
  }

  private func sayNote(isLast: Bool = false) {
    if let note = output.note(isLast: isLast) { Terminal.warn("lodestone: \(note)") }
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
      throw CommandError(reading: file, error)
    }
    let recorded = try RecordedRun(Array(data), file: file)
    // Every worker looks at the date before it does anything else, so a line without one is never printed.
    var lines: ObservationLines?
    var isRead = true
    try recorded.replay(
      smooth: smooth, isWanted: { isRead },
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
