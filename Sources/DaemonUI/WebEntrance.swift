// The daemon's page for browsers, and its lines of JSON over WebSockets.

import FoundationEssentials
import Glibc
import LinuxIO
import LiveMap
import LocationDaemon
import LocationServices
import Lodestone
import MapDrawing
import SensorTypes
import StateStore
import Synchronization
import TerminalUI
import TextForms

/// What the page needs, found before the daemon serves anybody.
struct WebParts {
  let address: ListenAddress
  let port: UInt16
  let positions: PositionLimit
  let tiles: TileStore?
  let token: String
  let tokenPath: String

  /// The address and the port.
  var place: String { address.authority(port: port) }

  /// - Parameters:
  ///   - state: The folder of the token, if the configuration names no file.
  ///   - openTiles: Opens the map below the track.
  init(
    _ web: ServeConfiguration.Web, state: URL, openTiles: (String) throws -> TileStore
  ) throws {
    guard let address = ListenAddress(web.address) else {
      throw CommandError(
        "web: '\(web.address)' is not a numeric address such as 127.0.0.1 or 0.0.0.0",
        kind: .configuration)
    }
    (self.address, port, positions) = (address, web.port, web.positions)
    do {
      tiles = try web.tiles.map(openTiles)
    } catch {
      throw CommandError("web: tiles: \(error)", kind: .configuration)
    }
    let file = web.tokenFile.map { TokenFile(path: $0) } ?? TokenFile(in: state)
    do {
      token = try file.mapToken(hint: "tokenFile in serve.yaml")
    } catch {
      throw CommandError("web: \(error)", kind: error.kind == .data ? .configuration : error.kind)
    }
    tokenPath = file.path
  }
}

/// Serves the page and the WebSockets of a daemon. While another program has the port, it is tried again and again.
final class WebEntrance {
  private let parts: WebParts
  private let server: WebServer
  private let pages: BoardPages
  private let report = PortReport()
  /// The port that the system has given, once it is open.
  private var port: UInt16?

  /// Begins to serve, or prepares to do so if another program has the port.
  ///
  /// - Throws: The error of every other failure: it will not go away.
  init(_ parts: WebParts, daemon: LocationDaemon) throws {
    let positions = parts.positions
    let services = daemon.makeServices()
    let pages = BoardPages(tiles: parts.tiles) {
      try DaemonBoard(of: services, positions: positions)
    }
    let handler = MapHandler(
      access: MapAccess(token: parts.token, isForThisMachine: parts.address.isLoopback),
      files: PageFiles(token: parts.token), tiles: parts.tiles,
      openLines: { (kinds, rate) throws(MapHandler.LinesRefused) in
        let request = try Self.request(kinds, rate)
        return { wake in
          LineSocket(daemon.makeStream(positions, wake: wake), request)
        }
      }, openPage: pages.open)
    (self.parts, self.pages) = (parts, pages)
    do throws(SystemProblem) {
      server = try WebServer(service: handler)
    } catch {
      throw Self.mistake(error, parts)
    }
    daemon.reportPages(
      { pages.count }, at: NetworkReport(name: "web", path: parts.place, positions, report))
    do throws(SystemProblem) {
      try listen()
    } catch {
      guard error.number == EADDRINUSE else { throw Self.mistake(error, parts) }
    }
  }

  private func listen() throws(SystemProblem) {
    do throws(SystemProblem) {
      port = try server.start(at: parts.address, port: parts.port)
      report.opened()
    } catch {
      report.failed(LocalSocketError(parts.place, errno: error.number), port: parts.port)
      throw error
    }
  }

  private static func mistake(_ problem: SystemProblem, _ parts: WebParts) -> CommandError {
    let isWrong = [EINVAL, EADDRNOTAVAIL].contains(problem.number)
    let words = String(cString: strerror(problem.number))
    return CommandError(
      "web: \(parts.place): \(words)",
      kind: isWrong ? .configuration : problem.number == EACCES ? .permission : .io)
  }

  /// Prints where the page is.
  func announce() {
    guard let port else {
      Terminal.say("web waits for \(parts.place), which another program has")
      return
    }
    MapInvitation(at: parts.address, port: port, token: parts.token, tokenPath: parts.tokenPath)
      .announce(showsCode: false)
  }

  /// Tries the port again if it is not open yet, and says how many connections found no place since the last call.
  func look() {
    if port == nil, (try? listen()) != nil { announce() }
    warnOfCrowd()
  }

  private func warnOfCrowd() {
    let count = server.takeCrowdedOut()
    if count > 0 {
      Terminal.warn(
        "lodestone: web: \(count) connections were closed or refused: all places are taken")
    }
  }

  /// Tells every page that the daemon ends. The streams have been ended by the daemon before.
  func stop() {
    pages.stop()
    server.stop()
  }

  /// Returns the request of the stream that a query makes.
  private static func request(
    _ kinds: String, _ rate: String?
  ) throws(MapHandler.LinesRefused) -> [UInt8] {
    var line = JSONLine()
    line.set("subscribe", kinds.split(separator: ",").map(String.init))
    if let rate {
      guard let number = Double(rate), number.isFinite else {
        throw MapHandler.LinesRefused("rate is a number of lines a second")
      }
      line.set("rate", number, digits: 3)
    }
    let request = Array(line.line.utf8)
    if let problem = StreamHost.problem(ofRequest: request) {
      throw MapHandler.LinesRefused(problem)
    }
    return request
  }
}

/// The lines of a stream as messages of a WebSocket, one each.
private final class LineSocket: WebStream {
  private static let normalEnd: UInt16 = 1_000

  private let host: StreamHost
  /// Lines that were written together, the next one last.
  private let waiting = Mutex<[String]>([])

  /// - Parameter request: The first request.
  init(_ host: StreamHost, _ request: [UInt8]) {
    self.host = host
    receive(request)
  }

  deinit { host.end() }

  var isReading: Bool { host.isReading }

  func next() -> WebStreamEvent? {
    waiting.withLock { waiting in
      // Read first: otherwise the last line could be lost.
      let isClosed = host.isClosed
      if waiting.isEmpty, let bytes = host.next() {
        waiting = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        waiting.reverse()
      }
      if let line = waiting.popLast() { return .message(line) }
      return isClosed ? .end(code: Self.normalEnd, reason: "") : nil
    }
  }

  func receive(_ text: [UInt8]) {
    (text + [0x0A]).withUnsafeBytes {
      host.receive($0, at: RuntimeClocks.system.now().seconds)
    }
  }
}
