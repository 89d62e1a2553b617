package import MapDrawing

/// Answers requests: the page's files, the live connection, tiles.
package struct MapHandler: WebService {
  let access: MapAccess
  let files: PageFiles
  let feed: MapFeed
  let tiles: TileStore?

  /// Where the page opens its WebSocket.
  static let livePath = "/live"

  package func answer(to request: WebRequest) -> WebAnswer {
    find(request).adding(Self.headers(host: request.headers["host"]))
  }

  private func find(_ request: WebRequest) -> WebAnswer {
    let isLive = request.path == Self.livePath
    let refusal = access.refusal(
      host: request.headers["host"], origin: request.headers["origin"],
      token: request.parameter("token"), opensWebSocket: isLive)
    if let refusal { return .refusal(WebResponse(.forbidden, refusal.rawValue)) }
    guard request.method == "GET" else {
      return .response(WebResponse(.methodNotAllowed, "Only GET."))
    }
    if isLive {
      guard let handshake = WebSocket.handshake(request) else {
        return .response(WebResponse(.badRequest, "This is the page's WebSocket."))
      }
      return .stream(handshake) { [feed] wake in
        guard let seat = feed.open(wake: wake) else { return MapFeed.NoSeat() }
        return seat
      }
    }
    if let file = files.file(at: request.path) {
      return .response(WebResponse(.ok, mediaType: file.mediaType, body: file.bytes))
    }
    guard let tiles, let place = TilePlace(path: request.path) else {
      return .response(WebResponse(.notFound, "There is nothing of this name."))
    }
    return .later {
      // A map has holes: a tile that is not there is no mistake, and none in the browser's console.
      guard let tile = try? tiles.tile(zoom: place.zoom, x: place.x, y: place.y) else {
        return WebResponse(.noContent)
      }
      return WebResponse(.ok, mediaType: tile.mediaType, body: tile.bytes)
    }
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

  package init(access: MapAccess, files: PageFiles, feed: MapFeed, tiles: TileStore?) {
    self.access = access; self.files = files; self.feed = feed; self.tiles = tiles
  }
}
