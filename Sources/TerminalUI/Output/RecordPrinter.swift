import Lodestone
import SensorTypes

/// A line a second, and what is wrong with the recording's file as soon as it is known.
struct RecordPrinter: ObservationPrinter {
  let patience = 0.5
  private let recording: any RecordingProgress
  private let output: RecordingOutput
  private let file: String
  private let needsOutput: Bool
  /// Asked with each batch whether the file is full.
  private let isFull: () -> Bool
  private var summary: SummaryPrinter
  private var droppedSteps: DroppedStepNotes

  init(
    board: any BoardView, recording: any RecordingProgress, output: RecordingOutput, file: String,
    needsOutput: Bool, isFull: @escaping () -> Bool
  ) {
    self.recording = recording
    self.output = output
    self.file = file
    self.needsOutput = needsOutput
    self.isFull = isFull
    summary = SummaryPrinter(board)
    droppedSteps = DroppedStepNotes(path: file)
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    let isRead = summary.print(batch, dropped: dropped)
    sayNote()
    if let note = droppedSteps.note(recording.droppedSteps) {
      Terminal.warn("lodestone: \(note)")
    }
    return recording.failure == nil && (isRead || !needsOutput) && !output.isOver
      && !recording.isBroken && !isFull()
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

/// Tells when it is time to say that a recording's file is too slow.
struct DroppedStepNotes {
  /// Seconds between two notes.
  private static let interval = 60.0

  private let path: String
  private var said: UInt64 = 0
  private var next: ContinuousClock.Instant?

  /// - Parameter path: The file, for messages.
  init(path: String) { self.path = path }

  /// Returns the message that is due: where more steps are missing than were said, a minute after the message before.
  mutating func note(_ steps: UInt64, at now: ContinuousClock.Instant = .now) -> String? {
    guard steps > said, next.map({ now >= $0 }) ?? true else { return nil }
    said = steps
    next = now.advanced(by: .seconds(Self.interval))
    return "\(path) is too slow: \(steps) steps are missing so far"
  }
}
