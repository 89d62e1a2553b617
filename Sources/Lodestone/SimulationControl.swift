import Foundation
import SimulatedDevices
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The control line of a simulated board that runs in this process: a Unix socket that takes the requests of a rig's
/// control line, one a line, and answers each.
///
/// Whoever may write to the socket's file may turn the board. It listens until it goes.
final class SimulationControl: Sendable {
  /// The socket cannot be made.
  struct Failure: Error, CustomStringConvertible {
    let path: String
    let reason: String
    var description: String { "the simulation's control \(path): \(reason)" }
  }

  /// Those that talk at once; more wait.
  private static let mostPeers = 4
  /// Bytes of answers that wait for one who does not read; then it is hung up on.
  private static let mostUnsent = 16_384
  /// How long the end may be waited for, milliseconds.
  private static let look: Int32 = 50

  /// What the object and its thread share; the thread must not hold the object, or that would never go.
  private final class End: Sendable {
    let isWanted = Atomic<Bool>(false)
  }

  private let path: String
  private let node: ino_t
  private let end = End()

  /// Makes the socket; one that an earlier run has left there is replaced, any other file is not.
  init(path: String, of board: SimulatedBusProvider, names: [String]) throws(Failure) {
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else {
        throw Failure(path: path, reason: "there is something else of that name")
      }
      unlink(path)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let isShort = withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard !bytes.isEmpty, bytes.count < place.count else { return false }
      place.copyBytes(from: bytes)
      return true
    }
    guard isShort else {
      throw Failure(path: path, reason: "a socket's path has 107 bytes at most")
    }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let file = socket(AF_UNIX, kind, 0)
    guard file >= 0 else { throw Failure(path: path, reason: String(cString: strerror(errno))) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, listen(file, 4) == 0 else {
      let reason = String(cString: strerror(errno))
      close(file)
      throw Failure(path: path, reason: reason)
    }
    self.path = path
    node = lstat(path, &status) == 0 ? status.st_ino : 0
    let (control, end) = (RigControl(provider: board, names: names), end)
    let thread = Thread {
      Self.serve(listener: file, control) { end.isWanted.load(ordering: .acquiring) }
    }
    thread.name = "control"
    thread.start()
  }

  deinit {
    end.isWanted.store(true, ordering: .releasing)
    // Another may have replaced it.
    var status = stat()
    if lstat(path, &status) == 0, status.st_ino == node { unlink(path) }
  }

  private struct Peer {
    var file: Int32
    var cutter = LineCutter()
    var unsent: [UInt8] = []
  }

  /// Listens and answers until the end is wanted.
  private static func serve(
    listener: Int32, _ control: RigControl, isOver: @Sendable () -> Bool
  ) {
    var peers: [Peer] = []
    while !isOver() {
      var entries = peers.map {
        pollfd(
          file: $0.file, events: $0.unsent.isEmpty ? POLLIN : POLLIN | POLLOUT)
      }
      if peers.count < mostPeers { entries.append(pollfd(file: listener, events: POLLIN)) }
      guard poll(&entries, nfds_t(entries.count), look) > 0 else { continue }
      for place in peers.indices.reversed() where entries[place].revents != 0 {
        if !talk(&peers[place], control) { close(peers.remove(at: place).file) }
      }
      if entries.last?.fd == listener, entries.last?.revents != 0 {
        let file = accept(listener, nil, nil)
        guard file >= 0 else { continue }
        _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL, 0) | O_NONBLOCK)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        peers.append(Peer(file: file))
      }
    }
    for peer in peers { close(peer.file) }
    close(listener)
  }

  /// Takes what has come and sends what is to be said; false for one who has gone.
  private static func talk(_ peer: inout Peer, _ control: RigControl) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = recv(peer.file, &buffer, buffer.count, 0)
    if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { return false }
    if count > 0 {
      for line in peer.cutter.take(Array(buffer.prefix(count))) {
        if let answer = control.answer(to: line) { peer.unsent += Array(answer.utf8) + [10] }
      }
    }
    guard !peer.unsent.isEmpty else { return true }
    let sent = send(peer.file, peer.unsent, peer.unsent.count, Int32(MSG_NOSIGNAL))
    if sent < 0 { return errno == EAGAIN || errno == EINTR }
    peer.unsent.removeFirst(sent)
    return peer.unsent.count < mostUnsent
  }
}

extension pollfd {
  fileprivate init(file: Int32, events: Int32) {
    self.init(fd: file, events: Int16(events), revents: 0)
  }
}
