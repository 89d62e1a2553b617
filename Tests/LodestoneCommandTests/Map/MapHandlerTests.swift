// What is answered, and what every answer says to the browser.

import FlyingFox
import Foundation
import MapDrawing
import SensorTypes
import Testing

@testable import LodestoneCommand

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

  static func handler(token: String? = nil, tiles: TileStore? = tiles) -> MapHandler {
    MapHandler(
      access: MapAccess(token: token), files: PageFiles(token: token),
      feed: MapFeed(live: LiveStateTests.state()) { Timestamp(seconds: 0) }, tiles: tiles)
  }

  static func answer(
    _ handler: MapHandler, _ path: String, method: HTTPMethod = .GET, token: String? = nil,
    headers: [HTTPHeader: String] = [.host: "localhost:8080"]
  ) async throws -> HTTPResponse {
    try await handler.handleRequest(
      HTTPRequest(
        method: method, version: .http11, path: path,
        query: token.map { [.init(name: "token", value: $0)] } ?? [], headers: headers, body: Data()
      ))
  }

  @Test func everyAnswerHasItsHeaders() async throws {
    for path in ["/", "/main.js", "/nothing", "/live", "/tiles/2/0/0"] {
      let headers = try await Self.answer(Self.handler(), path).headers
      let policy = try #require(headers[HTTPHeader("Content-Security-Policy")])
      #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe"))
      #expect(policy.contains("connect-src 'self' ws://localhost:8080;"))
      #expect(headers[.cacheControl] == "no-store")
      #expect(headers[HTTPHeader("X-Content-Type-Options")] == "nosniff")
      #expect(headers[HTTPHeader("Referrer-Policy")] == "no-referrer")
    }
  }

  @Test func onlyKnownPathsAreAnswered() async throws {
    let handler = Self.handler()
    #expect(try await Self.answer(handler, "/").statusCode == .ok)
    for path in ["/page.html/", "/../page.html", "//", "/tiles", "/favicon.ico"] {
      #expect(try await Self.answer(handler, path).statusCode == .notFound)
    }
    #expect(try await Self.answer(handler, "/", method: .POST).statusCode == .methodNotAllowed)
    // No upgrade was asked for.
    let plain = try await Self.answer(
      handler, "/live", headers: [.host: "localhost", HTTPHeader("Origin"): "http://localhost"])
    #expect(plain.statusCode == .badRequest)
  }

  @Test func withoutTheTokenThereIsNothing() async throws {
    let handler = Self.handler(token: "abc")
    for path in ["/", "/main.js", "/live", "/tiles/2/0/0", "/nothing"] {
      for token in [nil, "", "abd"] {
        #expect(try await Self.answer(handler, path, token: token).statusCode == .forbidden)
      }
    }
    #expect(try await Self.answer(handler, "/", token: "abc").statusCode == .ok)
    #expect(try await Self.answer(handler, "/tiles/2/0/0", token: "abc").statusCode == .ok)
  }

  @Test func onlyPicturesAreTiles() async throws {
    let there = try await Self.answer(Self.handler(), "/tiles/3/0/7")
    #expect(try await there.bodyData == Data(Self.png + [3, 0, 7]))
    #expect(there.headers[.contentType] == "image/png")
    for path in [
      "/tiles/1/0/0", "/tiles/4/0/0", "/tiles/3/1/0", "/tiles/3/2/0", "/tiles/3/3/0",
    ] {
      let answer = try await Self.answer(Self.handler(), path)
      #expect(answer.statusCode == .noContent)
      #expect(try await answer.bodyData.isEmpty)
    }
    #expect(try await Self.answer(Self.handler(), "/tiles/3/0/8").statusCode == .notFound)
    #expect(
      try await Self.answer(Self.handler(tiles: nil), "/tiles/3/0/0").statusCode == .notFound)
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
    let files = PageFiles(token: nil)
    for path in files.paths where path.hasSuffix(".js") {
      let text = String(decoding: try #require(files.file(at: path)).bytes, as: UTF8.self)
      for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
        #expect(!text.contains(word), "\(path): \(word)")
      }
    }
  }

  @Test func sixteenPagesAndNoMore() async throws {
    let feed = MapFeed(live: LiveStateTests.state()) { LiveStateTests.at(1) }
    var seats = (0..<MapFeed.limit).map { _ in feed.open() }
    #expect(seats.allSatisfy { $0 != nil } && feed.open() == nil)
    // A place is free again when its page is gone.
    seats.removeLast()
    #expect(feed.count == MapFeed.limit - 1)
    let seat = try #require(feed.open())
    guard case .message(let first)? = await seat.next() else {
      Issue.record("no snapshot")
      return
    }
    #expect(first.contains("\"kind\":\"board\""))
    feed.close()
    guard case .end? = await seat.next() else {
      Issue.record("no end")
      return
    }
    #expect(await seat.next() == nil)
    #expect(feed.open() == nil)
  }
}
