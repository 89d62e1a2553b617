// The protocols that a daemon speaks: who is told what, and what is asked of the board for it.

import BoardFile
import FacadeTestSupport
import Foundation
import LinuxIO
import LocationServices
import Lodestone
import OutputProtocols
import SensorTypes
import Synchronization
import Testing

@testable import LocationDaemon

struct OutputTests {
  private static func settings(
    _ kind: OutputSettings.ProtocolSettings, _ positions: PositionLimit = .exact
  ) -> OutputSettings {
    OutputSettings(
      kind: kind, transport: .tcp, address: "127.0.0.1", port: 0, positions: positions, line: 2)
  }

  private static func sentences(_ chosen: [OutputSentence]) -> NMEAConfiguration {
    var configuration = NMEAConfiguration()
    for sentence in chosen { configuration.set(sentence, interval: 0.1) }
    return configuration
  }

  private func now() -> Double { RuntimeClocks.system.now().seconds }

  @Test("a client of gpsd gets the board's positions and headings, and chips sleep without one")
  func gpsd() throws {
    let bench = try DaemonBench(outputs: [Self.settings(.gpsd)])
    #expect(bench.board.demands.isEmpty)
    var peer: TextPeer? = try TextPeer(bench.port(0))
    #expect(peer?.gets { $0.contains(#""class":"VERSION""#) && $0.contains("Lodestone") } == true)
    peer?.say(#"?WATCH={"enable":true,"json":true}"#)
    #expect(peer?.gets { $0.contains(#""class":"WATCH""#) } == true)
    #expect(eventually { bench.board.demands.last?.location == true })
    bench.board.publish(.location(53.123, 10.987, at: now()))
    bench.board.publish(.heading(degrees: 20, at: now(), declination: 3.5))
    #expect(peer?.gets { $0.contains(#""lat":53.123"#) && $0.contains(#""heading":23.5"#) } == true)
    bench.board.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: now())))
    #expect(peer?.gets { $0.contains(#""mode":1"#) } == true)
    let output = try #require(bench.daemon?.status.outputs?.first)
    #expect(output.name == "gpsd" && output.listeners == 1 && output.sent > 0)
    peer = nil
    #expect(eventually { bench.board.demands.last == Demand() })
    #expect(eventually { bench.daemon?.status.outputs?.first?.listeners == 0 })
  }

  @Test("a client of gpsd that asks much at once gets every answer")
  func manyRequests() {
    let output = GPSDOutput(
      place: "", positions: .none, isSimulated: true, clocks: .system,
      clock: { ClockReading(seconds: $0.seconds, isSet: true) })
    let connection = output.admit(at: 1, wake: {})
    let request = Array("?VERSION;".utf8)
    // As much as the server reads at once.
    Array(repeating: request, count: 1_800).flatMap { $0 }
      .withUnsafeBytes { connection.receive($0, at: 1) }
    #expect(!connection.isReading)
    var answers = 0
    while let bytes = connection.next() {
      answers += String(decoding: bytes, as: UTF8.self).contains(#""class":"VERSION""#) ? 1 : 0
    }
    #expect(answers == 1_801 && connection.isReading)
    connection.end()
  }

  @Test("without a position a client of gpsd gets sentences every second, and no old heading")
  func sentencesWithoutPosition() throws {
    let bench = try DaemonBench(outputs: [Self.settings(.gpsd)])
    let peer = try TextPeer(bench.port(0))
    peer.say(#"?WATCH={"enable":true,"nmea":true}"#)
    #expect(eventually { bench.board.demands.last?.heading == true })
    bench.board.publish(.heading(degrees: 20, at: now()))
    #expect(peer.gets { $0.contains("$HCHDG,20.0") })
    bench.board.publish(.headingUnavailable(.uncalibrated, at: Timestamp(seconds: now())))
    let isEnded = peer.gets { text in
      text.range(of: "$HCHDG,20.0", options: .backwards)
        .map { text[$0.upperBound...].contains("$HCHDG,,") } ?? false
    }
    #expect(isEnded)
  }

  @Test("where the owner names no positions, nothing that tells the place goes there")
  func withheld() throws {
    let bench = try DaemonBench(outputs: [
      Self.settings(.gpsd, .none), Self.settings(.nmea0183(Self.sentences([.rmc, .hdg])), .none),
    ])
    let (first, second) = (try TextPeer(bench.port(0)), try TextPeer(bench.port(1)))
    first.say(#"?WATCH={"enable":true,"json":true,"nmea":true}"#)
    #expect(first.gets { $0.contains(#""class":"WATCH""#) })
    #expect(eventually { bench.board.demands.last?.heading == true })
    #expect(bench.board.demands.last?.location == false)
    for _ in 0..<3 {
      bench.board.publish(.location(53.123, 10.987, at: now()))
      bench.board.publish(.heading(degrees: 20, at: now(), declination: 3.5))
    }
    #expect(first.gets { $0.contains(#""mheading":20"#) })
    #expect(second.gets { $0.contains("HCHDG,20.0") })
    for text in [first.text, second.text] {
      for secret in ["53.1", "5307.", "10.98", "1059.", "23.5", "3.5,E"] {
        #expect(!text.contains(secret), "\(text)")
      }
    }
  }

  @Test("a rule that denies strangers the position holds for outputs as well")
  func denied() throws {
    let bench = try DaemonBench(
      rules: "schema: 1\nrules:\n  - user: \"65534\"\n    authorization: denied\n",
      outputs: [Self.settings(.nmea0183(Self.sentences([.rmc, .hdg])))])
    let peer = try TextPeer(bench.port(0))
    #expect(eventually { bench.board.demands.last?.heading == true })
    bench.board.publish(.location(53.123, 10.987, at: now()))
    bench.board.publish(.heading(degrees: 20, at: now(), declination: 3.5))
    #expect(peer.gets { $0.contains("HCHDG,20.0") })
    #expect(!peer.text.contains("5307.") && !peer.text.contains("3.5,E"))
  }

  @Test("sentences go to all who listen, and tell a loss as empty fields")
  func sentences() throws {
    let bench = try DaemonBench(outputs: [
      Self.settings(.nmea0183(Self.sentences([.hdg, .ths, .rmc])))
    ])
    let peers = [try TextPeer(bench.port(0)), try TextPeer(bench.port(0))]
    #expect(eventually { bench.board.demands.last?.heading == true })
    bench.board.publish(.heading(degrees: 20, at: now(), declination: 3.5))
    bench.board.publish(.location(53.123, 10.987, at: now()))
    for peer in peers {
      #expect(peer.gets { $0.contains("$HCHDG,20.0,,,3.5,E*") && $0.contains("5307.38") })
    }
    bench.board.publish(.headingUnavailable(.uncalibrated, at: Timestamp(seconds: now())))
    for peer in peers {
      #expect(peer.gets { $0.contains("$HCHDG,,,,") && $0.contains(",V*") })
    }
  }

  @Test("datagrams hold whole sentences")
  func datagrams() {
    let line = Array("$HCHDG,20.0,,,3.5,E*00\r\n".utf8)
    let text = Array(repeating: line, count: 200).flatMap(\.self)
    let datagrams = NMEAOutput.datagrams(of: text)
    #expect(datagrams.flatMap(\.self) == text)
    #expect(datagrams.allSatisfy { $0.count <= 1_400 && $0.last == 10 && $0.first == line[0] })
    #expect(NMEAOutput.datagrams(of: []).isEmpty)
  }

  @Test("for a listener that takes nothing the oldest messages are left out whole")
  func slowListener() {
    let wakes = Mutex(0)
    let connection = BroadcastConnection {
      wakes.withLock { $0 += 1 }
    } leave: { _ in
    }
    let message = [UInt8](repeating: 65, count: 999) + [10]
    for _ in 0..<100 { connection.send(message) }
    #expect(connection.waitingCount <= BroadcastConnection.mostWaiting)
    #expect(connection.dropped == 68 && wakes.withLock { $0 } == 1)
    var taken = 0
    while let next = connection.next() {
      #expect(next == message)
      taken += 1
    }
    #expect(taken == 32 && connection.waitingCount == 0)
  }

  @Test("two outputs of a port are a mistake of the file, and so is what no protocol has")
  func mistakes() {
    func problem(_ text: String) -> BoardFileProblem? {
      do {
        _ = try ServeFile.parse("schema: 1\noutputs:\n" + text, file: "serve.yaml")
        return nil
      } catch {
        return BoardFileProblem(line: error.line, message: error.message)
      }
    }
    #expect(problem("  - {protocol: gpsd}\n  - {protocol: nmea0183, port: 2947}")?.line == 4)
    for entry in [
      "{}", "{protocol: gps}", "{protocol: gpsd, transport: udp, address: 127.0.0.1}",
      "{protocol: gpsd, talker: II}", "{protocol: nmea0183, transport: udp}",
      "{protocol: nmea0183, talker: ii}", "{protocol: nmea0183, sentences: {HDX: 1}}",
      "{protocol: nmea0183, sentences: {HDG: 0}}", "{protocol: nmea0183, sentences: {}}",
      "{protocol: nmea0183, port: 0}", "{protocol: nmea0183, positions: all}",
      "{protocol: nmea0183, transport: carrier}", "{protocol: sensorproxy, port: 2947}",
      "{protocol: sensorproxy, address: 127.0.0.1}", "{protocol: sensorproxy, positions: exact}",
    ] { #expect(problem("  - \(entry)")?.line == 3, "\(entry)") }
  }

  @Test(
    "an unknown key is told with what may be meant and what this protocol has",
    arguments: [
      ("{protocol: gpsd, position: exact}", "may be 'positions'", "pgns"),
      ("{protocol: mqtt, address: b, credential: /c}", "may be 'credentials'", "sentences"),
      ("{protocol: nmea0183, baud: 4800}", "known are protocol, transport", "caFile"),
      ("{protocol: gpsd, sentences: {HDG: 1}}", "'sentences' does not go with gpsd", "known are"),
      ("{positions: exact}", "needs 'protocol'", "known are"),
    ])
  func unknownKeys(entry: String, words: String, others: String) {
    let error = #expect(throws: BoardFileError.self) {
      try ServeFile.parse("schema: 1\noutputs:\n  - \(entry)\n", file: "serve.yaml")
    }
    #expect(error?.line == 3 && error?.message.contains(words) == true, "\(error as Any)")
    #expect(error?.message.contains(others) == false, "\(error as Any)")
  }

  @Test(
    "an address that is a name is a mistake of its line, except of a server",
    arguments: [
      "gpsd, address: boat.local", "nmea0183, address: localhost",
      "nmea0183, transport: udp, address: boat.local", "mavlink, address: autopilot",
      "signalk, address: boat.local", "signalk, transport: udp, address: boat.local",
      "foxglove, address: boat.local", "openmetrics, address: boat.local",
      "influxdb, transport: udp, address: telegraf",
    ])
  func names(entry: String) {
    let error = #expect(throws: BoardFileError.self) {
      try ServeFile.parse("schema: 1\noutputs:\n  - {protocol: \(entry)}\n", file: "serve.yaml")
    }
    #expect(error?.line == 3 && error?.message.contains("numeric address") == true)
  }

  @Test("a status has the outputs in the order of the file, with their lines")
  func order() throws {
    let entries = [PositionLimit.exact, .none, .exact, .reduced].enumerated().map { index, limit in
      var settings = Self.settings(.gpsd, limit)
      settings.line = index + 3
      return settings
    }
    let bench = try DaemonBench(outputs: entries)
    let reports = try #require(bench.daemon?.status.outputs)
    #expect(reports.map(\.line) == [3, 4, 5, 6])
    #expect(reports.map(\.positions) == [.exact, .none, .exact, .reduced])
    #expect(reports.allSatisfy { $0.title.hasSuffix("(line \($0.line ?? 0))") })
  }

  private struct BoardFileProblem {
    var line: Int
    var message: String
  }

  @Test("what serve.yaml says of an output")
  func settings() throws {
    let outputs = try ServeFile.parse(
      """
      schema: 1
      outputs:
        - {protocol: gpsd, positions: exact}
        - {protocol: nmea0183, transport: udp, address: 192.168.1.255, positions: reduced, talker: II, sentences: {HDG: 0.5}}
        - {protocol: nmea0183, outsideAir: true}
        - {protocol: sensorproxy}
        - {protocol: sensorproxy, positions: none}
      """, file: "serve.yaml"
    ).outputs
    #expect(outputs.map(\.name) == ["gpsd", "nmea0183", "nmea0183", "sensorproxy", "sensorproxy"])
    #expect(outputs.map(\.port) == [2_947, 10_110, 10_110, 0, 0])
    #expect(outputs.map(\.address) == ["127.0.0.1", "192.168.1.255", "127.0.0.1", "", ""])
    #expect(outputs.map(\.positions) == [.exact, .reduced, .none, .none, .none])
    #expect(outputs.prefix(3).map(\.transport) == [.tcp, .udp, .tcp])
    guard case .nmea0183(let chosen) = outputs[1].kind, case .nmea0183(let usual) = outputs[2].kind
    else {
      Issue.record("\(outputs)")
      return
    }
    #expect(chosen.rules.count == 1 && chosen.rules[.hdg]?.talker == "II")
    #expect(chosen.rules[.hdg]?.interval == 0.5)
    #expect(usual.measuresOutsideAir && usual.rules == NMEAConfiguration.standard.rules)
  }
}
