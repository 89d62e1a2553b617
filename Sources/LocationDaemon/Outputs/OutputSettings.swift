// The outputs that serve.yaml names.

package import BoardFile
package import LocationServices
package import OutputProtocols

/// An output of the daemon, as the owner of the machine wants it.
package struct OutputSettings: Hashable, Sendable {
  /// A protocol that the daemon speaks.
  package enum ProtocolSettings: Hashable, Sendable {
    case gpsd
    case nmea0183(NMEAConfiguration)
    case nmea2000(NMEA2000Settings)
    case signalK(SignalKSettings)
    case mqtt(MQTTConfiguration)
    case mavlink(MAVLinkSettings)
    case foxglove(FoxgloveSettings)
    /// - Parameter board: The name of the board in the metrics.
    case openMetrics(board: String)
    case influxDB(InfluxSettings)
    /// The compass of desktops, over D-Bus.
    case sensorProxy
  }

  /// How it goes there.
  package enum Transport: String, Hashable, Sendable, CaseIterable {
    /// A port at which programs connect.
    case tcp
    /// Datagrams to an address.
    case udp
    /// A connection of the daemon's to a server; what names the server chooses it.
    case client
    /// A serial port.
    case serial
    /// A pseudo terminal, which programs open as they open a serial port.
    case pty
    /// The bus of an interface.
    case can
  }

  package var kind: ProtocolSettings
  package var transport: Transport
  /// The numeric address of this machine where programs arrive, or the one to which datagrams go.
  package var address: String
  package var port: UInt16
  /// The device that it is written to, or `nil` for one of the network.
  package var device: OutputDevice?
  /// How much of the position goes there at most.
  package var positions: PositionLimit
  /// The names by which requests of HTTP may ask for it, besides numeric addresses and the machine's own.
  package var hosts: [String] = []
  /// The line of the file, for messages about what goes wrong later.
  package var line: Int

  /// The name of the protocol, as in serve.yaml.
  package var name: String {
    switch kind {
    case .gpsd: "gpsd"
    case .nmea0183: "nmea0183"
    case .signalK: "signalk"
    case .nmea2000: "nmea2000"
    case .mavlink: "mavlink"
    case .openMetrics: "openmetrics"
    case .influxDB: "influxdb"
    case .foxglove: "foxglove"
    case .mqtt: "mqtt"
    case .sensorProxy: "sensorproxy"
    }
  }

  /// Whether programs connect to a port of this machine.
  var listens: Bool {
    switch kind {
    case .mqtt, .sensorProxy: false
    default: transport == .tcp
    }
  }
}

extension OutputSettings {
  /// The keys that every protocol may have.
  private static let common = ["protocol", "transport", "address", "port", "positions"]
  private static let sentenceKeys = ["sentences", "talker", "outsideAir"]
  /// The protocols, and which other keys each of them may have.
  private static let protocols: [(name: String, keys: [String])] = [
    ("gpsd", []),
    ("nmea0183", sentenceKeys + ["device", "baudRate", "path", "group"]),
    ("nmea2000", NMEA2000Settings.keys + ["interface"]),
    ("signalk", SignalKSettings.keys + ["outsideAir"]),
    ("mqtt", MQTTConfiguration.keys),
    ("mavlink", MAVLinkSettings.keys + ["device", "baudRate"]),
    ("foxglove", foxgloveKeys + ["interval"]),
    ("openmetrics", ["board", "hosts"]),
    ("influxdb", metricKeys),
    ("sensorproxy", []),
  ]
  /// The number of outputs.
  private static let most = 32

  /// The names of the protocols, as in serve.yaml.
  package static var names: [String] { protocols.map(\.name) }

  /// The keys that an entry of a protocol may have, or `nil` for what is no protocol.
  package static func keys(of name: String) -> [String]? {
    protocols.first { $0.name == name }.map { common + $0.keys }
  }

  /// Returns the settings of a protocol for which serve.yaml has no entry.
  ///
  /// - Parameter positions: How much of the position goes there at most. It counts for protocols that tell one.
  package static func standard(
    _ name: String, positions: PositionLimit
  ) throws(BoardFileError) -> OutputSettings? {
    var keys = ["protocol: \(name)"]
    switch name {
    case "nmea2000": keys.append("interface: can0")
    case "mavlink", "mqtt": keys.append("address: 127.0.0.1")
    case "influxdb": keys += ["transport: udp", "address: 127.0.0.1"]
    default: break
    }
    if name != "sensorproxy" { keys.append("positions: \(positions.rawValue)") }
    let text = "schema: 1\noutputs: [{\(keys.joined(separator: ", "))}]\n"
    return try ServeFile.parse(text, file: "the standard settings").outputs.first
  }

  /// Reads the list below `outputs`.
  ///
  /// - Parameter taken: The ports that the rest of the file has.
  static func parse(
    _ map: YAMLMapping, taken: [ListenedPort]
  ) throws(BoardFileError) -> [OutputSettings] {
    // Which keys are known depends on the protocol.
    guard let entries = try map.mappings("outputs", context: "an output") else { return [] }
    guard entries.count <= most else {
      throw map.error("outputs", "a daemon has at most \(most) outputs")
    }
    var outputs: [OutputSettings] = []
    for entry in entries {
      let output = try parse(entry: entry)
      try demandUnique(output, among: outputs, taken, entry)
      outputs.append(output)
    }
    return outputs
  }

  private static func parse(entry: YAMLMapping) throws(BoardFileError) -> OutputSettings {
    let name = try entry.requiredString("protocol")
    guard let own = keys(of: name) else {
      throw entry.error("protocol", "'protocol' is one of \(names.joined(separator: ", "))")
    }
    for key in entry.keys where !own.contains(key) {
      guard protocols.contains(where: { $0.keys.contains(key) }) else {
        throw entry.unknown(key, in: "an output of \(name)", known: own)
      }
      throw entry.error(key, "'\(key)' does not go with \(name)")
    }
    switch name {
    case "signalk": return try SignalKSettings.parse(entry)
    case "mqtt": return try MQTTConfiguration.output(entry)
    case "foxglove": return try foxglove(entry)
    case "openmetrics": return try openMetrics(entry)
    case "influxdb": return try influxDB(entry)
    case "sensorproxy": return try parse(sensorProxy: entry)
    default: return try parse(entry: entry, named: name)
    }
  }

  private static func parse(
    entry: YAMLMapping, named name: String
  ) throws(BoardFileError) -> OutputSettings {
    let (usual, possible) = ways(of: name)
    let transport = try transport(entry, usual, possible, of: name)
    let device = try OutputDevice.parse(entry, transport)
    let address = try ServeFile.numericAddress(entry)
    if transport == .udp, address == nil {
      throw entry.error(
        "transport", "with udp an output needs the 'address' to which datagrams go")
    }
    return OutputSettings(
      kind: try kind(name, entry, device), transport: transport, address: address ?? "127.0.0.1",
      port: UInt16(try entry.integer("port", in: 1...65_535) ?? usualPort(of: name)),
      device: device, positions: try ServeFile.positions(entry) ?? .none,
      line: entry.line(of: "protocol"))
  }

  /// How a protocol goes if nothing is said, and how it can go.
  private static func ways(of name: String) -> (usual: Transport, [Transport]) {
    switch name {
    case "nmea0183": (.tcp, [.tcp, .udp, .serial, .pty])
    case "nmea2000": (.can, [.can])
    case "mavlink": (.udp, [.udp, .serial])
    default: (.tcp, [.tcp])
    }
  }

  /// What is assigned to NMEA 0183 over a network, MAVLink's of a ground station, and gpsd's.
  private static func usualPort(of name: String) -> Int {
    switch name {
    case "nmea0183": 10_110
    case "mavlink": 14_550
    default: 2_947
    }
  }

  private static func transport(
    _ entry: YAMLMapping, _ usual: Transport, _ possible: [Transport], of name: String
  ) throws(BoardFileError) -> Transport {
    guard let word = try entry.string("transport") else { return usual }
    guard let found = Transport(rawValue: word), possible.contains(found) else {
      throw entry.error(
        "transport",
        "'transport' of \(name) is \(possible.map(\.rawValue).joined(separator: " or "))")
    }
    return found
  }

  private static func kind(
    _ name: String, _ entry: YAMLMapping, _ device: OutputDevice?
  ) throws(BoardFileError) -> ProtocolSettings {
    let limit = device?.bytesPerSecond ?? .infinity
    switch name {
    case "nmea0183":
      let standard = NMEAConfiguration.standard
      let usual = standard.bytesPerSecond <= limit ? standard : .slow
      let configuration = try sentences(entry, usual: usual)
      try demand(configuration.bytesPerSecond, below: limit, "sentences", entry)
      return .nmea0183(configuration)
    case "nmea2000": return .nmea2000(try NMEA2000Settings.parse(entry))
    case "mavlink":
      let settings = try MAVLinkSettings.parse(entry)
      try demand(settings.bytesPerSecond, below: limit, "messages", entry)
      return .mavlink(settings)
    default: return .gpsd
    }
  }

  /// Refuses more than a line carries: it would be late, and later each second.
  private static func demand(
    _ needed: Double, below limit: Double, _ key: String, _ entry: YAMLMapping
  ) throws(BoardFileError) {
    guard needed > limit else { return }
    let (needed, limit) = (Int(needed.rounded(.up)), Int(limit))
    throw entry.error(
      entry.has(key) ? key : "baudRate",
      "these \(key) need \(needed) bytes per second, and the line carries \(limit): raise 'baudRate' or choose longer intervals"
    )
  }

  /// Reads which sentences are written, and how often: `{HDG: 0.1, RMC: 1}`.
  private static func sentences(
    _ entry: YAMLMapping, usual: NMEAConfiguration
  ) throws(BoardFileError) -> NMEAConfiguration {
    var configuration = usual
    let talker = try entry.string("talker")
    if let talker, !NMEAConfiguration.isTalker(talker) {
      throw entry.error("talker", "'talker' is two capital letters, such as II")
    }
    let names = OutputSentence.allCases.map(\.rawValue)
    if let chosen = try entry.mapping("sentences", context: "the sentences", known: names) {
      configuration = NMEAConfiguration()
      for sentence in OutputSentence.allCases where chosen.has(sentence.rawValue) {
        let interval = try chosen.requiredNumber(
          sentence.rawValue, in: NMEAConfiguration.intervals, unit: "seconds from one to the next")
        configuration.set(sentence, interval: interval)
      }
      guard !configuration.rules.isEmpty else {
        throw entry.error("sentences", "an output of nmea0183 needs a sentence")
      }
    }
    if let talker {
      for (sentence, rule) in configuration.rules where sentence != .pashr {
        configuration.set(sentence, interval: rule.interval, talker: talker)
      }
    }
    configuration.measuresOutsideAir = try entry.boolean("outsideAir") ?? false
    return configuration
  }
}
