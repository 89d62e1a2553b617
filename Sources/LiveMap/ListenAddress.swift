// Where the server listens, and how a person reaches it there.

import Glibc

/// A numeric address of this machine to listen at.
package struct ListenAddress: Sendable, Equatable {
  /// The address as it is written.
  package let text: String
  let isIPv6: Bool
  /// Whether only this machine reaches it.
  package let isLoopback: Bool
  /// Whether it stands for every address that this machine has.
  let isWildcard: Bool

  /// `nil` for what is no numeric address; names are not looked up, but for the one that every machine has.
  package init?(_ text: String) {
    let text = text == "localhost" ? "127.0.0.1" : text
    self.text = text
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      isIPv6 = false
      isLoopback = UInt32(bigEndian: four.s_addr) >> 24 == 127
      isWildcard = four.s_addr == 0
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      isIPv6 = true
      let bytes = withUnsafeBytes(of: six) { Array($0) }
      isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
      isWildcard = bytes.allSatisfy { $0 == 0 }
    } else {
      return nil
    }
  }

  /// The address and a port as URLs have them.
  package func authority(port: UInt16) -> String {
    isIPv6 ? "[\(text)]:\(port)" : "\(text):\(port)"
  }

  /// The page's URLs, the likeliest first: one for each address of this machine if all of them are listened at.
  package func urls(port: UInt16, token: String?) -> [String] {
    let query = token.map { "?token=\($0)" } ?? ""
    let addresses = isWildcard ? Self.ofThisMachine(withIPv6: isIPv6) : [self]
    return (addresses.isEmpty ? [self] : addresses).map {
      "http://\($0.authority(port: port))/\(query)"
    }
  }

  // Link-local addresses of IPv6 are left out: browsers take none.
  private static func ofThisMachine(withIPv6: Bool) -> [ListenAddress] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    var found: [ListenAddress] = []
    var next = first
    while let entry = next {
      next = entry.pointee.ifa_next
      guard let address = entry.pointee.ifa_addr else { continue }
      let isIPv6 = address.pointee.sa_family == sa_family_t(AF_INET6)
      guard isIPv6 ? withIPv6 : address.pointee.sa_family == sa_family_t(AF_INET) else { continue }
      let size = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      guard
        getnameinfo(
          address, socklen_t(size), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
      else { continue }
      let text = String(
        decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if let parsed = ListenAddress(text) { found.append(parsed) }
    }
    // One that others can use comes first.
    return found.filter { !$0.isLoopback } + found.filter(\.isLoopback)
  }
}
