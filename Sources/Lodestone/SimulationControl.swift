import Glibc
import SimulatedDevices
import Synchronization
import Threads

/// The control line of a simulated board that runs in this process: a Unix socket that takes the requests of a rig's
/// control line, one a line, and answers each.
///
/// Whoever may write to the socket's file may turn the board. It listens until it goes.
package final class SimulationControl: Sendable {
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

  /// The sockets that this process has made and still has: a board that is opened again takes its own over.
  private static let own = Mutex<Set<ino_t>>([])

  /// Makes the socket; one that an earlier run has left there is replaced, one that another program listens at and any
  /// other file are not.
  init(path: String, of board: SimulatedBusProvider, names: [String]) throws(SimulationControlError)
  {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let isShort = withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard !bytes.isEmpty, bytes.count < place.count else { return false }
      place.copyBytes(from: bytes)
      return true
    }
    guard isShort else {
      throw SimulationControlError(path: path, reason: "a socket's path has 107 bytes at most")
    }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let file = socket(AF_UNIX, kind, 0)
    guard file >= 0 else {
      throw SimulationControlError(path: path, reason: String(cString: strerror(errno)))
    }
    func reach(_ call: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
      withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0) }
      }
    }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    var failure: String?
    if reach({ bind(file, $0, length) }) != 0 {
      failure = errno == EADDRINUSE ? Self.obstacle(path, reach) : String(cString: strerror(errno))
      if failure == nil {
        unlink(path)
        if reach({ bind(file, $0, length) }) != 0 { failure = String(cString: strerror(errno)) }
      }
    }
    if failure == nil, listen(file, 4) != 0 { failure = String(cString: strerror(errno)) }
    if let failure {
      close(file)
      throw SimulationControlError(path: path, reason: failure)
    }
    self.path = path
    var status = stat()
    let node = lstat(path, &status) == 0 ? status.st_ino : 0
    self.node = node
    Self.own.withLock { _ = $0.insert(node) }
    let (control, end) = (RigControl(provider: board, names: names), end)
    let code = SystemThread.start("control") {
      Self.serve(listener: file, control) { end.isWanted.load(ordering: .acquiring) }
    }
    guard code == 0 else {
      close(file)
      throw SimulationControlError(path: path, reason: String(cString: strerror(code)))
    }
  }

  /// Why what is at the path may not be replaced; `nil` for a socket that nobody else listens at.
  private static func obstacle(
    _ path: String, _ reach: ((UnsafePointer<sockaddr>) -> Int32) -> Int32
  ) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    guard status.st_mode & S_IFMT == S_IFSOCK else { return "there is something else of that name" }
    guard !own.withLock({ $0.contains(status.st_ino) }) else { return nil }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let file = socket(AF_UNIX, kind, 0)
    guard file >= 0 else { return String(cString: strerror(errno)) }
    defer { close(file) }
    // Refused is nobody; one who is too busy to answer at once is somebody.
    guard
      reach({ connect(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }) == 0
        || errno == EAGAIN
    else {
      return errno == ECONNREFUSED || errno == ENOENT ? nil : String(cString: strerror(errno))
    }
    return
      "another program runs this board and listens there: end that one, or copy the board file and give "
      + "the copy another 'control'"
  }

  deinit {
    _ = Self.own.withLock { $0.remove(node) }
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

/// The socket cannot be made.
package struct SimulationControlError: Error, CustomStringConvertible {
  let path: String
  let reason: String
  package var description: String { "the simulation's control \(path): \(reason)" }
}

extension pollfd {
  fileprivate init(file: Int32, events: Int32) {
    self.init(fd: file, events: Int16(events), revents: 0)
  }
}
