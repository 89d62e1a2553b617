// An output whose messages a person is shown: `lodestone serve --try`.

package import LinuxIO
import LocationServices
package import Lodestone
import OutputProtocols
package import SensorBus
package import SensorTypes

/// The other end of an output, in this process. It asks for everything, and what it gets becomes text.
protocol PreviewPeer: AnyObject, Sendable {
  /// Does what the time makes due. Returns what has come since the last call, line by line.
  func lines(at now: Timestamp) -> [String]
}

/// An output that opens no port and no device: what a peer of its protocol would get is text for a person.
///
/// The output is the daemon's own, with the settings that it would have there. Text is read from the bytes that it sends.
package final class OutputPreview: Sendable {
  /// The output, for an `OutputService`.
  package let output: any ProtocolOutput
  private let peer: any PreviewPeer

  /// - Parameters:
  ///   - isSimulated: Whether the board is, which some protocols have words for.
  ///   - runner: Runs the connection of a protocol that has a thread for it.
  ///   - isClockSet: Whether the clock of the machine was set by somebody who knows the time.
  /// - Throws: An error if the process has no file descriptor left.
  package init(
    _ settings: OutputSettings, isSimulated: Bool, clocks: RuntimeClocks = .system,
    runner: any BusRunner = ThreadRunner(), isClockSet: @escaping @Sendable () -> Bool
  ) throws(LocalSocketError) {
    let surroundings = PreviewSurroundings(
      positions: settings.positions, isSimulated: isSimulated, clocks: clocks, runner: runner,
      clock: { time in clocks.reading(of: time, isSet: isClockSet) })
    (output, peer) = try Self.open(settings, surroundings)
  }

  /// Returns what a peer has got since the last call, line by line. Call it again and again: requests of the peer are made by it.
  package func lines(at now: Timestamp) -> [String] { peer.lines(at: now) }
}

/// What outputs that are shown are made with.
private struct PreviewSurroundings {
  let positions: PositionLimit
  let isSimulated: Bool
  let clocks: RuntimeClocks
  let runner: any BusRunner
  let clock: @Sendable (Timestamp) -> ClockReading
}

extension OutputPreview {
  private typealias PreviewParts = (output: any ProtocolOutput, peer: any PreviewPeer)

  /// Where outputs go, for messages.
  private static let place = "this terminal"

  private static func open(
    _ settings: OutputSettings, _ surroundings: PreviewSurroundings
  ) throws(LocalSocketError) -> PreviewParts {
    let (positions, clock) = (settings.positions, surroundings.clock)
    switch settings.kind {
    case .gpsd: return gpsd(surroundings)
    case .nmea0183(let nmea):
      let peer = DatagramPreview(DatagramPreview.lines)
      let output = NMEAOutput(
        .datagrams(peer), place: place, nmea, positions: positions,
        isSimulated: surroundings.isSimulated, clock: clock)
      return (output, peer)
    case .nmea2000(let nmea):
      let bus = PreviewBus(settings.device?.name ?? "can0")
      let link = NMEA2000Output.makeLink(bus.place, nmea) { () throws(OutputLineError) in bus }
      let output = try NMEA2000Output(link, nmea, positions: positions, clock: clock)
      return (output, NMEA2000Preview(bus, link))
    case .signalK(let signalK):
      return Self.signalK(signalK, settings.transport, surroundings)
    case .mqtt(let mqtt): return Self.mqtt(mqtt, surroundings)
    case .mavlink(let mavlink):
      let peer = DatagramPreview { frame in
        [MAVLinkDecoder.decode(frame)?.text ?? "no frame of MAVLink: \(frame.count) bytes"]
      }
      let output = MAVLinkOutput(.datagrams(peer), mavlink, positions: positions, clock: clock)
      return (output, peer)
    case .foxglove(let foxglove):
      let output = FoxgloveOutput(
        place: place, foxglove, positions: positions, clocks: surroundings.clocks, clock: clock)
      return (output, FoxglovePreview { output.admit(at: $0) {} })
    case .openMetrics(let board):
      let output = OpenMetricsOutput(
        place: place, board: board, positions: positions,
        clocks: surroundings.clocks, clock: clock)
      return (output, MetricsPreview { output.admit(at: $0) {} })
    case .influxDB(let database):
      let peer = DatagramPreview(DatagramPreview.lines)
      let output = InfluxOutput(
        .datagrams(peer), place: place, database, positions: positions, clock: clock)
      return (output, peer)
    case .sensorProxy:
      let state = SensorProxyState()
      return (SensorProxyOutput(shown: state), SensorProxyPreview(state))
    }
  }

  private static func gpsd(_ surroundings: PreviewSurroundings) -> PreviewParts {
    let output = GPSDOutput(
      place: place, positions: surroundings.positions, isSimulated: surroundings.isSimulated,
      clocks: surroundings.clocks, clock: surroundings.clock)
    let watch = "?WATCH={\"enable\":true,\"json\":true}\n"
    return (output, ConnectionPreview(asking: watch) { output.admit(at: $0) {} })
  }

  private static func signalK(
    _ settings: SignalKSettings, _ transport: OutputSettings.Transport,
    _ surroundings: PreviewSurroundings
  ) -> PreviewParts {
    let peer = DatagramPreview(DatagramPreview.lines)
    let isAsked = transport == .tcp
    let output = SignalKOutput(
      isAsked ? .listeners : .datagrams(peer), place: place, settings,
      positions: surroundings.positions, clock: surroundings.clock)
    guard isAsked else { return (output, peer) }
    let request = "{\"context\":\"vessels.self\",\"subscribe\":[{\"path\":\"*\"}]}\r\n"
    return (output, ConnectionPreview(asking: request) { output.admit(at: $0) {} })
  }

  private static func mqtt(
    _ settings: MQTTConfiguration, _ surroundings: PreviewSurroundings
  ) -> PreviewParts {
    // No password is read for a broker that is none.
    var settings = settings
    settings.credentials = nil
    let peer = MQTTPreview(surroundings.runner)
    let output = MQTTOutput(
      place: place, settings, positions: surroundings.positions, clocks: surroundings.clocks,
      runner: peer
    ) { () throws(BusError) in
      peer.open()
      return peer
    }
    return (output, peer)
  }
}
