import ArgumentParser
import BoardFile
import DaemonUI
import Foundation
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

        schema: 1
        board: gy-87-hmc5883l      # a name or a path
        socket: /run/lodestone/lodestone.sock
        stream: /run/lodestone/stream.sock
        tcp: {address: 0.0.0.0, port: 2950, positions: none}
        web: {address: 0.0.0.0, port: 8080, positions: exact}
        outputs:
          - {protocol: gpsd, positions: exact}
          - {protocol: nmea0183, address: 0.0.0.0, positions: exact}
          - {protocol: nmea0183, transport: udp, address: 192.168.1.255, sentences: {HDG: 0.1, RMC: 1}, talker: II}
        group: location
        agents: [pi]
        realtime: 20
        connections: {total: 1024, perUser: 256}

      Every key but schema may be left out. stream has lines of JSON for other languages ('none': no stream), tcp the same for everybody \
      who reaches the port. web is the page of lodestone map for everybody who has its token, with tiles and tokenFile as further keys, \
      and the lines as a WebSocket: /stream?token=TOKEN&subscribe=heading,location&rate=5. An address is 127.0.0.1 if it is left out; \
      positions is exact, reduced or none, and if it is left out none for tcp, exact for web. Only users of group may connect. \
      outputs are protocols that the daemon speaks. Whoever reaches the port gets what positions allows: none if it is left out. \
      Programs that are written for gpsd find the board at port 2947. nmea0183 listens at port 10110, or sends datagrams there with \
      transport: udp; sentences chooses which, each with the seconds from one to the next, talker whose they are. agents \
      may answer prompts, calibrate and record, as root may. realtime is the SCHED_FIFO priority of the threads of the buses.

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

  func run() throws {
    if status {
      return try StatusReport.print(of: socket ?? DaemonLocator.socketOfCommands, format)
    }
    var settings = try Self.settings(configuration)
    settings.board = board.name ?? settings.board
    settings.socket = socket ?? settings.socket
    try ServeRun(settings, openTiles: TileFiles.open).run()
  }

  private static func settings(_ path: String?) throws -> ServeConfiguration {
    let file = path ?? ServeFile.systemFile
    guard path != nil || FileManager.default.fileExists(atPath: file) else {
      return ServeConfiguration()
    }
    let text: String
    do throws(FileProblem) {
      text = try TextFile.read(file, limit: ServeFile.limit, isNamed: true)
    } catch {
      let isMissing = error.code == 0 || error.code == ENOENT
      throw CommandError("\(error)", kind: isMissing ? .configuration : .init(error))
    }
    return try ServeFile.parse(text, file: file)
  }
}
