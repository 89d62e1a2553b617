import Glibc
package import Lodestone
import OutputProtocols
package import SensorTypes
import TextForms

/// Takes observations as they come and prints them.
package protocol ObservationPrinter {
  /// How long the printer can wait for the next batch, seconds.
  var patience: Double { get }
  /// Prints a batch. Returns false when nobody reads the output any more.
  mutating func print(_ batch: [Observation], dropped: Int) -> Bool
  /// Leaves the terminal as it was.
  mutating func finish()
}

/// Observes a board and hands what is published to a printer, until time is up or somebody interrupts.
package struct ObservationRun {
  package let board: any BoardView
  package let seconds: Double?
  /// What is asked of the board.
  var demand = Demand.everything
  /// Of which sensors one has to deliver something, and what a person calls them.
  var isNeeded: (SensorStatus) -> Bool = { _ in true }
  var needed = "chip"
  /// Called on SIGHUP, which then ends the run only if this returns true; `nil` lets SIGHUP end it.
  package var onHangup: (@Sendable () -> Bool)?
  /// Whether it ends when standard output cannot be written.
  package var needsOutput = true

  /// Runs it. Returns the number of the signal that ended it, `nil` where it was time or the printer.
  @discardableResult
  package func run(printer: some ObservationPrinter) throws -> Int32? {
    var printer = printer
    let arrivals = ArrivalQueue<Observation>()
    var interrupts: Interrupts? = Interrupts { [onHangup] signal in
      if signal == SIGHUP, let onHangup, !onHangup() { return }
      arrivals.stop(signal)
    }
    // A shared board may have delivered for long.
    let before = Self.samples(board.isShared ? board.sensors : [])
    board.begin(demand) { arrivals.post($0) }
    let start = board.now()
    var batch: [Observation] = []
    var (isRead, isHeard) = (true, false)
    while arrivals.stopSignal == nil {
      let left = seconds.map { $0 - board.now().seconds(since: start) } ?? .infinity
      guard left > 0 else { break }
      let dropped = arrivals.take(into: &batch, waiting: min(left, printer.patience))
      isHeard = isHeard || board.isShared && batch.contains(where: \.isMeasurement)
      isRead = printer.print(batch, dropped: dropped)
      guard isRead, !needsOutput || Terminal.output.failure == nil else { break }
    }
    let after = Self.samples(board.sensors.filter(isNeeded))
    // A daemon that was started again counts from zero.
    let isSilent = !isHeard && after.allSatisfy { $0.value == before[$0.key] ?? 0 }
    board.end()
    printer.finish()
    withExtendedLifetime(interrupts) {}
    // What comes from here on is not heard by this run any more.
    interrupts = nil
    if isSilent, isRead, arrivals.stopSignal == nil {
      throw CommandError(
        "no \(needed) of this board delivered anything: lodestone doctor says why")
    }
    return arrivals.stopSignal
  }

  private static func samples(_ sensors: [SensorStatus]) -> [Int: UInt64] {
    Dictionary(sensors.map { ($0.index, $0.counters.samples) }) { $1 }
  }

  package init(
    board: any BoardView, seconds: Double?, demand: Demand = Demand.everything,
    isNeeded: @escaping (SensorStatus) -> Bool = { _ in true }, needed: String = "chip",
    onHangup: (@Sendable () -> Bool)? = nil, needsOutput: Bool = true
  ) {
    (self.board, self.seconds, self.demand) = (board, seconds, demand)
    (self.isNeeded, self.needed) = (isNeeded, needed)
    (self.onHangup, self.needsOutput) = (onHangup, needsOutput)
  }
}

/// A table drawn in place.
package struct TablePrinter: ObservationPrinter {
  package let patience = LivePage.interval
  private var table: MonitorTable
  private var errors = ErrorCounterMonitor()
  private var page = LivePage()
  private let board: any BoardView

  package init(_ board: any BoardView) {
    self.board = board
    table = MonitorTable(board.summary)
  }

  package mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    for observation in batch { table.take(observation) }
    if errors.isDue(at: board.now()) {
      for status in errors.risen(board.sensors) { table.take(.sensor(status)) }
    }
    return page.isDue()
      ? page.draw(
        table.lines(at: board.now(), clockIsSet: board.clock.isSet)) : true
  }

  package mutating func finish() { page.finish() }
}

/// One line a second, for a log or a pipe.
package struct SummaryPrinter: ObservationPrinter {
  package let patience = 0.5
  private var table: MonitorTable
  private var said: [Int: SensorState] = [:]
  private var hasSaidClock = false
  private var errors = ErrorCounterMonitor()
  private var nextLine = ContinuousClock.now.advanced(by: .seconds(1))
  private let board: any BoardView

  package init(_ board: any BoardView) {
    self.board = board
    table = MonitorTable(board.summary)
  }

  package mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    var text = ""
    if !hasSaidClock, !board.clock.isSet { text += MonitorTable.unsetClock + "\n" }
    hasSaidClock = true
    for observation in batch {
      table.take(observation)
      switch observation {
      // A chip that is tried again and again fails again and again: once is enough.
      case .sensor(let status) where said[status.index] != status.state:
        said[status.index] = status.state
        errors.note(status)
        text += Self.line(status)
      case .diagnostic(let message, _): text += Hints.complete(message) + "\n"
      default: break
      }
    }
    if errors.isDue(at: board.now()) {
      for status in errors.risen(board.sensors) { text += Self.line(status) }
    }
    let now = ContinuousClock.now
    if now >= nextLine {
      nextLine = now.advanced(by: .seconds(1))
      text += table.summary(at: board.now()) + "\n"
    }
    return Terminal.write(Terminal.plain(text))
  }

  package mutating func finish() {}

  private static func line(_ status: SensorStatus) -> String {
    "sensor    \(status.chip) \(status.position) \(MonitorTable.condition(status))\n"
  }
}

extension Observation {
  /// Whether a chip has measured something for it.
  fileprivate var isMeasurement: Bool {
    switch self {
    case .heading, .location, .altitude, .absoluteAltitude, .sky, .motion, .waves: true
    case .headingUnavailable, .locationUnavailable, .altitudeUnavailable, .motionUnavailable,
      .wavesUnavailable, .sensor, .diagnostic:
      false
    }
  }
}
