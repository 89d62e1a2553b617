// Conversations in Signal K: subscriptions of clients, and how a token is got.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite("conversations in Signal K") struct SignalKSessionTests {
  private static func session(_ initial: SignalKSession.Initial = .none) -> SignalKSession {
    SignalKSession(SignalKOptions(), initial: initial)
  }

  /// A turn of a degree every 0.1 s.
  private static func snapshot(after seconds: Double) -> SignalKSnapshot {
    let now = NMEA0183Board.now.advanced(bySeconds: seconds)
    var state = NMEA0183Board.full
    var fix = NMEA0183Board.fix
    fix.received = now
    state.take(.location(LocationEstimate(fix: fix, isSimulated: false)))
    state.take(.heading(NMEA0183Board.heading(100 + 10 * seconds, time: now)))
    return SignalKSnapshot(state, at: now, clock: NMEA0183Board.clock)
  }

  /// How often each path is told in ten seconds of snapshots every 0.05 s.
  private static func counts(_ session: inout SignalKSession) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for step in 0..<200 {
      let told = try SignalKDeltaTests.read(
        session.messages(snapshot(after: 0.05 * Double(step))))
      for path in told.values.keys { counts[path, default: 0] += 1 }
    }
    return counts
  }

  @Test("the first message is a hello, without a time that nobody knows") func hello() throws {
    let session = Self.session()
    #expect(
      session.hello(version: SignalKSession.version, clock: NMEA0183Board.clock)
        == #"{"name":"lodestone","version":"1.8.2","timestamp":"2026-11-22T03:04:05.250Z","roles":["slave"]}"#
    )
    #expect(
      session.hello(version: SignalKSession.version, clock: NMEA0183Board.unset)
        == #"{"name":"lodestone","version":"1.8.2","roles":["slave"]}"#)
    let own = "vessels.urn:mrn:signalk:uuid:c0d79334-4e25-4245-8892-54e8ccc8021d"
    let master = SignalKSession(SignalKOptions(), own: own)
    #expect(
      master.hello(version: SignalKSession.version, clock: NMEA0183Board.unset)
        == #"{"name":"lodestone","version":"1.8.2","self":"\#(own)","roles":["master","aux"]}"#)
  }

  @Test("nobody is told anything before it subscribes") func silence() {
    var session = Self.session()
    #expect(session.interval == nil && session.messages(Self.snapshot(after: 0)) == [])
    var all = Self.session(.own)
    #expect(all.interval == 0.1 && !all.messages(Self.snapshot(after: 0)).isEmpty)
  }

  // The examples of the specification's subscription protocol, with paths of a board.
  @Test("policies are heeded") func policies() throws {
    var session = Self.session()
    session.receive(
      Array(
        (#"{"context":"vessels.self","subscribe":[{"path":"navigation.headingMagnetic","period":1000,"#
          + #""format":"delta","policy":"ideal","minPeriod":200},{"path":"navigation.position","#
          + #""period":2000,"policy":"fixed"},{"path":"navigation.headingTrue","policy":"instant","#
          + #""minPeriod":60000},{"path":"environment.*","period":5000}]}"# + "\r\n").utf8))
    #expect(session.counters == SignalKSession.Counters(requests: 1))
    let counts = try Self.counts(&session)
    // A change every 0.2 s at most; every 2 s; one that does not change; and that which is repeated.
    #expect(counts["navigation.headingMagnetic"] == 50)
    #expect(counts["navigation.position"] == 5)
    #expect(counts["navigation.headingTrue"] == 1)
    // It is gone when it is 5 s old.
    #expect((1...3).contains(counts["environment.outside.pressure"] ?? 0))
    #expect(counts["navigation.rateOfTurn"] == nil)
  }

  @Test("subscriptions end, and a new one gets meta data again") func unsubscribing() throws {
    var session = Self.session(.own)
    _ = session.messages(Self.snapshot(after: 0))
    session.take(message: Array(#"{"context":"*","unsubscribe":[{"path":"*"}]}"#.utf8))
    #expect(session.interval == nil && session.messages(Self.snapshot(after: 1)) == [])
    session.take(
      message: Array(
        #"{"context":"vessels.self","subscribe":[{"path":"navigation.headingTrue"}]}"#.utf8))
    let told = try SignalKDeltaTests.read(session.messages(Self.snapshot(after: 2)))
    #expect(Array(told.meta.keys) == ["navigation.headingTrue"])
    #expect(Array(told.values.keys) == ["navigation.headingTrue"])
  }

  @Test(
    "wild cards",
    arguments: [
      ("*", true), ("navigation.*", true), ("navigation/*", true), ("navigation", true),
      ("*.headingTrue", true), ("navigation.headingTrue", true), ("navigation.heading*", false),
      ("navigation.headingTrue.value", false), ("environment.*", false), ("headingTrue", false),
    ]) func wildCards(path: String, isMatch: Bool)
  {
    #expect(SignalKSubscription(path)?.matches(.headingTrue) == isMatch)
  }

  @Test("what is no request changes nothing and is counted") func hostile() {
    var session = Self.session()
    let messages = [
      "{", "[]", "null", "{}", #"{"context":"vessels.self"}"#, "\u{0}\u{1}",
      #"{"context":"vessels.urn:mrn:imo:mmsi:230099999","subscribe":[{"path":"*"}]}"#,
      #"{"context":"vessels.self","subscribe":[{"path":"*"}]"#,
      #"{"context":"vessels.self","subscribe":[{"path":"*"}]} x"#,
      #"{"context":"vessels.self","subscribe":{"path":"*"}}"#,
      #"{"context":"vessels.self","subscribe":["*",1,null,{"path":7},{"path":""},{"path":"a..b"}]}"#,
      #"{"context":"vessels.self","subscribe":[{"path":"\#(String(repeating: "a", count: 500))"}]}"#,
      String(repeating: "[", count: 1_000), String(repeating: " ", count: 20_000) + "{}",
    ]
    for message in messages { session.take(message: Array(message.utf8)) }
    #expect(session.interval == nil && session.counters.requests == 0)
    #expect(session.counters.refusals >= messages.count)
    // A line without an end is not kept.
    let refusals = session.counters.refusals
    session.receive([UInt8](repeating: 0x61, count: 200_000))
    #expect(session.counters.refusals == refusals + 1)
    session.receive(
      Array("\n{\"context\":\"vessels.self\",\"subscribe\":[{\"path\":\"*\"}]}\n".utf8))
    #expect(session.counters.requests == 1 && session.interval == 0.2)
  }

  @Test("the number of subscriptions and their rates have limits") func limits() {
    var session = Self.session()
    for first in stride(from: 0, to: 400, by: 50) {
      let paths = (first..<(first + 50)).map { #"{"path":"a\#($0)","period":0,"minPeriod":-5}"# }
      session.take(
        message: Array(
          #"{"context":"vessels.self","subscribe":[\#(paths.joined(separator: ","))]}"#.utf8))
    }
    #expect(session.counters.refusals > 0 && session.interval == 0.05)
    for times in [(0.0, 0.0), (-1, .nan), (.infinity, 1e300)] {
      let rule = SignalKRule(.instant, period: times.0, minimum: times.1)
      #expect(
        SignalKRule.periods.contains(rule.period) && SignalKRule.periods.contains(rule.minimum))
    }
  }

  @Test("what is due and what is measured follows each change of the subscriptions")
  func changes() {
    var session = Self.session()
    func say(_ request: String) {
      session.take(message: Array(#"{"context":"vessels.self",\#(request)}"#.utf8))
    }
    say(
      #""subscribe":[{"path":"navigation.headingMagnetic","period":2000,"policy":"fixed"},"#
        + #"{"path":"navigation.*","period":500,"policy":"fixed"}]"#)
    #expect(session.interval == 0.5 && session.demand.location)
    say(#""unsubscribe":[{"path":"navigation.*"}]"#)
    #expect(session.interval == 2 && session.demand == Demand(heading: true))
    say(#""unsubscribe":[{"path":"*"}]"#)
    #expect(session.interval == nil && session.demand == Demand())
    #expect(session.messages(Self.snapshot(after: 0)).isEmpty)
  }

  @Test("an input of a server tells changes at its rate and the rest once a second")
  func provider() throws {
    var provider = SignalKProvider(SignalKOptions(token: "a.b-c_d"), rate: 5)
    var headings = 0
    for step in 0..<100 {
      let messages = provider.messages(Self.snapshot(after: 0.05 * Double(step)))
      for message in messages { #expect(message.contains(#""token":"a.b-c_d""#)) }
      if try SignalKDeltaTests.read(messages).values["navigation.headingMagnetic"] != nil {
        headings += 1
      }
    }
    #expect(headings == 25)
  }
}

@Suite("access to a Signal K server") struct SignalKAccessTests {
  private static let id = "c0d79334-4e25-4245-8892-54e8ccc8021d"
  private static let path = "/signalk/v1/access/requests/358b5f32-76bf-4b33-8b23-10a330827185"

  private static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }

  private static func take(
    _ access: inout SignalKAccess, _ status: Int, _ body: String, at seconds: Double
  ) {
    access.take(status: status, body: Array(body.utf8), at: at(seconds))
  }

  // The conversation of the specification's page on access requests.
  @Test("a request is made, polled and approved") func approved() throws {
    var access = try #require(SignalKAccess(clientID: Self.id, description: "Mast", at: Self.at(0)))
    #expect(
      access.request(at: Self.at(0))
        == .post(
          path: "/signalk/v1/access/requests",
          body: #"{"clientId":"\#(Self.id)","description":"Mast"}"#))
    #expect(access.request(at: Self.at(1)) == nil)
    Self.take(&access, 202, #"{"state": "PENDING","href": "\#(Self.path)"}"#, at: 1)
    #expect(access.state == .pending(path: Self.path) && access.request(at: Self.at(2)) == nil)
    #expect(access.request(at: Self.at(6)) == .get(path: Self.path))
    Self.take(&access, 200, #"{"state": "PENDING"}"#, at: 6)
    #expect(access.request(at: Self.at(11)) == .get(path: Self.path))
    Self.take(
      &access, 200,
      #"{"state":"COMPLETED","statusCode":200,"accessRequest":{"permission":"APPROVED","#
        + #""token":"eyJhbGciOiJIUzI1NiIs.BAP8bt3tNBT1WiIttm3qM","#
        + #""expirationTime":"2018-09-20T16:51:31.350Z"}}"#, at: 11)
    #expect(access.state == .approved && access.next == nil)
    #expect(access.token == "eyJhbGciOiJIUzI1NiIs.BAP8bt3tNBT1WiIttm3qM")
    // date -u -d 2018-09-20T16:51:31Z +%s
    #expect(access.expires == 1_537_462_291)
    #expect(access.counters == SignalKAccess.Counters(requests: 1, polls: 2))
    access.check(utc: 1_537_462_000, at: Self.at(12))
    #expect(access.state == .approved)
    access.check(utc: 1_537_462_240, at: Self.at(13))
    #expect(access.state == .none && access.token == nil)
    #expect(access.request(at: Self.at(13)) == nil && access.request(at: Self.at(18)) != nil)
  }

  @Test("after a denial nothing is asked until a person wants it") func denied() throws {
    var access = try #require(SignalKAccess(clientID: Self.id, at: Self.at(0)))
    _ = access.request(at: Self.at(0))
    Self.take(&access, 202, #"{"state":"PENDING","href":"\#(Self.path)"}"#, at: 0)
    _ = access.request(at: Self.at(5))
    Self.take(
      &access, 200,
      #"{"state":"COMPLETED","statusCode":200,"accessRequest":{"permission":"DENIED"}}"#, at: 5)
    #expect(access.state == .denied && access.request(at: Self.at(1e6)) == nil)
    access.reset(at: Self.at(1e6))
    #expect(access.request(at: Self.at(1e6)) != nil)
  }

  @Test("a kept token is used, and asked for anew when it is refused") func kept() throws {
    var access = try #require(
      SignalKAccess(clientID: Self.id, token: "abc.def", at: Self.at(0)))
    #expect(access.state == .approved && access.next == nil)
    access.tokenWasRefused(at: Self.at(10))
    #expect(access.token == nil && access.request(at: Self.at(14)) == nil)
    #expect(access.request(at: Self.at(15)) != nil)
    let bad = try #require(
      SignalKAccess(clientID: Self.id, token: "a\r\nHost: x", at: Self.at(0)))
    #expect(bad.state == .none && bad.token == nil)
  }

  @Test("servers that refuse, lose or do not know a request") func refusals() throws {
    var access = try #require(SignalKAccess(clientID: Self.id, at: Self.at(0)))
    _ = access.request(at: Self.at(0))
    Self.take(
      &access, 400,
      #"{"state":"COMPLETED","statusCode":400,"message":"A device with clientId has already requested access"}"#,
      at: 0)
    #expect(
      access.state == .refused("A device with clientId has already requested access"))
    // It is asked again, ever more rarely.
    #expect(access.request(at: Self.at(9)) == nil && access.request(at: Self.at(10)) != nil)
    access.failed(at: Self.at(10))
    #expect(access.request(at: Self.at(29)) == nil && access.request(at: Self.at(30)) != nil)
    Self.take(&access, 202, #"{"state":"PENDING","href":"\#(Self.path)"}"#, at: 30)
    #expect(access.state == .pending(path: Self.path))
    _ = access.request(at: Self.at(35))
    Self.take(&access, 404, "Not found", at: 35)
    #expect(access.state == .none)
    var old = try #require(SignalKAccess(clientID: Self.id, at: Self.at(0)))
    _ = old.request(at: Self.at(0))
    Self.take(&old, 501, "", at: 0)
    #expect(old.state == .unsupported && old.request(at: Self.at(1e6)) == nil)
  }

  @Test("no answer leads elsewhere or puts anything into a header") func hostile() throws {
    let answers = [
      "", "{", "[]", "{}", #"{"state":"PENDING"}"#, #"{"state":7}"#,
      #"{"state":"PENDING","href":"http://evil.example/"}"#,
      #"{"state":"PENDING","href":"//evil.example/signalk/"}"#,
      #"{"state":"PENDING","href":"/signalk/../../admin"}"#,
      #"{"state":"PENDING","href":"/signalk/v1/x\r\nHost: evil"}"#,
      #"{"state":"PENDING","href":"/signalk/\#(String(repeating: "a", count: 300))"}"#,
      #"{"state":"COMPLETED","accessRequest":{"permission":"APPROVED"}}"#,
      #"{"state":"COMPLETED","accessRequest":{"permission":"APPROVED","token":""}}"#,
      #"{"state":"COMPLETED","accessRequest":{"permission":"APPROVED","token":"a\r\nX: y"}}"#,
      #"{"state":"COMPLETED","accessRequest":{"permission":"APPROVED","token":"a b"}}"#,
      #"{"state":"COMPLETED","accessRequest":{"permission":"APPROVED","token":"\#(String(repeating: "a", count: 5_000))"}}"#,
      #"{"state":"COMPLETED","accessRequest":{"permission":"MAYBE","token":"a"}}"#,
      String(repeating: "[", count: 5_000), String(repeating: " ", count: 20_000) + "{}",
    ]
    for answer in answers {
      var access = try #require(SignalKAccess(clientID: Self.id, at: Self.at(0)))
      _ = access.request(at: Self.at(0))
      Self.take(&access, 200, answer, at: 0)
      #expect(access.state == .none && access.token == nil, "\(answer.prefix(80))")
      #expect(access.counters.failures == 1)
      // No answer makes it ask at once again, and every pause ends.
      let next = try #require(access.next)
      #expect((5...300).contains(next.seconds(since: Self.at(0))))
    }
  }

  @Test("identifiers are UUIDs of version 4") func identifiers() {
    for text in [
      "", "1234-45653-343453", "c0d79334-4e25-1245-8892-54e8ccc8021d",
      "c0d79334-4e25-4245-7892-54e8ccc8021d", "c0d79334x4e25-4245-8892-54e8ccc8021d",
      "g0d79334-4e25-4245-8892-54e8ccc8021d",
    ] { #expect(SignalKAccess(clientID: text, at: Self.at(0)) == nil, "\(text)") }
    #expect(SignalKAccess.isUUID(UUID().uuidString))
  }

  // Foundation's calendar is the oracle.
  @Test("moments are those of the calendar") func moments() {
    for seconds in [0.0, 951_782_400, 951_868_800, 1_709_164_800, 4_107_542_399, 4_102_444_800] {
      let text = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
      #expect(SignalKAnswer.seconds(text) == seconds, "\(text)")
    }
    for text in [
      "", "2018-09-20", "2018-09-20T16:51:31", "2018-13-20T16:51:31Z", "2018-09-20T16:51:31+02:00",
      "2018-09-20 16:51:31Z", "20x8-09-20T16:51:31Z",
    ] { #expect(SignalKAnswer.seconds(text) == nil, "\(text)") }
  }

  // The messages of the specification's page on security; schemas/messages/auth.json has the same keys.
  @Test("logins over a WebSocket, and their answers") func logins() throws {
    #expect(
      SignalKLogin.login(requestID: Self.id, user: "john_doe", password: "pass\"word")
        == #"{"requestId":"\#(Self.id)","login":{"username":"john_doe","password":"pass\"word"}}"#)
    #expect(
      SignalKLogin.login(requestID: Self.id, token: "a.b")
        == #"{"requestId":"\#(Self.id)","login":{"token":"a.b"}}"#)
    #expect(
      SignalKLogin.validate(requestID: Self.id, token: "a.b")
        == #"{"requestId":"\#(Self.id)","validate":{"token":"a.b"}}"#)
    #expect(
      SignalKLogin.logout(requestID: Self.id, token: "a.b")
        == #"{"requestId":"\#(Self.id)","logout":{"token":"a.b"}}"#)
    let text =
      #"{"requestId":"\#(Self.id)","state":"COMPLETED","result":200,"login":{"timeToLive":86400,"token":"a.b"}}"#
    let answer = try #require(Array(text.utf8).withUnsafeBufferPointer { SignalKAnswer($0) })
    #expect(answer.requestID == Self.id && answer.state == "COMPLETED" && answer.code == 200)
    #expect(answer.token == "a.b" && answer.timeToLive == 86_400)
  }
}
