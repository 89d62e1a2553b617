// Responses, and how a service gives them.

/// The status of a response.
enum WebStatus: Int, Sendable {
  case switchingProtocols = 101
  case ok = 200
  case noContent = 204
  case badRequest = 400
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case headerFieldsTooLarge = 431
  case serviceUnavailable = 503
  case versionNotSupported = 505

  var phrase: String {
    switch self {
    case .switchingProtocols: "Switching Protocols"
    case .ok: "OK"
    case .noContent: "No Content"
    case .badRequest: "Bad Request"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .headerFieldsTooLarge: "Request Header Fields Too Large"
    case .serviceUnavailable: "Service Unavailable"
    case .versionNotSupported: "HTTP Version Not Supported"
    }
  }
}

/// A response with its whole body.
package struct WebResponse: Sendable {
  var status: WebStatus
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []

  init(_ status: WebStatus, mediaType: String? = nil, body: [UInt8] = []) {
    self.status = status
    if let mediaType { headers = [("Content-Type", mediaType)] }
    self.body = body
  }

  /// A line of plain text.
  init(_ status: WebStatus, _ text: String) {
    self.init(status, mediaType: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
  }

  /// Returns the value of a header field. The case of the name matters.
  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// Returns a copy with more header fields.
  func adding(_ more: [(name: String, value: String)]) -> WebResponse {
    var response = self
    response.headers += more
    return response
  }

  /// Returns the bytes of the response.
  ///
  /// - Parameter isLast: Whether the connection is closed after the response.
  func encoded(isLast: Bool) -> [UInt8] {
    var text = head
    if status != .noContent { text += "Content-Length: \(body.count)\r\n" }
    text += "Connection: \(isLast ? "close" : "keep-alive")\r\n\r\n"
    return Array(text.utf8) + body
  }

  /// Returns the bytes of a response that switches to another protocol.
  func encodedUpgrade() -> [UInt8] { Array((head + "\r\n").utf8) }

  private var head: String {
    var text = "HTTP/1.1 \(status.rawValue) \(status.phrase)\r\n"
    for header in headers { text += "\(header.name): \(header.value)\r\n" }
    return text
  }
}

/// A service's decision about a request.
package enum WebAnswer: Sendable {
  /// The client has not shown the token. It gets the response, and the connection is closed.
  case refusal(WebResponse)
  /// A response that is ready.
  case response(WebResponse)
  /// A response that may take time, because it is read from a disk for example. It is made on another thread.
  case later(@Sendable () -> WebResponse)
  /// A WebSocket. The stream calls the closure `wake` whenever it has a new message.
  case stream(WebResponse, @Sendable (_ wake: @escaping @Sendable () -> Void) -> any WebStream)

  /// Returns a copy with more header fields.
  func adding(_ headers: [(name: String, value: String)]) -> WebAnswer {
    switch self {
    case .refusal(let response): .refusal(response.adding(headers))
    case .response(let response): .response(response.adding(headers))
    case .later(let make): .later { make().adding(headers) }
    case .stream(let response, let open): .stream(response.adding(headers), open)
    }
  }
}

/// The messages of a WebSocket.
package protocol WebStream: Sendable {
  /// Whether messages of the client may come now. If not, the stream calls `wake` once they may.
  var isReading: Bool { get }

  /// Returns the next event; `nil` if there is none yet. It is called only when the previous message has been sent.
  func next() -> WebStreamEvent?
  /// Takes a text of the client. It must not wait.
  func receive(_ text: [UInt8])
}

extension WebStream {
  package var isReading: Bool { true }

  /// A stream that needs nothing of its client ignores what it says.
  package func receive(_ text: [UInt8]) {}
}

/// One event of a stream.
package enum WebStreamEvent: Sendable, Equatable {
  case message(String)
  /// The end, with a code of RFC 6455 and a reason of at most 123 bytes.
  case end(code: UInt16, reason: String)
}

/// Answers the requests of a server.
package protocol WebService: Sendable {
  /// Decides about a request. It is called on the server's thread and must not wait.
  func answer(to request: WebRequest) -> WebAnswer
}
