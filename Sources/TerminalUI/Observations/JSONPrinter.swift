package import Lodestone
package import OutputProtocols
package import SensorTypes
package import TextForms

/// Which of `monitor`'s JSON lines are written.
package struct LineChoice: Sendable {
  /// The kinds that are written.
  package var kinds: Set<LineKind>
  /// Seconds between two lines of a kind; `nil` writes all of them.
  package var interval: Double?

  package init(kinds: Set<LineKind> = Set(LineKind.allCases), interval: Double? = nil) {
    self.kinds = kinds
    self.interval = interval
  }
}

/// One JSON object a line.
package struct JSONPrinter: ObservationPrinter {
  private var lines: ObservationLines
  private var errors = ErrorCounterMonitor()
  private var thinning: LineThinning?
  private let kinds: Set<LineKind>
  private let board: any BoardView
  private let truth: ((Timestamp, inout JSONLine) -> Void)?
  private let write: (String) -> Bool
  private let noteDropped: (Int) -> Void

  /// - Parameters:
  ///   - truth: Fills in what was really so, on a simulated board.
  ///   - choice: Which lines are written.
  ///   - write: Takes whole lines, also none; returns false where nobody reads them any more.
  ///   - noteDropped: Takes the number of observations that were dropped, because nothing was written for long.
  package init(
    board: any BoardView, truth: ((Timestamp, inout JSONLine) -> Void)? = nil,
    choice: LineChoice = LineChoice(),
    write: @escaping (String) -> Bool = { Terminal.write($0) },
    noteDropped: @escaping (Int) -> Void = { _ in }
  ) {
    self.board = board
    self.truth = truth
    self.write = write
    self.noteDropped = noteDropped
    kinds = choice.kinds
    let start = board.now()
    thinning = choice.interval.map { LineThinning(every: $0, from: start) }
    lines = ObservationLines(
      start: start, clock: { board.clock(at: $0) }, hints: { Hints.complete($0) })
  }

  package var patience: Double { min(1, thinning.map { $0.left(at: board.now()) } ?? 1) }

  package mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    var text = ""
    for observation in batch where kinds.contains(LineKind(observation)) {
      text += thinning?.take(observation).map { line(for: $0) }.joined() ?? line(for: observation)
      if case .sensor(let status) = observation { errors.note(status) }
    }
    let now = board.now()
    if errors.isDue(at: now) { text += risen() }
    text += thinning?.drain(at: now).map { line(for: $0) }.joined() ?? ""
    if dropped > 0 {
      Terminal.warn("lodestone: \(dropped) lines dropped: the reader is too slow")
      noteDropped(dropped)
    }
    return write(text)
  }

  package mutating func finish() {
    let text = thinning?.drainAll().map { line(for: $0) }.joined() ?? ""
    _ = write(text + risen())
  }

  private mutating func line(for thinned: LineThinning.ThinnedObservation) -> String {
    line(for: thinned.observation, skipped: thinned.skipped)
  }

  private mutating func line(for observation: Observation, skipped: Int = 0) -> String {
    lines.line(for: observation, skipped: skipped, truth: truth) + "\n"
  }

  private mutating func risen() -> String {
    guard kinds.contains(.sensor) else { return "" }
    var text = ""
    for status in errors.risen(board.sensors) {
      text += lines.line(for: .sensor(status)) + "\n"
    }
    return text
  }
}
