// Who is at the other end of a connection over the network, as far as the kernel knows it.

import CLinuxIO
import Glibc

/// Whose a connection of a port is, so that nobody gets all places.
package enum NetworkPeer: Hashable, Sendable, CustomStringConvertible {
  /// A program of this machine, and the number of its user; `nil` if the kernel does not name one.
  case local(user: UInt32?)
  /// Another machine: the four bytes of its IPv4 address, or the first eight of its IPv6 address,
  /// since a machine can have all addresses of its network.
  case remote([UInt8])

  package var description: String {
    switch self {
    case .local(let user?): "user \(user) of this machine"
    case .local(nil): "this machine"
    case .remote(let bytes) where bytes.count == 4: bytes.map(String.init).joined(separator: ".")
    case .remote(let bytes):
      stride(from: 0, to: bytes.count - 1, by: 2)
        .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
        .joined(separator: ":") + "::/64"
    }
  }

  /// Makes the peer of an address.
  ///
  /// - Parameter bytes: The 4 bytes of an IPv4 address or the 16 of an IPv6 address, which may hold one of IPv4.
  package init(address bytes: [UInt8]) {
    let isMapped = bytes.count == 16 && bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
    let plain = isMapped ? Array(bytes[12...]) : bytes
    let isLoopback = plain.count == 16 && plain.last == 1 && plain.dropLast().allSatisfy { $0 == 0 }
    let isLocal = plain.count == 4 ? plain[0] == 127 : isLoopback
    self = isLocal ? .local(user: nil) : .remote(Array(plain.prefix(plain.count == 4 ? 4 : 8)))
  }
}

extension LocalConnection {
  /// Who is at the other end of a TCP connection; `nil` if it is gone already, or for a connection of another kind.
  package var networkPeer: NetworkPeer? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getpeername(descriptor, $0, &length)
      }
    }
    guard result == 0 else { return nil }
    let address: [UInt8]? = withUnsafeBytes(of: storage) { raw in
      switch Int32(storage.ss_family) {
      case AF_INET:
        withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
      case AF_INET6:
        withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
      default: nil
      }
    }
    guard let address else { return nil }
    var user: UInt32 = 0
    // A program of this machine can connect from any address of the machine.
    if lodestone_connection_user(descriptor, &user) == 0 { return .local(user: user) }
    return NetworkPeer(address: address)
  }
}
