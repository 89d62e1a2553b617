// A board as a client of a Signal K server: discovery, access, and the stream over which deltas are sent.

package import SensorTypes
import TextForms

/// Talks with a Signal K server, as a value: what to connect to, what to write, and what an answer means.
///
/// It reads the server's endpoints (`GET /signalk`), asks for access or logs in, opens the stream with the token in its header, and
/// begins again after each loss, with pauses that grow from 1 s to 60 s.
package struct SignalKClient: Sendable {
  /// What a connection is for.
  enum Errand: Sendable, Hashable {
    case discovery
    case login
    case access(SignalKAccess.Request)
    case stream
  }

  private enum Phase: Sendable, Hashable {
    /// Nothing is under way before `next`.
    case waiting
    case connecting(Errand)
    case exchanging(Errand)
    case streaming
  }

  /// Seconds that a connection may take until it is open.
  package static let connectionTime = 10.0
  /// Seconds that an answer may take.
  static let answerTime = 10.0
  /// Seconds of silence after which the server is asked whether it is there, and after which it is not.
  static let silence = (ping: 15.0, end: 30.0)
  /// Seconds for which a stream has to last before pauses begin small again.
  static let steady = 30.0
  static let longestPause = 60.0
  /// Bytes that may wait to be written before no more is taken.
  private static let room = 16_384

  package let server: SignalKServerAddress
  private let name: String
  private let usesLogin: Bool
  private let random: @Sendable () -> UInt64
  var access: SignalKAccess
  private var kept: SignalKKeptAccess
  /// The token of a login.
  private var session: String?
  private var password: String?
  private var phase = Phase.waiting
  private var place: SignalKStreamPlace?
  private var reader = HTTPAnswerReader()
  private var socket: WebSocketClient?
  private var output: [UInt8] = []
  private var mustDisconnect = false
  private var mustKeep = false
  private var next: Timestamp
  private var deadline = Timestamp.distantFuture
  private var failures = 0
  private var opened: Timestamp?
  private var heard = Timestamp.distantFuture
  private var pinged: Timestamp?

  /// Why nothing is sent, and what mends it, in one line; `nil` while it is sent, or before anything has gone wrong.
  package private(set) var problem: String?
  /// The number of times that the stream was opened.
  package private(set) var streams: UInt64 = 0

  /// Makes a client that has done nothing.
  ///
  /// - Parameters:
  ///   - name: What a person at the server reads of who asks for access.
  ///   - usesLogin: Whether it logs in with a name and a password instead of asking for access.
  ///   - random: Returns numbers that nobody can foresee.
  /// - Returns: `nil` if the kept identifier is no UUID of version 4.
  package init?(
    _ server: SignalKServerAddress, kept: SignalKKeptAccess, name: String, usesLogin: Bool,
    at now: Timestamp, random: @escaping @Sendable () -> UInt64
  ) {
    let access = SignalKAccess(
      clientID: kept.clientID, description: name, token: kept.token, expires: kept.expires,
      pending: kept.pending, at: now)
    guard let access else { return nil }
    (self.server, self.kept, self.name, self.usesLogin) = (server, kept, name, usesLogin)
    (self.random, self.access, next) = (random, access, now)
  }

  /// Whether deltas may be sent.
  package var isStreaming: Bool { phase == .streaming && socket?.isOpen == true }
  /// Whether it takes another message now.
  package var hasRoom: Bool { isStreaming && (socket?.waitingCount ?? 0) < Self.room }

  /// When `step` has something to do at the latest.
  package var due: Timestamp {
    if mustDisconnect || mustKeep { return Timestamp(nanoseconds: 0) }
    switch phase {
    case .waiting: return next
    case .connecting, .exchanging: return deadline
    case .streaming:
      guard isStreaming else { return deadline }
      return heard.advanced(bySeconds: pinged == nil ? Self.silence.ping : Self.silence.end)
    }
  }

  /// Does what the time makes due, and returns a command. Call it until it returns `nil`.
  ///
  /// - Parameter utc: Seconds since 1970, or `nil` while nobody knows the date.
  package mutating func step(at now: Timestamp, utc: Double?) -> SignalKCommand? {
    if phase != .waiting, now >= due { overdue(at: now) }
    if mustDisconnect {
      mustDisconnect = false
      return .disconnect
    }
    if mustKeep {
      mustKeep = false
      return .keep(kept)
    }
    guard phase == .waiting else { return nil }
    checkAccess(utc: utc, at: now)
    if mustKeep { return step(at: now, utc: utc) }
    guard now >= next, let errand = nextErrand(at: now) else { return nil }
    (phase, output) = (.connecting(errand), [])
    // Whoever connects has the same deadline; this one is for an owner that forgets.
    deadline = now.advanced(bySeconds: Self.connectionTime + Self.answerTime)
    let address = errand == .stream ? place?.server ?? server : server
    return .connect(address, needsCredentials: errand == .login)
  }

  /// Takes what to write once the connection stands.
  package mutating func takeOutput() -> [UInt8] {
    if phase == .streaming { return socket?.takeOutput() ?? [] }
    defer { output = [] }
    return output
  }

  /// Sends a delta. Returns whether it is on its way.
  package mutating func send(_ message: String) -> Bool {
    guard isStreaming else { return false }
    return socket?.send(text: message) ?? false
  }

  /// Tells the server that nothing more is sent.
  package mutating func close() { socket?.close() }

  /// Looks whether the token has ended, and notes what is to be kept.
  private mutating func checkAccess(utc: Double?, at now: Timestamp) {
    guard !usesLogin, place != nil else { return }
    if let utc, access.check(utc: utc, at: now) {
      problem =
        "the server's token has ended: compare the clocks of both machines; access is asked for again"
      next = access.next ?? now
    }
    keepAccess()
  }

  private mutating func nextErrand(at now: Timestamp) -> Errand? {
    guard place != nil else { return .discovery }
    if usesLogin { return session == nil ? .login : .stream }
    switch access.state {
    case .approved, .unsupported: return .stream
    case .denied, .none, .pending, .refused:
      guard let request = access.request(at: now) else {
        next = access.next ?? .distantFuture
        return nil
      }
      return .access(request)
    }
  }

  private mutating func overdue(at now: Timestamp) {
    guard isStreaming else {
      return lost("no answer within \(Int(Self.answerTime)) s", at: now)
    }
    guard now.seconds(since: heard) < Self.silence.end else {
      return lost("nothing was heard of the server for \(Int(Self.silence.end)) s", at: now)
    }
    if pinged == nil {
      pinged = now
      socket?.ping()
    }
  }

  private mutating func pause(at now: Timestamp) {
    let seconds = min(Double(1 << min(failures, 6)), Self.longestPause)
    failures = min(failures + 1, 10)
    next = now.advanced(bySeconds: seconds)
  }

  // MARK: The connection

  /// Takes that the connection stands.
  ///
  /// - Parameter credentials: `USER:PASSWORD`, if they were asked for.
  package mutating func connected(credentials: String? = nil, at now: Timestamp) {
    guard case .connecting(let errand) = phase else { return }
    phase = .exchanging(errand)
    deadline = now.advanced(bySeconds: Self.answerTime)
    reader = HTTPAnswerReader()
    switch errand {
    case .discovery: output = request("GET", "/signalk")
    case .access(.get(let path)): output = request("GET", path)
    case .access(.post(let path, let body)): output = request("POST", path, body)
    case .login:
      var body = JSONLine()
      let parts = (credentials ?? "").split(
        separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      body.set("username", parts.first.map(String.init) ?? "")
      password = parts.count > 1 ? String(parts[1]) : nil
      body.set("password", password ?? "")
      output = request("POST", "/signalk/v1/auth/login", body.line)
    case .stream: beginStream(at: now)
    }
  }

  private func request(_ method: String, _ path: String, _ body: String? = nil) -> [UInt8] {
    var fields = [("Accept", "application/json"), ("Connection", "close")]
    if body != nil { fields.append(("Content-Type", "application/json")) }
    return HTTPRequest.bytes(
      method, path, host: server.hostField, fields: fields, body: body.map { Array($0.utf8) })
  }

  private mutating func beginStream(at now: Timestamp) {
    guard let place else { return lost("its stream is not known", at: now) }
    var nonce: [UInt8] = []
    for number in [random(), random()] {
      nonce += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
    let random = random
    var limits = WebSocketLimits()
    // A greeting, and answers that nobody asked for.
    limits.message = 16_384
    var socket = WebSocketClient(nonce: nonce, limits: limits) {
      UInt32(truncatingIfNeeded: random())
    }
    // In the header, so that it need not be in each delta.
    let token = usesLogin ? session : access.token
    socket.open(
      host: place.server.hostField, path: place.path,
      fields: token.map { [("Authorization", "Bearer \($0)")] } ?? [])
    (self.socket, phase, heard, pinged) = (socket, .streaming, now, nil)
  }

  /// Takes bytes of the server.
  package mutating func received(_ bytes: [UInt8], at now: Timestamp) {
    switch phase {
    case .exchanging(let errand): take(reader.take(bytes), errand, at: now)
    case .streaming:
      (heard, pinged) = (now, nil)
      for event in socket?.receive(bytes) ?? [] { take(event, at: now) }
    case .waiting, .connecting: break
    }
  }

  /// Takes that the connection has ended, or that there is none, in words.
  package mutating func lost(_ words: String, at now: Timestamp) {
    switch phase {
    case .exchanging(let errand):
      if case .answer(let answer) = reader.ended() {
        return take(.answer(answer), errand, at: now)
      }
      fail(errand, words, at: now)
    case .connecting(let errand): fail(errand, words, at: now)
    case .streaming: fail(.stream, words, at: now)
    case .waiting: break
    }
  }

  private mutating func fail(_ errand: Errand, _ words: String, at now: Timestamp) {
    let lasted = opened.map { now.seconds(since: $0) } ?? 0
    if lasted >= Self.steady { failures = 0 }
    if lasted >= SignalKAccess.longestPause { access.tokenHasWorked() }
    // The answer to a close goes before the connection does.
    output = socket?.takeOutput() ?? []
    (phase, socket, opened, mustDisconnect) = (.waiting, nil, nil, true)
    problem = words.hiding([session, access.token, password])
    guard case .access = errand else {
      place = nil
      return pause(at: now)
    }
    access.failed(at: now)
    next = access.next ?? now
  }

  // MARK: Answers

  private mutating func take(
    _ progress: HTTPAnswerReader.HTTPProgress, _ errand: Errand, at now: Timestamp
  ) {
    switch progress {
    case .unfinished: return
    case .foreign(let words): return fail(errand, "the server answers with \(words)", at: now)
    case .answer(let answer):
      let status = answer.head.status
      if (300..<400).contains(status) {
        let hint = server.isEncrypted ? "" : ": name the server with https"
        return fail(
          errand, "the server sends programs elsewhere (status \(status))\(hint)", at: now)
      }
      (phase, output, mustDisconnect) = (.waiting, [], true)
      switch errand {
      case .discovery: discovered(answer, at: now)
      case .login: loggedIn(answer, at: now)
      case .access:
        // Kept once it is known that the token has not ended already.
        access.take(status: status, body: answer.body, at: now)
        next = access.next ?? (access.state == .denied ? .distantFuture : now)
        problem = access.state.problem(of: name, hiding: [session, access.token, password])
      case .stream: break
      }
    }
  }

  private mutating func discovered(_ answer: HTTPAnswer, at now: Timestamp) {
    guard answer.head.status == 200 else {
      return fail(.discovery, "there is no Signal K server: \(Self.words(answer.head))", at: now)
    }
    let (place, words) = SignalKStreamPlace.read(answer.body, of: server)
    guard let place else { return fail(.discovery, words, at: now) }
    (self.place, next) = (place, now)
  }

  private mutating func loggedIn(_ answer: HTTPAnswer, at now: Timestamp) {
    let status = answer.head.status
    switch status {
    case 200:
      let found = answer.body.withUnsafeBufferPointer { SignalKAnswer($0)?.token }
      guard let token = found, SignalKAccess.isToken(token) else {
        return fail(.login, "the server's answer to the login has no token", at: now)
      }
      (session, next) = (token, now)
    case 401, 403:
      fail(
        .login, "the server does not accept the name and password of 'credentials' (\(status))",
        at: now)
    case 404, 501:
      fail(.login, "the server knows no login: leave out 'credentials' (\(status))", at: now)
    default: fail(.login, "the login fails: \(Self.words(answer.head))", at: now)
    }
  }

  private static func words(_ head: HTTPHead) -> String {
    head.words.isEmpty ? "status \(head.status)" : "status \(head.status), \(head.words)"
  }

  /// Notes what is to be kept of the access.
  private mutating func keepAccess() {
    guard !usesLogin else { return }
    var path: String?
    // A server whose tokens end at once is not to have the file written again and again.
    if case .pending(let pending) = access.state, access.rejections == 0 { path = pending }
    let new = SignalKKeptAccess(
      clientID: kept.clientID, token: access.token, expires: access.expires, pending: path)
    guard new != kept else { return }
    (kept, mustKeep) = (new, true)
  }

  // MARK: The stream

  private mutating func take(_ event: WebSocketEvent, at now: Timestamp) {
    switch event {
    case .opened:
      (problem, opened) = (nil, now)
      streams += 1
    case .text, .binary, .pong: break
    case .closed(let code, let reason):
      let words = reason.isEmpty ? "code \(code)" : "code \(code), \(reason)"
      fail(.stream, "the server has closed the stream (\(words))", at: now)
    case .failed(let words): fail(.stream, "the stream broke: \(words)", at: now)
    case .refused(let status, let words): refused(status, words, at: now)
    }
  }

  private mutating func refused(_ status: Int, _ words: String, at now: Timestamp) {
    guard status == 401 || status == 403 else {
      let words = words.isEmpty ? "" : ", \(words)"
      return fail(
        .stream, "the server does not open the stream (status \(status)\(words))", at: now)
    }
    if usesLogin {
      session = nil
      return fail(.stream, "the server does not accept its own login (\(status))", at: now)
    }
    guard access.state == .approved else {
      fail(
        .stream,
        "the server wants a token (\(status)), but took no access request: allow access requests there, or name 'credentials'",
        at: now)
      return access.reset(at: next)
    }
    access.tokenWasRefused(at: now)
    keepAccess()
    fail(
      .stream,
      "the server does not accept the token any more (\(status)): access is asked for again",
      at: now)
  }
}
