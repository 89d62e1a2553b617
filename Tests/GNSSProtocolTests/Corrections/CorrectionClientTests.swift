import SensorTypes
import Testing

@testable import GNSSProtocol

/// A client with a caster that a test plays.
private struct CasterRig {
  var client: CorrectionClient
  var now = Timestamp(seconds: 1_000)
  var frames: [RTCMFrame] = []

  init(sendsPosition: Bool = false, credentials: String? = nil) {
    client = CorrectionClient(
      CorrectionSource(
        host: "caster.example", mountpoint: "ROOF", credentials: credentials,
        sendsPosition: sendsPosition), program: "Lodestone/1")
    client.setWanted(true)
  }

  var status: CorrectionStatus { client.status(at: now) }

  mutating func step() -> CorrectionClient.ClientCommand? { client.step(at: now) }

  mutating func wait(_ seconds: Double) { now = now.advanced(bySeconds: seconds) }

  /// Steps until it wants to connect; at most so many seconds. Returns how long that took.
  mutating func awaitConnect(within seconds: Double = 100) -> Double? {
    let start = now
    while now.seconds(since: start) <= seconds {
      while let command = step() { if command == .connect { return now.seconds(since: start) } }
      wait(0.5)
    }
    return nil
  }

  mutating func request(_ credentials: String? = nil) -> String {
    client.connected(credentials: credentials, at: now)
    return String(decoding: client.takeOutput(), as: UTF8.self)
  }

  mutating func receive(_ bytes: [UInt8]) {
    client.received(bytes, at: now) { frames.append($0) }
  }

  mutating func receive(_ text: String) { receive(Array(text.utf8)) }

  /// A stream of version 2 that is accepted.
  mutating func open() {
    _ = awaitConnect()
    _ = request()
    receive("HTTP/1.1 200 OK\r\n\r\n")
  }
}

struct CorrectionClientTests {
  private static let fix = {
    var fix = GNSSFix(received: Timestamp(seconds: 1_000), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.timeOfDay) = (48, 11, 0)
    return fix
  }()

  @Test("frames come from a caster of version 2, are counted, and told of the last 10 s")
  func streams() {
    var rig = CasterRig()
    #expect(rig.step() == .connect)
    #expect(rig.status.phase == .connecting)
    #expect(rig.request().hasPrefix("GET /ROOF HTTP/1.1\r\nHost: caster.example:2101\r\n"))
    #expect(rig.status.phase == .requesting)
    rig.receive("HTTP/1.1 200 OK\r\n\r\n")
    rig.receive(RTCMVectors.station + RTCMVectors.gps + [1, 2])
    #expect(rig.frames.map(\.number) == [1_005, 1_077])
    #expect(rig.step() == nil)
    #expect(
      rig.status.description == "2 frames, 71 bytes in the last 10 s from caster.example/ROOF")
    #expect(rig.status.rejected == 2 && rig.status.connections == 1 && rig.status.bytes == 71)
    rig.wait(11)
    #expect(rig.status.description == "nothing in the last 10 s from caster.example/ROOF")
    #expect(rig.status.frames == 2)
  }

  @Test(
    "a caster of version 1 that drops the newer request, or refuses its version, is asked in the older one at once"
  )
  func fallsBack() {
    for refusal in [
      nil, "HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n", "HTTP/1.0 400 Bad Request\r\n\r\n",
    ] {
      var rig = CasterRig()
      _ = rig.awaitConnect()
      _ = rig.request()
      if let refusal {
        rig.receive(refusal)
      } else {
        rig.client.lost("the server has ended it", at: rig.now)
      }
      #expect(rig.step() == .disconnect)
      #expect(rig.step() == .connect)
      #expect(rig.request().hasPrefix("GET /ROOF HTTP/1.0\r\n"))
      rig.receive("ICY 200 OK\r\n")
      rig.receive(RTCMVectors.station)
      #expect(rig.frames.count == 1)
      // It is remembered.
      rig.client.lost("the server has ended it", at: rig.now)
      #expect(rig.awaitConnect() == 1)
      #expect(rig.request().hasPrefix("GET /ROOF HTTP/1.0\r\n"))
    }
  }

  @Test("one that ends both requests is said, and asked in the newer version after the pause")
  func dropsBoth() {
    var rig = CasterRig()
    for _ in 0..<2 {
      _ = rig.awaitConnect()
      _ = rig.request()
      rig.client.lost("the server has ended it", at: rig.now)
    }
    #expect(rig.status.failure == "the caster has ended the connection without an answer")
    #expect(rig.awaitConnect() == 1)
    #expect(rig.request().contains("HTTP/1.1"))
  }

  @Test(
    "the position is sent at once and every 10 s, in version 2 with the request as well; without one nobody is asked"
  )
  func sendsPosition() {
    var rig = CasterRig(sendsPosition: true)
    #expect(rig.step() == nil)
    #expect(rig.status.phase == .awaitingPosition)
    rig.client.setPosition(Self.fix)
    #expect(rig.step() == .connect)
    #expect(rig.request().contains("\r\nNtrip-GGA: $GPGGA,000000.00,4800.00000,N,"))
    rig.receive("HTTP/1.1 200 OK\r\n\r\n")
    var sent = 0
    for _ in 0..<250 {
      rig.receive(RTCMVectors.station)
      #expect(rig.step() == nil)
      let output = String(decoding: rig.client.takeOutput(), as: UTF8.self)
      if !output.isEmpty {
        #expect(output.hasPrefix("$GPGGA,") && output.hasSuffix("\r\n"))
        sent += 1
      }
      rig.wait(0.1)
    }
    #expect(sent == 3)
    // A minute after the last fix it is not sent any more.
    rig.wait(60)
    rig.receive(RTCMVectors.station)
    _ = rig.step()
    #expect(rig.client.takeOutput().isEmpty)
  }

  @Test("without sendsPosition no position leaves, whatever the receiver says")
  func keepsPosition() {
    var rig = CasterRig()
    rig.client.setPosition(Self.fix)
    _ = rig.awaitConnect()
    #expect(!rig.request().contains("GGA"))
    rig.receive("ICY 200 OK\r\n\r\n")
    rig.wait(10)
    rig.receive(RTCMVectors.station)
    _ = rig.step()
    #expect(rig.client.takeOutput().isEmpty)
  }

  @Test("pauses grow from 1 s to 60 s, and are short again after a minute of data")
  func pauses() {
    var rig = CasterRig()
    var pauses: [Double] = []
    _ = rig.awaitConnect()
    for _ in 0..<8 {
      rig.client.failed("connection refused", at: rig.now)
      if let pause = rig.awaitConnect() { pauses.append(pause.rounded()) }
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
    _ = rig.request()
    rig.receive("HTTP/1.1 200 OK\r\n\r\n")
    for _ in 0..<70 {
      rig.receive(RTCMVectors.station)
      _ = rig.step()
      rig.wait(1)
    }
    rig.client.lost("the server has ended it", at: rig.now)
    #expect(rig.awaitConnect() == 1)
  }

  @Test(
    "each failure is said in words",
    arguments: [
      ("HTTP/1.1 401 Unauthorized\r\n\r\n", "wrong user name or password (401)"),
      ("HTTP/1.1 403 Forbidden\r\n\r\n", "this user may not use ROOF (403)"),
      ("HTTP/1.1 404 Not Found\r\n\r\n", "there is no mountpoint 'ROOF'"),
      ("HTTP/1.1 503 Service Unavailable\r\n\r\n", "the caster is overloaded (503)"),
      ("HTTP/1.1 418 I'm a teapot\r\n\r\n", "the caster answers 418 'I'm a teapot'"),
      ("ERROR - Bad Password\r\n", "wrong user name or password (401)"),
      (
        "220 mail.example ESMTP\r\n",
        "caster.example:2101 is no NTRIP caster: it sends '220 mail.example ESMTP'"
      ),
      ("\u{1}\u{2}", "caster.example:2101 is no NTRIP caster: it sends bytes that are no text"),
      (
        "SOURCETABLE 200 OK\r\n\r\nSTR;OTHER;x\r\nSTR;ROOFTOP;x\r\nSTR;roof;x\r\nENDSOURCETABLE\r\n",
        "there is no mountpoint 'ROOF'; there are roof, ROOFTOP, OTHER"
      ),
      (
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nSTR;A;x\r\nENDSOURCETABLE\r\n",
        "there is no mountpoint 'ROOF'; there are A"
      ),
      (
        "HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\nContent-Length: 16\r\n\r\nENDSOURCETABLE\r\n",
        "there is no mountpoint 'ROOF'"
      ),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "the caster's chunked transfer is broken"
      ),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "the caster has ended the stream"
      ),
    ])
  func failures(answer: String, words: String) {
    var rig = CasterRig(credentials: "/etc/caster")
    _ = rig.awaitConnect()
    _ = rig.request("me:hush")
    rig.receive(answer)
    #expect(rig.step() == .disconnect)
    #expect(rig.status.phase == .pausing)
    #expect(rig.status.failure == words)
    #expect(
      rig.status.description.hasPrefix("none from caster.example/ROOF: \(words); tried again in "))
    #expect(rig.awaitConnect() != nil)
    // While it is tried again the reason stands.
    #expect(rig.status.failure == words)
  }

  @Test(
    "a caster's refusal is tried again no sooner than after 10 s; without credentials the word says what is missing"
  )
  func refusal() {
    var rig = CasterRig()
    _ = rig.awaitConnect()
    _ = rig.request()
    rig.receive("HTTP/1.1 401 Unauthorized\r\n\r\n")
    #expect(
      rig.status.failure
        == "the caster wants a user name and a password (401): 'credentials' in the board file")
    #expect(rig.status.retry == 10)
    #expect(rig.awaitConnect() == 10)
  }

  @Test(
    "a caster that accepts and says nothing, sends no RTCM, stops, or is cut off is given up in time, and said"
  )
  func slow() {
    var rig = CasterRig()
    _ = rig.awaitConnect()
    _ = rig.request()
    rig.wait(9.9)
    #expect(rig.step() == nil)
    rig.wait(0.2)
    #expect(rig.step() == .disconnect)
    #expect(rig.status.failure == "the caster has not answered within 10 s")

    rig = CasterRig()
    rig.open()
    rig.wait(29.9)
    #expect(rig.step() == nil)
    rig.wait(0.2)
    #expect(rig.step() == .disconnect)
    #expect(rig.status.failure == "no data within 30 s")

    rig = CasterRig()
    rig.open()
    for _ in 0..<31 {
      rig.receive([0x66, 0x67])
      if rig.step() != nil { break }
      rig.wait(1)
    }
    #expect(rig.status.failure == "no RTCM 3 within 30 s, but 62 bytes that are none")

    // Frames without content, and those whose content is shorter than a number, are no data.
    rig = CasterRig()
    rig.open()
    for _ in 0..<31 {
      rig.receive([0xD3, 0, 0, 0x47, 0xEA, 0x4B, 0xD3, 0, 1, 3, 0x06, 0x81, 0x7B])
      if rig.step() != nil { break }
      rig.wait(1)
    }
    #expect(rig.status.failure == "no data within 30 s")
    #expect(rig.frames.isEmpty && rig.status.frames == 0)

    rig = CasterRig()
    rig.open()
    rig.receive(Array(RTCMVectors.station[..<10]))
    rig.client.lost("the server has ended it", at: rig.now)
    #expect(rig.status.failure == "the connection was cut off: the server has ended it")
    // Back: the half frame is counted, and the whole ones are found.
    rig.open()
    #expect(rig.status.failure != nil)
    rig.receive(RTCMVectors.gps)
    #expect(rig.frames.map(\.number) == [1_077])
    #expect(rig.status.failure == nil && rig.status.rejected == 10)
  }

  @Test("a table without an end is waited for 5 s, and 64 kB at most")
  func endlessTable() {
    var rig = CasterRig()
    _ = rig.awaitConnect()
    _ = rig.request()
    rig.receive("SOURCETABLE 200 OK\r\n\r\nSTR;OTHER;x\r\n")
    rig.wait(5)
    #expect(rig.step() == .disconnect)
    #expect(rig.status.failure == "there is no mountpoint 'ROOF'; there are OTHER")
    _ = rig.awaitConnect()
    _ = rig.request()
    rig.receive("SOURCETABLE 200 OK\r\n\r\n" + String(repeating: "STR;X;y\r\n", count: 10_000))
    #expect(
      rig.status.failure
        == "there is no mountpoint 'ROOF'; there are X, X, X, X, X, X, X, X and 7274 more")
  }

  @Test("bytes that are no RTCM 3 are named as such, and are no silence")
  func garbage() {
    var rig = CasterRig()
    rig.open()
    rig.receive([UInt8](repeating: 0, count: 2_000))
    #expect(
      rig.status.description
        == "no RTCM 3, but 2.0 kB of something else in the last 10 s from caster.example/ROOF")
    #expect(rig.status.withoutCounters.recentRejected == 1)
    rig.wait(11)
    #expect(rig.status.description == "nothing in the last 10 s from caster.example/ROOF")
    rig.receive([0] + RTCMVectors.station)
    #expect(rig.status.description.hasPrefix("1 frame,"))
  }

  @Test(
    "the cause of a failure decides what mends it",
    arguments: [
      ("HTTP/1.1 401 Unauthorized\r\n\r\n", CorrectionFailureCause.login),
      ("HTTP/1.1 403 Forbidden\r\n\r\n", .login),
      ("HTTP/1.1 404 Not Found\r\n\r\n", .mountpoint),
      ("HTTP/1.1 503 Overloaded\r\n\r\n", .caster),
      ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>", .foreign),
    ])
  func causes(answer: String, cause: CorrectionFailureCause) {
    var rig = CasterRig()
    _ = rig.awaitConnect()
    _ = rig.request()
    #expect(rig.client.failureCause == nil)
    rig.receive(answer)
    #expect(rig.client.failureCause == cause, "\(rig.status.failure ?? "-")")
    rig.open()
    rig.receive(RTCMVectors.station)
    #expect(rig.client.failureCause == nil)
    rig.client.lost("reset", at: rig.now)
    #expect(rig.client.failureCause == .unreachable || rig.client.failureCause == .caster)
  }

  @Test("what nobody wants is disconnected, and begins anew without a pause")
  func unwanted() {
    var rig = CasterRig()
    rig.open()
    rig.client.setWanted(false)
    #expect(rig.step() == .disconnect)
    #expect(rig.step() == nil && rig.client.due == .distantFuture)
    #expect(
      rig.status.description == "not connected to caster.example/ROOF, nobody asks for positions")
    rig.client.setWanted(true)
    #expect(rig.step() == .connect)
  }

  @Test(
    "whatever a caster sends, in whatever pieces, no frame is made up and nothing waits without a limit"
  )
  func hostile() {
    var state: UInt32 = 5
    func random() -> UInt32 {
      state = state &* 1_664_525 &+ 1_013_904_223
      return state >> 8
    }
    let heads = [
      "ICY 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "SOURCETABLE 200 OK\r\n\r\n", "",
    ]
    for round in 0..<300 {
      var rig = CasterRig()
      _ = rig.awaitConnect()
      _ = rig.request()
      rig.receive(heads[round % heads.count])
      for _ in 0..<20 {
        rig.receive((0..<Int(random() % 60)).map { _ in UInt8(truncatingIfNeeded: random()) })
        rig.wait(Double(random() % 8))
        _ = rig.step()
      }
      #expect(rig.frames.isEmpty)
      #expect(rig.awaitConnect() != nil || rig.status.phase == .pausing)
    }
  }
}
