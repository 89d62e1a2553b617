// Who gets the page. Other machines need the token that was printed. On this machine the danger is another page in the
// same browser: one whose name is made to lead here (so the Host header has to be a name of this machine), or one that
// opens a WebSocket across origins, which browsers allow (so the Origin has to be the page's own).

/// Decides whether a request is answered.
struct MapAccess: Sendable {
  /// Why a request is refused.
  enum Refusal: String {
    case token = "The URL lacks its token: open the one that lodestone map has printed.\n"
    case host = "This page is for this machine: open it by the name localhost.\n"
    case origin = "Another page asks.\n"
  }

  /// What every URL has to carry; `nil` where only this machine can ask.
  let token: String?

  /// 128 random bits, in hexadecimal.
  static func newToken() -> String {
    var source = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(source.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Why a request is refused; `nil` where it is answered.
  func refusal(host: String?, origin: String?, token given: String?, opensWebSocket: Bool)
    -> Refusal?
  {
    if let token {
      guard Self.isSame(given ?? "", token) else { return .token }
    } else {
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
}
