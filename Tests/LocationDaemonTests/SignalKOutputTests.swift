// Signal K as the daemon speaks it: at a port, as datagrams, and to a server that a test plays.

import BoardFile
import FacadeTestSupport
import Foundation
import Glibc
import LinuxIO
import LocationServices
import Lodestone
import OutputProtocols
import SensorTypes
import Testing

@testable import LocationDaemon

@Suite("the daemon speaks Signal K") struct SignalKOutputTests {
  private static func settings(
    _ change: (inout SignalKSettings) -> Void = { _ in },
    transport: OutputSettings.Transport = .tcp, port: UInt16 = 0,
    positions: PositionLimit = .exact
  ) -> OutputSettings {
    var settings = SignalKSettings()
    change(&settings)
    return OutputSettings(
      kind: .signalK(settings), transport: transport, address: "127.0.0.1", port: port,
      positions: positions, line: 2)
  }

  private func now() -> Double { RuntimeClocks.system.now().seconds }

  private func publish(_ bench: DaemonBench) {
    bench.board.publish(.location(53.123, 10.987, at: now()))
    bench.board.publish(.heading(degrees: 20, at: now(), declination: 3.5))
  }

  @Test("a client is greeted, told nothing before it subscribes, and then what it asked for")
  func listeners() throws {
    let bench = try DaemonBench(outputs: [Self.settings()])
    var peer: SignalKPeer? = try SignalKPeer(connectingTo: bench.port(0))
    #expect(peer?.gets { $0.contains(#""name":"lodestone""#) && $0.hasSuffix("\r\n") } == true)
    #expect(bench.board.demands.isEmpty)
    peer?.say(
      #"{"context":"vessels.self","subscribe":[{"path":"navigation.headingTrue","policy":"instant"}]}"#
        + "\r\n")
    #expect(eventually { bench.board.demands.last == Demand(heading: true) })
    publish(bench)
    // 23.5 degrees.
    #expect(peer?.gets { $0.contains(#""path":"navigation.headingTrue","value":0.41015"#) } == true)
    #expect(peer?.text.contains("latitude") == false)
    bench.board.publish(.headingUnavailable(.uncalibrated, at: Timestamp(seconds: now())))
    #expect(peer?.gets { $0.contains(#""path":"navigation.headingTrue","value":null"#) } == true)
    let output = try #require(bench.daemon?.status.outputs?.first)
    #expect(output.name == "signalk" && output.listeners == 1 && output.sent > 0)
    peer = nil
    #expect(eventually { bench.board.demands.last == Demand() })
    #expect(eventually { bench.daemon?.status.outputs?.first?.listeners == 0 })
  }

  @Test("where the owner names no positions, nothing that tells the place goes there")
  func withheld() throws {
    let bench = try DaemonBench(outputs: [Self.settings(positions: .none)])
    let peer = try SignalKPeer(connectingTo: bench.port(0))
    peer.say(#"{"context":"vessels.self","subscribe":[{"path":"*"}]}"# + "\n")
    #expect(eventually { bench.board.demands.last?.heading == true })
    for _ in 0..<3 { publish(bench) }
    // 20 degrees.
    #expect(peer.gets { $0.contains(#""path":"navigation.headingMagnetic","value":0.34907"#) })
    for secret in ["latitude", #""value":0.41015"#, #""value":0.06109"#] {
      #expect(!peer.text.contains(secret), "\(peer.text)")
    }
  }

  @Test("a vessel's own server says who it is, and refuses what is no request")
  func vessel() throws {
    let own = "vessels.urn:mrn:imo:mmsi:230099999"
    let bench = try DaemonBench(outputs: [Self.settings { $0.vessel = own }])
    let peer = try SignalKPeer(connectingTo: bench.port(0))
    #expect(peer.gets { $0.contains(#""self":"\#(own)","roles":["master","aux"]"#) })
    peer.say("{}\n[\n\u{1}\n" + String(repeating: "a", count: 100_000) + "\n")
    peer.say(#"{"context":"\#(own)","subscribe":[{"path":"navigation.*"}]}"# + "\n")
    #expect(eventually { bench.board.demands.last?.heading == true })
    publish(bench)
    #expect(
      peer.gets { $0.contains(#"{"context":"\#(own)""#) && $0.contains(#""latitude":53.123"#) })
  }

  @Test("a client that subscribes again and again is answered twenty times a second at most")
  func flood() {
    let output = SignalKOutput(
      .listeners, place: "", SignalKSettings(), positions: .none,
      clock: { ClockReading(seconds: $0.seconds, isSet: true) })
    let connection = output.admit(at: 100, wake: {})
    func subscribe() {
      let request = #"{"context":"vessels.self","subscribe":[{"path":"*"}]}"# + "\n"
      Array(request.utf8).withUnsafeBytes { connection.receive($0, at: 100) }
    }
    var state = PublishedState()
    state.take(.heading(degrees: 20, at: 100, declination: nil))
    var rounds: Set<UInt64> = []
    for step in 0..<250 {
      subscribe()
      let now = Timestamp(seconds: 100 + 0.004 * Double(step))
      let due = output.advance(state, to: now)
      #expect(due.map { $0.seconds(since: now) <= SignalKOutput.look } == true)
      rounds.insert(output.summary.sent)
      while connection.next() != nil {}
    }
    #expect(rounds.count <= 22 && rounds.count > 10, "\(rounds.count)")
    connection.end()
  }

  @Test("requests are taken at a limited rate, a burst at once, and one behind a flood in the end")
  func limits() {
    let output = SignalKOutput(
      .listeners, place: "", SignalKSettings(), positions: .none,
      clock: { ClockReading(seconds: $0.seconds, isSet: true) })
    let request =
      #"{"context":"vessels.self","subscribe":[{"path":"navigation.headingTrue"}]}"# + "\n"
    func receive(_ text: String, _ connection: any ServedConnection, at now: Double) {
      Array(text.utf8).withUnsafeBytes { connection.receive($0, at: now) }
    }
    let honest = output.admit(at: 100, wake: {})
    for _ in 0..<200 { receive(request, honest, at: 100) }
    #expect(honest.isReading && honest.deadline == nil && output.demand.heading)
    honest.end()
    let flood = output.admit(at: 100, wake: {})
    receive(String(repeating: "{}\n", count: 356) + request, flood, at: 100)
    #expect(!flood.isReading && flood.deadline == 100.5 && !output.demand.heading)
    var now = 100.0
    while !flood.isReading, now < 200 {
      now += 0.5
      flood.advance(to: now)
    }
    // 356 and one, of which 256 were taken at once.
    #expect(now == 105.5 && output.demand.heading && flood.deadline == nil)
    // Bytes without an end cost as well: 16 requests of 1 KiB.
    for _ in 0..<16 {
      #expect(flood.isReading)
      receive(String(repeating: "[", count: 16_384), flood, at: now + 60)
    }
    receive("[", flood, at: now + 60)
    #expect(!flood.isReading)
    flood.end()
  }

  @Test("a client that goes while its requests and messages wait loses its place")
  func reset() throws {
    let bench = try DaemonBench(outputs: [Self.settings()])
    var peer: SignalKPeer? = try SignalKPeer(connectingTo: bench.port(0))
    peer?.say(#"{"context":"vessels.self","subscribe":[{"path":"*"}]}"# + "\n")
    #expect(eventually { bench.board.demands.last?.heading == true })
    // More than is taken at once: nothing is read from here on. It closes without having read, which resets the connection.
    peer?.say(String(repeating: "{}\n", count: 5_000))
    publish(bench)
    peer = nil
    #expect(
      eventually {
        publish(bench)
        return bench.daemon?.status.outputs?.first?.listeners == 0
      })
    #expect(eventually { bench.board.demands.last == Demand() })
  }

  @Test("a client that reads nothing is passed over, and then told the end of what was lost")
  func slow() throws {
    var session = SignalKSession(SignalKOptions(), initial: .own)
    session.take(message: Array(#"{"context":"self","subscribe":[{"path":"*"}]}"#.utf8))
    let connection = SignalKConnection(
      session, clock: ClockReading(seconds: 0, isSet: false), wake: {}, changed: {}, leave: { _ in }
    )
    func tell(_ state: PublishedState, at seconds: Double) {
      _ = connection.tell(
        SignalKSnapshot(
          state, at: Timestamp(seconds: seconds), clock: ClockReading(seconds: 0, isSet: false)))
    }
    var state = PublishedState()
    for step in 0..<1_000 {
      let time = 100 + Double(step)
      state.take(.location(53 + Double(step) * 0.001, 10, at: time))
      tell(state, at: time)
    }
    #expect(connection.passedOver > 900)
    #expect(connection.waitingCount < SignalKConnection.mostWaiting + 16_384)
    #expect(!connection.isReading, "its requests wait until it reads")
    var text = ""
    while let line = connection.next() { text += String(decoding: line, as: UTF8.self) }
    #expect(connection.waitingCount == 0 && text.hasSuffix("\r\n"))
    #expect(!text.contains(#""path":"navigation.position","value":null"#))
    // Nothing comes any more.
    tell(state, at: 2_000)
    text = ""
    while let line = connection.next() { text += String(decoding: line, as: UTF8.self) }
    #expect(text.contains(#""path":"navigation.position","value":null"#))
  }

  @Test("a delta is a datagram, and null is repeated, for datagrams get lost")
  func datagrams() throws {
    let peer = try SignalKPeer(datagrams: ())
    let bench = try DaemonBench(outputs: [Self.settings(transport: .udp, port: peer.port)])
    #expect(eventually { bench.board.demands.last?.location == true })
    publish(bench)
    #expect(peer.gets { $0.contains(#""latitude":53.123"#) })
    bench.board.publish(.headingUnavailable(.uncalibrated, at: Timestamp(seconds: now())))
    #expect(
      peer.gets {
        $0.components(separatedBy: #""path":"navigation.headingMagnetic","value":null"#).count > 2
      })
    #expect(peer.datagrams.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}\r\n") })
    #expect(peer.datagrams.allSatisfy { $0.utf8.count <= 1_402 })
  }

  @Test("a server gets deltas with the token, which is kept, and all again after it was away")
  func server() throws {
    let server = try SignalKTestServer()
    let address = SignalKServerAddress(host: "127.0.0.1", port: server.port, isEncrypted: false)
    let bench = try DaemonBench(outputs: [
      Self.settings({ $0.server = address }, transport: .client)
    ])
    // Nothing is measured before the server has agreed.
    #expect(server.accepts { $0.hasPrefix("GET /signalk HTTP/1.1\r\n") })
    server.answer(
      200,
      #"{"endpoints":{"v1":{"signalk-ws":"ws://127.0.0.1:\#(server.port)/signalk/v1/stream"}}}"#)
    #expect(server.accepts { $0.contains(#""description":"lodestone""#) })
    #expect(bench.board.demands.isEmpty)
    server.answer(
      200,
      #"{"state":"COMPLETED","statusCode":200,"accessRequest":{"permission":"APPROVED","token":"a.b"}}"#
    )
    #expect(server.accepts { $0.contains("\r\nAuthorization: Bearer a.b\r\n") })
    let file = SignalKAccessFile(address, in: bench.folder.appending(path: "state"))
    #expect(file.read().token == "a.b")
    var status = stat()
    #expect(stat(file.url.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    server.agree()
    #expect(eventually { bench.board.demands.last?.heading == true })
    publish(bench)
    #expect(server.hears { $0.contains(#""latitude":53.123"#) && $0.contains(#""meta":["#) })
    // It is away, and the daemon comes back by itself, with the token that it has kept.
    server.hangUp()
    #expect(eventually { bench.board.demands.last == Demand() })
    #expect(
      eventually { bench.daemon?.status.outputs?.first?.problem?.contains("ended") == true })
    #expect(server.accepts { $0.hasPrefix("GET /signalk HTTP/1.1\r\n") })
    server.answer(
      200, #"{"endpoints":{"v1":{"signalk-ws":"ws://x:\#(server.port)/signalk/v1/stream"}}}"#)
    #expect(server.accepts { $0.contains("\r\nAuthorization: Bearer a.b\r\n") })
    server.agree()
    bench.board.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: now())))
    #expect(server.hears { $0.contains(#""path":"navigation.position","value":null"#) })
    let output = try #require(bench.daemon?.status.outputs?.first)
    #expect(output.place == address.description && output.problem == nil && output.sent > 0)
    let wholeStatus = String(describing: bench.daemon?.status)
    #expect(!wholeStatus.contains("a.b"))
  }

  @Test("a password that others can read is not used, and a server that is not there is said")
  func problems() throws {
    let server = try SignalKTestServer()
    let bench = try DaemonBench(outputs: [
      Self.settings(
        {
          $0.server = SignalKServerAddress(host: "127.0.0.1", port: server.port, isEncrypted: false)
          $0.credentials = "/nowhere/password"
        }, transport: .client)
    ])
    #expect(server.accepts { $0.hasPrefix("GET /signalk ") })
    server.answer(200, #"{"endpoints":{"v1":{"signalk-ws":"ws://x:80/s"}}}"#)
    #expect(
      eventually {
        bench.daemon?.status.outputs?.first?.problem?.contains("/nowhere/password") == true
      })
    let nobody = SignalKServerAddress(host: "127.0.0.1", port: 1, isEncrypted: false)
    let lonely = try DaemonBench(outputs: [
      Self.settings({ $0.server = nobody }, transport: .client)
    ])
    #expect(
      eventually { lonely.daemon?.status.outputs?.first?.problem?.contains("refused") == true })
  }

  @Test("what is kept of a server, and what stands in its place")
  func file() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    defer { try? FileManager.default.removeItem(at: folder) }
    let address = try #require(SignalKServerAddress("https://[fe80::1]:3443"))
    let file = SignalKAccessFile(address, in: folder)
    #expect(file.url.lastPathComponent == "https-fe80__1-3443.json")
    let new = file.read()
    #expect(new.token == nil && new.clientID != file.read().clientID)
    let kept = SignalKKeptAccess(clientID: new.clientID, token: "t", expires: 7, pending: nil)
    try file.write(kept)
    #expect(file.read() == kept)
    for text in [
      "", "{", "[]", #"{"schema":2,"clientId":"\#(new.clientID)"}"#,
      #"{"schema":1,"clientId":"x","token":"t"}"#,
    ] {
      try Data(text.utf8).write(to: file.url)
      #expect(file.read().token == nil && file.read().clientID != new.clientID)
    }
  }

  @Test("what serve.yaml says of Signal K")
  func settings() throws {
    let outputs = try ServeFile.parse(
      """
      schema: 1
      outputs:
        - {protocol: signalk, positions: exact, outsideAir: true}
        - {protocol: signalk, transport: udp, address: 10.0.0.5, rate: 5}
        - {protocol: signalk, server: "https://boat.local:3443", label: mast, credentials: /etc/lodestone/boat}
        - {protocol: signalk, port: 8376, vessel: "urn:mrn:imo:mmsi:230099999"}
      """, file: "serve.yaml"
    ).outputs
    #expect(outputs.map(\.name) == ["signalk", "signalk", "signalk", "signalk"])
    #expect(outputs.map(\.transport) == [.tcp, .udp, .client, .tcp])
    #expect(outputs.map(\.port) == [8_375, 8_375, 3_443, 8_376])
    #expect(outputs.map(\.positions) == [.exact, .none, .none, .none])
    let kinds = outputs.compactMap { output -> SignalKSettings? in
      if case .signalK(let settings) = output.kind { settings } else { nil }
    }
    try #require(kinds.count == 4)
    #expect(kinds[0].measuresOutsideAir && kinds[1].rate == 5)
    #expect(kinds[2].server?.description == "https://boat.local:3443" && kinds[2].label == "mast")
    #expect(kinds[2].credentials == "/etc/lodestone/boat")
    #expect(kinds[3].vessel == "vessels.urn:mrn:imo:mmsi:230099999")
    for entry in [
      "{protocol: signalk, transport: udp}", "{protocol: signalk, transport: client}",
      "{protocol: signalk, transport: ws}", "{protocol: signalk, server: boat}",
      "{protocol: signalk, server: 'http://boat/x'}",
      "{protocol: signalk, server: 'http://user@boat'}",
      "{protocol: signalk, server: 'http://boat', port: 3000}",
      "{protocol: signalk, server: 'http://boat', transport: tcp}",
      "{protocol: signalk, credentials: /a}", "{protocol: signalk, rate: 0}",
      "{protocol: signalk, label: 'a b'}", "{protocol: signalk, vessel: boat}",
      "{protocol: signalk, vessel: 'urn:mrn:imo:mmsi:1'}", "{protocol: signalk, talker: II}",
      "{protocol: gpsd, rate: 5}", "{protocol: nmea0183, server: 'http://boat'}",
      "{protocol: nmea0183, transport: client}",
    ] {
      #expect(throws: BoardFileError.self, "\(entry)") {
        try ServeFile.parse("schema: 1\noutputs:\n  - \(entry)", file: "serve.yaml")
      }
    }
  }
}
