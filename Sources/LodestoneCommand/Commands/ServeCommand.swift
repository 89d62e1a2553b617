import ArgumentParser
import BoardFile
import DaemonUI
import FoundationEssentials
import Glibc
import LocationDaemon
import Lodestone
import LogConversion
import StateStore
import TerminalUI

/// `lodestone serve`: the board for all programs of this machine.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Own the board, and serve all programs of this machine.",
    discussion: """
      Programs that use CoreLocation, CoreMotion or MapKit find the daemon by its socket, \(DaemonLocator.systemSocket), or by \
      LODESTONE_SOCKET, unless LODESTONE_BOARD names a board that they open themselves. The kernel names each of them: its executable, \
      its user, its systemd unit. What the rules of this machine (lodestone authorization) keep from it never leaves the daemon.

      Regions are monitored while their program is away, and it hears of them when it comes back.

      \(ServeFile.systemFile) configures the daemon:

      \(ServeHelp.example)

      Every key but schema may be left out. stream has lines of JSON for other languages ('none': no stream), tcp the same for everybody \
      who reaches the port. web is the page of lodestone map for everybody who has its token, with tiles and tokenFile as further keys, \
      and the lines as a WebSocket: /stream?token=TOKEN&subscribe=heading,location&rate=5. An address is 127.0.0.1 if it is left out; \
      positions is exact, reduced or none, and if it is left out none for tcp, exact for web. Only users of group may connect. \
      agents may answer prompts, calibrate and record, as root may. realtime is the SCHED_FIFO priority of the threads of the buses.

      outputs are protocols that the daemon speaks. Whoever reaches one gets what positions allows.

      \(ServeHelp.outputs)

      --try PROTOCOL prints what a peer of this protocol would receive, until a signal ends it: lines of text as they are, binary messages \
      with their fields, decoded from the bytes. It uses the first output of this protocol in the configuration. Without one it uses the \
      default settings, except that positions is exact if you are at a terminal: so you see what an output with positions sends. \
      Nothing is sent, and no port or device is opened. If a daemon runs, its board is used; otherwise the board is opened.

      SIGHUP makes it read the rules of this machine again. Exit code 78 when the configuration, the board file or the rules are wrong: \
      a service manager need not try again.
      """)

  @OptionGroup var board: BoardOptions

  @Option(
    help: "The configuration. Default: \(ServeFile.systemFile), if there is one.",
    completion: .file())
  var configuration: String?

  @Option(help: "The socket at which programs arrive.", completion: .file())
  var socket: String?

  @Flag(help: "Print the state of the daemon that runs, and end.")
  var status = false

  @Option(help: "For --status: text or json.")
  var format = OutputFormat.text

  @Option(
    name: .customLong("try"),
    help: ArgumentHelp(
      "Print what an output of this protocol would send: \(OutputSettings.names.joined(separator: ", ")).",
      valueName: "protocol"),
    completion: .list(OutputSettings.names))
  var shown: String?

  @Option(parsing: .unconditional, help: "For --try: stop after this many seconds.")
  var seconds: Double?

  func validate() throws {
    if let seconds { try DurationOptions.validate(seconds) }
    guard let shown else {
      if seconds != nil { throw ValidationError("--seconds goes with --try") }
      return
    }
    let names = OutputSettings.names
    guard names.contains(shown) else {
      throw ValidationError(
        "'\(shown)' is not a protocol. The protocols are \(names.joined(separator: ", "))")
    }
    if status || socket != nil {
      throw ValidationError("--status and --socket do not go with --try")
    }
  }

  func run() throws {
    if status {
      return try StatusReport.print(of: socket ?? DaemonLocator.socketOfCommands, format)
    }
    var settings = try Self.settings(configuration)
    if let shown {
      let file = configuration ?? ServeFile.systemFile
      return try PreviewRun(
        shown, settings, file: file, board: board.name, seconds: seconds
      ).run()
    }
    settings.board = board.name ?? settings.board
    settings.socket = socket ?? settings.socket
    try ServeRun(
      settings, file: configuration ?? ServeFile.systemFile, openTiles: TileFiles.open
    ).run()
  }

  /// Reads the configuration. One that is missing, or is a directory, is a mistake of the configuration as with a board file.
  static func settings(_ path: String?) throws -> ServeConfiguration {
    let file = path ?? ServeFile.systemFile
    guard path != nil || FileManager.default.fileExists(atPath: file) else {
      return ServeConfiguration()
    }
    let text: String
    do throws(FileProblem) {
      text = try TextFile.read(file, limit: ServeFile.limit, isNamed: true)
    } catch {
      let isMistake = [0, ENOENT, ENOTDIR, EISDIR].contains(error.code)
      throw CommandError("\(error)", kind: isMistake ? .configuration : .init(error))
    }
    return try ServeFile.parse(text, file: file)
  }
}
