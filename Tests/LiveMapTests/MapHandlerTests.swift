// What is answered, and what every answer says to the browser.

@testable import LiveMap
import MapDrawing
import SensorTypes
import Synchronization
import Testing

import TerminalUI

@Suite struct MapHandlerTests {
  static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Tiles of the zooms 2 and 3: the first column is there, the second cannot be read, the third is missing, and the fourth is
  /// no picture.
  static let tiles = TileStore(minimumZoom: 2, maximumZoom: 3) { zoom, x, y in
    switch x {
    case 0: return png + [UInt8(zoom), UInt8(x), UInt8(y)]
    case 1: throw CommandError("torn")
    case 3: return Array("<html><script>".utf8)
    default: return nil
    }
  }

  static let token = "0123456789abcdef"

  static func handler(
    tiles: TileStore? = tiles, lines: MapHandler.OpenLines? = nil
  ) -> MapHandler {
    let feed = MapFeed(live: LiveStateTests.state()) { Timestamp(seconds: 0) }
    return MapHandler(
      access: MapAccess(token: token, isForThisMachine: true), files: PageFiles(token: token),
      tiles: tiles, openLines: lines, openPage: feed.openPage)
  }

  /// What is answered, a response that is made elsewhere too.
  static func answer(
    _ handler: MapHandler, _ path: String, method: String = "GET", token: String? = token,
    headers: [String: String] = ["host": "localhost:8080"]
  ) -> WebResponse {
    let request = WebRequest(
      method: method, path: path, query: token.map { "token=\($0)" } ?? "", headers: headers)
    return switch handler.answer(to: request) {
    case .refusal(let response), .response(let response), .stream(let response, _): response
    case .later(let make): make()
    }
  }

  static let live = WebSocketTests.request(["origin": "http://localhost"]).headers

  @Test func everyAnswerHasItsHeaders() throws {
    for (path, headers) in [
      ("/", [:]), ("/main.js", [:]), ("/nothing", [:]), ("/live", [:]), ("/live", Self.live),
      ("/tiles/2/0/0", [:]),
    ] {
      let response = Self.answer(
        Self.handler(), path, headers: headers.merging(["host": "localhost:8080"]) { $1 })
      let policy = try #require(response.header("Content-Security-Policy"))
      #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe"))
      #expect(policy.contains("connect-src 'self' ws://localhost:8080;"))
      #expect(response.header("Cache-Control") == "no-store")
      #expect(response.header("X-Content-Type-Options") == "nosniff")
      #expect(response.header("Referrer-Policy") == "no-referrer")
    }
  }

  @Test func onlyKnownPathsAreAnswered() {
    let handler = Self.handler()
    #expect(Self.answer(handler, "/").status == .ok)
    for path in ["/page.html/", "/../page.html", "//", "/tiles", "/favicon.ico", "/%6Dain.js"] {
      #expect(Self.answer(handler, path).status == .notFound)
    }
    #expect(Self.answer(handler, "/", method: "POST").status == .methodNotAllowed)
    #expect(Self.answer(handler, "/live", headers: Self.live).status == .switchingProtocols)
    // No upgrade was asked for.
    let plain = Self.answer(
      handler, "/live", headers: ["host": "localhost", "origin": "http://localhost"])
    #expect(plain.status == .badRequest)
  }

  @Test func withoutTheTokenThereIsNothing() {
    let handler = Self.handler()
    for path in ["/", "/main.js", "/live", "/tiles/2/0/0", "/nothing"] {
      for token in [nil, "", "0123456789abcdeF", "%30123456789abcdef"] {
        let request = WebRequest(
          method: "GET", path: path, query: token.map { "token=\($0)" } ?? "",
          headers: Self.live)
        guard case .refusal(let response) = handler.answer(to: request) else {
          Issue.record("\(path) is answered")
          continue
        }
        #expect(response.status == .forbidden)
      }
    }
  }

  @Test func onlyPicturesAreTiles() {
    let there = Self.answer(Self.handler(), "/tiles/3/0/7")
    #expect(there.body == Self.png + [3, 0, 7])
    #expect(there.header("Content-Type") == "image/png")
    for path in [
      "/tiles/1/0/0", "/tiles/4/0/0", "/tiles/3/1/0", "/tiles/3/2/0", "/tiles/3/3/0",
    ] {
      let answer = Self.answer(Self.handler(), path)
      #expect(answer.status == .noContent && answer.body.isEmpty)
    }
    #expect(Self.answer(Self.handler(), "/tiles/3/0/8").status == .notFound)
    #expect(Self.answer(Self.handler(tiles: nil), "/tiles/3/0/0").status == .notFound)
  }

  @Test("a tile comes from a disk: it is read on another thread than the server's")
  func tilesAreReadElsewhere() {
    let request = WebRequest(
      method: "GET", path: "/tiles/3/0/7", query: "token=\(Self.token)",
      headers: ["host": "localhost"])
    guard case .later = Self.handler().answer(to: request) else {
      Issue.record("the server's thread has read a tile")
      return
    }
  }

  @Test(arguments: [
    "/tiles/0/0", "/tiles/0/0/0/0", "/tiles/a/0/0", "/tiles/-1/0/0", "/tiles/1/2/0",
    "/tiles/25/0/0",
    "/tiles/1/0/", "/tiles/1/0/00000000000000000000", "/tile/0/0/0", "tiles/0/0/0", "/tiles/1/+1/0",
    "/tiles/1/\u{0661}/0",
  ])
  func whatIsNoTile(path: String) { #expect(TilePlace(path: path) == nil) }

  @Test func aTile() {
    let place = TilePlace(path: "/tiles/18/140887/85968")
    #expect(place?.zoom == 18 && place?.x == 140_887 && place?.y == 85_968)
  }

  @Test func everyNameInThePageCarriesTheToken() throws {
    let files = PageFiles(token: "abc")
    for path in files.paths {
      let text = String(decoding: try #require(files.file(at: path)).bytes, as: UTF8.self)
      for name in files.paths.map({ $0.dropFirst() }) {
        #expect(!text.contains("\"\(name)\"") && !text.contains("\"./\(name)\""))
      }
    }
    let page = String(decoding: try #require(files.file(at: "/")).bytes, as: UTF8.self)
    #expect(page.contains("src=\"main.js?token=abc\""))
    let main = String(decoding: try #require(files.file(at: "/main.js")).bytes, as: UTF8.self)
    #expect(main.contains("from \"./map.js?token=abc\""))
  }

  @Test func noMarkupIsMadeOfWhatABoardSays() throws {
    let files = PageFiles(token: "abc")
    for path in files.paths where path.hasSuffix(".js") {
      let text = String(decoding: try #require(files.file(at: path)).bytes, as: UTF8.self)
      for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
        #expect(!text.contains(word), "\(path): \(word)")
      }
    }
  }

  @Test func linesAreForProgramsWithTheToken() throws {
    let asked = Synchronization.Mutex<[String]>([])
    let handler = Self.handler { (kinds, rate) throws(MapHandler.LinesRefused) in
      asked.withLock { $0.append("\(kinds) \(rate ?? "-")") }
      guard kinds == "heading,sky" else { throw MapHandler.LinesRefused("no kind") }
      return { _ in MapFeed.NoSeat() }
    }
    func answer(_ query: String, origin: String? = nil, upgrades: Bool = true) -> WebResponse {
      var headers = upgrades ? WebSocketTests.request().headers : [:]
      headers["host"] = "localhost:8080"
      headers["origin"] = origin
      let request = WebRequest(method: "GET", path: "/stream", query: query, headers: headers)
      return switch handler.answer(to: request) {
      case .refusal(let response), .response(let response), .stream(let response, _): response
      case .later(let make): make()
      }
    }
    let good = "token=\(Self.token)&subscribe=heading%2Csky"
    // Programs name no origin, and a page of another server may have the token.
    #expect(answer(good).status == .switchingProtocols)
    #expect(answer(good + "&rate=5", origin: "http://elsewhere").status == .switchingProtocols)
    #expect(answer("subscribe=heading").status == .forbidden)
    #expect(answer(good, upgrades: false).status == .badRequest)
    let without = answer("token=\(Self.token)")
    #expect(without.status == .badRequest)
    #expect(String(decoding: without.body, as: UTF8.self).contains("subscribe=KIND"))
    let wrong = answer("token=\(Self.token)&subscribe=x")
    #expect(wrong.status == .badRequest)
    #expect(String(decoding: wrong.body, as: UTF8.self).contains("no kind"))
    #expect(asked.withLock { $0 } == ["heading,sky -", "heading,sky 5", "x -"])
    // The command's own page has none.
    #expect(Self.answer(Self.handler(), "/stream").status == .notFound)
  }

  @Test func sixteenPagesAndNoMore() throws {
    let feed = MapFeed(live: LiveStateTests.state()) { LiveStateTests.at(1) }
    var seats = (0..<16).map { _ in feed.open {} }
    #expect(seats.allSatisfy { $0 != nil } && feed.open {} == nil)
    #expect(
      MapFeed.NoSeat().next() == .end(code: 1013, reason: "16 pages are open already")
    )
    // A place is free again when its page is gone.
    seats.removeLast()
    #expect(feed.count == 15)
    let wakes = Synchronization.Mutex(0)
    let seat = try #require(feed.open { wakes.withLock { $0 += 1 } })
    guard case .message(let first)? = seat.next() else {
      Issue.record("no snapshot")
      return
    }
    #expect(first.contains("\"kind\":\"board\""))
    while seat.next() != nil {}
    // What is new is told to every page, and its end.
    feed.take([], at: LiveStateTests.at(2))
    #expect(wakes.withLock { $0 } == 1)
    guard case .message(let second)? = seat.next() else {
      Issue.record("nothing new")
      return
    }
    #expect(second.contains("\"kind\":\"clock\"") && seat.next() == nil)
    feed.close()
    #expect(wakes.withLock { $0 } == 2)
    #expect(seat.next() == .end(code: 1001, reason: ""))
    #expect(feed.open {} == nil)
  }
}
