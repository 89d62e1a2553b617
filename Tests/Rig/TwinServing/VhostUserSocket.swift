// A vhost-user socket: listens, reads messages as they come in, answers.

import CVhostUser
import Glibc
import SensorTypes

/// The socket of one device. One peer at a time; another may come when it has gone.
final class VhostUserSocket: Station {
  let path: String
  private let device: any VirtioDevice
  private let log: Log
  private let listener: Int32
  /// The node of the socket, by which it is known again: another may have replaced it.
  private let node: ino_t
  private var peer: Int32 = -1
  private var backend: VhostUserBackend?
  /// What has come of the message that is coming in.
  private var pending: [UInt8] = []
  private var files: [Int32] = []
  /// Whether there was a peer since the start.
  private(set) var wasConnected = false

  private static let partsAtOnce = 64

  var isConnected: Bool { peer >= 0 }

  /// Makes the socket; a socket that an earlier run has left there is replaced, any other file is not.
  init(path: String, device: any VirtioDevice, log: Log) throws(RigError) {
    self.path = path
    self.device = device
    self.log = log
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else {
        throw RigError("\(path): there is something else of that name")
      }
      unlink(path)
    }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let file = socket(AF_UNIX, kind, 0)
    guard file >= 0 else { throw .call("socket", errno: errno) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let isShort = withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard bytes.count < place.count else { return false }
      place.copyBytes(from: bytes)
      return true
    }
    var result: Int32 = -1
    if isShort {
      result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    } else {
      errno = ENAMETOOLONG
    }
    guard result == 0, listen(file, 1) == 0 else {
      let error = errno
      close(file)
      throw .call(path, errno: error)
    }
    listener = file
    node = lstat(path, &status) == 0 ? status.st_ino : 0
  }

  deinit {
    hangUp()
    close(listener)
    var status = stat()
    if lstat(path, &status) == 0, status.st_ino == node { unlink(path) }
  }

  func watch(_ watch: inout PollSet) {
    guard isConnected else { return watch.add(listener) }
    watch.add(peer)
    for ring in backend?.rings ?? [] where ring.isRunning { watch.add(ring.kick) }
  }

  func step(_ watch: PollSet, now: Timestamp) {
    if !isConnected {
      if watch.has(listener) { accept() }
    } else if watch.has(peer) {
      // A bound: a peer that never stops talking must not keep the others waiting.
      for _ in 0..<Self.partsAtOnce { guard receive() else { break } }
    }
    guard let backend else { return }
    for ring in backend.rings where watch.has(ring.kick) { ring.takeKick() }
    backend.serve(now: now)
  }

  func deadline(now: Timestamp) -> Timestamp {
    backend == nil ? .distantFuture : device.deadline(now: now)
  }

  private func accept() {
    let file = twin_accept(listener)
    guard file >= 0 else { return }
    peer = file
    wasConnected = true
    backend = VhostUserBackend(device, name: path, log: log)
  }

  private func hangUp() {
    if peer >= 0 { close(peer) }
    peer = -1
    for file in files { close(file) }
    files = []
    pending = []
    backend = nil
    device.reset()
  }

  /// Takes a part of a message; `false` when there is no more for now.
  private func receive() -> Bool {
    guard peer >= 0 else { return false }
    let header = VhostUserMessage.headerSize
    var wanted = header - pending.count
    if wanted <= 0 {
      let size = Int(pending.number(8, as: UInt32.self) ?? 0)
      guard size <= VhostUserMessage.longestPayload else {
        log("\(path): a message of \(size) bytes is too long; hanging up")
        hangUp()
        return false
      }
      wanted = header + size - pending.count
    }
    if wanted > 0 {
      var bytes = [UInt8](repeating: 0, count: wanted)
      var fresh = [Int32](repeating: -1, count: 8)
      var count: Int32 = 0
      let result = twin_receive(peer, &bytes, wanted, &fresh, 8, &count)
      files += fresh.prefix(Int(max(0, count)))
      if result == -EAGAIN { return false }
      guard result > 0, files.count <= 8 else {
        hangUp()
        return false
      }
      pending += bytes.prefix(Int(result))
    }
    guard pending.count >= header, let size = pending.number(8, as: UInt32.self),
      pending.count == header + Int(size)
    else { return true }
    finish()
    return true
  }

  private func finish() {
    let message = VhostUserMessage(
      request: pending.number(0, as: UInt32.self) ?? 0,
      flags: pending.number(4, as: UInt32.self) ?? 0,
      payload: Array(pending.dropFirst(VhostUserMessage.headerSize)), files: files)
    pending.removeAll(keepingCapacity: true)
    files = []
    guard let reply = backend?.handle(message) else { return }
    var bytes: [UInt8] = []
    bytes.append(number: message.request)
    // Version 1, and bit 2: a reply.
    bytes.append(number: UInt32(1 | 1 << 2))
    bytes.append(number: UInt32(reply.count))
    bytes += reply
    // The peer waits for it with an empty socket: one that does not take it whole is no peer.
    let count = send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    if count != bytes.count {
      log("\(path): the peer takes no answer; hanging up")
      hangUp()
    }
  }
}
