// What a person reads of the outputs of a daemon: at its start, and in its status.

import LocationDaemon
import LocationServices
import Testing

@testable import DaemonUI

struct OutputTextTests {
  private static func announcement(_ entry: String) throws -> String {
    let text = "schema: 1\noutputs:\n  - {\(entry)}\n"
    let settings = try #require(try ServeFile.parse(text, file: "serve.yaml").outputs.first)
    return OutputAnnouncement.text(try OpenedOutput(settings, isSimulated: true) { true })
  }

  @Test(
    "the start names how much of the position each output gets, also where it is nothing",
    arguments: [
      ("protocol: mqtt, address: broker.example", "mqtt at mqtt://broker.example:1883"),
      ("protocol: mavlink, address: 127.0.0.1", "mavlink at udp://127.0.0.1:14550"),
      (
        "protocol: influxdb, transport: udp, address: 127.0.0.1",
        "influxdb at udp://127.0.0.1:8089"
      ),
      (
        "protocol: nmea0183, transport: udp, address: 127.0.0.1, port: 30111",
        "nmea0183 at udp://127.0.0.1:30111"
      ),
      (
        "protocol: nmea0183, transport: serial, device: /dev/ttyUSB9",
        "nmea0183 at /dev/ttyUSB9 (4800 baud)"
      ),
    ])
  func announced(entry: String, place: String) throws {
    #expect(
      try Self.announcement(entry)
        == "\(place), positions: none, so that it tells no place and no true heading")
    #expect(
      try Self.announcement("\(entry), positions: reduced") == "\(place), positions: reduced")
  }

  @Test("the compass of desktops never has a position")
  func compass() throws {
    let text = try Self.announcement("protocol: sensorproxy")
    #expect(text.hasPrefix("sensorproxy at ") && !text.contains("positions"))
  }

  private static func status(_ outputs: [DaemonStatus.OutputReport]) -> [String] {
    StatusReport.lines(
      DaemonStatus(
        software: "1", board: "boat", process: 1, uptime: 1, openingFailure: nil, connections: 0,
        counters: [:], agents: 0, programs: [], outputs: outputs))
  }

  @Test("the status tells outputs at one place apart, and what is connected")
  func status() {
    func report(_ line: Int, _ isConnected: Bool, _ problem: String?) -> DaemonStatus.OutputReport {
      DaemonStatus.OutputReport(
        name: "mqtt", place: "mqtt://127.0.0.1:1883", positions: .none, listeners: nil, sent: 3,
        dropped: 0, problem: problem, line: line, isConnected: isConnected)
    }
    let lines = Self.status([report(3, false, "connection refused"), report(4, true, nil)])
    #expect(
      lines.suffix(3) == [
        "  mqtt at mqtt://127.0.0.1:1883 (line 3); positions: none; not connected; 3 messages sent",
        "    problem: connection refused",
        "  mqtt at mqtt://127.0.0.1:1883 (line 4); positions: none; connected; 3 messages sent",
      ])
  }

  @Test("requests that were refused are not called dropped")
  func refused() {
    let output = DaemonStatus.OutputReport(
      name: "openmetrics", place: "127.0.0.1:2951", positions: .none, listeners: 0, sent: 1,
      dropped: 0, problem: nil, line: 3, refused: 2)
    #expect(
      Self.status([output]).last
        == "  openmetrics at 127.0.0.1:2951 (line 3); positions: none; 0 connected; 1 messages sent; 2 requests refused"
    )
  }
}
