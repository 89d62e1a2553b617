import CLinuxIO
import Glibc

/// Whether something can be read from a descriptor, or a connection be taken, within ten seconds. A peer that does not start
/// ends a test then, and not never.
func isReadable(_ descriptor: Int32) -> Bool {
  var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&entry, 1, 10_000) > 0
}
