// Datagrams to an address of the network.

import CLinuxIO
import Glibc

/// Takes datagrams for one address.
package protocol DatagramWriter: Sendable {
  /// The address and port, for messages: `udp://192.168.1.255:10110`.
  var place: String { get }
  /// Sends a datagram. Returns the reason if it was not sent.
  func send(_ bytes: [UInt8]) -> String?
}

/// A UDP socket that sends to one address. Nothing is waited for.
package final class DatagramPort: DatagramWriter {
  package let place: String
  private let file: Int32

  /// Opens a socket to a numeric address, which may be one of a whole network or of a multicast group.
  package init(address: String, port: UInt16) throws(LocalSocketError) {
    let name = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    place = "udp://\(name)"
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, String(port), &hints, &found) == 0, let entry = found?.pointee else {
      throw LocalSocketError(name, "this is not a numeric address", errno: EINVAL)
    }
    defer { freeaddrinfo(found) }
    let kind = entry.ai_socktype | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    file = socket(entry.ai_family, kind, entry.ai_protocol)
    guard file >= 0 else { throw LocalSocketError(name, errno: errno) }
    var isAllowed: Int32 = 1
    setsockopt(
      file, SOL_SOCKET, SO_BROADCAST, &isAllowed, socklen_t(MemoryLayout<Int32>.size))
    // Answers are not read: the kernel is to keep as few of them as it can.
    var held: Int32 = 0
    setsockopt(file, SOL_SOCKET, SO_RCVBUF, &held, socklen_t(MemoryLayout<Int32>.size))
    guard connect(file, entry.ai_addr, entry.ai_addrlen) == 0 else {
      let code = errno
      close(file)
      throw LocalSocketError(name, errno: code)
    }
  }

  deinit { close(file) }

  /// Sends a datagram. Returns the reason if it was not sent.
  ///
  /// If nobody listens at the address of one machine, the kernel reports a datagram as refused at the next one. The next call then says
  /// so, and sends its own datagram all the same: while nobody listens, each call but the first reports one that is lost.
  package func send(_ bytes: [UInt8]) -> String? {
    var code = failure(of: bytes)
    if code == ECONNREFUSED {
      let second = failure(of: bytes)
      code = second == 0 ? ECONNREFUSED : second
    }
    return switch code {
    case 0: nil
    case ECONNREFUSED: "nobody listens there"
    case EAGAIN, ENOBUFS: "the network takes no more at the moment"
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN: "there is no way to that address"
    default: String(cString: strerror(code))
    }
  }

  /// Returns the kernel's number for why a datagram was not taken, or 0 if it was.
  private func failure(of bytes: [UInt8]) -> Int32 {
    let count = bytes.withUnsafeBytes {
      Glibc.send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    return count < 0 ? errno : 0
  }
}
