// A pseudo terminal: the rig's end of a serial line whose other end is a file.

import CVhostUser
import Glibc

/// A pseudo terminal, raw, under a name of its own where one is wanted.
final class PseudoTerminal {
  /// The end for the other side, `/dev/pts/N`.
  let path: String
  let master: Int32
  private let link: String?

  init(link: String?) throws(RigError) {
    var name = [CChar](repeating: 0, count: 64)
    let result = twin_terminal_open(&name)
    guard result >= 0 else { throw .call("pseudo terminal", errno: -result) }
    let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    if let link {
      var status = stat()
      // A link that an earlier run has left there is replaced, any other file is not.
      let isLink = lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
      if isLink { unlink(link) }
      guard symlink(path, link) == 0 else {
        let error = errno
        close(result)
        throw .call(link, errno: error)
      }
    }
    master = result
    self.path = path
    self.link = link
  }

  deinit {
    close(master)
    // Another may have replaced the link.
    if let link, Self.target(of: link) == path { unlink(link) }
  }

  private static func target(of link: String) -> String? {
    var text = [CChar](repeating: 0, count: 256)
    let count = readlink(link, &text, text.count)
    guard count > 0 else { return nil }
    return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether anybody holds the other end open.
  var hasPeer: Bool {
    var entry = pollfd(fd: master, events: 0, revents: 0)
    return poll(&entry, 1, 0) == 0
  }

  /// What has come, without waiting; empty for nothing.
  func read(_ limit: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = posixRead(master, &bytes, limit)
    return count > 0 ? Array(bytes.prefix(count)) : []
  }

  /// Sends what goes without waiting; says how many bytes did.
  func write(_ bytes: [UInt8]) -> Int { max(0, posixWrite(master, bytes, bytes.count)) }
}
