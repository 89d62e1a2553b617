/// Where a server on this machine or another is reached: gpsd's reports.
package enum ServerAddress: Sendable, Hashable, Codable, CustomStringConvertible {
  /// A host by name or number, and its TCP port.
  case tcp(host: String, port: UInt16)
  /// A socket of this machine, by its path.
  case unix(path: String)

  /// Reads `localhost`, `localhost:2947`, `192.168.1.7:2947` or `[::1]:2947`; `nil` for what is none of them.
  package init?(host text: String, defaultPort: UInt16) {
    guard !text.isEmpty, !text.contains(where: { $0 == " " || $0 == "/" }) else { return nil }
    var host = text[...]
    var port: Substring?
    if host.first == "[" {
      guard let end = host.firstIndex(of: "]") else { return nil }
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
      host = host[host.index(after: host.startIndex)..<end]
    } else if let colon = host.firstIndex(of: ":") {
      port = host[host.index(after: colon)...]
      host = host[..<colon]
      // An address with more colons needs its brackets.
      guard port?.contains(":") == false else { return nil }
    }
    let number = port.map { UInt16($0) ?? 0 } ?? defaultPort
    guard !host.isEmpty, host.utf8.count <= 253, number > 0 else { return nil }
    self = .tcp(host: String(host), port: number)
  }

  /// As in messages: `localhost:2947`, `[::1]:2947`, `/run/reports.sock`.
  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): path
    }
  }
}
