// What two outputs of serve.yaml cannot share.

import BoardFile
import Glibc
import OutputProtocols

/// A TCP port of this machine at which something in serve.yaml listens.
struct ListenedPort: Sendable {
  /// What listens there, in messages.
  let owner: String
  /// The bytes of the address: `127.1` is 127.0.0.1.
  private let address: [UInt8]
  private let port: UInt16

  /// Makes the port of a numeric address; `nil` for another one, and where the system chooses the port.
  init?(_ address: String, _ port: UInt16, owner: String) {
    guard port != 0 else { return nil }
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    defer { if let found { freeaddrinfo(found) } }
    guard getaddrinfo(address, nil, &hints, &found) == 0, let name = found?.pointee.ai_addr else {
      return nil
    }
    let raw = UnsafeRawPointer(name)
    switch Int32(name.pointee.sa_family) {
    case AF_INET:
      self.address = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) {
        Array($0)
      }
    case AF_INET6:
      self.address = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) {
        Array($0)
      }
    default: return nil
    }
    (self.owner, self.port) = (owner, port)
  }

  /// Whether only one of the two can be opened. `0.0.0.0` has the port at all addresses of IPv4, `::` at all there are.
  func excludes(_ other: ListenedPort) -> Bool {
    guard port == other.port else { return false }
    return address == other.address || covers(other) || other.covers(self)
  }

  private func covers(_ other: ListenedPort) -> Bool {
    address.allSatisfy { $0 == 0 } && (address.count == 16 || other.address.count == 4)
  }
}

extension OutputSettings {
  /// Throws if an earlier output has the port, the device or the client identifier that this one wants.
  ///
  /// - Parameter taken: The ports of what is no output.
  static func demandUnique(
    _ output: OutputSettings, among others: [OutputSettings], _ taken: [ListenedPort],
    _ entry: YAMLMapping
  ) throws(BoardFileError) {
    if let own = output.listenedPort,
      let other = (taken + others.compactMap(\.listenedPort)).first(where: own.excludes)
    {
      throw entry.error(
        entry.has("port") ? "port" : "protocol", "\(other.owner) has this port")
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

  private var listenedPort: ListenedPort? {
    listens ? ListenedPort(address, port, owner: "the output of line \(line)") : nil
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
