import ArgumentParser
import Lodestone
import TerminalUI

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
    let watch = ObservationRun(session: session, seconds: duration.seconds)
    switch format {
    case .json: try watch.run(printer: JSONPrinter(session: session, withTruth: truth))
    case .text where Terminal.isInteractive:
      try watch.run(printer: TablePrinter(session))
    case .text: try watch.run(printer: SummaryPrinter(session))
    }
  }
}
