// Who is at the other end of a connection over the network.

import Glibc
import Testing

@testable import LinuxIO

struct NetworkPeerTests {
  private static func wide(_ last: [UInt8], _ first: [UInt8] = []) -> [UInt8] {
    first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
  }

  @Test("an address of IPv6 counts by its first half, one of IPv4 whole, and this machine once")
  func addresses() {
    #expect(NetworkPeer(address: [192, 0, 2, 7]).description == "192.0.2.7")
    #expect(NetworkPeer(address: Self.wide([255, 255, 192, 0, 2, 7])) == .remote([192, 0, 2, 7]))
    let host = NetworkPeer(address: Self.wide([9], [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 1]))
    #expect(host == NetworkPeer(address: Self.wide([8, 8], [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 1])))
    #expect(host.description == "2001:db8:0:1::/64")
    for own in [
      [127, 0, 0, 1], [127, 9, 9, 9], Self.wide([1]), Self.wide([255, 255, 127, 0, 0, 5]),
    ] {
      #expect(NetworkPeer(address: own) == .local(user: nil))
    }
    #expect(NetworkPeer.local(user: 1_000).description == "user 1000 of this machine")
  }

  @Test("the kernel names the user of a program of this machine", arguments: ["127.0.0.1", "::1"])
  func user(address: String) throws {
    guard let listener = try? NetworkListener(address: address, port: 0) else { return }
    let isWide = address.contains(":")
    let file = socket(isWide ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(file) }
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        getsockname(listener.descriptor, name, &length) == 0 ? connect(file, name, length) : -1
      }
    }
    try #require(result == 0)
    #expect(isReadable(listener.descriptor))
    let peer = try #require(try listener.accept()?.networkPeer)
    // A kernel without sock_diag (netlink's protocol 4) names nobody.
    let diagnosis = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 4)
    defer { close(diagnosis) }
    #expect(peer == .local(user: diagnosis >= 0 ? geteuid() : nil))
  }
}
