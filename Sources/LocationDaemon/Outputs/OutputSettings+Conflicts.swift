// What two outputs of serve.yaml cannot share.

import BoardFile
import OutputProtocols

extension OutputSettings {
  /// Throws if an earlier output has the port, the device or the client identifier that this one wants.
  static func demandUnique(
    _ output: OutputSettings, among others: [OutputSettings], _ entry: YAMLMapping
  ) throws(BoardFileError) {
    if let other = others.first(where: { $0.hasPort(of: output) }) {
      throw entry.error("port", "the output of line \(other.line) has this port")
    }
    if let device = output.device,
      let other = others.first(where: { $0.device?.name == device.name })
    {
      throw entry.error(
        "protocol", "the output of line \(other.line) has \(device.name) already")
    }
    if let client = output.brokerClient,
      let other = others.first(where: { $0.brokerClient == client })
    {
      throw entry.error(
        "name",
        "the output of line \(other.line) has the name '\(client.name)' at this broker, which ends the connection of one of them: "
          + "give each a 'name' of its own")
    }
  }

  private func hasPort(of other: OutputSettings) -> Bool {
    listens && other.listens && address == other.address && port == other.port
  }

  /// Who an output is to a broker of MQTT.
  private struct BrokerClient: Hashable {
    var host: String
    var port: UInt16
    var name: String
  }

  private var brokerClient: BrokerClient? {
    guard case .mqtt(let configuration) = kind else { return nil }
    return BrokerClient(
      host: address.lowercased(), port: port,
      name: HomeAssistantDevice.identifier(configuration.name))
  }
}
