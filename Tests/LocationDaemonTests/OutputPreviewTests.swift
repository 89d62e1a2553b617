// What a person is shown of an output: everything that a peer would get, read from the bytes.

import FacadeTestSupport
import LinuxIO
import LocationServices
import Lodestone
import OutputProtocols
import SensorTypes
import Testing

@testable import LocationDaemon

struct OutputPreviewTests {
  /// 2026-11-29, 10:11:12.5 UTC.
  private static let utc = 1_795_947_072.5

  private static func settings(_ name: String) throws -> OutputSettings {
    try #require(try OutputSettings.standard(name, positions: .exact))
  }

  /// The lines of a protocol while a board publishes ten times a second.
  ///
  /// - Parameter publish: What the board says after so many seconds.
  private static func lines(
    _ settings: OutputSettings, for seconds: Double,
    _ publish: (_ age: Double, _ now: Double) -> [Observation] = drive
  ) throws -> [String] {
    let thread = SteppedThread()
    let clocks = RuntimeClocks(now: { thread.now }, wallTime: { utc })
    let preview = try OutputPreview(
      settings, isSimulated: false, clocks: clocks, runner: thread
    ) { true }
    preview.output.begin {}
    var (state, lines): (PublishedState, [String]) = (PublishedState(), [])
    for step in 0..<Int(seconds * 20) {
      let now = thread.now
      if step % 2 == 0 {
        for observation in publish(Double(step) / 20, now.seconds) {
          state.take(observation)
          preview.output.take(observation, state, at: now)
        }
      }
      _ = preview.output.advance(state, to: now)
      thread.step()
      lines += preview.lines(at: now)
      thread.pass(0.05)
    }
    preview.output.end()
    return lines
  }

  private static func drive(_ age: Double, _ now: Double) -> [Observation] {
    [
      .heading(degrees: 20, at: now, declination: 3.5),
      .location(53.123, 10.987, at: now, utc: utc + age),
    ]
  }

  @Test("the default settings of every protocol are those of serve.yaml")
  func standard() throws {
    for name in OutputSettings.names {
      let settings = try Self.settings(name)
      #expect(settings.name == name)
      #expect(settings.positions == (name == "sensorproxy" ? .none : .exact))
      let preview = try OutputPreview(settings, isSimulated: true) { true }
      #expect(preview.output.name == name)
      #expect(preview.output.positions == settings.positions)
      let hidden = try #require(try OutputSettings.standard(name, positions: .none))
      #expect(try OutputPreview(hidden, isSimulated: true) { true }.output.positions == .none)
    }
    #expect(throws: (any Error).self) {
      _ = try OutputSettings.standard("nmea", positions: .exact)
    }
  }

  @Test("sentences at their rates, and those alone that the owner has chosen")
  func sentences() throws {
    let lines = try Self.lines(Self.settings("nmea0183"), for: 2)
    #expect(lines.contains { $0.hasPrefix("$HCHDG,20.0,,,3.5,E*") })
    #expect(lines.contains { $0.contains("RMC,") && $0.contains("5307.38") })
    #expect(lines.allSatisfy { $0.hasPrefix("$") })
    let file = "schema: 1\noutputs: [{protocol: nmea0183, sentences: {HDG: 0.5}, talker: II}]\n"
    let chosen = try #require(try ServeFile.parse(file, file: "serve.yaml").outputs.first)
    let few = try Self.lines(chosen, for: 2)
    #expect(few.count == 4 && few.allSatisfy { $0.hasPrefix("$IIHDG,20.0") })
  }

  @Test("a client of gpsd that watches")
  func gpsd() throws {
    let lines = try Self.lines(Self.settings("gpsd"), for: 2)
    #expect(lines.first?.contains(#""class":"VERSION""#) == true)
    #expect(lines.contains { $0.contains(#""class":"WATCH""#) && $0.contains(#""json":true"#) })
    #expect(lines.contains { $0.contains(#""class":"TPV""#) && $0.contains(#""lat":53.123"#) })
    #expect(lines.contains { $0.contains(#""heading":23.5"#) })
  }

  @Test("a client of Signal K that subscribes to everything, and datagrams without being asked")
  func signalK() throws {
    let lines = try Self.lines(Self.settings("signalk"), for: 2)
    #expect(lines.first?.contains(#""name":"lodestone""#) == true)
    #expect(lines.dropFirst().contains { $0.contains("navigation.headingMagnetic") })
    let file =
      "schema: 1\noutputs: [{protocol: signalk, server: \"http://boat.local:3000\", positions: exact}]\n"
    let input = try #require(try ServeFile.parse(file, file: "serve.yaml").outputs.first)
    let deltas = try Self.lines(input, for: 2)
    #expect(deltas.first?.contains("updates") == true)
    #expect(deltas.contains { $0.contains("navigation.position") && $0.contains("53.123") })
  }

  @Test("topics and payloads, with what a broker keeps marked")
  func mqtt() throws {
    let lines = try Self.lines(Self.settings("mqtt"), for: 6)
    #expect(lines.first?.hasPrefix("[last will] ") == true)
    #expect(lines.contains("[subscribes] homeassistant/status"))
    #expect(lines.contains { $0.hasPrefix("[retained] homeassistant/device/") })
    #expect(lines.contains { $0.hasPrefix("lodestone/") && $0.contains("20") })
    #expect(lines.contains { $0.contains("53.123") })
    // Broker, user and password are nobody's business here.
    let file = """
      schema: 1
      outputs: [{protocol: mqtt, address: broker.example, tls: true, credentials: /nowhere/at/all}]
      """
    let secret = try #require(try ServeFile.parse(file, file: "serve.yaml").outputs.first)
    #expect(try Self.lines(secret, for: 4).contains { $0.hasPrefix("lodestone/") })
  }

  @Test("points and pages")
  func metrics() throws {
    let points = try Self.lines(Self.settings("influxdb"), for: 3)
    #expect(points.contains { $0.hasPrefix("heading,") && $0.contains("magnetic=20") })
    let pages = try Self.lines(Self.settings("openmetrics"), for: MetricsPreview.interval + 1)
    #expect(pages.count { $0 == "# EOF" } == 2)
    #expect(!pages.contains { $0.hasPrefix("HTTP/") || $0.hasPrefix("Content-") })
    #expect(pages.contains { $0.hasPrefix("lodestone_heading_degrees{") && $0.contains(" 20") })
  }

  @Test("every topic of Foxglove, by the schema that goes along")
  func foxglove() throws {
    let lines = try Self.lines(Self.settings("foxglove"), for: 2)
    #expect(lines.first?.contains("serverInfo") == true)
    #expect(
      lines.contains {
        $0.hasSuffix(": /heading/magnetic compass_interfaces/msg/Azimuth (cdr)")
      })
    // 20 degrees from north are 70 from east, to the left.
    #expect(
      lines.contains {
        $0.hasPrefix("/heading/magnetic compass_interfaces/msg/Azimuth: header {stamp 2026-11-29T")
          && $0.contains("azimuth 1.221730") && $0.contains("reference REFERENCE_MAGNETIC")
      })
    #expect(
      lines.contains {
        $0.hasPrefix("/gnss/location foxglove.LocationFix: {") && $0.contains("53.123")
      })
    #expect(lines.contains { $0.hasPrefix("/gnss/fix sensor_msgs/msg/NavSatFix: ") })
    #expect(!lines.contains { $0.contains("no message") || $0.contains("refused") })
  }

  @Test("a node claims its address, and its frames are read")
  func nmea2000() throws {
    let lines = try Self.lines(Self.settings("nmea2000"), for: 2)
    #expect(lines.first?.hasSuffix("59904 ISO Request: PGN 60928") == true)
    #expect(lines.allSatisfy { $0.hasPrefix("  can0  ") })
    #expect(lines.contains { $0.contains("60928 ISO Address Claim: Unique Number") })
    #expect(
      lines.contains { $0.contains("Heading 20 deg, ") && $0.hasSuffix("Reference Magnetic") })
    #expect(lines.contains { $0.contains("Latitude 53.123 deg, Longitude 10.987 deg") })
    #expect(lines.contains { $0.contains("129029 GNSS Position Data: SID ") })
  }

  @Test("messages of MAVLink by name and field")
  func mavlink() throws {
    let lines = try Self.lines(Self.settings("mavlink"), for: 2)
    #expect(lines.count { $0.hasPrefix("HEARTBEAT: ") } == 2)
    #expect(lines.contains { $0.hasPrefix("GPS_INPUT: ") && $0.contains("lat 53.123 deg") })
    #expect(lines.contains { $0.contains("yaw 23.5 deg") })
    #expect(!lines.contains { $0.hasPrefix("no frame") })
  }

  @Test("a desktop's compass turns, and has no value once no heading is to be trusted")
  func sensorProxy() throws {
    let lines = try Self.lines(Self.settings("sensorproxy"), for: 8) { age, now in
      age < 2
        ? [.heading(degrees: age < 1 ? 20 : 30, at: now)]
        : [.headingUnavailable(.uncalibrated, at: Timestamp(seconds: now))]
    }
    #expect(
      lines == [
        "HasCompass true", "CompassHeading 20.0", "CompassHeading 30.0", "HasCompass false",
        "CompassHeading has no value: no heading is to be trusted",
      ])
  }

  @Test("a value that is lost is shown as the protocol says it")
  func loss() throws {
    func publish(_ age: Double, _ now: Double) -> [Observation] {
      guard age >= 1 else { return Self.drive(age, now) }
      let time = Timestamp(seconds: now)
      return [.headingUnavailable(.uncalibrated, at: time), .locationUnavailable(.noFix, at: time)]
    }
    let frames = try Self.lines(Self.settings("nmea2000"), for: 2, publish)
    #expect(frames.last { $0.contains("Vessel Heading") }?.contains("Heading not known") == true)
    #expect(
      frames.last { $0.contains("Rapid Update: Lat") }?.contains("Latitude not known") == true)
    let messages = try Self.lines(Self.settings("mavlink"), for: 3, publish)
    let last = messages.last { $0.hasPrefix("GPS_INPUT") }
    #expect(last?.contains("lat not known") == true && last?.contains("yaw not known") == true)
    let robots = try Self.lines(Self.settings("foxglove"), for: 2, publish)
    #expect(
      robots.last { $0.hasPrefix("/heading/magnetic") }?.contains("azimuth not known") == true)
  }

  @Test("what nobody takes is bounded")
  func bounds() {
    let datagrams = DatagramPreview { _ in ["x"] }
    for _ in 0..<DatagramPreview.most { #expect(datagrams.send([1]) == nil) }
    #expect(datagrams.send([1]) != nil)
    #expect(datagrams.lines(at: Timestamp(seconds: 1)).count == DatagramPreview.most)
    #expect(datagrams.send([1]) == nil)
    var rest: [UInt8] = []
    #expect(TextLines.take(Array("a\r\nb\nc".utf8), &rest) == ["a", "b"])
    #expect(TextLines.take(Array("d\n".utf8), &rest) == ["cd"] && rest.isEmpty)
    #expect(TextLines.take([UInt8](repeating: 65, count: 1_100_000), &rest).count == 1)
    #expect(rest.isEmpty)
  }
}
