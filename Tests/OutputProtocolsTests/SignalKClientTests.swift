// A board as a client of a Signal K server: the conversation, its failures, and what a person reads of them.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

/// A server that a test plays, and the client of it.
struct SignalKTalk {
  static let id = "c0d79334-4e25-4245-8892-54e8ccc8021d"
  static let path = "/signalk/v1/requests/358b5f32-76bf-4b33-8b23-10a330827185"
  static let endpoints = """
    {"endpoints":{"v1":{"version":"2.13.0","signalk-http":"http://boat:3000/signalk/v1/api/",\
    "signalk-ws":"ws://boat:3000/signalk/v1/stream","signalk-tcp":"tcp://boat:8375"}},\
    "server":{"id":"signalk-server-node","version":"2.13.0"}}
    """

  var client: SignalKClient
  var now = 0.0
  /// Seconds since 1970, or `nil` while the board does not know them.
  var utc: Double?
  var kept: [SignalKKeptAccess] = []

  init(
    _ server: String = "http://boat:3000", kept: SignalKKeptAccess? = nil, usesLogin: Bool = false
  ) throws {
    let address = try #require(SignalKServerAddress(server))
    client = try #require(
      SignalKClient(
        address, kept: kept ?? SignalKKeptAccess(clientID: Self.id), name: "mast",
        usesLogin: usesLogin, at: Timestamp(seconds: 0)
      ) { 0 })
  }

  var time: Timestamp { Timestamp(seconds: now) }

  /// Follows commands until a connection is wanted. Returns the server, or `nil` if nothing is due.
  mutating func connection() -> SignalKServerAddress? {
    for _ in 0..<8 {
      switch client.step(at: time, utc: utc) {
      case .connect(let server, _): return server
      case .keep(let new): kept.append(new)
      case .disconnect: break
      case nil: return nil
      }
    }
    Issue.record("commands without an end")
    return nil
  }

  /// Lets a connection stand, and returns what is asked over it.
  mutating func request(credentials: String? = nil) throws -> String {
    try #require(connection() != nil)
    client.connected(credentials: credentials, at: time)
    return String(decoding: client.takeOutput(), as: UTF8.self)
  }

  mutating func answer(_ status: Int, _ body: String = "") {
    let text = "HTTP/1.1 \(status) x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    client.received(Array(text.utf8), at: time)
  }

  /// Answers to the discovery.
  mutating func discover(_ endpoints: String = Self.endpoints) throws {
    let request = try request()
    try #require(request.hasPrefix("GET /signalk HTTP/1.1\r\nHost: boat:3000\r\n"))
    answer(200, endpoints)
  }

  /// Agrees to the WebSocket, whose key is that of 16 zeros.
  mutating func agree() {
    let accept = WebSocketClient.accept("AAAAAAAAAAAAAAAAAAAAAA==")
    let text =
      "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
    client.received(Array(text.utf8), at: time)
  }

  /// Moves the clock to when something is due.
  mutating func wait() -> Double {
    let before = now
    let due = client.due
    guard due != .distantFuture else { return .infinity }
    // All times here are whole milliseconds.
    let milliseconds = (due.seconds(since: Timestamp(seconds: 0)) * 1_000).rounded()
    now = max(now, milliseconds / 1_000)
    return ((now - before) * 1_000).rounded() / 1_000
  }
}

@Suite("a client of a Signal K server") struct SignalKClientTests {
  @Test("endpoints are read, access is asked for and approved, and deltas go with the token")
  func approved() throws {
    var talk = try SignalKTalk()
    try talk.discover()
    let request = try talk.request()
    #expect(request.hasPrefix("POST /signalk/v1/access/requests HTTP/1.1\r\n"))
    #expect(
      request.hasSuffix("\r\n\r\n" + #"{"clientId":"\#(SignalKTalk.id)","description":"mast"}"#))
    talk.answer(202, #"{"state":"PENDING","requestId":"x","href":"\#(SignalKTalk.path)"}"#)
    #expect(talk.client.problem?.contains("approve 'mast'") == true)
    #expect(talk.connection() == nil)
    #expect(talk.kept.last?.pending == SignalKTalk.path && talk.wait() == 5)
    #expect(try talk.request().hasPrefix("GET \(SignalKTalk.path) HTTP/1.1\r\n"))
    talk.answer(
      200,
      #"{"state":"COMPLETED","statusCode":200,"accessRequest":{"permission":"APPROVED","token":"a.b-c"}}"#
    )
    let handshake = try talk.request()
    #expect(
      talk.kept.last == SignalKKeptAccess(clientID: SignalKTalk.id, token: "a.b-c", pending: nil))
    #expect(handshake.hasPrefix("GET /signalk/v1/stream?subscribe=none HTTP/1.1\r\n"))
    #expect(handshake.contains("\r\nAuthorization: Bearer a.b-c\r\n"))
    #expect(!talk.client.isStreaming)
    talk.agree()
    #expect(talk.client.isStreaming && talk.client.problem == nil && talk.client.streams == 1)
    let isSent = talk.client.send("{}")
    #expect(isSent && talk.client.takeOutput() == [0x81, 0x82, 0, 0, 0, 0, 0x7B, 0x7D])
  }

  @Test("a kept token needs no request, and a pending request is asked about again")
  func kept() throws {
    var talk = try SignalKTalk(
      kept: SignalKKeptAccess(clientID: SignalKTalk.id, token: "kept"))
    try talk.discover()
    #expect(try talk.request().contains("Authorization: Bearer kept\r\n"))
    var pending = try SignalKTalk(
      kept: SignalKKeptAccess(clientID: SignalKTalk.id, pending: SignalKTalk.path))
    try pending.discover()
    #expect(try pending.request().hasPrefix("GET \(SignalKTalk.path) "))
    var hostile = try SignalKTalk(
      kept: SignalKKeptAccess(clientID: SignalKTalk.id, token: "a\r\nb", pending: "/../x"))
    try hostile.discover()
    #expect(try hostile.request().hasPrefix("POST /signalk/v1/access/requests "))
    let server = try #require(SignalKServerAddress("http://boat"))
    #expect(
      SignalKClient(
        server, kept: SignalKKeptAccess(clientID: "7"), name: "x", usesLogin: false,
        at: Timestamp(seconds: 0)
      ) { 0 } == nil)
  }

  @Test(
    "a token that is not accepted is forgotten, and access asked for again", arguments: [401, 403])
  func refusedToken(status: Int) throws {
    var talk = try SignalKTalk(kept: SignalKKeptAccess(clientID: SignalKTalk.id, token: "old"))
    try talk.discover()
    _ = try talk.request()
    talk.answer(status)
    #expect(talk.client.problem?.contains("not accept the token any more (\(status))") == true)
    #expect(talk.connection() == nil && talk.kept.last?.token == nil)
    _ = talk.wait()
    try talk.discover()
    #expect(talk.connection() == nil)
    #expect(talk.wait() <= 5)
    #expect(try talk.request().hasPrefix("POST /signalk/v1/access/requests "))
  }

  @Test("a denied request is not made again, and a person reads what to do")
  func denied() throws {
    var talk = try SignalKTalk()
    try talk.discover()
    _ = try talk.request()
    talk.answer(202, #"{"state":"PENDING","href":"\#(SignalKTalk.path)"}"#)
    _ = talk.connection()
    _ = talk.wait()
    _ = try talk.request()
    talk.answer(
      200, #"{"state":"COMPLETED","statusCode":200,"accessRequest":{"permission":"DENIED"}}"#)
    #expect(talk.client.problem?.contains("denied") == true)
    #expect(talk.connection() == nil && talk.client.due == .distantFuture)
    talk.now = 1e6
    #expect(talk.connection() == nil)
  }

  @Test("a server without security gets the stream without a token")
  func open() throws {
    var talk = try SignalKTalk()
    try talk.discover()
    _ = try talk.request()
    talk.answer(404, #"{"message":"Access requests not available."}"#)
    let handshake = try talk.request()
    #expect(handshake.hasPrefix("GET /signalk/v1/stream") && !handshake.contains("Authorization"))
    // Its owner has switched security on.
    talk.answer(401)
    #expect(talk.client.problem?.contains("'credentials'") == true)
    _ = talk.connection()
    _ = talk.wait()
    try talk.discover()
    #expect(try talk.request().hasPrefix("POST /signalk/v1/access/requests "))
  }

  @Test("a name and a password are sent as JSON, and a wrong one is said in words")
  func login() throws {
    var talk = try SignalKTalk(usesLogin: true)
    try talk.discover()
    let request = try talk.request(credentials: #"mast:pass"wo:rd"#)
    #expect(request.hasPrefix("POST /signalk/v1/auth/login HTTP/1.1\r\n"))
    #expect(request.hasSuffix(#"{"username":"mast","password":"pass\"wo:rd"}"#))
    talk.answer(401, "Invalid Username/Password")
    let problem = try #require(talk.client.problem)
    #expect(problem.contains("name and password") && !problem.contains("pass\"wo"))
    _ = talk.connection()
    #expect(talk.wait() == 1)
    try talk.discover()
    _ = try talk.request(credentials: "mast:right")
    talk.answer(200, #"{"expiry":86400,"token":"a.b"}"#)
    #expect(try talk.request().contains("Authorization: Bearer a.b\r\n"))
    talk.agree()
    #expect(talk.client.isStreaming && talk.kept.isEmpty)
    // Its session has ended: it logs in again.
    talk.client.lost("the server has ended it", at: talk.time)
    _ = talk.connection()
    _ = talk.wait()
    try talk.discover()
    _ = try talk.request()
    talk.answer(401)
    _ = talk.connection()
    _ = talk.wait()
    try talk.discover()
    #expect(try talk.request(credentials: "a:b").hasPrefix("POST /signalk/v1/auth/login "))
  }

  @Test("a server's words are told without the password that it repeats")
  func repeatedPassword() throws {
    var talk = try SignalKTalk(usesLogin: true)
    _ = try talk.request()
    talk.answer(200, SignalKTalk.endpoints)
    _ = try talk.request(credentials: "mast:Hunter2")
    talk.client.received(
      Array("HTTP/1.1 500 Sorry Hunter2\r\nContent-Length: 0\r\n\r\n".utf8), at: talk.time)
    #expect(talk.client.problem == "the login fails: status 500, Sorry \u{2026}")
  }

  @Test("pauses grow to a minute, and begin small again behind a stream that lasted")
  func pauses() throws {
    var talk = try SignalKTalk(kept: SignalKKeptAccess(clientID: SignalKTalk.id, token: "t"))
    var pauses: [Double] = []
    for _ in 0..<8 {
      try #require(talk.connection() != nil)
      talk.client.lost("nobody listens there", at: talk.time)
      #expect(talk.client.problem == "nobody listens there" && talk.connection() == nil)
      pauses.append(talk.wait())
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
    try talk.discover()
    _ = try talk.request()
    talk.agree()
    talk.now += 31
    talk.client.received([0x81, 0], at: talk.time)
    talk.client.lost("the server has ended it", at: talk.time)
    #expect(talk.connection() == nil && talk.wait() == 1)
  }

  @Test("a silent server is asked whether it is there, and then given up")
  func silence() throws {
    var talk = try SignalKTalk(kept: SignalKKeptAccess(clientID: SignalKTalk.id, token: "t"))
    try talk.discover()
    _ = try talk.request()
    talk.agree()
    #expect(talk.wait() == 15 && talk.connection() == nil)
    #expect(talk.client.takeOutput() == [0x89, 0x80, 0, 0, 0, 0])
    // It answers.
    talk.client.received([0x8A, 0], at: talk.time)
    #expect(talk.wait() == 15 && talk.connection() == nil && talk.client.isStreaming)
    #expect(talk.wait() == 15 && talk.connection() == nil && !talk.client.isStreaming)
    #expect(talk.client.problem?.contains("30 s") == true)
  }

  @Test("a server that closes the stream gets its answer, and is said")
  func closed() throws {
    var talk = try SignalKTalk(kept: SignalKKeptAccess(clientID: SignalKTalk.id, token: "t"))
    try talk.discover()
    _ = try talk.request()
    talk.agree()
    talk.client.received([0x88, 4, 0x03, 0xE9] + Array("by".utf8), at: talk.time)
    #expect(talk.client.takeOutput() == [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE9])
    #expect(talk.client.problem == "the server has closed the stream (code 1001, by)")
    #expect(talk.connection() == nil && talk.client.takeOutput() == [] && talk.wait() == 1)
  }

  @Test("an answer that does not come is given up")
  func deadlines() throws {
    var talk = try SignalKTalk()
    _ = try talk.request()
    #expect(talk.wait() == 10 && talk.connection() == nil)
    #expect(talk.client.problem?.contains("no answer") == true)
    _ = talk.wait()
    try talk.discover()
    _ = try talk.request()
    // The connection that the stream is asked for over, as well.
    var stream = try SignalKTalk(kept: SignalKKeptAccess(clientID: SignalKTalk.id, token: "t"))
    try stream.discover()
    _ = try stream.request()
    #expect(stream.wait() == 10 && stream.connection() == nil && !stream.client.isStreaming)
  }

  @Test("a request that the server has forgotten is made again")
  func forgotten() throws {
    var talk = try SignalKTalk(
      kept: SignalKKeptAccess(clientID: SignalKTalk.id, pending: SignalKTalk.path))
    try talk.discover()
    for _ in 0..<3 {
      #expect(try talk.request().hasPrefix("GET \(SignalKTalk.path) "))
      talk.answer(500, "Unable to check request: not found")
      #expect(talk.connection() == nil)
      _ = talk.wait()
    }
    #expect(try talk.request().hasPrefix("POST /signalk/v1/access/requests "))
  }

  @Test(
    "what is no Signal K server, or leads elsewhere",
    arguments: [
      (200, "{}"), (200, "<html>"), (404, "no"), (200, #"{"endpoints":{"v1":{}}}"#),
      (200, #"{"endpoints":{"v1":{"signalk-ws":7}}}"#), (302, ""), (500, ""),
      (200, #"{"endpoints":{"v1":{"signalk-ws":"ftp://boat/x"}}}"#),
      (200, #"{"endpoints":{"v1":{"signalk-ws":"ws://boat:99999/x"}}}"#),
      (200, #"{"endpoints":{"v1":{"signalk-ws":"ws://user@boat/x"}}}"#),
      (200, #"{"endpoints":{"v1":{"signalk-ws":"ws://boat/x y"}}}"#),
    ])
  func foreign(status: Int, body: String) throws {
    var talk = try SignalKTalk()
    _ = try talk.request()
    talk.answer(status, body)
    #expect(talk.client.problem?.isEmpty == false)
    #expect(talk.connection() == nil && talk.wait() == 1)
  }

  @Test("the token goes to the named host, and never from TLS to a stream without it")
  func places() throws {
    let boat = try #require(SignalKServerAddress("https://boat"))
    func place(_ url: String, of server: SignalKServerAddress) -> SignalKStreamPlace? {
      SignalKStreamPlace.read(
        Array(#"{"endpoints":{"v1":{"signalk-ws":"\#(url)"}}}"#.utf8), of: server
      ).place
    }
    let elsewhere = try #require(place("wss://evil.example:8443/stream?a=b", of: boat))
    #expect(elsewhere.server.description == "https://boat:8443")
    #expect(elsewhere.path == "/stream?a=b&subscribe=none")
    #expect(place("ws://boat/stream", of: boat) == nil)
    let plain = try #require(SignalKServerAddress("http://[fe80::1]:3000"))
    #expect(plain.host == "fe80::1" && plain.hostField == "[fe80::1]:3000")
    #expect(place(#"ws:\/\/boat\/signalk\/v1\/stream"#, of: plain)?.server.port == 80)
    for text in [
      "", "boat", "http://", "http://boat/path", "ws://boat", "http://a b", "http://boat:0",
      "http://boat:x", "http://user:word@boat", "http://[::1", "http://[g]", "https://boat:65536",
      "http:/boat", "http://\(String(repeating: "a", count: 300))",
    ] { #expect(SignalKServerAddress(text) == nil, "\(text)") }
  }

  @Test("behind a loss everything is told again, and the end of what was told before")
  func again() throws {
    var provider = SignalKProvider(SignalKOptions())
    func snapshot(_ state: PublishedState, after seconds: Double) -> SignalKSnapshot {
      SignalKSnapshot(
        state, at: NMEA0183Board.now.advanced(bySeconds: seconds), clock: NMEA0183Board.clock)
    }
    let first = try SignalKDeltaTests.read(
      provider.messages(snapshot(NMEA0183Board.full, after: 0)))
    #expect(first.values["navigation.attitude"] != nil && !first.meta.isEmpty)
    provider.repeatAll()
    // All is lost by now, and nobody knows what of it the server was told.
    let second = try SignalKDeltaTests.read(
      provider.messages(snapshot(NMEA0183Board.full, after: 60)))
    for path in first.values.keys where !path.hasPrefix("notifications") {
      #expect(second.values[path] != nil, "\(path)")
    }
    #expect(second.values["navigation.attitude"] is NSNull)
    #expect(second.meta.count == first.meta.count)
    #expect(provider.messages(snapshot(NMEA0183Board.full, after: 60)).isEmpty)
  }

  @Test("chips that nobody has subscribed to may sleep")
  func demands() {
    var session = SignalKSession(SignalKOptions())
    #expect(session.demand == Demand())
    func subscribe(_ path: String) {
      session.take(
        message: Array(
          #"{"context":"vessels.self","subscribe":[{"path":"\#(path)","period":500,"policy":"fixed"}]}"#
            .utf8))
    }
    subscribe("navigation.headingMagnetic")
    #expect(session.demand == Demand(heading: true))
    subscribe("navigation.position")
    #expect(session.demand == Demand(heading: true, location: true, locationInterval: 0.5))
    subscribe("environment.*")
    #expect(session.demand.altitude && !session.demand.satellites)
    let all = SignalKProvider(SignalKOptions()).demand
    #expect(all.heading && all.satellites && all.altitude && all.locationInterval == 1)
    #expect(all.motion.attitude)
  }
}
