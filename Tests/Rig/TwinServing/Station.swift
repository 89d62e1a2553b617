// The loop: whatever has a file or a time to wait for is a station.

import CVhostUser
import Glibc
import SensorTypes

/// The files that a round of the loop waits for, and which of them had something.
struct PollSet {
  private var entries: [pollfd] = []

  mutating func clear() { entries.removeAll(keepingCapacity: true) }

  mutating func add(_ file: Int32, _ events: Int32 = POLLIN) {
    guard file >= 0 else { return }
    entries.append(pollfd(fd: file, events: Int16(events), revents: 0))
  }

  /// Waits until one has something, `nanoseconds` at most.
  mutating func wait(nanoseconds: Int64) {
    // An error here (a signal, most likely) is a round in which nothing came.
    if twin_wait(&entries, UInt32(entries.count), nanoseconds) < 0 {
      for index in entries.indices { entries[index].revents = 0 }
    }
  }

  /// What a file had: data, room, an end or an error.
  func has(_ file: Int32) -> Bool { entries.contains { $0.fd == file && $0.revents != 0 } }
}

/// Something that the loop serves.
protocol Station: AnyObject {
  /// Names the files to wait for.
  func watch(_ watch: inout PollSet)
  /// Does what is due, without waiting.
  func step(_ watch: PollSet, now: Timestamp)
  /// When it wants its next step at the latest.
  func deadline(now: Timestamp) -> Timestamp
}

/// What could not be set up, and why.
package struct RigError: Error, CustomStringConvertible {
  /// The message, in one line.
  package let description: String

  init(_ description: String) { self.description = description }

  static func call(_ what: String, errno: Int32) -> RigError {
    RigError("\(what): \(String(cString: strerror(errno)))")
  }
}
