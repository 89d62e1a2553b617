import Glibc

/// A listening socket. Its owner calls `end`.
struct WebListener: Sendable {
  /// The number of connections that may wait to be accepted. They cost only memory of the kernel.
  private static let backlog: Int32 = 4_096
  /// The kernel's buffers of a connection, in bytes. By default the kernel lets megabytes wait for a slow reader, which are
  /// minutes of old data. What waits in the server instead is replaced by newer data (`Outbox`).
  private static let sendBuffer: Int32 = 65_536
  private static let receiveBuffer: Int32 = 65_536
  private static let unsentLimit: Int32 = 16_384
  /// The time without an acknowledgement after which the kernel gives up a peer, in milliseconds.
  private static let goneAfter: Int32 = 20_000
  /// When the kernel asks a connection at which nothing happens whether its peer is there, and how often again, in seconds: a WebSocket
  /// may have no news for hours.
  private static let (silence, pause): (Int32, Int32) = (10, 5)

  let file: Int32
  /// The port, which the system chooses if 0 was asked for.
  let port: UInt16

  init(at address: ListenAddress, port: UInt16) throws(SystemProblem) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    file = socket(address.isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    guard file >= 0 else { throw SystemProblem(errno) }
    do throws(SystemProblem) {
      // Accepted connections inherit these options.
      try Self.set(SOL_SOCKET, SO_REUSEADDR, 1, of: file)
      try Self.set(SOL_SOCKET, SO_SNDBUF, Self.sendBuffer, of: file)
      try Self.set(SOL_SOCKET, SO_RCVBUF, Self.receiveBuffer, of: file)
      try Self.set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Self.unsentLimit, of: file)
      try Self.set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Self.goneAfter, of: file)
      try Self.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1, of: file)
      try Self.set(SOL_SOCKET, SO_KEEPALIVE, 1, of: file)
      try Self.set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, Self.silence, of: file)
      try Self.set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, Self.pause, of: file)
      try Self.bind(file, to: address, port: port)
      guard listen(file, Self.backlog) == 0 else { throw SystemProblem(errno) }
      self.port = try Self.port(of: file)
    } catch {
      close(file)
      throw error
    }
  }

  func end() { close(file) }

  private static func set(_ level: Int32, _ name: Int32, _ value: Int32, of file: Int32)
    throws(SystemProblem)
  {
    var value = value
    let size = socklen_t(MemoryLayout<Int32>.size)
    guard setsockopt(file, level, name, &value, size) == 0 else { throw SystemProblem(errno) }
  }

  private static func bind(_ file: Int32, to address: ListenAddress, port: UInt16)
    throws(SystemProblem)
  {
    let result: Int32
    if address.isIPv6 {
      var name = sockaddr_in6()
      name.sin6_family = sa_family_t(AF_INET6)
      name.sin6_port = port.bigEndian
      inet_pton(AF_INET6, address.text, &name.sin6_addr)
      result = bind(file, to: name)
    } else {
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port.bigEndian
      inet_pton(AF_INET, address.text, &name.sin_addr)
      result = bind(file, to: name)
    }
    guard result == 0 else { throw SystemProblem(errno) }
  }

  /// Binds to an address of either family.
  private static func bind<Name>(_ file: Int32, to name: Name) -> Int32 {
    withUnsafePointer(to: name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(file, $0, socklen_t(MemoryLayout<Name>.size))
      }
    }
  }

  private static func port(of file: Int32) throws(SystemProblem) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &length) }
    }
    guard result == 0 else { throw SystemProblem(errno) }
    // The port is at the same offset in both families.
    return withUnsafeBytes(of: storage) {
      UInt16(bigEndian: $0.loadUnaligned(as: sockaddr_in.self).sin_port)
    }
  }

  /// The result of accepting a connection.
  enum Taken {
    case connection(Int32, PeerAddress)
    case none
    /// The connection was closed before it was accepted.
    case lost
    /// There is no descriptor or no memory left for it.
    case exhausted
  }

  /// Accepts a connection without waiting.
  func take() -> Taken {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let file = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { accept(self.file, $0, &length) }
    }
    guard file >= 0 else {
      switch errno {
      case EAGAIN: return .none
      case EINTR, ECONNABORTED, EPROTO: return .lost
      default: return .exhausted
      }
    }
    guard fcntl(file, F_SETFD, FD_CLOEXEC) == 0, fcntl(file, F_SETFL, O_NONBLOCK) == 0,
      let address = PeerAddress(storage)
    else {
      close(file)
      return .lost
    }
    return .connection(file, address)
  }
}
