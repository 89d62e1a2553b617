import FlyingFox
import Foundation
import MapDrawing

/// Answers requests: the page's files, the live connection, tiles.
struct MapHandler: HTTPHandler {
  let access: MapAccess
  let files: PageFiles
  let feed: MapFeed
  let tiles: TileStore?

  /// Where the page opens its WebSocket.
  static let livePath = "/live"

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    var response = await answer(to: request)
    for (name, value) in Self.headers(host: request.headers[.host]) {
      response.headers[HTTPHeader(name)] = value
    }
    return response
  }

  private func answer(to request: HTTPRequest) async -> HTTPResponse {
    let isLive = request.path == Self.livePath
    let refusal = access.refusal(
      host: request.headers[.host], origin: request.headers[HTTPHeader("Origin")],
      token: request.query["token"], opensWebSocket: isLive)
    if let refusal { return Self.text(refusal.rawValue, .forbidden) }
    guard request.method == .GET else { return Self.text("Only GET.\n", .methodNotAllowed) }
    if isLive {
      let upgrade = WebSocketHTTPHandler(handler: LiveHandler(feed: feed))
      return (try? await upgrade.handleRequest(request)) ?? Self.text("No.\n", .badRequest)
    }
    if let file = files.file(at: request.path) { return Self.data(file.bytes, file.mediaType) }
    guard let tiles, let place = TilePlace(path: request.path) else {
      return Self.text("There is nothing of this name.\n", .notFound)
    }
    // A map has holes: a tile that is not there is no mistake, and none in the browser's console.
    guard let tile = try? tiles.tile(zoom: place.zoom, x: place.x, y: place.y) else {
      return HTTPResponse(statusCode: .noContent)
    }
    return Self.data(tile.bytes, tile.mediaType)
  }

  private static func text(_ text: String, _ status: HTTPStatusCode) -> HTTPResponse {
    HTTPResponse(
      statusCode: status, headers: [.contentType: "text/plain; charset=utf-8"],
      body: Data(text.utf8))
  }

  private static func data(_ bytes: [UInt8], _ mediaType: String) -> HTTPResponse {
    HTTPResponse(
      statusCode: .ok, headers: [.contentType: mediaType], body: Data(bytes))
  }

  /// What every answer says to the browser: nothing from elsewhere, nothing kept, nothing told to others.
  static func headers(host: String?) -> [(name: String, value: String)] {
    // Not every browser takes 'self' for WebSockets too.
    let live = MapAccess.plain(host: host).map { " ws://\($0)" } ?? ""
    return [
      (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'\(live); "
          + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      ),
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
  }
}

extension [HTTPRequest.QueryItem] {
  fileprivate subscript(name: String) -> String? { first { $0.name == name }?.value }
}
