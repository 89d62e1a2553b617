// Decides who gets the page. Every client needs the token, also on this machine: all of its users can connect to a loopback
// address. If the server listens only there, another page in the same browser is a danger too. It may have a name that was made
// to lead here, so the Host header has to name this machine. It may open a WebSocket across origins, which browsers allow, so
// the Origin header has to be the page's own.

/// Decides whether a request is answered.
package struct MapAccess: Sendable {
  /// The token that every URL has to carry.
  let token: String
  /// Whether the server listens at a loopback address only.
  let isForThisMachine: Bool

  /// Why a request is refused; `nil` where it is answered.
  func refusal(host: String?, origin: String?, token given: String?, opensWebSocket: Bool)
    -> AccessRefusal?
  {
    guard Self.isSame(given ?? "", token) else { return .token }
    if isForThisMachine {
      guard let host, Self.isLoopback(host: host) else { return .host }
    }
    guard opensWebSocket else { return nil }
    return Self.isSameOrigin(origin, host: host) ? nil : .origin
  }

  /// Whether two texts are the same, in a time that says nothing about where they differ.
  static func isSame(_ given: String, _ expected: String) -> Bool {
    let (given, expected) = (Array(given.utf8), Array(expected.utf8))
    var difference: UInt8 = given.count == expected.count ? 0 : 1
    for (place, byte) in expected.enumerated() {
      difference |= byte ^ (place < given.count ? given[place] : ~byte)
    }
    return difference == 0
  }

  /// Whether a Host header names this machine. Its port may be another one: `ssh -L` brings the page elsewhere.
  static func isLoopback(host: String) -> Bool {
    var name = host[...]
    if name.hasPrefix("[") {
      guard let end = name.firstIndex(of: "]") else { return false }
      guard isPort(name[name.index(after: end)...]) else { return false }
      name = name[name.index(after: name.startIndex)..<end]
      return ListenAddress(String(name)).map { $0.isIPv6 && $0.isLoopback } ?? false
    }
    if let colon = name.firstIndex(of: ":") {
      guard isPort(name[colon...]) else { return false }
      name = name[..<colon]
    }
    if name.lowercased() == "localhost" { return true }
    return ListenAddress(String(name)).map { !$0.isIPv6 && $0.isLoopback } ?? false
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || text.first == ":" && UInt16(text.dropFirst()) != nil
  }

  /// Whether an Origin header is that of a page that came by the same Host header.
  static func isSameOrigin(_ origin: String?, host: String?) -> Bool {
    guard let origin = origin?.lowercased(), let host = host?.lowercased(), !host.isEmpty else {
      return false
    }
    return origin == "http://\(host)" || origin == "https://\(host)"
  }

  /// A Host header where it may stand in another header, `nil` where it has what no host has.
  static func plain(host: String?) -> String? {
    guard let host, !host.isEmpty,
      host.utf8.allSatisfy({
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: ".:-[]".utf8.contains($0)
        }
      })
    else { return nil }
    return host
  }

  package init(token: String, isForThisMachine: Bool) {
    self.token = token; self.isForThisMachine = isForThisMachine
  }
}

/// Why a request is refused.
enum AccessRefusal: String {
  case token =
    "This URL has no token, or an old one. Open the URL that lodestone map prints, or append ?token= and the text in its token file."
  case host = "This page is for this machine only: open it by the name localhost."
  case origin = "A WebSocket is opened by the page itself only."
}
