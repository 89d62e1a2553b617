// The outputs that serve.yaml names.

import BoardFile
package import LocationServices
package import OutputProtocols

/// An output of the daemon, as the owner of the machine wants it.
package struct OutputSettings: Hashable, Sendable {
  /// A protocol that the daemon speaks.
  package enum ProtocolSettings: Hashable, Sendable {
    case gpsd
    case nmea0183(NMEAConfiguration)
  }

  /// How it goes there.
  package enum Transport: String, Hashable, Sendable, CaseIterable {
    /// A port at which programs connect.
    case tcp
    /// Datagrams to an address.
    case udp
  }

  package var kind: ProtocolSettings
  package var transport: Transport
  /// The numeric address of this machine where programs arrive, or the one to which datagrams go.
  package var address: String
  package var port: UInt16
  /// How much of the position goes there at most.
  package var positions: PositionLimit
  /// The line of the file, for messages about what goes wrong later.
  package var line: Int

  /// The name of the protocol, as in serve.yaml.
  package var name: String {
    switch kind {
    case .gpsd: "gpsd"
    case .nmea0183: "nmea0183"
    }
  }
}

extension OutputSettings {
  private static let protocols = ["gpsd", "nmea0183"]
  private static let known = [
    "protocol", "transport", "address", "port", "positions", "sentences", "talker", "outsideAir",
  ]
  /// The number of outputs.
  private static let most = 32

  /// Reads the list below `outputs`.
  static func parse(_ map: YAMLMapping) throws(BoardFileError) -> [OutputSettings] {
    guard let entries = try map.mappings("outputs", context: "an output", known: known) else {
      return []
    }
    guard entries.count <= most else {
      throw map.error("outputs", "a daemon has at most \(most) outputs")
    }
    var outputs: [OutputSettings] = []
    for entry in entries {
      let output = try parse(entry: entry)
      if output.transport == .tcp,
        let other = outputs.first(where: {
          $0.transport == .tcp && $0.address == output.address && $0.port == output.port
        })
      {
        throw entry.error("port", "the output of line \(other.line) has this port")
      }
      outputs.append(output)
    }
    return outputs
  }

  private static func parse(entry: YAMLMapping) throws(BoardFileError) -> OutputSettings {
    let name = try entry.requiredString("protocol")
    guard protocols.contains(name) else {
      throw entry.error(
        "protocol", "'protocol' is one of \(protocols.joined(separator: ", "))")
    }
    var transport = Transport.tcp
    if let word = try entry.string("transport") {
      guard let found = Transport(rawValue: word) else {
        throw entry.error(
          "transport",
          "'transport' is \(Transport.allCases.map(\.rawValue).joined(separator: " or "))")
      }
      transport = found
    }
    guard name != "gpsd" || transport == .tcp else {
      throw entry.error("transport", "clients of gpsd connect by tcp")
    }
    for key in ["sentences", "talker", "outsideAir"] where name == "gpsd" && entry.has(key) {
      throw entry.error(key, "'\(key)' goes with nmea0183")
    }
    let address = try entry.string("address")
    if transport == .udp, address == nil {
      throw entry.error(
        "transport", "with udp an output needs the 'address' to which datagrams go")
    }
    // What is assigned to NMEA 0183 over a network, and gpsd's.
    let usual = name == "gpsd" ? 2_947 : 10_110
    return OutputSettings(
      kind: name == "gpsd" ? .gpsd : .nmea0183(try sentences(entry)), transport: transport,
      address: address ?? "127.0.0.1",
      port: UInt16(try entry.integer("port", in: 1...65_535) ?? usual),
      positions: try ServeFile.positions(entry) ?? .none, line: entry.line(of: "protocol"))
  }

  /// Reads which sentences are written, and how often: `{HDG: 0.1, RMC: 1}`.
  private static func sentences(_ entry: YAMLMapping) throws(BoardFileError) -> NMEAConfiguration {
    var configuration = NMEAConfiguration.standard
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
