import ArgumentParser
import LiveMap
import LogConversion
import Lodestone
import StateStore
import TerminalUI

/// `lodestone map`: one page with the live map of the board, for a browser.
struct MapCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "map",
    abstract: "A live map of the board in a browser: position, heading, altitude, chips.",
    discussion: """
      Serves one page and prints its URL; nothing on it comes from anywhere else. The URL carries a token, without which \
      nobody gets anything. The token is kept in a file that only this user can read, so that a bookmark still works \
      after a restart. Where standard output is no terminal (the journal of a service, a file) the URL is printed without \
      the token, and with the name of that file.

      By default only this machine can open the page: from another one through ssh -L 8080:localhost:8080 BOARD, or with \
      --address 0.0.0.0, where a terminal also shows a QR code of the URL for a phone. The connection is not encrypted: \
      use it in a network that you trust. Ctrl-C ends it. It needs authorization for the board's position (exit code 77 \
      without). Exit code 74 when the port is taken, 1 when no chip delivered anything in --seconds.
      """)

  @OptionGroup var board: BoardOptions

  @OptionGroup var duration: DurationOptions

  @Option(help: "The port; 0 lets the system choose one.")
  var port = 8080

  @Option(help: "The numeric address to listen at; 0.0.0.0 for every one that this machine has.")
  var address = "127.0.0.1"

  @Option(
    help: "The map below the track: a folder of tiles z/x/y.png, or an MBTiles file.",
    completion: .file())
  var tiles: String?

  @Option(
    help: ArgumentHelp(
      "The file of the token, instead of map-token in the state directory.",
      discussion: "It is made if it does not exist. A token has 16 to 128 letters, digits, - and _."
    ),
    completion: .file())
  var tokenFile: String?

  @Flag(help: "Replace the token: URLs that were printed before open nothing any more.")
  var newToken = false

  @Flag(help: "Print a QR code of the URL in any case, with its token.")
  var qr = false

  func validate() throws {
    guard UInt16(exactly: port) != nil else {
      throw ValidationError("--port takes a number from 0 to 65535")
    }
    guard ListenAddress(address) != nil else {
      throw ValidationError("--address takes a numeric address, as 127.0.0.1 or 0.0.0.0")
    }
  }

  func run() throws {
    guard let address = ListenAddress(address), let port = UInt16(exactly: port) else {
      throw ValidationError("--address and --port say where to listen")
    }
    let tiles = try tiles.map(TileFiles.open)
    let file = tokenFile.map { TokenFile(path: $0) } ?? TokenFile(in: StateDirectory.current())
    let token = try file.mapToken(isNew: newToken)
    let board = try BoardViews.open(board: board.name, calibratesInUse: true)
    try board.demandPosition("map shows where the board is")
    let feed = MapFeed(board: board, tiles: tiles)
    let handler = MapHandler(
      access: MapAccess(token: token, isForThisMachine: address.isLoopback),
      files: PageFiles(token: token), tiles: tiles, openPage: feed.openPage)
    let server: WebServer
    let openPort: UInt16
    do throws(SystemProblem) {
      server = try WebServer(service: handler)
      openPort = try server.start(at: address, port: port)
    } catch {
      throw CommandError(error, listeningAt: address, port: port)
    }
    MapInvitation(at: address, port: openPort, token: token, tokenPath: file.path)
      .announce(showsCode: qr)
    try ObservationRun(board: board, seconds: duration.seconds)
      .run(printer: MapPrinter(board: board, feed: feed, server: server))
  }
}
