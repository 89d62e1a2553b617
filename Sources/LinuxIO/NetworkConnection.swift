// Connections to servers for what is no bus.

package import SensorBus

/// How a connection is encrypted.
package struct EncryptionSettings: Hashable, Sendable {
  /// The path of a file with the certificates of authorities (PEM) that alone are trusted; `nil` for the system's store.
  package var authorities: String?

  package init(authorities: String? = nil) { self.authorities = authorities }
}

/// Makes connections to servers.
package enum NetworkConnection {
  /// Begins a connection. It is made while it is read, and nothing is waited for.
  ///
  /// - Parameters:
  ///   - encryption: How it is encrypted (TLS, with the server's name verified), or `nil` for not at all.
  ///   - seconds: How long name, connection and encryption may take together.
  package static func open(
    to server: ServerAddress, encryption: EncryptionSettings?, within seconds: Double
  ) throws(BusError) -> any NetworkStream {
    guard let encryption else { return try SocketStream(server, within: seconds) }
    return try TLSStream(server, within: seconds, authorities: encryption.authorities)
  }
}
