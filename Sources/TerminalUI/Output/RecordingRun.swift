import Glibc
import Lodestone
import StateStore
import Synchronization
import Threads

/// Records every transfer of a board into a file, or into the files of a series. A file that is full, or that somebody has
/// moved away, is followed by a new one.
package struct RecordingRun {
  /// Why a run of the recording has ended.
  enum RecordingEnding: Equatable {
    /// Time is up, or somebody has ended it.
    case over
    /// A new file is due: the old one is full, or was moved away.
    case rotated
    /// Steps are missing: what follows can be replayed only as a run of its own.
    case broken

    /// - Parameters:
    ///   - signal: The number of the signal that ended the run; `nil` where none did.
    ///   - isRotationDue: Whether SIGHUP asks for a new file.
    ///   - isBroken: Whether steps are missing.
    ///   - isFull: Whether the file is full.
    init(signal: Int32?, isRotationDue: Bool, isBroken: Bool, isFull: Bool) {
      switch signal {
      case SIGHUP where isRotationDue: self = .rotated
      // Another signal that came behind SIGHUP, while the board was put to sleep, ends the recording.
      case .some: self = .over
      case nil: self = isFull ? .rotated : isBroken ? .broken : .over
      }
    }
  }

  /// How long a file goes on that could not be followed by another one, in seconds.
  private static let rotationPause = 60.0
  /// The time between two attempts to reach a daemon that has gone, in seconds.
  private static let daemonPause = 0.5

  private let board: String?
  /// The path of the socket of the daemon whose board is recorded, or `nil` to open a board. A daemon that is away for a while does not
  /// change that: what it owns is its own.
  private let daemon: String?
  private let file: String
  private let seconds: Double?
  private let keepsTrying: Bool
  private let rotation: Rotation?

  /// - Parameters:
  ///   - board: The board's name; `nil` for the machine's own.
  ///   - file: The path of the recording, or of its series.
  ///   - seconds: How long to record; `nil` until somebody ends it.
  ///   - keepsTrying: Whether a file that cannot be written is tried again; otherwise a write error ends the recording.
  ///   - rotation: How the files of a series follow each other, which are always tried again; `nil` for one file.
  package init(
    board: String?, file: String, seconds: Double?, keepsTrying: Bool, rotation: Rotation? = nil
  ) {
    self.board = board
    daemon = board == nil ? DaemonLocator.socket() : nil
    self.file = file
    self.seconds = seconds
    self.keepsTrying = keepsTrying || rotation != nil
    self.rotation = rotation
  }

  /// Records until time is up or somebody ends it. Throws where the recording is not whole.
  package func run() throws {
    // The recording goes on without somebody who reads the summary.
    if keepsTrying { signal(SIGPIPE, SIG_IGN) }
    let hadTerminal = Terminal.isControlling
    let start = ContinuousClock.now
    // The file is opened, not emptied, before the board: a slip in the board's name costs no recording.
    var files = try OutputFiles(path: file, rotation: rotation, appends: false)
    defer { files.finish() }
    var current = OpenRecording(output: try files.open())
    // While the board is opened, and between two runs, nobody listens for signals. Until something is recorded the
    // others may end the command at once.
    let signals = Interrupts.Hold()
    defer { withExtendedLifetime(signals) {} }
    signals.keep([SIGHUP])
    var isWhole = true
    var (isOver, isFirst) = (false, true)
    files.lookAfter()
    while !isOver {
      let end = seconds.map { start.advanced(by: .seconds($0)) }
      if signals.isStopping { break }
      if let end, ContinuousClock.now >= end { break }
      let (ending, problem) = try record(
        into: current, of: files, until: end, keeping: signals, hadTerminal: hadTerminal,
        waits: keepsTrying && !isFirst)
      isFirst = false
      if let problem {
        isWhole = false
        Terminal.warn("lodestone: \(problem)")
      }
      switch ending {
      case .over: isOver = true
      case .broken where !files.isSeries: startLine(in: current.output)
      case .rotated, .broken:
        do {
          let new = OpenRecording(output: try files.open())
          let why = files.isSeries ? "" : ", which was moved away"
          do {
            try close(current.output, why: "\(why): a new file begins")
          } catch  where keepsTrying {
            // The disk has refused what was written last. What follows has a file.
            isWhole = false
            Terminal.warn("lodestone: \(error)")
          }
          current = new
          files.lookAfter()
        } catch let problem as FileProblem where keepsTrying {
          isWhole = isWhole && files.isSeries
          Terminal.warn(
            "lodestone: \(problem): the recording goes on in "
              + (files.isSeries ? current.output.path : "the file that was moved away"))
          startLine(in: current.output)
          current.isFixedUntil = .now.advanced(by: .seconds(Self.rotationPause))
        }
      }
    }
    // A file of a series that nothing was written into is removed again.
    if !files.isSeries || current.output.written > 0 { try close(current.output, why: "") }
    guard isWhole else { throw CommandError("the recording is not whole", kind: .io) }
  }

  /// The next run starts on a new line, because the last one may be cut off.
  private func startLine(in output: OutputFile) {
    try? Array("\n".utf8).withUnsafeBytes { try output.write($0) }
  }

  /// Opens the board, the daemon's or one of this process, and begins a recording of it. Returns `nil` if it is time to end.
  ///
  /// - Parameters:
  ///   - end: The time until which to record.
  ///   - waits: Whether a daemon that cannot be reached is waited for.
  private func open(
    into output: RecordingOutput, keeping signals: Interrupts.Hold,
    until end: ContinuousClock.Instant?,
    waits: Bool
  ) throws -> (board: any BoardView, recording: any RecordingProgress)? {
    guard let daemon else {
      let session = try Session(board: board, calibratesInUse: true) { try output.write($0) }
      return session.recording.map { (session, $0) }
    }
    var said = ""
    while true {
      do {
        let board = try DaemonBoard(path: daemon, isPatient: true)
        return (board, try board.beginRecording { try output.write($0) })
      } catch let error as DaemonUnreachable where waits && !error.isRight {
        if "\(error)" != said { Terminal.warn("lodestone: \(error): trying again") }
        said = "\(error)"
        if signals.isStopping { return nil }
        if let end, ContinuousClock.now >= end { return nil }
        SystemThread.sleep(seconds: Self.daemonPause)
      }
    }
  }

  /// Records a run, which can be replayed by itself. Returns why it has ended, and what is missing in it.
  private func record(
    into recording: OpenRecording, of files: OutputFiles, until end: ContinuousClock.Instant?,
    keeping signals: Interrupts.Hold, hadTerminal: Bool, waits: Bool
  ) throws -> (RecordingEnding, problem: String?) {
    let file = recording.output
    let output = RecordingOutput(path: file.path, keepsTrying: keepsTrying) {
      try file.writeSome($0)
    }
    guard
      let (board, progress) = try open(into: output, keeping: signals, until: end, waits: waits)
    else { return (.over, nil) }
    signals.keep([SIGINT, SIGTERM])
    let isRotationDue = RotationFlag()
    let left = end.map { max(0, ($0 - ContinuousClock.now) / .seconds(1)) }
    var watch = ObservationRun(board: board, seconds: left)
    watch.needsOutput = !keepsTrying
    let isSeries = files.isSeries
    watch.onHangup = {
      // The terminal has hung up: a recording that was not started with nohup ends with it.
      let endsWithTerminal = hadTerminal && !Terminal.isControlling
      let isDue = !endsWithTerminal && (isSeries || isMovedAway(file))
      if endsWithTerminal || isDue { isRotationDue.value.store(isDue, ordering: .releasing) }
      return endsWithTerminal || isDue
    }
    let isFull = { recording.isFull(by: files) }
    let signal = try watch.run(
      printer: RecordPrinter(
        board: board, recording: progress, output: output, file: file.path,
        needsOutput: !keepsTrying, isFull: isFull))
    progress.end()
    let isRotation = signal == SIGHUP && isRotationDue.value.load(ordering: .acquiring)
    if progress.hasLostDaemon, keepsTrying {
      let isStopping = signal != nil && !isRotation
      let rest = isStopping ? "" : "; the recording goes on when it is back"
      return (isStopping ? .over : .broken, "the daemon has gone" + rest)
    }
    if let failure = progress.failure {
      throw CommandError("the recording ended early: \(failure)", kind: .io)
    }
    let problem = Self.problem(
      of: file.path, droppedSteps: progress.droppedSteps, lostBytes: output.lost)
    let ending = RecordingEnding(
      signal: signal, isRotationDue: isRotationDue.value.load(ordering: .acquiring),
      isBroken: output.isOver || progress.isBroken, isFull: isFull())
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
    Terminal.warn("lodestone: \(output.written) bytes in \(output.path)\(why)")
  }
}

/// A file that is being recorded into.
private struct OpenRecording {
  let output: OutputFile
  private let begun = ContinuousClock.now
  /// Until when the file is not full whatever it holds, because no other one could be begun.
  var isFixedUntil: ContinuousClock.Instant?

  init(output: OutputFile) { self.output = output }

  func isFull(by files: OutputFiles) -> Bool {
    let now = ContinuousClock.now
    if let isFixedUntil, now < isFixedUntil { return false }
    return files.isFull(bytes: output.written, seconds: (now - begun) / .seconds(1))
  }
}

/// Whether a recording ends because a new file is due.
private final class RotationFlag: Sendable {
  let value = Atomic<Bool>(false)
}
