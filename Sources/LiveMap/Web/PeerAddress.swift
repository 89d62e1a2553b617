import Glibc

/// The address of a peer without its port. An IPv4 address that comes over an IPv6 socket is equal to the IPv4 address.
struct PeerAddress: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64

  /// Creates an IPv4 address from its number in host byte order.
  init(ipv4 address: UInt32) {
    high = 0
    low = 0xFFFF_0000_0000 | UInt64(address)
  }

  init(ipv6 address: in6_addr) {
    (high, low) = withUnsafeBytes(of: address) { bytes in
      func word(_ range: Range<Int>) -> UInt64 {
        bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
      }
      return (word(0..<8), word(8..<16))
    }
  }

  /// Creates an address from the result of accept(2); `nil` for another family than IPv4 and IPv6.
  init?(_ storage: sockaddr_storage) {
    switch Int32(storage.ss_family) {
    case AF_INET:
      self.init(
        ipv4: withUnsafeBytes(of: storage) {
          UInt32(bigEndian: $0.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr)
        })
    case AF_INET6:
      self.init(
        ipv6: withUnsafeBytes(of: storage) { $0.loadUnaligned(as: sockaddr_in6.self).sin6_addr })
    default: return nil
    }
  }
}
