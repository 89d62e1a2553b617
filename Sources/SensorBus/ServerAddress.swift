/// Where reports of a receiver come from, other than its wire: gpsd, or NMEA sentences on the network.
package enum ServerAddress: Sendable, Hashable, Codable, CustomStringConvertible {
  /// A host by name or number, and its TCP port.
  case tcp(host: String, port: UInt16)
  /// A socket of this machine, by its path.
  case unix(path: String)
  /// A UDP port of this machine: what is sent to any of its addresses, or only to this one (an interface's address, its
  /// broadcast address, or a multicast group), as a number.
  case udp(address: String?, port: UInt16)
  /// A datagram socket of another program on this machine, by its path: chrony's. It is only written to.
  case datagrams(path: String)

  /// The TCP and UDP port of NMEA 0183 (IANA, nmea-0183).
  package static let portOfNMEA: UInt16 = 10_110

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
    // Digits alone: a sign is none of a port's.
    guard port?.utf8.allSatisfy({ (48...57).contains($0) }) ?? true else { return nil }
    let number = port.map { UInt16($0) ?? 0 } ?? defaultPort
    guard !host.isEmpty, host.utf8.count <= 253, number > 0 else { return nil }
    self = .tcp(host: String(host), port: number)
  }

  /// Reads `tcp://boat:10110`, `udp://:10110`, `udp://239.2.1.1:10110` or `tcp://[fe80::1]`; `nil` for anything else. Without a
  /// port it is `portOfNMEA`.
  package init?(url text: String) {
    let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[1].isEmpty else { return nil }
    let place = String(parts[2])
    switch parts[0] {
    case "tcp:": self.init(host: place, defaultPort: Self.portOfNMEA)
    case "udp:":
      // Any host will do to read the port of one that is not given.
      let isAny = place.isEmpty || place.first == ":"
      guard
        case .tcp(let host, let port) = ServerAddress(
          host: isAny ? "any" + place : place, defaultPort: Self.portOfNMEA)
      else { return nil }
      guard isAny || Self.isNumber(host) else { return nil }
      self = .udp(address: isAny ? nil : host, port: port)
    default: return nil
    }
  }

  /// Whether a host looks like a number of IPv4 or IPv6; the kernel knows exactly.
  private static func isNumber(_ host: String) -> Bool {
    if host.contains(":") {
      return host.utf8.count <= 45
        && host.utf8.allSatisfy { byte in
          switch byte {
          case 48...58, 65...70, 97...102, UInt8(ascii: "."): true
          default: false
          }
        }
    }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && $0.first != "+" }
  }

  /// As in messages: `localhost:2947`, `[::1]:2947`, `/run/reports.sock`, `udp://:10110`.
  package var description: String {
    switch self {
    case .tcp(let host, let port): Self.text(host, port)
    case .unix(let path), .datagrams(let path): path
    case .udp(let address, let port): "udp://" + Self.text(address ?? "", port)
    }
  }

  private static func text(_ host: String, _ port: UInt16) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
