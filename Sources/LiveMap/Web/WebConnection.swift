import SensorTypes

/// The state of one connection, without its socket: requests, responses, and deadlines.
struct WebConnection {
  /// The limits on time, in seconds.
  struct Deadlines: Sendable {
    /// The time for the first request, from the connection on, and for a later one, from its first byte on.
    var request = 5.0
    /// The time that a client with the token may leave between two requests.
    var idle = 30.0
    /// The time for making a response.
    var making = 15.0
    /// The time for sending a response.
    var response = 60.0
    /// The time without progress after which the connection of a stream is closed.
    var taking = 20.0
    /// The time in which the client can close the connection after the last response. Closing it earlier can lose the response.
    var lingering = 1.0
  }

  /// The number of bytes that are skipped after the last request.
  static let skippedLimit = 65_536

  private enum Phase {
    /// A request is awaited.
    case asking
    /// A response is being made.
    case waiting(isLast: Bool)
    /// A response is being sent.
    case responding(isLast: Bool)
    case streaming(any WebStream)
    /// The last response is sent, and the client has to close the connection.
    case lingering
    case over
  }

  let address: PeerAddress
  private let deadlines: Deadlines
  private var phase = Phase.asking
  private var reader = RequestReader()
  private var frames = WebSocketReader()
  private var pong: [UInt8]?
  private var skipped = 0
  private var hasNews = false
  /// Whether the client has shown the token.
  private(set) var isTrusted = false
  /// Whether the client has closed its side. What was sent before may still be on its way.
  private(set) var hasEnded = false
  /// When the connection is closed if nothing happens.
  private(set) var deadline: Timestamp
  /// The time of the last change of `standing`.
  private(set) var since: Timestamp
  /// The bytes to send.
  private var output: [UInt8] = []
  private var sent = 0

  init(from address: PeerAddress, at now: Timestamp, deadlines: Deadlines) {
    self.address = address
    self.deadlines = deadlines
    since = now
    deadline = now.advanced(bySeconds: deadlines.request)
  }

  /// Whether the connection has to be closed.
  var isOver: Bool { if case .over = phase { true } else { false } }

  /// Whether nothing more will be sent.
  var hasFinished: Bool { if case .lingering = phase { true } else { false } }

  /// Whether it is a WebSocket.
  var isStreaming: Bool { if case .streaming = phase { true } else { false } }

  var standing: ConnectionPriority {
    switch phase {
    case .lingering, .over: .finished
    case _ where !isTrusted: .unknown
    case .asking where reader.isEmpty: .idle
    default: .busy
    }
  }

  /// The number of bytes that may be read now; 0 if reading is paused.
  var readable: Int {
    switch phase {
    case .asking: reader.room
    case .streaming(let stream): stream.isReading ? WebSocketReader.payloadLimit : 0
    case .lingering: Self.skippedLimit
    case .waiting, .responding, .over: 0
    }
  }

  /// Whether there are bytes to send.
  var hasOutput: Bool { sent < output.count }

  /// Whether there are bytes to send, or a stream may have some.
  var isWritable: Bool { hasOutput || (isStreaming && (hasNews || pong != nil)) }

  /// Whether the client still has to get something.
  var isSending: Bool { hasOutput || isStreaming }

  /// Calls a closure with the bytes to send.
  func withOutput<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    output.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
  }

  // MARK: Input

  /// Takes bytes from the client.
  mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: Timestamp) {
    switch phase {
    case .asking:
      if isTrusted, reader.isEmpty { deadline = now.advanced(bySeconds: deadlines.request) }
      reader.append(bytes)
    case .streaming(let stream):
      for frame in frames.take(bytes) {
        switch frame {
        case .text(let text): stream.receive(text)
        // Of several, only the newest has to be answered.
        case .ping(let payload): pong = payload
        // The close frame follows the frame that is being sent.
        case .close(let code): finish(with: WebSocket.close(code: code), at: now)
        }
      }
    case .lingering:
      skipped += bytes.count
      if skipped > Self.skippedLimit { phase = .over }
    case .waiting, .responding, .over: break
    }
  }

  /// Notes that the client has closed its side.
  mutating func end() {
    hasEnded = true
    switch phase {
    // The client may still wait for the response.
    case .waiting, .responding: break
    case .asking, .streaming, .lingering, .over: phase = .over
    }
  }

  /// Notes that the connection is broken.
  mutating func abandon() { phase = .over }

  /// Notes that the stream may have a new message.
  mutating func wake(at now: Timestamp) {
    guard isStreaming, !hasNews else { return }
    hasNews = true
    if !hasOutput { deadline = now.advanced(bySeconds: deadlines.taking) }
  }

  // MARK: Output

  /// Answers the next request if it is complete.
  ///
  /// - Returns: A closure that makes the response, to be called on another thread; `nil` in most cases.
  mutating func answer(
    by service: some WebService, at now: Timestamp, wake: @escaping @Sendable () -> Void
  ) -> (@Sendable () -> WebResponse)? {
    guard case .asking = phase else { return nil }
    do throws(RequestProblem) {
      guard let request = try reader.take() else { return nil }
      switch service.answer(to: request) {
      case .refusal(let response): respond(response, isLast: true, at: now)
      case .response(let response):
        isTrusted = true
        respond(response, isLast: request.isLast, at: now)
      case .later(let make):
        isTrusted = true
        phase = .waiting(isLast: request.isLast)
        (since, deadline) = (now, now.advanced(bySeconds: deadlines.making))
        return make
      case .stream(let response, let open):
        isTrusted = true
        hasNews = true
        output = response.encodedUpgrade()
        phase = .streaming(open(wake))
        (since, deadline) = (now, now.advanced(bySeconds: deadlines.taking))
        // Frames that the client has sent right after its handshake.
        let early = reader.takeRest()
        early.withUnsafeBytes { receive($0, at: now) }
      }
    } catch {
      respond(Self.response(to: error), isLast: true, at: now)
    }
    return nil
  }

  /// Takes a response that was made on another thread.
  mutating func take(_ response: WebResponse, at now: Timestamp) {
    guard case .waiting(let isLast) = phase else { return }
    respond(response, isLast: isLast, at: now)
  }

  /// Takes the next message of a stream. Called when the kernel has room for it.
  mutating func refill(at now: Timestamp) {
    guard case .streaming(let stream) = phase, !hasOutput else { return }
    if let payload = pong {
      pong = nil
      send(WebSocket.pong(payload), at: now)
      return
    }
    switch stream.next() {
    case .message(let text): send(WebSocket.text(text), at: now)
    case .end(let code, let reason):
      finish(with: WebSocket.close(code: code, reason: reason), at: now)
    case nil: (hasNews, deadline) = (false, .distantFuture)
    }
  }

  /// Notes that bytes were sent.
  mutating func didSend(_ count: Int, at now: Timestamp) {
    sent += count
    guard !hasOutput else {
      if isStreaming { deadline = now.advanced(bySeconds: deadlines.taking) }
      return
    }
    (output, sent) = ([], 0)
    switch phase {
    case .streaming: deadline = hasNews ? now.advanced(bySeconds: deadlines.taking) : .distantFuture
    case .responding(isLast: true):
      phase = .lingering
      (since, deadline) = (now, now.advanced(bySeconds: deadlines.lingering))
    case .responding(isLast: false):
      phase = .asking
      (since, deadline) = (
        now, now.advanced(bySeconds: reader.isEmpty ? deadlines.idle : deadlines.request)
      )
    case .asking, .waiting, .lingering, .over: break
    }
  }

  private mutating func respond(_ response: WebResponse, isLast: Bool, at now: Timestamp) {
    output = response.encoded(isLast: isLast)
    phase = .responding(isLast: isLast)
    guard isTrusted else {
      // A stranger must not hold its place any longer by not reading the response.
      deadline = max(deadline, now.advanced(bySeconds: deadlines.lingering))
      return
    }
    (since, deadline) = (now, now.advanced(bySeconds: deadlines.response))
  }

  private mutating func send(_ bytes: [UInt8], at now: Timestamp) {
    (output, sent) = (bytes, 0)
    deadline = now.advanced(bySeconds: deadlines.taking)
  }

  private mutating func finish(with frame: [UInt8], at now: Timestamp) {
    output = output[sent...] + frame
    sent = 0
    phase = .responding(isLast: true)
    (since, deadline) = (now, now.advanced(bySeconds: deadlines.lingering))
  }

  private static func response(to problem: RequestProblem) -> WebResponse {
    switch problem {
    case .malformed: WebResponse(.badRequest, "This is not a valid HTTP request.")
    case .tooLarge:
      WebResponse(
        .headerFieldsTooLarge,
        "A line may have \(RequestReader.lineLimit) bytes, all lines \(RequestReader.headLimit)."
      )
    case .version: WebResponse(.versionNotSupported, "Only HTTP/1.0 and HTTP/1.1 are supported.")
    }
  }
}
