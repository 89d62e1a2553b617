// An output of serve.yaml with the port at which it is served, or the address that it sends to.

package import FoundationEssentials
import Glibc
package import LinuxIO
import LocationServices
package import Lodestone
import OutputProtocols
import SensorTypes
import ServiceProtocol
import StateStore

/// An output that is ready to be supplied.
package struct OpenedOutput {
  /// What an output is opened as: its listener and what is made for who connects, or `nil` where nobody does.
  typealias OutputParts = (
    output: any ProtocolOutput, listener: OutputPort?, admit: Entrance.Admit?
  )

  /// What outputs are made with.
  struct OutputSurroundings: Sendable {
    /// Whether the board is simulated, which some protocols have words for.
    let isSimulated: Bool
    let clocks: RuntimeClocks
    /// What the clock of the machine shows at a moment.
    let clock: @Sendable (Timestamp) -> ClockReading
    /// The state folder, for what an output keeps.
    let folder: URL
  }

  /// The number of programs that may connect to one output, of all users together.
  private static let mostListeners = 128

  package let settings: OutputSettings
  /// The line of serve.yaml on which the entry begins, or `nil` for what no entry names.
  package let line: Int?
  package let output: any ProtocolOutput
  /// Where programs arrive, or `nil` where nobody connects.
  package let listener: OutputPort?
  private let admit: Entrance.Admit?

  /// Opens the port or the address of an output. A port that another program has is opened later.
  ///
  /// - Parameters:
  ///   - isSimulated: Whether the board is, which some protocols have words for.
  ///   - folder: The state folder, for what an output keeps.
  ///   - isClockSet: Whether the clock of the machine was set by somebody who knows the time.
  package init(
    _ settings: OutputSettings, isSimulated: Bool, clocks: RuntimeClocks = .system,
    folder: URL = StateDirectory.current(), isClockSet: @escaping @Sendable () -> Bool
  ) throws(LocalSocketError) {
    (self.settings, line) = (settings, settings.line)
    let surroundings = OutputSurroundings(
      isSimulated: isSimulated, clocks: clocks,
      clock: { time in
        clocks.reading(of: time, isSet: isClockSet)
      }, folder: folder)
    (output, listener, admit) = try Self.open(settings, surroundings)
  }

  /// Makes what publishes the ports of outputs that other machines reach, or `nil` if there are none.
  ///
  /// - Parameter label: What the services are called in lists.
  package init?(publishing outputs: [OpenedOutput], label: String) {
    let ports = outputs.compactMap { opened in
      opened.listener.flatMap {
        PublishedPort(
          opened.output.name, address: opened.settings.address, port: $0.port,
          positions: opened.settings.positions, report: $0.report)
      }
    }
    guard !ports.isEmpty, var settings = outputs.first?.settings else { return nil }
    settings.positions = .none
    (self.settings, line) = (settings, nil)
    output = AvahiPublication(ports, label: label)
    (listener, admit) = (nil, nil)
  }

  /// The entrance of the server, where programs connect.
  var entrance: Entrance? {
    guard let listener, let admit else { return nil }
    return Entrance(
      listener, stranger: .network, mostStrangers: Self.mostListeners, refusal: { _ in [] },
      admit: admit)
  }
}

extension OpenedOutput {
  private static func open(
    _ settings: OutputSettings, _ surroundings: OutputSurroundings
  ) throws(LocalSocketError) -> OutputParts {
    switch settings.kind {
    case .gpsd: return try gpsd(settings, surroundings)
    case .nmea0183(let nmea): return try nmea0183(nmea, settings, surroundings)
    case .nmea2000(let nmea):
      let output = try NMEA2000Output(
        NMEA2000Output.makeLink(settings.device, nmea), nmea, positions: settings.positions,
        clock: surroundings.clock)
      try output.start(now: surroundings.clocks.now)
      return (output, nil, nil)
    case .signalK(let signalK):
      return try Self.signalK(
        signalK, settings, folder: surroundings.folder, clock: surroundings.clock)
    case .mqtt(let mqtt):
      let output = MQTTOutput(
        host: settings.address, port: settings.port, mqtt, positions: settings.positions,
        clocks: surroundings.clocks)
      return (output, nil, nil)
    case .mavlink(let mavlink):
      let way: MAVLinkOutput.Way =
        settings.device == nil ? .datagrams(try datagrams(settings)) : .line(try writer(settings))
      let output = MAVLinkOutput(
        way, mavlink, positions: settings.positions, clock: surroundings.clock)
      return (output, nil, nil)
    case .foxglove(let foxglove): return try Self.foxglove(foxglove, settings, surroundings)
    case .openMetrics(let board): return try openMetrics(board, settings, surroundings)
    case .sensorProxy: return (SensorProxyOutput(), nil, nil)
    case .influxDB(let database): return try influxDB(database, settings, surroundings)
    }
  }

  static func listener(_ settings: OutputSettings) throws(LocalSocketError) -> OutputPort {
    try OutputPort(address: settings.address, port: settings.port)
  }

  private static func datagrams(
    _ settings: OutputSettings
  ) throws(LocalSocketError) -> DatagramPort {
    try DatagramPort(address: settings.address, port: settings.port)
  }

  private static func writer(_ settings: OutputSettings) throws(LocalSocketError) -> LineWriter {
    guard let writer = settings.device?.makeWriter() else {
      throw LocalSocketError(settings.device?.name ?? settings.name, errno: EINVAL)
    }
    return writer
  }

  private static func gpsd(
    _ settings: OutputSettings, _ surroundings: OutputSurroundings
  ) throws(LocalSocketError) -> OutputParts {
    let listener = try listener(settings)
    let output = GPSDOutput(
      place: listener.path, positions: settings.positions, isSimulated: surroundings.isSimulated,
      clocks: surroundings.clocks, clock: surroundings.clock)
    return (output, listener, { _, now, wake in output.admit(at: now, wake: wake) })
  }

  private static func nmea0183(
    _ nmea: NMEAConfiguration, _ settings: OutputSettings, _ surroundings: OutputSurroundings
  ) throws(LocalSocketError) -> OutputParts {
    func output(_ way: NMEAOutput.Way, at place: String) -> NMEAOutput {
      NMEAOutput(
        way, place: place, nmea, positions: settings.positions,
        isSimulated: surroundings.isSimulated, clock: surroundings.clock)
    }
    if settings.device != nil {
      let writer = try writer(settings)
      return (output(.line(writer), at: writer.place), nil, nil)
    }
    if settings.transport == .udp {
      let port = try datagrams(settings)
      return (output(.datagrams(port), at: port.place), nil, nil)
    }
    let listener = try listener(settings)
    let served = output(.listeners, at: listener.path)
    return (served, listener, { _, now, wake in served.admit(at: now, wake: wake) })
  }

  private static func foxglove(
    _ foxglove: FoxgloveSettings, _ settings: OutputSettings, _ surroundings: OutputSurroundings
  ) throws(LocalSocketError) -> OutputParts {
    let listener = try listener(settings)
    let output = FoxgloveOutput(
      place: listener.path, foxglove, positions: settings.positions, clocks: surroundings.clocks,
      clock: surroundings.clock)
    return (output, listener, { _, now, wake in output.admit(at: now, wake: wake) })
  }

  private static func openMetrics(
    _ board: String, _ settings: OutputSettings, _ surroundings: OutputSurroundings
  ) throws(LocalSocketError) -> OutputParts {
    let listener = try listener(settings)
    let output = OpenMetricsOutput(
      place: listener.path, board: board, hosts: settings.hosts,
      positions: settings.positions, clocks: surroundings.clocks, clock: surroundings.clock)
    return (output, listener, { _, now, wake in output.admit(at: now, wake: wake) })
  }

  private static func influxDB(
    _ database: InfluxSettings, _ settings: OutputSettings, _ surroundings: OutputSurroundings
  ) throws(LocalSocketError) -> OutputParts {
    let (place, way): (String, InfluxOutput.InfluxWay)
    if let server = database.server {
      let sender = InfluxSender(server, program: "Lodestone/\(LodestoneRuntime.version)")
      place = "\(server.isEncrypted ? "https" : "http")://\(server.authority)"
      way = .database(sender)
    } else {
      let port = try datagrams(settings)
      (place, way) = (port.place, .datagrams(port))
    }
    let output = InfluxOutput(
      way, place: place, database, positions: settings.positions, clock: surroundings.clock)
    return (output, nil, nil)
  }
}
