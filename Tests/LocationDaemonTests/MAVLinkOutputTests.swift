// Messages of MAVLink as datagrams and on a line.

import FacadeTestSupport
import Glibc
import LinuxIO
import LocationServices
import OutputProtocols
import SensorTypes
import Synchronization
import Testing

@testable import LocationDaemon

/// A ground station at a port of this machine that the system has chosen.
private final class GroundStation {
  private let file: Int32
  let port: UInt16

  init() throws {
    file = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let file = self.file
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(file, $0, length) == 0 ? getsockname(file, $0, &length) : -1
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    try #require(result == 0)
  }

  deinit { close(file) }

  /// The datagrams that have come, so many or fewer.
  func take(_ most: Int) -> [[UInt8]] {
    var datagrams: [[UInt8]] = []
    var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    while datagrams.count < most, poll(&entry, 1, 5_000) > 0 {
      var buffer = [UInt8](repeating: 0, count: 2_048)
      let count = recv(file, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { break }
      datagrams.append(Array(buffer[..<count]))
    }
    return datagrams
  }
}

struct MAVLinkOutputTests {
  private static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }
  private static func clock(_ time: Timestamp) -> ClockReading? {
    ClockReading(seconds: 1_800_000_000 + time.seconds, isSet: true)
  }

  /// The number of a message.
  private static func number(_ frame: [UInt8]) -> Int {
    frame.count > 9 ? Int(frame[7]) | Int(frame[8]) << 8 | Int(frame[9]) << 16 : -1
  }

  @Test("a heartbeat each second, and the rest when there is something to tell")
  func datagrams() throws {
    let station = try GroundStation()
    var settings = MAVLinkSettings()
    (settings.system, settings.component) = (7, 192)
    settings.entries = [
      MAVLinkEntry(.heartbeat, interval: 1), MAVLinkEntry(.scaledPressure, interval: 0.5),
    ]
    let port = try DatagramPort(address: "127.0.0.1", port: station.port)
    let output = MAVLinkOutput(
      .datagrams(port), settings, positions: .none, clock: Self.clock)
    #expect(output.demand == Demand(altitude: true))
    var state = PublishedState()
    #expect(output.advance(state, to: Self.at(0)) == Self.at(0.5))
    state.take(.altitude(3, at: Self.at(0.4).seconds))
    #expect(output.advance(state, to: Self.at(0.5)) == Self.at(1))
    _ = output.advance(state, to: Self.at(1))
    let frames = station.take(4)
    #expect(frames.map(Self.number) == [0, 29, 0, 29])
    for (index, frame) in frames.enumerated() {
      // Version 2, the sequence, system and component.
      #expect(frame.first == 0xFD && frame[4] == UInt8(index) && frame[5] == 7 && frame[6] == 192)
    }
    #expect(output.summary.sent == 4 && output.summary.dropped == 0)
  }

  @Test("where nobody listens that is said, until somebody does")
  func refused() throws {
    var station: GroundStation? = try GroundStation()
    let number = try #require(station).port
    station = nil
    var settings = MAVLinkSettings()
    settings.entries = [MAVLinkEntry(.heartbeat, interval: 1)]
    let output = MAVLinkOutput(
      .datagrams(try DatagramPort(address: "127.0.0.1", port: number)), settings,
      positions: .none, clock: Self.clock)
    for second in 0..<4 { _ = output.advance(PublishedState(), to: Self.at(Double(second))) }
    // The kernel tells of each with the next one, so that the last still counts as sent.
    #expect(output.summary.problem == "nobody listens there")
    #expect(output.summary.sent == 1 && output.summary.dropped == 3)
    let another = try DatagramPort(address: "127.0.0.1", port: number)
    withExtendedLifetime(another) {}
  }

  @Test("each rate and each message adds to what a line has to carry")
  func load() {
    var settings = MAVLinkSettings()
    #expect(settings.bytesPerSecond > 3_000 && settings.bytesPerSecond < 5_760)
    settings.entries = [MAVLinkEntry(.heartbeat, interval: 0.5)]
    #expect(settings.bytesPerSecond == 42)
  }

  @Test("on a line frames are whole, and begin when it is open")
  func line() {
    let line = ScriptedLine()
    line.set { $0.isHeard = false }
    let writer = LineWriter(place: "/dev/test", capacity: 1_000, perform: { $0() }) {
      () throws(OutputLineError) in line
    }
    var settings = MAVLinkSettings()
    settings.entries = [MAVLinkEntry(.heartbeat, interval: 1)]
    let output = MAVLinkOutput(.line(writer), settings, positions: .none, clock: Self.clock)
    #expect(output.advance(PublishedState(), to: Self.at(0)) == Self.at(0.5))
    line.set { $0.isHeard = true }
    _ = output.advance(PublishedState(), to: Self.at(0.5))
    _ = output.advance(PublishedState(), to: Self.at(1.5))
    let bytes = line.state.withLock { $0.text }
    #expect(bytes.count == 2 * 21 && bytes[0] == 0xFD && bytes[21] == 0xFD)
    #expect(output.summary.sent == 2)
  }

  @Test("what is asked of the board follows from the messages")
  func demand() {
    var settings = MAVLinkSettings()
    let demand = settings.demand
    #expect(demand.heading && demand.location && demand.altitude && demand.motion.attitude)
    #expect(demand.locationInterval == 0.1 && demand.motion.interval == 0.1)
    settings.entries = [MAVLinkEntry(.heartbeat, interval: 1)]
    #expect(settings.demand == Demand())
  }
}
