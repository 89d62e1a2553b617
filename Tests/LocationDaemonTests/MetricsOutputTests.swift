// Metrics at a port, and points that a database gets.

import BoardFile
import FacadeTestSupport
import Foundation
import Glibc
import LinuxIO
import LocationServices
import Lodestone
import OutputProtocols
import SensorTypes
import Synchronization
import Testing

@testable import LocationDaemon

/// Asks a port of this machine something. Returns all that is answered until the connection ends, ten seconds at most.
private func answer(_ port: UInt16, to request: String) throws -> String {
  let file = try connectToPort(port, timeout: 10_000_000)
  defer { close(file) }
  _ = Array(request.utf8).withUnsafeBytes { send(file, $0.baseAddress, $0.count, 0x4000) }
  var text: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = read(file, &buffer, buffer.count)
    guard count > 0 else { return String(decoding: text, as: UTF8.self) }
    text += buffer[..<count]
  }
}

struct MetricsOutputTests {
  private static func settings(_ positions: PositionLimit) -> OutputSettings {
    OutputSettings(
      kind: .openMetrics(board: "boat"), transport: .tcp, address: "127.0.0.1", port: 0,
      positions: positions, line: 2)
  }

  private func now() -> Double { RuntimeClocks.system.now().seconds }
  private static let get = "GET /metrics HTTP/1.1\r\nHost: localhost:2951\r\n\r\n"

  @Test("a scrape wakes the chips, and the next one has what they measure")
  func scrapes() throws {
    let bench = try DaemonBench(outputs: [Self.settings(.exact)])
    #expect(bench.board.demands.isEmpty)
    let first = try answer(bench.port(0), to: Self.get)
    #expect(first.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text"))
    #expect(first.contains(#"lodestone_info{board="boat","#) && first.hasSuffix("# EOF\n"))
    #expect(first.contains(#"lodestone_heading_degrees{reference="true"} NaN"#))
    #expect(eventually { bench.board.demands.last?.location == true })
    bench.board.publish(.location(53.123, 10.987, at: now()))
    bench.board.publish(.heading(degrees: 20, at: now(), declination: 3.5))
    #expect(
      eventually {
        let page = (try? answer(bench.port(0), to: Self.get)) ?? ""
        return page.contains(#"reference="true"} 23.5"#)
          && page.contains("lodestone_latitude_degrees 53.123")
      })
    let output = try #require(bench.daemon?.status.outputs?.first)
    #expect(output.name == "openmetrics" && output.sent > 1 && output.dropped == 0)
  }

  @Test("the chips sleep five minutes after the last scrape")
  func sleeps() {
    let time = Mutex(100.0)
    let clocks = RuntimeClocks(
      now: { Timestamp(seconds: time.withLock { $0 }) }, wallTime: { 1_800_000_000 })
    let output = OpenMetricsOutput(
      place: "", board: "boat", positions: .exact, clocks: clocks,
      clock: { ClockReading(seconds: $0.seconds, isSet: true) })
    #expect(output.demand == Demand())
    let connection = output.admit(at: 100, wake: {})
    Array(Self.get.utf8).withUnsafeBytes { connection.receive($0, at: 100) }
    #expect(connection.isClosed && connection.waitingCount > 1_000)
    connection.end()
    #expect(output.demand.heading && output.summary.listeners == 0 && output.summary.sent == 1)
    let end = Timestamp(seconds: 400)
    #expect(output.advance(PublishedState(), to: Timestamp(seconds: 110)) == end)
    time.withLock { $0 = 399 }
    #expect(output.demand.heading)
    time.withLock { $0 = 400 }
    #expect(output.demand == Demand())
    #expect(output.advance(PublishedState(), to: end) == nil)
  }

  @Test("without positions there is neither a place nor a true heading")
  func withheld() throws {
    let bench = try DaemonBench(outputs: [Self.settings(.none)])
    _ = try answer(bench.port(0), to: Self.get)
    #expect(eventually { bench.board.demands.last?.heading == true })
    #expect(bench.board.demands.last?.location == false)
    bench.board.publish(.location(53.123, 10.987, at: now()))
    bench.board.publish(.heading(degrees: 20, at: now(), declination: 3.5))
    var page = ""
    #expect(
      eventually {
        page = (try? answer(bench.port(0), to: Self.get)) ?? ""
        return page.contains(#"reference="magnetic"} 20"#)
      })
    for secret in ["53.1", "10.98", "latitude", "23.5", " 3.5"] { #expect(!page.contains(secret)) }
  }

  @Test("other requests are refused, and so is a page that a browser was led to")
  func refusals() throws {
    let bench = try DaemonBench(outputs: [Self.settings(.none)])
    for (request, status) in [
      ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "404 "),
      ("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "405 "),
      ("GET /metrics HTTP/1.1\r\nHost: evil.example:2951\r\n\r\n", "403 "),
      ("GET /metrics HTTP/1.1\r\n\r\n", "403 "),
      ("hello\r\n\r\n", "400 "), ("\r\n\r\n", "400 "),
      ("GET /metrics HTTP/1.1\r\nA: \(String(repeating: "x", count: 9_000))", "431 "),
    ] {
      let text = try answer(bench.port(0), to: request)
      #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(request.prefix(40)): \(text.prefix(40))")
    }
    let head = try answer(
      bench.port(0), to: "HEAD /metrics?a=b HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n")
    #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
    // Each was answered: nothing was dropped.
    let output = try #require(bench.daemon?.status.outputs?.first)
    #expect(output.refused == 7 && output.dropped == 0 && output.sent == 1)
  }

  @Test("a port of the network has the page by names of the machine and of serve.yaml only")
  func hosts() throws {
    var settings = Self.settings(.none)
    (settings.address, settings.hosts) = ("0.0.0.0", ["Board.Example.org"])
    let bench = try DaemonBench(outputs: [settings])
    func status(_ host: String) throws -> String {
      let text = try answer(
        bench.port(0), to: "GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      return String(text.dropFirst(9).prefix(3))
    }
    let machine = OutputSettings.machine
    let short = String(machine.prefix { $0 != "." })
    for host in [
      "192.0.2.7:2951", "[2001:db8::1]:2951", "[2001:db8::1]", "localhost", "127.0.0.1", machine,
      "\(short.uppercased()).local.", "\(short).local:2951", "board.example.org:2951",
    ] { #expect(try status(host) == "200", "\(host)") }
    for host in [
      "rebound.evil.example:2951", "1.2.3.4.evil.example", "1.2.3", "+1.2.3.4",
      "\(short).local.evil",
      "[evil", "", "example.org",
    ] { #expect(try status(host) == "403", "\(host)") }
    let text = try answer(
      bench.port(0), to: "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    #expect(text.contains("'hosts' of the output openmetrics in serve.yaml"))
  }

  @Test("heads of requests")
  func heads() {
    func read(_ text: String) -> HTTPRequestHead.HTTPRequestProgress {
      HTTPRequestHead.read(Array(text.utf8))
    }
    #expect(read("GET / HTTP/1.1\r\nHost") == .incomplete)
    guard case .complete(let head) = read("GET /a?b HTTP/1.0\r\nX:  1 \r\nx: 2\r\n\r\nrest") else {
      Issue.record("no head")
      return
    }
    #expect(head.method == "GET" && head.path == "/a" && head.fields == ["x": "1, 2"])
    #expect(head.has("2", in: "x") && !head.has("12", in: "x"))
    for text in ["GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n"] {
      #expect(read(text) == .wrong(.badRequest))
    }
    // The longest head, whose last bytes come by themselves.
    let line = "GET / HTTP/1.1\r\nX: "
    let longest = line + String(repeating: "x", count: HTTPRequestHead.longest - line.utf8.count)
    for end in ["", "\r", "\r\n\r"] { #expect(read(longest + end) == .incomplete) }
    guard case .complete = read(longest + "\r\n\r\n") else {
      Issue.record("the longest head is refused")
      return
    }
    #expect(read(longest + "x\r\n\r\n") == .wrong(.tooLarge))
    for (host, isSo) in [
      ("localhost", true), ("LOCALHOST:1", true), ("127.1.2.3:9", true), ("[::1]:9", true),
      ("127.0.0.1.evil.example", false), ("127.evil", false), ("192.168.1.2", false), ("", false),
    ] {
      let head = HTTPRequestHead(method: "GET", path: "/", fields: ["host": host])
      #expect(head.isForThisMachine == isSo, "\(host)")
    }
  }

  @Test("a database gets points with the token, and a wrong token is said")
  func database() throws {
    let listener = try NetworkListener(address: "127.0.0.1", port: 0)
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-influx-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "token").path
    try "se-cret==\n".write(toFile: file, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    let server = InfluxSettings.InfluxServer(
      host: "127.0.0.1", port: listener.port, isEncrypted: false, bucket: "a boat",
      organization: "home", tokenFile: file)
    let sender = InfluxSender(server, program: "Lodestone/1.0")
    sender.start()
    sender.add(Array("heading magnetic=20 5\n".utf8), isDated: true)
    let request = Self.serve(listener, "HTTP/1.1 204 No Content\r\n\r\n")
    #expect(request.hasPrefix("POST /api/v2/write?org=home&bucket=a%20boat&precision=ns HTTP/1.1"))
    #expect(request.contains("Authorization: Token se-cret==\r\n"))
    #expect(request.hasSuffix("\r\n\r\nheading magnetic=20 5\n"))
    #expect(eventually { sender.summary.sent == 1 && sender.summary.problem == nil })
    sender.add(Array("heading magnetic=21 6\n".utf8), isDated: true)
    _ = Self.serve(
      listener, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}")
    #expect(eventually { sender.summary.problem?.contains("tokenFile") == true })
    #expect(sender.summary.problem?.contains("se-cret") == false && sender.summary.sent == 1)
  }

  @Test(
    "an answer that is none, or has no end, ends the request at once",
    arguments: [
      ("hello\r\n\r\n", "answers with 'hello'"),
      (
        "HTTP/1.1 500 No\r\n\r\n" + String(repeating: "x", count: 40_000),
        "answers with an answer of more than 16384 bytes"
      ),
      (
        "HTTP/1.1 501 No\r\nContent-Type: text/html;charset=utf-8\r\nContent-Length: 27\r\n\r\n<!DOCTYPE HTML><html></html",
        " answers 501 with a web page"
      ),
      // What counts as written is an answer of a database.
      (
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
        "correct 'server'"
      ),
      (
        "HTTP/1.1 400 No\r\nContent-Length: 27\r\n\r\nbad header: Token se-cret==",
        "bad header: Token \u{2026}"
      ),
    ])
  func foreignDatabase(text: String, words: String) throws {
    let listener = try NetworkListener(address: "127.0.0.1", port: 0)
    let file = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-token-\(UUID().uuidString)").path
    try "se-cret==\n".write(toFile: file, atomically: false, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: file) }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    let sender = InfluxSender(
      InfluxSettings.InfluxServer(
        host: "127.0.0.1", port: listener.port, isEncrypted: false, bucket: "b", organization: "",
        tokenFile: file), program: "Lodestone/1.0")
    sender.start()
    sender.add(Array("heading magnetic=20 5\n".utf8), isDated: true)
    _ = Self.serve(listener, text)
    #expect(eventually { sender.summary.problem?.contains(words) == true })
  }

  /// Accepts a connection, reads a request that ends with a line feed behind its head, and answers.
  private static func serve(_ listener: NetworkListener, _ answer: String) -> String {
    var accepted: LocalConnection?
    guard
      eventually({
        accepted = accepted ?? (try? listener.accept()) ?? nil; return accepted != nil
      }),
      let connection = accepted
    else { return "" }
    var text = ""
    _ = eventually {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = read(connection.descriptor, &buffer, buffer.count)
      if count > 0 { text += String(decoding: buffer[..<count], as: UTF8.self) }
      return text.contains("\r\n\r\n") && text.hasSuffix(" 5\n") || text.hasSuffix(" 6\n")
    }
    _ = Array(answer.utf8).withUnsafeBytes {
      send(connection.descriptor, $0.baseAddress, $0.count, 0x4000)
    }
    return text
  }

  @Test("what serve.yaml says of metrics and databases")
  func parsing() throws {
    func parse(_ entry: String) throws -> OutputSettings? {
      try ServeFile.parse("schema: 1\noutputs:\n  - \(entry)\n", file: "serve.yaml").outputs.first
    }
    let metrics = try parse("{protocol: openmetrics, board: boat, address: 0.0.0.0}")
    #expect(metrics?.kind == .openMetrics(board: "boat") && metrics?.port == 2_951)
    #expect(metrics?.positions == PositionLimit.none && metrics?.hosts == [])
    let named = try parse("{protocol: openmetrics, hosts: [board.example.org, board]}")
    #expect(named?.hosts == ["board.example.org", "board"])
    let database = try parse(
      "{protocol: influxdb, server: 'https://db.example:1', bucket: b, tokenFile: /etc/t, interval: 60}"
    )
    guard case .influxDB(let settings)? = database?.kind else {
      Issue.record("no database")
      return
    }
    #expect(settings.interval == 60 && settings.server?.isEncrypted == true)
    #expect(settings.server?.authority == "db.example:1" && settings.server?.organization == "")
    #expect(
      try parse("{protocol: influxdb, transport: udp, address: 10.0.0.1}")?.port == 8_089)
    for entry in [
      "{protocol: openmetrics, talker: II}", "{protocol: openmetrics, transport: udp}",
      "{protocol: openmetrics, bucket: b}", "{protocol: openmetrics, hosts: ['a:1']}",
      "{protocol: openmetrics, hosts: ['']}", "{protocol: gpsd, hosts: [a]}",
      "{protocol: openmetrics, hosts: ['http://a']}", "{protocol: influxdb}",
      "{protocol: influxdb, transport: udp}",
      "{protocol: influxdb, server: 'ftp://a', bucket: b, tokenFile: /t}",
      "{protocol: influxdb, server: 'http://a/path', bucket: b, tokenFile: /t}",
      "{protocol: influxdb, server: 'http://a', bucket: b}",
      "{protocol: influxdb, server: 'http://a', tokenFile: /t}",
      "{protocol: influxdb, server: 'http://a', bucket: b, tokenFile: t}",
      "{protocol: influxdb, server: 'http://a', bucket: b, tokenFile: /t, interval: 0}",
      "{protocol: influxdb, transport: udp, address: 10.0.0.1, bucket: b}",
      "{protocol: gpsd, bucket: b}", "{protocol: nmea0183, interval: 1}",
    ] { #expect(throws: (any Error).self, "\(entry)") { try parse(entry) } }
  }
}
