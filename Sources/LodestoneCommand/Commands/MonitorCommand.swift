import ArgumentParser
import Foundation
import Glibc
import Lodestone
import SensorHub
import SensorTypes

/// Which board a command works on.
struct BoardOptions: ParsableArguments {
  @Option(
    name: .customLong("board"),
    help: "A board file: its path, or its name in Boards/ ('simulated' needs no hardware).")
  var name: String?
}

/// For how long a command runs.
struct DurationOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: "Stop after this many seconds.")
  var seconds: Double?

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds.isFinite) {
      throw ValidationError("--seconds takes a number above zero")
    }
  }
}

/// `lodestone monitor`: what the board knows, live.
struct MonitorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor",
    abstract: "Heading, altitude and position, live.",
    discussion: """
      A table on a terminal; one JSON object a line with --format json, which is an interface: keys \
      are the SDK's property names, invalid values are negative, unknown ones are left out. Without \
      authorization for the board's position there are no positions, true headings, declinations, and no \
      heights that a receiver has a part in. Exit code 1 when no chip delivered anything.
      """)

  @OptionGroup var board: BoardOptions

  @OptionGroup var duration: DurationOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  @Flag(help: "Add what was really so, on a simulated board (json).")
  var truth = false

  func validate() throws {
    if truth, format != .json { throw ValidationError("--truth goes with --format json") }
  }

  func run() throws {
    let session = try Session(board: board.name, calibratesInUse: true)
    if truth, session.simulation == nil {
      throw ValidationError("--truth needs a simulated board")
    }
    if truth { try session.demandExactPosition("--truth says where the simulated board is") }
    let watch = Watch(session: session, seconds: duration.seconds)
    switch format {
    case .json: try watch.run(printer: JSONPrinter(session: session, withTruth: truth))
    case .text where Terminal.isInteractive:
      try watch.run(printer: TablePrinter(session))
    case .text: try watch.run(printer: SummaryPrinter(session))
    }
  }
}

/// Takes observations as they come and prints them.
protocol ObservationPrinter {
  /// How long the printer can wait for the next batch, seconds.
  var patience: Double { get }
  /// Prints a batch. Returns false when nobody reads the output any more.
  mutating func print(_ batch: [Observation], dropped: Int) -> Bool
  /// Leaves the terminal as it was.
  mutating func finish()
}

/// Runs a session and hands what is published to a printer, until time is up or somebody interrupts.
struct Watch {
  let session: Session
  let seconds: Double?
  /// What is asked of the board.
  var demand = Demand.everything
  /// Of which sensors one has to deliver something, and what a person calls them.
  var isNeeded: (SensorStatus) -> Bool = { _ in true }
  var needed = "chip"
  /// Called on SIGHUP, which then ends the run only if this returns true; `nil` lets SIGHUP end it.
  var onHangup: (@Sendable () -> Bool)?
  /// Whether it ends when standard output cannot be written.
  var needsOutput = true

  /// Runs it. Returns the number of the signal that ended it, `nil` where it was time or the printer.
  @discardableResult
  func run(printer: some ObservationPrinter) throws -> Int32? {
    var printer = printer
    let mailbox = Mailbox<Observation>()
    var interrupts: Interrupts? = Interrupts { [onHangup] signal in
      if signal == SIGHUP, let onHangup, !onHangup() { return }
      mailbox.stop(signal)
    }
    let subscription = session.hub.subscribe { mailbox.post($0) }
    session.hub.setDemand(demand)
    session.hub.start()
    let start = session.now()
    var batch: [Observation] = []
    var isRead = true
    while mailbox.stopSignal == nil {
      let left = seconds.map { $0 - session.now().seconds(since: start) } ?? .infinity
      guard left > 0 else { break }
      let dropped = mailbox.take(into: &batch, waiting: min(left, printer.patience))
      isRead = printer.print(batch, dropped: dropped)
      guard isRead, !needsOutput || Terminal.output.failure == nil else { break }
    }
    subscription.cancel()
    let isSilent = session.hub.status.filter(isNeeded).allSatisfy { $0.counters.samples == 0 }
    session.hub.stop()
    printer.finish()
    withExtendedLifetime(interrupts) {}
    // What comes from here on is not heard by this run any more.
    interrupts = nil
    if isSilent, isRead, mailbox.stopSignal == nil {
      throw CommandError(
        "no \(needed) of this board delivered anything: lodestone doctor says why")
    }
    return mailbox.stopSignal
  }
}

/// One JSON object a line.
struct JSONPrinter: ObservationPrinter {
  let patience = 1.0
  private var lines: ObservationLines
  private var errors = ErrorCounterMonitor()
  private let session: Session
  private let truth: ((Timestamp, inout JSONLine) -> Void)?

  init(session: Session, withTruth: Bool) {
    self.session = session
    lines = ObservationLines(start: session.now()) { session.clock(at: $0) }
    truth = withTruth ? session.simulation.map(TruthLine.writer) : nil
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    var text = ""
    for observation in batch {
      text += lines.line(for: observation, truth: truth) + "\n"
      if case .sensor(let status) = observation { errors.note(status) }
    }
    if errors.isDue(at: session.now()) { text += risen() }
    if dropped > 0 { Terminal.warn("lodestone: \(dropped) lines dropped: the reader is too slow") }
    return Terminal.write(text)
  }

  mutating func finish() { Terminal.write(risen()) }

  private mutating func risen() -> String {
    var text = ""
    for status in errors.risen(session.hub.status) {
      text += lines.line(for: .sensor(status)) + "\n"
    }
    return text
  }
}

/// A table drawn in place.
struct TablePrinter: ObservationPrinter {
  let patience = LivePage.interval
  private var table: MonitorTable
  private var errors = ErrorCounterMonitor()
  private var page = LivePage()
  private let session: Session

  init(_ session: Session) {
    self.session = session
    table = MonitorTable(session.board)
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    for observation in batch { table.take(observation) }
    if errors.isDue(at: session.now()) {
      for status in errors.risen(session.hub.status) { table.take(.sensor(status)) }
    }
    return page.isDue()
      ? page.draw(
        table.lines(at: session.now(), clockIsSet: session.clock.isSet)) : true
  }

  mutating func finish() { page.finish() }
}

/// One line a second, for a log or a pipe.
struct SummaryPrinter: ObservationPrinter {
  let patience = 0.5
  private var table: MonitorTable
  private var said: [Int: SensorState] = [:]
  private var hasSaidClock = false
  private var errors = ErrorCounterMonitor()
  private var nextLine = ContinuousClock.now.advanced(by: .seconds(1))
  private let session: Session

  init(_ session: Session) {
    self.session = session
    table = MonitorTable(session.board)
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    var text = ""
    if !hasSaidClock, !session.clock.isSet { text += MonitorTable.unsetClock + "\n" }
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
    if errors.isDue(at: session.now()) {
      for status in errors.risen(session.hub.status) { text += Self.line(status) }
    }
    let now = ContinuousClock.now
    if now >= nextLine {
      nextLine = now.advanced(by: .seconds(1))
      text += table.summary(at: session.now()) + "\n"
    }
    return Terminal.write(Terminal.plain(text))
  }

  mutating func finish() {}

  private static func line(_ status: SensorStatus) -> String {
    "sensor    \(status.chip) \(status.position) \(MonitorTable.condition(status))\n"
  }
}
