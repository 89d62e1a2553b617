// Where a Signal K server is, and what it serves where.

import GNSSProtocol

/// A server as its owner names it: `http://HOST:PORT` or `https://HOST:PORT`.
package struct SignalKServerAddress: Sendable, Hashable, CustomStringConvertible {
  /// A name, or a number without brackets.
  package let host: String
  package let port: UInt16
  /// Whether it is reached by TLS.
  package let isEncrypted: Bool

  /// Makes the address of a server that was found in the network.
  package init(host: String, port: UInt16, isEncrypted: Bool) {
    (self.host, self.port, self.isEncrypted) = (host, port, isEncrypted)
  }

  /// Reads an address, whose port is 80 or 443 if it has none. Returns `nil` for one with a path, a user's name, or another scheme.
  package init?(_ text: String) {
    guard let place = SignalKURL(text), place.path == "/" else { return nil }
    switch place.scheme {
    case "http": self.init(host: place.host, port: place.port ?? 80, isEncrypted: false)
    case "https": self.init(host: place.host, port: place.port ?? 443, isEncrypted: true)
    default: return nil
    }
  }

  package var description: String { "\(isEncrypted ? "https" : "http")://\(hostField)" }

  /// The header field `Host` of requests to it.
  package var hostField: String {
    let host = self.host.contains(":") ? "[\(self.host)]" : self.host
    return port == (isEncrypted ? 443 : 80) ? host : "\(host):\(port)"
  }
}

/// A URL of a server.
struct SignalKURL: Sendable, Hashable {
  /// The greatest number of bytes.
  static let limit = 512

  let scheme: String
  let host: String
  let port: UInt16?
  /// Begins with a slash.
  let path: String

  init?(_ text: String) {
    guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      return nil
    }
    let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[1].isEmpty, let scheme = parts.first, scheme.last == ":" else {
      return nil
    }
    self.scheme = scheme.dropLast().lowercased()
    path = "/" + (parts.count > 3 ? parts[3] : "")
    var (host, number): (Substring, Substring?) = (parts[2], nil)
    if host.first == "[" {
      guard let end = host.firstIndex(of: "]") else { return nil }
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      if !rest.isEmpty { number = rest.dropFirst() }
      host = host[host.index(after: host.startIndex)..<end]
      guard host.utf8.allSatisfy({ Self.isHexadecimal($0) || $0 == 58 || $0 == 46 }) else {
        return nil
      }
    } else {
      if let colon = host.firstIndex(of: ":") {
        (host, number) = (host[..<colon], host[host.index(after: colon)...])
      }
      guard host.utf8.allSatisfy({ Self.isOfName($0) }) else { return nil }
    }
    guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
    self.host = String(host)
    guard let number else {
      port = nil
      return
    }
    guard number.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(number), port > 0
    else { return nil }
    self.port = port
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
      || byte == 45 || byte == 46 || byte == 95
  }
}

/// Where a server streams deltas.
///
/// The host stays the one that the owner has named, so that a token goes nowhere else.
package struct SignalKStreamPlace: Sendable, Hashable {
  package let server: SignalKServerAddress
  /// The path with its query, which asks for no values.
  package let path: String

  /// Reads the endpoints that a server lists at `/signalk`.
  ///
  /// - Returns: The place, or why there is none, in words.
  static func read(
    _ body: [UInt8], of server: SignalKServerAddress
  ) -> (place: SignalKStreamPlace?, problem: String) {
    var (stream, isList): (String?, Bool) = (nil, false)
    let isSound = body.withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes)
      scanner.object { scanner, key in
        guard case "endpoints" = key else { return }
        scanner.object { scanner, version in
          guard case "v1" = version else { return }
          isList = true
          scanner.object { scanner, service in
            guard case "signalk-ws" = service else { return }
            stream = scanner.string()?.words(limit: SignalKURL.limit + 1)
          }
        }
      }
      return scanner.isAtEnd()
    }
    guard isSound, isList else { return (nil, "it is no Signal K server") }
    guard let stream else { return (nil, "it has no stream over a WebSocket") }
    guard let url = SignalKURL(stream), url.path.utf8.allSatisfy({ $0 != 35 }) else {
      return (nil, "it names its stream in a way that cannot be read")
    }
    let isEncrypted: Bool
    switch url.scheme {
    case "ws", "http": isEncrypted = false
    case "wss", "https": isEncrypted = true
    default: return (nil, "it names its stream in a way that cannot be read")
    }
    guard isEncrypted || !server.isEncrypted else {
      return (nil, "it offers its stream without encryption only")
    }
    let port = url.port ?? (isEncrypted ? 443 : 80)
    let query = url.path.contains("?") ? "&" : "?"
    return (
      SignalKStreamPlace(
        server: SignalKServerAddress(host: server.host, port: port, isEncrypted: isEncrypted),
        path: "\(url.path)\(query)subscribe=none"), ""
    )
  }
}
