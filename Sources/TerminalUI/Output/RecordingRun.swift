import Glibc
import Lodestone
import SensorHub
import StateStore
import Synchronization

/// Records every transfer of a board into a file, and begins a new file when the old one was moved away.
package struct RecordingRun {
  /// Why a run of the recording has ended.
  enum RecordingEnding: Equatable {
    /// Time is up, or somebody has ended it.
    case over
    /// The file was moved away: a new one is due.
    case rotated
    /// Steps are missing: what follows can be replayed only as a run of its own.
    case broken

    /// - Parameters:
    ///   - signal: The number of the signal that ended the run; `nil` where none did.
    ///   - isRotationDue: Whether the file was moved away.
    ///   - isBroken: Whether steps are missing.
    init(signal: Int32?, isRotationDue: Bool, isBroken: Bool) {
      if isRotationDue, signal == SIGHUP {
        self = .rotated
      } else {
        // Another signal that came behind SIGHUP, while the board was put to sleep, ends the recording.
        self = isBroken && signal == nil ? .broken : .over
      }
    }
  }

  private let board: String?
  private let file: String
  private let seconds: Double?
  private let keepsTrying: Bool

  /// - Parameters:
  ///   - board: The board's name; `nil` for the machine's own.
  ///   - file: The path of the recording.
  ///   - seconds: How long to record; `nil` until somebody ends it.
  ///   - keepsTrying: Whether a file that cannot be written is tried again; otherwise a write error ends the recording.
  package init(board: String?, file: String, seconds: Double?, keepsTrying: Bool) {
    self.board = board
    self.file = file
    self.seconds = seconds
    self.keepsTrying = keepsTrying
  }

  /// Records until time is up or somebody ends it. Throws where the recording is not whole.
  package func run() throws {
    // The recording goes on without somebody who reads the summary.
    if keepsTrying { signal(SIGPIPE, SIG_IGN) }
    let hadTerminal = Terminal.isControlling
    let start = ContinuousClock.now
    // The file is opened, not emptied, before the board: a slip in the board's name costs no recording.
    var output = try OutputFile(path: file)
    // While the board is opened, and between two runs, nobody listens for signals. Until something is recorded the
    // others may end the command at once.
    let signals = Interrupts.Hold()
    defer { withExtendedLifetime(signals) {} }
    signals.keep([SIGHUP])
    var isWhole = true
    var isOver = false
    while !isOver {
      let left = seconds.map { $0 - (ContinuousClock.now - start) / .seconds(1) }
      if signals.isStopping { break }
      if let left, left <= 0 { break }
      let (ending, problem) = try record(
        into: output, for: left, keeping: signals, hadTerminal: hadTerminal)
      if let problem {
        isWhole = false
        Terminal.warn("lodestone: \(problem)")
      }
      switch ending {
      case .over: isOver = true
      case .rotated:
        do {
          let new = try OutputFile(path: file)
          try close(output, why: ", which was moved away: a new file begins")
          output = new
        } catch let problem as FileProblem where keepsTrying {
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
  ) throws -> (RecordingEnding, problem: String?) {
    let output = RecordingOutput(path: self.file, keepsTrying: keepsTrying) {
      try file.writeSome($0)
    }
    let session = try Session(board: board, calibratesInUse: true) { try output.write($0) }
    signals.keep([SIGINT, SIGTERM])
    let isRotationDue = RotationFlag()
    var watch = ObservationRun(session: session, seconds: seconds)
    watch.needsOutput = !keepsTrying
    watch.onHangup = {
      // The terminal has hung up: a recording that was not started with nohup ends with it.
      let endsWithTerminal = hadTerminal && !Terminal.isControlling
      let isMoved = !endsWithTerminal && isMovedAway(file)
      if endsWithTerminal || isMoved { isRotationDue.value.store(isMoved, ordering: .releasing) }
      return endsWithTerminal || isMoved
    }
    let signal = try watch.run(
      printer: RecordPrinter(
        session: session, output: output, file: self.file, needsOutput: !keepsTrying))
    if let failure = session.hub.recordingFailure {
      throw CommandError("the recording ended early: \(failure)", kind: .io)
    }
    let problem = Self.problem(
      of: self.file, droppedSteps: session.hub.droppedSteps, lostBytes: output.lost)
    let ending = RecordingEnding(
      signal: signal, isRotationDue: isRotationDue.value.load(ordering: .acquiring),
      isBroken: output.isOver || session.hub.recordingIsBroken)
    return (ending, problem)
  }

  /// Whether a new file is due in the place of one that was moved away; says why where it is not.
  private func isMovedAway(_ output: OutputFile) -> Bool {
    do {
      guard try output.isToBeReopened() else {
        Terminal.warn("lodestone: \(file) has not been moved away: the recording goes on in it")
        return false
      }
      return true
    } catch {
      Terminal.warn("lodestone: \(error); the recording goes on in the file that it began in")
      return false
    }
  }

  /// What a file lacks of the run that was recorded into it; `nil` where it has all of it.
  static func problem(of file: String, droppedSteps: UInt64, lostBytes: Int) -> String? {
    var missing: [String] = []
    if droppedSteps > 0 { missing.append("\(droppedSteps) steps, because the file was too slow") }
    if lostBytes > 0 { missing.append("\(lostBytes) bytes, which could not be written") }
    return missing.isEmpty ? nil : "\(file) lacks " + missing.joined(separator: " and ")
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
private final class RotationFlag: Sendable {
  let value = Atomic<Bool>(false)
}
