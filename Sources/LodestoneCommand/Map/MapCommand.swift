import ArgumentParser
import Lodestone
import SensorHub
import SensorTypes

/// `lodestone map`: one page with the live map of the board, for a browser.
struct MapCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "map",
    abstract: "A live map of the board in a browser: position, heading, altitude, chips.",
    discussion: """
      Serves one page and prints its URL; nothing on it comes from anywhere else. By default only this machine can open \
      it: from another one through ssh -L 8080:localhost:8080 BOARD, or with --address 0.0.0.0, where the URL carries a \
      token without which nobody gets anything. It is not encrypted: for a network that is trusted. Ctrl-C ends it. \
      Needs authorization for the board's position (exit code 77 without). Exit code 1 when the port is taken, or when no chip delivered anything in --seconds.
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
    let session = try Session(board: board.name, calibratesInUse: true)
    try session.demandPosition("map shows where the board is")
    let feed = MapFeed(session: session, tiles: tiles)
    let access = MapAccess(token: address.isLoopback ? nil : MapAccess.newToken())
    let server = MapServer(address: address) {
      MapHandler(access: access, files: PageFiles(token: access.token), feed: feed, tiles: tiles)
    }
    let openPort = try server.start(port: port)
    for url in address.urls(port: openPort, token: access.token) { Terminal.say(url) }
    try Watch(session: session, seconds: duration.seconds)
      .run(printer: MapPrinter(session: session, feed: feed, server: server))
  }
}

/// Gives what the board says to the pages instead of printing it.
struct MapPrinter: ObservationPrinter {
  // What was held back is sent, and the second told, a little late at most.
  let patience = 0.05
  let session: Session
  let feed: MapFeed
  let server: MapServer

  func print(_ batch: [Observation], dropped: Int) -> Bool {
    feed.take(batch, at: session.now())
    if dropped > 0 { Terminal.warn("lodestone: \(dropped) observations dropped: the pages wait") }
    return true
  }

  func finish() {
    feed.close()
    server.stop()
  }
}
