// What serve.yaml says of metrics and of databases.

import BoardFile
import Glibc
import LocationServices
import SensorBus

/// Where points for InfluxDB go, and how often.
package struct InfluxSettings: Hashable, Sendable {
  /// A database that is written to over HTTP.
  package struct InfluxServer: Hashable, Sendable {
    package var host: String
    package var port: UInt16
    package var isEncrypted: Bool
    package var bucket: String
    package var organization: String
    /// A file with the token, which only its owner can read.
    package var tokenFile: String

    /// The server as its user names it, for messages and for the request.
    var authority: String {
      let name = host.contains(":") ? "[\(host)]" : host
      return "\(name):\(port)"
    }
  }

  /// The time between two points of a kind in seconds.
  package static let intervals = 0.1...3_600.0

  /// The database; `nil` for datagrams to the output's address.
  package var server: InfluxServer?
  package var interval = 10.0
  /// The tag `board` of every point.
  package var board: String
}

extension OutputSettings {
  /// The host name of this machine. It is the name of the board in metrics, unless serve.yaml has one.
  package static var machine: String {
    var buffer = [CChar](repeating: 0, count: 65)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "lodestone" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The number of names by which metrics may be asked for.
  private static let mostHosts = 32

  /// Keys of metrics and databases.
  static let metricKeys = [
    "board", "interval", "server", "bucket", "organization", "tokenFile",
  ]

  private static func metrics(
    _ entry: YAMLMapping, port: Int
  ) throws(BoardFileError) -> OutputSettings {
    OutputSettings(
      kind: .openMetrics(board: try entry.string("board") ?? machine), transport: .tcp,
      address: try entry.string("address") ?? "127.0.0.1",
      port: UInt16(try entry.integer("port", in: 1...65_535) ?? port),
      positions: try ServeFile.positions(entry) ?? .none, line: entry.line(of: "protocol"))
  }

  /// Reads an entry of OpenMetrics.
  static func openMetrics(_ entry: YAMLMapping) throws(BoardFileError) -> OutputSettings {
    if let transport = try entry.string("transport"), transport != "tcp" {
      throw entry.error("transport", "openmetrics is served by tcp")
    }
    var output = try metrics(entry, port: 2_951)
    output.address = try ServeFile.numericAddress(entry) ?? output.address
    output.hosts = try entry.strings("hosts") ?? []
    guard output.hosts.count <= mostHosts else {
      throw entry.error("hosts", "'hosts' has at most \(mostHosts) names")
    }
    for host in output.hosts where !isHostName(host) {
      throw entry.error("hosts", "'\(host)' is not a host name such as board.example.org")
    }
    return output
  }

  /// Whether a text is a host name, without a port: letters, digits, hyphens, underscores and dots.
  private static func isHostName(_ text: String) -> Bool {
    (1...253).contains(text.utf8.count) && !text.hasPrefix(".") && !text.hasSuffix(".")
      && text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || byte == 45 || byte == 46 || byte == 95
      }
  }

  /// Reads an entry of InfluxDB. 8089 is the usual port of its UDP input, and of Telegraf's.
  static func influxDB(_ entry: YAMLMapping) throws(BoardFileError) -> OutputSettings {
    var output = try metrics(entry, port: 8_089)
    let transport = try entry.string("transport")
    let board = try entry.string("board") ?? machine
    var settings = InfluxSettings(board: board)
    if entry.has("interval") {
      settings.interval = try entry.requiredNumber(
        "interval", in: InfluxSettings.intervals, unit: "seconds from one point to the next")
    }
    if transport == "udp" {
      guard entry.has("address") else {
        throw entry.error(
          "transport", "with udp an output needs the 'address' to which datagrams go")
      }
      for key in ["server", "bucket", "organization", "tokenFile"] where entry.has(key) {
        throw entry.error(key, "'\(key)' goes with HTTP, and not with 'transport: udp'")
      }
      output.address = try ServeFile.numericAddress(entry) ?? output.address
    } else {
      guard transport == nil else {
        throw entry.error("transport", "influxdb needs 'transport: udp', or a 'server'")
      }
      settings.server = try database(entry)
    }
    output.transport = .udp
    output.kind = .influxDB(settings)
    return output
  }

  private static func database(
    _ entry: YAMLMapping
  ) throws(BoardFileError) -> InfluxSettings.InfluxServer {
    for key in ["address", "port"] where entry.has(key) {
      throw entry.error(key, "'\(key)' goes with 'transport: udp'; 'server' is a URL")
    }
    let text = try entry.requiredString("server")
    let isEncrypted = text.hasPrefix("https://")
    let scheme = isEncrypted ? "https://" : "http://"
    var rest = text.dropFirst(scheme.count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard text.hasPrefix(scheme),
      case .tcp(let host, let port)? = ServerAddress(
        host: String(rest), defaultPort: isEncrypted ? 443 : 8_086)
    else {
      throw entry.error("server", "'server' is a URL such as https://database.example.org:8086")
    }
    let file = try entry.requiredString("tokenFile")
    guard file.hasPrefix("/"), file.utf8.count < 4_096 else {
      throw entry.error("tokenFile", "'tokenFile' is a path from the root")
    }
    return InfluxSettings.InfluxServer(
      host: host, port: port, isEncrypted: isEncrypted,
      bucket: try entry.requiredString("bucket"),
      organization: try entry.string("organization") ?? "", tokenFile: file)
  }
}
