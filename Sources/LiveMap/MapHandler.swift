package import MapDrawing

/// Answers requests: the page's files, the live connection, tiles, and lines of JSON for other programs.
package struct MapHandler: WebService {
  /// Opens the WebSocket of a page. The stream calls `wake` on any thread when it may have a new message.
  package typealias OpenPage =
    @Sendable (_ wake: @escaping @Sendable () -> Void) -> any WebStream
  /// Opens a WebSocket of lines of JSON, for the kinds and the rate that the query names.
  package typealias OpenLines =
    @Sendable (_ subscribe: String, _ rate: String?) throws(LinesRefused) -> OpenPage

  /// A query for lines that cannot be served.
  package struct LinesRefused: Error {
    let message: String

    package init(_ message: String) { self.message = message }
  }

  private let access: MapAccess
  private let files: PageFiles
  private let tiles: TileStore?
  private let openPage: OpenPage
  private let openLines: OpenLines?

  /// Where the page opens its WebSocket.
  static let livePath = "/live"
  /// Where other programs open one for lines of JSON.
  static let linesPath = "/stream"

  /// - Parameters:
  ///   - openLines: Opens lines of JSON; `nil` if there are none.
  package init(
    access: MapAccess, files: PageFiles, tiles: TileStore?, openLines: OpenLines? = nil,
    openPage: @escaping OpenPage
  ) {
    (self.access, self.files, self.tiles) = (access, files, tiles)
    (self.openPage, self.openLines) = (openPage, openLines)
  }

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
      return .stream(handshake, openPage)
    }
    if request.path == Self.linesPath, let openLines { return lines(request, openLines) }
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

  private func lines(_ request: WebRequest, _ open: OpenLines) -> WebAnswer {
    guard let handshake = WebSocket.handshake(request) else {
      return .response(
        WebResponse(.badRequest, "This is a WebSocket of lines of JSON, for programs."))
    }
    func value(_ name: String) -> String? { request.decodedParameter(name) }
    guard let kinds = value("subscribe"), kinds.contains(where: { $0 != "," }) else {
      return .response(
        WebResponse(.badRequest, "The query needs subscribe=KIND,KIND, as in subscribe=heading."))
    }
    guard request.parameter("rate") == nil || value("rate") != nil else {
      return .response(WebResponse(.badRequest, "The query is not well encoded."))
    }
    do throws(LinesRefused) {
      return .stream(handshake, try open(kinds, value("rate")))
    } catch {
      return .response(WebResponse(.badRequest, error.message))
    }
  }
}
