// serve.yaml: what each key means, and what is said of mistakes.

import BoardFile
import LocationServices
import Testing

@testable import LocationDaemon

struct ServeFileTests {
  private func parse(_ lines: String) throws -> ServeConfiguration {
    try ServeFile.parse("schema: 1\n" + lines, file: "serve.yaml")
  }

  @Test func whatHoldsWithoutAKey() throws {
    let configuration = try parse("")
    #expect(configuration == ServeConfiguration())
    #expect(configuration.board == nil && configuration.web == nil && configuration.network == nil)
    #expect(configuration.socket == "/run/lodestone/lodestone.sock")
    #expect(configuration.streamSocket == "/run/lodestone/stream.sock")
    #expect(try parse("web: {}").web?.address == "127.0.0.1")
  }

  @Test(
    "two that listen at one port are an error, however their addresses are written",
    arguments: [
      ("outputs:\n  - {protocol: gpsd, address: 127.1, port: 5}\n", "127.0.0.1", 5, true),
      ("outputs:\n  - {protocol: gpsd, address: 0.0.0.0, port: 5}\n", "127.0.0.1", 5, true),
      ("outputs:\n  - {protocol: gpsd, address: '::', port: 5}\n", "127.0.0.1", 5, true),
      ("outputs:\n  - {protocol: gpsd, port: 5}\n", "'::'", 5, true),
      ("outputs:\n  - {protocol: gpsd, address: '::1', port: 5}\n", "0.0.0.0", 5, false),
      ("outputs:\n  - {protocol: gpsd, address: 127.0.0.2, port: 5}\n", "127.0.0.1", 5, false),
      ("outputs:\n  - {protocol: gpsd, port: 6}\n", "0.0.0.0", 5, false),
      ("tcp: {port: 5}\n", "0.0.0.0", 5, true), ("web: {port: 5}\n", "0.0.0.0", 5, true),
    ])
  func ports(other: String, address: String, port: Int, isShared: Bool) throws {
    let output = "  - {protocol: nmea0183, address: \(address), port: \(port)}\n"
    let text = other.hasPrefix("outputs") ? other + output : other + "outputs:\n" + output
    var message: String?
    do { _ = try parse(text) } catch let error as BoardFileError { message = error.message }
    // Without a conflict the file has no mistake at all.
    #expect(
      isShared ? message?.contains("has this port") == true : message == nil,
      "\(text): \(message ?? "-")")
  }

  @Test func everyKey() throws {
    let configuration = try parse(
      """
      board: boat
      socket: /tmp/a/b.sock
      tcp: {address: "::1", port: 2950, positions: reduced}
      web: {address: 0.0.0.0, port: 80, positions: none, tiles: /srv/tiles, tokenFile: /etc/token}
      group: root
      agents: [root]
      realtime: 20
      connections: {total: 10, perUser: 3}
      """)
    #expect(configuration.board == "boat" && configuration.streamSocket == "/tmp/a/stream.sock")
    #expect(
      configuration.network
        == ServeConfiguration.Network(address: "::1", port: 2_950, positions: .reduced))
    #expect(
      configuration.web
        == ServeConfiguration.Web(
          address: "0.0.0.0", port: 80, positions: .none, tiles: "/srv/tiles",
          tokenFile: "/etc/token"))
    #expect(configuration.group == 0 && configuration.agents == [0] && configuration.realtime == 20)
    #expect(configuration.connections == 10 && configuration.connectionsOfUser == 3)
    #expect(try parse("stream: none").streamSocket == nil)
    #expect(try parse("stream: /tmp/s").streamSocket == "/tmp/s")
  }

  @Test func whoHasNoTokenIsToldNoPlaceUnlessItIsSaid() throws {
    #expect(try parse("tcp: {port: 1}").network?.positions == PositionLimit.none)
    #expect(try parse("web: {}").web?.positions == .exact)
  }

  @Test(arguments: [
    ("web: {port: 0}", 2), ("web: {port: 65536}", 2), ("web: {positions: all}", 2),
    ("web: {tiles: tiles}", 2), ("web: {tokenFile: token}", 2), ("web: {token: abc}", 2),
    ("web: 8080", 2), ("tcp: {}", 2), ("tcp: {port: 1, positions: x}", 2),
    ("board: a\nsocket: b.sock", 3), ("socket: /\(String(repeating: "a", count: 100))", 2),
    ("group: nobodyknowsit", 2), ("agents: [nobodyknowsit]", 2), ("realtime: 51", 2),
    ("connections: {total: 0}", 2), ("colour: red", 2),
  ])
  func aMistakeHasItsLine(_ lines: String, line: Int) throws {
    do {
      _ = try parse(lines)
      Issue.record("\(lines) was taken")
    } catch let error as BoardFileError {
      #expect("\(error)".hasPrefix("serve.yaml:\(line):"), "\(error)")
    }
  }

  @Test func aFileOfAnotherSchemaIsNotTaken() {
    for text in ["", "schema: 2", "board: a", "- a", "schema: [1"] {
      #expect(throws: BoardFileError.self) { try ServeFile.parse(text, file: "serve.yaml") }
    }
  }
}
