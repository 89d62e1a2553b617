// A pseudo terminal that an output writes to: programs that want a serial port open it by a path that stays the same.

import CLinuxIO
import Glibc

/// A pseudo terminal with a symbolic link to its other end.
///
/// Programs open the link as they open a serial port. It has no rate. What a reader leaves unread is bounded, and dropped when he closes it:
/// the next one gets nothing that is old.
package final class OutputTerminal: OutputLine {
  /// The number of bytes that a reader may leave unread until nothing more is written.
  private static let mostUnread: Int32 = 1_024
  /// The number of reads of one check. Nobody has asked for what readers write.
  private static let mostReads = 16
  /// Where the system has the other ends, and nothing else.
  private static let folder = "/dev/pts/"

  package let place: String
  private let peer: String
  private let file: Int32

  /// Makes a pseudo terminal and its link, in place of one that an earlier run has left.
  ///
  /// - Parameters:
  ///   - path: The path of the link, from the root.
  ///   - group: The number of the group whose users may open it, or `nil` for the one that the system gives it.
  package init(path: String, group: UInt32?) throws(OutputLineError) {
    place = path
    var name = [CChar](repeating: 0, count: 64)
    let result = lodestone_pty_open(&name, 0o660, group.map { Int64($0) } ?? -1)
    guard result >= 0 else { throw Self.failure(path, -result, making: "pseudo terminal") }
    peer = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    do throws(OutputLineError) {
      try Self.link(path, to: peer)
    } catch {
      close(result)
      throw error
    }
    file = result
  }

  deinit {
    if Self.target(of: place) == peer { unlink(place) }
    close(file)
  }

  private static func failure(
    _ path: String, _ errno: Int32, making thing: String
  ) -> OutputLineError {
    let reason =
      switch errno {
      case ENOENT, ENOTDIR: "there is no folder for the \(thing): make it, or correct 'path'"
      case EACCES, EPERM: "this user may not make a \(thing) of this group here"
      case ENOSPC, EMFILE, ENFILE: "the system has no more room for a \(thing)"
      default: "no \(thing): \(String(cString: strerror(errno)))"
      }
    return OutputLineError(path, reason, errno: errno)
  }

  /// What a link leads to; `nil` for what is no link.
  private static func target(of path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 256)
    let count = readlink(path, &buffer, buffer.count)
    guard count >= 0 else { return nil }
    return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func link(_ path: String, to peer: String) throws(OutputLineError) {
    var status = stat()
    if lstat(path, &status) == 0 {
      // Only a link that leads to a pseudo terminal can be one of an earlier run.
      guard target(of: path)?.hasPrefix(folder) == true else {
        throw OutputLineError(
          path, "there is a file of this name: remove it, or choose another 'path'", errno: EEXIST)
      }
    }
    let temporary = "\(path).\(getpid())"
    unlink(temporary)
    guard symlink(peer, temporary) == 0 else { throw failure(path, errno, making: "link") }
    guard rename(temporary, path) == 0 else {
      let code = errno
      unlink(temporary)
      throw failure(path, code, making: "link")
    }
  }

  package func check() throws(OutputLineError) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 512)
    for _ in 0..<Self.mostReads where posixRead(file, &buffer, buffer.count) <= 0 { break }
    guard Self.target(of: place) == peer else {
      throw OutputLineError(place, "the link is gone or leads elsewhere")
    }
    var entry = pollfd(fd: file, events: 0, revents: 0)
    guard poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLHUP) != 0 else { return true }
    let result = lodestone_pty_clear(peer)
    guard result == 0 else {
      // A reader who kept it for himself and ended has left it so.
      throw OutputLineError(place, "its other end cannot be opened any more", errno: -result)
    }
    return false
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(OutputLineError) -> Int {
    // Of a reader who keeps all others out it is not known: then the kernel's limit holds, some 20 KiB.
    guard !bytes.isEmpty, lodestone_pty_unread(peer) < Self.mostUnread else { return 0 }
    let count = posixWrite(file, bytes.baseAddress, bytes.count)
    guard count < 0 else { return count }
    guard errno == EAGAIN || errno == EINTR else {
      throw OutputLineError(place, "the pseudo terminal is gone", errno: errno)
    }
    return 0
  }
}
