// A port at which programs of other machines arrive.

import CLinuxIO
import Glibc

/// Where connections arrive. Use it on one thread.
package protocol ConnectionListener: AnyObject {
  /// The place, for messages.
  var path: String { get }
  /// The descriptor, to wait for.
  var descriptor: Int32 { get }
  /// Accepts the next connection, or returns `nil` if nobody is waiting.
  ///
  /// - Throws: An error after which to pause: this process or the machine has no file descriptor left.
  func accept() throws(LocalSocketError) -> LocalConnection?
}

extension LocalListener: ConnectionListener {}

/// A TCP port at which programs arrive, of this machine or of others. The kernel does not say who they are.
package final class NetworkListener: ConnectionListener {
  /// When the kernel asks a connection at which nothing happens whether it is there, how often, and for how long, in seconds. A reader
  /// that takes nothing is there as long as it answers.
  private static let (idle, interval, probes): (Int32, Int32, Int32) = (10, 5, 3)

  package let path: String
  package let descriptor: Int32
  /// The port, which the system chooses if 0 was asked for.
  package let port: UInt16

  /// Listens at a numeric address of this machine.
  package init(address: String, port: UInt16) throws(LocalSocketError) {
    let name = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    path = name
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, String(port), &hints, &found) == 0, let entry = found?.pointee else {
      throw LocalSocketError(name, "this is not a numeric address", errno: EINVAL)
    }
    defer { freeaddrinfo(found) }
    let kind = entry.ai_socktype | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    descriptor = socket(entry.ai_family, kind, entry.ai_protocol)
    guard descriptor >= 0 else { throw LocalSocketError(name, errno: errno) }
    // Accepted connections inherit these.
    let options = [
      (SOL_SOCKET, SO_REUSEADDR, 1), (SOL_SOCKET, SO_KEEPALIVE, 1),
      (Int32(IPPROTO_TCP), TCP_KEEPIDLE, Self.idle),
      (Int32(IPPROTO_TCP), TCP_KEEPINTVL, Self.interval),
      (Int32(IPPROTO_TCP), TCP_KEEPCNT, Self.probes),
      (Int32(IPPROTO_TCP), TCP_NODELAY, 1),
    ]
    for (level, option, value) in options {
      var value = value
      setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
    guard bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, listen(descriptor, 128) == 0
    else {
      let code = errno
      close(descriptor)
      let reason = code == EADDRINUSE ? "the port is taken" : String(cString: strerror(code))
      throw LocalSocketError(name, reason, errno: code)
    }
    self.port = Self.port(of: descriptor) ?? port
  }

  deinit { close(descriptor) }

  package func accept() throws(LocalSocketError) -> LocalConnection? {
    try LocalConnection.accepted(from: descriptor, at: path)
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    guard result == 0 else { return nil }
    // The port is at the same offset in both families.
    return withUnsafeBytes(of: storage) {
      UInt16(bigEndian: $0.loadUnaligned(as: sockaddr_in.self).sin_port)
    }
  }
}
