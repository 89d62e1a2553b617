import ArgumentParser
import BoardFile
import Diagnosis
import LinuxIO
import Lodestone
import SensorTypes
import StateStore
import TerminalUI
import Threads

/// `lodestone gnss`: the receiver itself, and the satellites that it hears.
struct GNSSCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gnss",
    abstract: "The receiver: who it is, how it is set, its fix, and the satellites in view.",
    discussion: """
      A table and a sky plot on a terminal (north up, east on the right; capitals are used), a page for each round of \
      satellites in a pipe; one JSON object a line with --format json. Elevation and azimuth in degrees, C/N0 in dB-Hz; \
      what the receiver does not say is a dash. Satellites have RINEX names: G GPS, R GLONASS, E Galileo, C BeiDou, \
      J QZSS, I NavIC, S SBAS less 100. Needs authorization for the board's exact position (exit code 77 without). Exit \
      code 1 when no receiver delivered anything.

      With --ntrip-sources no board is opened: the streams of a caster of corrections are listed, for 'corrections' in \
      a board file. Exit code 74 when the caster cannot be reached or does not answer, 77 when it wants another password, \
      65 when it is no caster, 1 when it has no streams.
      """)

  @OptionGroup var board: BoardOptions

  @OptionGroup var duration: DurationOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  @Option(
    name: .customLong("ntrip-sources"),
    help: ArgumentHelp(
      "List the streams of an NTRIP caster: HOST, HOST:PORT (default 2101), or ntrips://HOST for TLS.",
      valueName: "host"))
  var caster: String?

  @Option(
    name: .customLong("ntrip-credentials"),
    help: ArgumentHelp(
      "A file of mode 0600 that holds USER:PASSWORD, for a caster that shows its streams to users alone.",
      valueName: "file"))
  var credentials: String?

  func validate() throws {
    guard let caster else {
      guard credentials == nil else {
        throw ValidationError("--ntrip-credentials goes with --ntrip-sources")
      }
      return
    }
    guard board.name == nil else {
      throw ValidationError("--ntrip-sources opens no board: --board does not go with it")
    }
    // Nor is the path repeated where it is taken for the login itself.
    if let credentials, credentials.contains(":"), !credentials.contains("/") {
      throw ValidationError(
        "--ntrip-credentials is the path of a file of mode 0600 that holds USER:PASSWORD")
    }
    // A password in the argument would be in the list of processes, and is not repeated.
    guard !caster.contains("@") else {
      throw ValidationError("no user name and password in an address: --ntrip-credentials FILE")
    }
    guard CasterAddress(caster) != nil else {
      throw ValidationError(
        "--ntrip-sources is HOST, HOST:PORT or ntrips://HOST, without a mountpoint")
    }
  }

  func run() throws {
    if let caster = caster.flatMap(CasterAddress.init) { return try list(caster) }
    let board = try BoardViews.open(board: board.name)
    guard !board.receivers.isEmpty else {
      throw CommandError("\(board.summary.name): there is no receiver on this board")
    }
    try board.demandExactPosition("gnss shows the receiver's fix and its satellites")
    let watch = ObservationRun(board: board, receiversFor: duration.seconds)
    switch format {
    case .json: try watch.run(printer: GNSSJSONPrinter(board))
    case .text where Terminal.isInteractive: try watch.run(printer: GNSSLivePrinter(board))
    case .text: try watch.run(printer: GNSSPagePrinter(board))
    }
  }

  private func list(_ caster: CasterAddress) throws {
    let login: String?
    do throws(FileProblem) {
      login = try credentials.map { (path) throws(FileProblem) in try CredentialFile.read(path) }
    } catch {
      // What the system does not say: a file that others can read, or that holds something else.
      throw error.code == 0
        ? CommandError(error.description, kind: .data) : CommandError(reading: error)
    }
    let conversation = CasterConversation(LinuxBusProvider()) {
      SystemThread.sleep(seconds: $0)
    }
    let report = try conversation.report(on: caster, credentials: login)
    for line in format == .json ? report.json : report.lines {
      guard Terminal.say(line) else { throw ExitCode.failure }
    }
    if let remark = report.remark { Terminal.warn("\(caster.server): \(remark)") }
    if report.isEmpty { throw ExitCode.failure }
  }
}
