// Sockets between the programs of one machine: who listens, who has come, and what arrives.

import CLinuxIO
import Glibc

/// The reason why a local socket is of no use, with its path.
package struct LocalSocketError: Error, Hashable, Sendable, CustomStringConvertible {
  package var path: String
  package var reason: String
  /// The kernel's number, or 0.
  package var errno: Int32

  init(_ path: String, _ reason: String, errno: Int32 = 0) {
    (self.path, self.reason, self.errno) = (path, reason, errno)
  }

  package init(_ path: String, errno: Int32) {
    let reason =
      switch errno {
      case EACCES, EPERM: "this user may not"
      case ENOENT, ENOTDIR: "there is no such folder"
      case ENAMETOOLONG: "a socket's path has 107 bytes at most"
      case EADDRINUSE: "there is a file of this name"
      case ECONNREFUSED: "nobody listens there"
      case EMFILE, ENFILE: "too many files are open"
      default: String(cString: strerror(errno))
      }
    self.init(path, reason, errno: errno)
  }

  package var description: String { "\(path): \(reason)" }
}

/// The process at the other end of a connection, as the kernel knows it.
package struct SocketPeer: Hashable, Sendable {
  /// The number of the process when it connected. Another process may get the number after it has ended.
  package var process: Int32
  package var user: UInt32
  package var group: UInt32
}

/// A connection over a socket. It never waits; use it on one thread.
package final class LocalConnection {
  /// What a read has brought.
  package enum Arrival: Hashable, Sendable {
    case bytes(Int)
    /// Nothing has arrived since the last read.
    case nothing
    /// The other end is gone.
    case end
  }

  /// The descriptor, to wait for.
  package let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Begins to connect to a listener. Whether it worked shows with the first send.
  package convenience init(path: String) throws(LocalSocketError) {
    let result = lodestone_connect_path(path)
    guard result != -ENOENT else {
      throw LocalSocketError(path, "there is no such socket", errno: ENOENT)
    }
    guard result >= 0 else { throw LocalSocketError(path, errno: -result) }
    self.init(result)
  }

  static func accepted(
    from listener: Int32, at path: String
  ) throws(LocalSocketError) -> LocalConnection? {
    let result = lodestone_accept(listener)
    if result >= 0 { return LocalConnection(result) }
    switch -result {
    // Who has gone again is nobody.
    case EAGAIN, EINTR, ECONNABORTED, EPROTO: return nil
    // Of a network, what has happened to a connection before it was accepted.
    case ENETDOWN, ENONET, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, ENOPROTOOPT, EOPNOTSUPP: return nil
    default: throw LocalSocketError(path, errno: -result)
    }
  }

  /// Returns who is at the other end, or `nil` if the kernel does not say.
  package var peer: SocketPeer? {
    var peer = lodestone_peer()
    guard lodestone_peer(descriptor, &peer) == 0 else { return nil }
    return SocketPeer(process: peer.process, user: peer.user, group: peer.group)
  }

  /// Returns a handle of the process at the other end, or `nil` if it has ended or the kernel has none.
  package func peerProcess(_ peer: SocketPeer) -> ProcessHandle? {
    guard let process = Descriptor(lodestone_peer_process(descriptor, peer.process)) else {
      return nil
    }
    return ProcessHandle(process)
  }

  /// Limits the number of bytes that the kernel holds for the other end: what waits here instead can be superseded.
  package func limitSendBuffer(to count: Int) {
    var value = Int32(clamping: count)
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDBUF, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Reads what has arrived.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Arrival {
    let count = lodestone_receive(descriptor, buffer.baseAddress, buffer.count)
    if count > 0 { return .bytes(Int(count)) }
    return count == -EAGAIN || count == -EINTR ? .nothing : .end
  }

  /// Writes what there is room for.
  ///
  /// - Returns: The number of bytes that were taken, or `nil` if the other end is gone.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard !bytes.isEmpty else { return 0 }
    let count = lodestone_send(descriptor, bytes.baseAddress, bytes.count)
    if count >= 0 { return Int(count) }
    return count == -EAGAIN || count == -EINTR ? 0 : nil
  }
}

/// A process that no other can be taken for, however long ago it has ended.
package struct ProcessHandle: ~Copyable {
  private let descriptor: Descriptor

  init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// Whether the process still runs.
  package var isRunning: Bool { lodestone_process_runs(descriptor.raw) == 1 }
}

/// A local socket at which programs arrive. Use it on one thread.
package final class LocalListener {
  package let path: String
  /// The descriptor, to wait for.
  package let descriptor: Int32
  /// The lock beside the socket, held as long as somebody listens: of two daemons that start at once one gives up.
  private let lock: Int32
  private let inode: ino_t

  /// Listens at a path, and replaces a socket that an earlier run has left there.
  ///
  /// - Parameter mode: The permissions of the socket's file.
  package init(path: String, mode: UInt32) throws(LocalSocketError) {
    let lockPath = path + ".lock"
    let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw LocalSocketError(lockPath, errno: Glibc.errno) }
    guard lodestone_lock(lock) == 0 else {
      close(lock)
      throw LocalSocketError(path, "another daemon listens there", errno: EADDRINUSE)
    }
    var result = lodestone_listen_path(path, mode)
    if result == -EADDRINUSE {
      do throws(LocalSocketError) {
        try Self.removeStale(path)
      } catch {
        close(lock)
        throw error
      }
      result = lodestone_listen_path(path, mode)
    }
    guard result >= 0 else {
      close(lock)
      throw LocalSocketError(path, errno: -result)
    }
    (self.path, descriptor, self.lock) = (path, result, lock)
    inode = Self.inode(of: path) ?? 0
  }

  /// Listens at a socket that another process, such as a service manager, has opened. It stays when nobody listens any more.
  ///
  /// - Throws: An error if the descriptor is no local socket that listens.
  package init(adopting descriptor: Int32) throws(LocalSocketError) {
    let name = "descriptor \(descriptor)"
    let result = lodestone_adopt_listener(descriptor)
    guard result == 0 else {
      throw LocalSocketError(
        name, result == -EINVAL ? "it is no local socket that listens" : "it is of no use",
        errno: -result)
    }
    (path, self.descriptor, lock, inode) = (Self.path(of: descriptor) ?? name, descriptor, -1, 0)
  }

  /// The path at which programs find the socket, or `nil` if it has none.
  private static func path(of descriptor: Int32) -> String? {
    var (name, length) = (sockaddr_un(), socklen_t(MemoryLayout<sockaddr_un>.size))
    let result = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    guard result == 0 else { return nil }
    let text = withUnsafeBytes(of: name.sun_path) { $0.prefix { $0 != 0 } }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }

  deinit {
    // Another program may have replaced the file.
    if let inode = Self.inode(of: path), inode == self.inode { unlink(path) }
    close(descriptor)
    if lock >= 0 { close(lock) }
  }

  /// Accepts the next connection, or returns `nil` if no program is waiting.
  ///
  /// - Throws: An error after which to pause: this process or the machine has no file descriptor left.
  package func accept() throws(LocalSocketError) -> LocalConnection? {
    try LocalConnection.accepted(from: descriptor, at: path)
  }

  private static func inode(of path: String) -> ino_t? {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK ? status.st_ino : nil
  }

  /// Removes a socket that nobody listens at; anything else of this name stays.
  private static func removeStale(_ path: String) throws(LocalSocketError) {
    guard inode(of: path) != nil else {
      throw LocalSocketError(path, "there is something else of this name", errno: EADDRINUSE)
    }
    let probe = lodestone_connect_path(path)
    // Who is too busy to answer at once is somebody.
    guard probe == -ECONNREFUSED else {
      if probe >= 0 { close(probe) }
      throw LocalSocketError(path, "another program listens there", errno: EADDRINUSE)
    }
    guard unlink(path) == 0 || Glibc.errno == ENOENT else {
      throw LocalSocketError(path, errno: Glibc.errno)
    }
  }
}
