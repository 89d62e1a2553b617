import ArgumentParser
import Lodestone
import OutputProtocols
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
    if let seconds { try Self.validate(seconds) }
  }

  /// Throws if a command cannot end after this number of seconds.
  static func validate(_ seconds: Double) throws {
    guard seconds > 0, seconds.isFinite else {
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

      --output writes JSON lines into a file. A file that exists is continued; only the owner can read a new one. When the \
      disk is full, lines are dropped and counted, the file is tried again every second, and the exit code is 74. After \
      the file was moved away, SIGHUP begins a new file of the same name (log rotation).

      \(RotationOptions.discussion)
      """)

  @OptionGroup var board: BoardOptions

  @OptionGroup var duration: DurationOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  @Flag(help: "Add what was really so, on a simulated board (json).")
  var truth = false

  @Option(
    help: ArgumentHelp("Write the lines into a file (json).", valueName: "file"),
    completion: .file())
  var output: String?

  @OptionGroup var rotation: RotationOptions

  @Option(
    help: ArgumentHelp(
      """
      Write one line of each kind, the newest, in each interval of this many seconds (json). The key skipped counts the \
      lines that were left out. Events are written at once: a loss and its end, a new reason, a sensor's state, an error.
      """, valueName: "seconds"))
  var every: Double?

  @Option(
    help: """
      Write only lines of these kinds, separated by commas (json): \
      \(LineKinds.names).
      """, transform: LineKinds.init)
  var kinds: LineKinds?

  func validate() throws {
    if truth, format != .json { throw ValidationError("--truth goes with --format json") }
    if output != nil || every != nil || kinds != nil, format != .json {
      throw ValidationError("--output, --every and --kinds go with --format json")
    }
    if let every, !(every > 0 && every <= RotationLimit.mostSeconds) {
      throw ValidationError("--every takes seconds above zero, at most a year")
    }
    if output == nil, rotation.rotation != nil {
      throw ValidationError("--rotate goes with --output")
    }
  }

  func run() throws {
    let view = try BoardViews.open(board: board.name, calibratesInUse: true)
    let simulation = (view as? Session)?.simulation
    if truth, simulation == nil {
      throw ValidationError("--truth needs a simulated board that this command opens itself")
    }
    if truth { try view.demandExactPosition("--truth says where the simulated board is") }
    let watch = ObservationRun(board: view, seconds: duration.seconds)
    let truth = truth ? simulation.map(TruthLine.writer) : nil
    let choice = LineChoice(
      kinds: kinds?.kinds ?? Set(LineKind.allCases), interval: every)
    switch format {
    case .json:
      if let output {
        try LineLogRun(path: output, rotation: rotation.rotation, truth: truth, choice: choice)
          .run(watch)
      } else {
        try watch.run(printer: JSONPrinter(board: view, truth: truth, choice: choice))
      }
    case .text where Terminal.isInteractive:
      try watch.run(printer: TablePrinter(view))
    case .text: try watch.run(printer: SummaryPrinter(view))
    }
  }
}

/// Kinds of JSON lines, as `--kinds` takes them.
struct LineKinds {
  let kinds: Set<LineKind>

  /// The names of all kinds, for messages and help.
  static let names = LineKind.monitored.map(\.rawValue).joined(separator: ", ")

  init(_ argument: String) throws {
    let words = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    kinds = Set(
      try words.map { word in
        guard let kind = LineKind(rawValue: word), LineKind.monitored.contains(kind) else {
          throw ValidationError("'\(word)' is no kind of line. The kinds are \(Self.names)")
        }
        return kind
      })
  }
}
