// What serve.yaml says of an output of Signal K.

import BoardFile
import LocationServices
package import OutputProtocols

/// An output of Signal K, as the owner of the machine wants it.
package struct SignalKSettings: Hashable, Sendable {
  /// The server that deltas are sent to over a WebSocket, or `nil` where programs connect or datagrams are sent.
  package var server: SignalKServerAddress?
  /// The path of a file with USER:PASSWORD for the server, or `nil` to ask for access.
  package var credentials: String?
  /// The greatest number of values a second of one path, where nobody subscribes.
  package var rate = 10.0
  /// The first part of every source, and what a person at the server reads of who asks for access.
  package var label = "lodestone"
  /// The context of the vessel: `vessels.urn:mrn:...`, or `nil` where it is another server that knows it.
  package var vessel: String?
  /// Whether the barometer measures the air outside.
  package var measuresOutsideAir = false

  package init() {}

  /// What deltas are written with.
  var options: SignalKOptions {
    vessel.map { SignalKOptions(label: label, context: $0) } ?? SignalKOptions(label: label)
  }
}

extension SignalKSettings {
  /// The keys that only Signal K has.
  static let keys = ["server", "credentials", "rate", "label", "vessel"]
  /// Signal K's port for deltas over TCP and UDP.
  static let port = 8_375
  private static let rates = 0.1...20.0

  /// Reads an output of Signal K.
  static func parse(_ entry: YAMLMapping) throws(BoardFileError) -> OutputSettings {
    var settings = SignalKSettings()
    settings.server = try server(entry)
    settings.credentials = try ServeFile.path("credentials", entry, longest: 4_095)
    if settings.server == nil {
      guard settings.credentials == nil else {
        throw entry.error("credentials", "'credentials' goes with 'server'")
      }
    }
    settings.rate = try entry.number("rate", in: rates, unit: "values a second") ?? settings.rate
    if let label = try entry.string("label") {
      guard label.utf8.count <= 32, label.utf8.allSatisfy(isOfLabel) else {
        throw entry.error("label", "'label' is at most 32 letters, digits and hyphens")
      }
      settings.label = label
    }
    settings.vessel = try vessel(entry)
    settings.measuresOutsideAir = try entry.boolean("outsideAir") ?? false
    let transport = try transport(entry, settings)
    let address = try settings.server == nil ? ServeFile.numericAddress(entry) : nil
    if transport == .udp, address == nil {
      throw entry.error(
        "transport", "with udp an output needs the 'address' to which datagrams go")
    }
    let number = try entry.integer("port", in: 1...65_535) ?? port
    return OutputSettings(
      kind: .signalK(settings), transport: transport,
      address: settings.server?.host ?? address ?? "127.0.0.1",
      port: settings.server?.port ?? UInt16(number),
      positions: try ServeFile.positions(entry) ?? .none, line: entry.line(of: "protocol"))
  }

  private static func server(
    _ entry: YAMLMapping
  ) throws(BoardFileError) -> SignalKServerAddress? {
    guard let text = try entry.string("server") else { return nil }
    guard let server = SignalKServerAddress(text) else {
      throw entry.error(
        "server", "'server' is http://HOST:PORT or https://HOST:PORT, without a path or a name")
    }
    for key in ["address", "port", "transport"] where entry.has(key) {
      throw entry.error(key, "'\(key)' does not go with 'server'")
    }
    return server
  }

  private static func transport(
    _ entry: YAMLMapping, _ settings: SignalKSettings
  ) throws(BoardFileError) -> OutputSettings.Transport {
    if settings.server != nil { return .client }
    switch try entry.string("transport") ?? "tcp" {
    case "tcp": return .tcp
    case "udp": return .udp
    default:
      throw entry.error("transport", "'transport' is tcp or udp; for a WebSocket name a 'server'")
    }
  }

  /// Reads who the vessel is: `urn:mrn:imo:mmsi:230099999` or `urn:mrn:signalk:uuid:...`.
  private static func vessel(_ entry: YAMLMapping) throws(BoardFileError) -> String? {
    guard let text = try entry.string("vessel") else { return nil }
    let (mmsi, uuid) = ("urn:mrn:imo:mmsi:", "urn:mrn:signalk:uuid:")
    let number = text.dropFirst(mmsi.count)
    let isVessel =
      text.hasPrefix(mmsi) && number.utf8.count == 9
      && number.utf8.allSatisfy { (48...57).contains($0) }
      || text.hasPrefix(uuid) && SignalKAccess.isUUID(String(text.dropFirst(uuid.count)))
    guard isVessel else {
      throw entry.error(
        "vessel",
        "'vessel' is urn:mrn:imo:mmsi: with nine digits, or urn:mrn:signalk:uuid: with a UUID of version 4"
      )
    }
    return "vessels.\(text)"
  }

  private static func isOfLabel(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
  }
}
