// What serve.yaml says of a broker of MQTT.

import BoardFile
import Glibc
import LocationServices
package import OutputProtocols
import SensorBus

/// How a broker of MQTT is reached, and what it is told.
package struct MQTTConfiguration: Hashable, Sendable {
  /// Whether the connection is encrypted (TLS), and the broker's certificate and name are verified.
  package var isEncrypted = false
  /// The path of a file with the certificates of authorities (PEM) that alone are trusted; `nil` for the system's store.
  package var authorities: String?
  /// The path of a file of mode 0600 that holds `USER:PASSWORD`; `nil` for a broker that wants none.
  package var credentials: String?
  /// The name of the board, which also tells it from others; `nil` for the name of the machine.
  package var boardName: String?
  /// What all topics of values begin with.
  package var topicPrefix = "lodestone"
  /// The prefix of discovery that Home Assistant is configured for.
  package var discoveryPrefix = "homeassistant"
  package var intervals = MQTTConfiguration.standardIntervals

  package init() {}

  /// The intervals if serve.yaml has none.
  package static var standardIntervals: HomeAssistantDevice.Intervals {
    var intervals = HomeAssistantDevice.Intervals()
    (intervals.heading, intervals.position, intervals.air) = (1, 10, 10)
    return intervals
  }

  /// The name of the board, or of the machine.
  var name: String {
    if let boardName { return boardName }
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "lodestone" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension MQTTConfiguration {
  /// The keys of an output that only MQTT has.
  static let keys = [
    "tls", "caFile", "credentials", "name", "topicPrefix", "discoveryPrefix", "interval",
    "headingInterval",
  ]
  /// The ports that are assigned to MQTT, and to MQTT over TLS.
  private static let (port, encryptedPort): (UInt16, UInt16) = (1_883, 8_883)
  /// The shortest and the longest time in seconds from one value to the next.
  private static let range = 0.1...3_600.0

  /// Reads an output with `protocol: mqtt`.
  static func output(_ entry: YAMLMapping) throws(BoardFileError) -> OutputSettings {
    if entry.has("transport") { throw entry.error("transport", "mqtt has one transport") }
    var configuration = MQTTConfiguration()
    configuration.isEncrypted = try entry.boolean("tls") ?? false
    let (host, port) = try address(entry, configuration)
    configuration.authorities = try path("caFile", entry, "holds the certificates of authorities")
    if configuration.authorities != nil, !configuration.isEncrypted {
      throw entry.error("caFile", "'caFile' goes with 'tls: true'")
    }
    configuration.credentials = try path(
      "credentials", entry, "has the mode 0600 and holds USER:PASSWORD")
    if let name = try entry.string("name") {
      guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 32 && $0 != 127 })
      else { throw entry.error("name", "'name' is a text of at most 64 bytes") }
      configuration.boardName = name
    }
    configuration.topicPrefix = try prefix("topicPrefix", entry) ?? configuration.topicPrefix
    configuration.discoveryPrefix =
      try prefix("discoveryPrefix", entry) ?? configuration.discoveryPrefix
    let unit = "seconds from one value to the next"
    if let interval = try entry.number("interval", in: range, unit: unit) {
      (configuration.intervals.position, configuration.intervals.air) = (interval, interval)
    }
    if let interval = try entry.number("headingInterval", in: range, unit: unit) {
      configuration.intervals.heading = interval
    }
    return OutputSettings(
      kind: .mqtt(configuration), transport: .tcp, address: host, port: port,
      positions: try ServeFile.positions(entry) ?? .none, line: entry.line(of: "protocol"))
  }

  private static func address(
    _ entry: YAMLMapping, _ configuration: MQTTConfiguration
  ) throws(BoardFileError) -> (String, UInt16) {
    let text = try entry.requiredString("address")
    guard !text.contains("@") else {
      throw entry.error(
        "address",
        "no user name and password in an address: 'credentials' names a file that holds them")
    }
    let usual = configuration.isEncrypted ? encryptedPort : port
    let chosen = try entry.integer("port", in: 1...65_535).map { UInt16($0) }
    guard
      case .tcp(let host, let port)? = ServerAddress(host: text, defaultPort: chosen ?? usual),
      chosen == nil || port == chosen
    else {
      throw entry.error(
        "address", "'address' is the name or address of a broker, such as broker.example")
    }
    return (host, port)
  }

  private static func path(
    _ key: String, _ entry: YAMLMapping, _ meaning: String
  ) throws(BoardFileError) -> String? {
    guard let path = try entry.string(key) else { return nil }
    guard path.hasPrefix("/"), path.utf8.count < 4_096 else {
      // Whoever writes the password itself here is not told it back.
      throw entry.error(key, "'\(key)' is the absolute path of a file that \(meaning)")
    }
    return path
  }

  private static func prefix(
    _ key: String, _ entry: YAMLMapping
  ) throws(BoardFileError) -> String? {
    guard let text = try entry.string(key) else { return nil }
    let isUsable = text.utf8.allSatisfy {
      $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "#")
    }
    guard isUsable, (1...128).contains(text.utf8.count), text.first != "/", text.last != "/" else {
      throw entry.error(key, "'\(key)' is the beginning of a topic, without + and #")
    }
    return text
  }
}
