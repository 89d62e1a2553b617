// Many descriptors, one wait.

import CLinuxIO
import Glibc
package import SensorTypes

/// Waits for any of many descriptors, at a cost that does not grow with those at which nothing happens.
///
/// One thread adds, removes and waits; any thread may wake it.
package final class Poller: Sendable {
  /// What a descriptor is waited for.
  package struct Interest: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let readable = Interest(rawValue: LODESTONE_READABLE)
    package static let writable = Interest(rawValue: LODESTONE_WRITABLE)
  }

  /// A descriptor at which something has happened.
  package struct Ready: Hashable, Sendable {
    package var token: UInt64
    package var isReadable: Bool
    package var isWritable: Bool
    /// The other end is gone.
    package var isHungUp: Bool
  }

  private static let wakeToken = UInt64.max
  private static let most = 64
  private let descriptor: Descriptor
  private let wakeDescriptor: Descriptor

  /// - Throws: An error if the process or the machine has no file descriptor left.
  package init() throws(LocalSocketError) {
    let poller = lodestone_poller_open()
    guard let descriptor = Descriptor(poller) else {
      throw LocalSocketError("poller", errno: -poller)
    }
    let wake = lodestone_wake_open()
    guard let wakeDescriptor = Descriptor(wake) else {
      throw LocalSocketError("poller", errno: -wake)
    }
    let result = lodestone_poller_set(
      descriptor.raw, wakeDescriptor.raw, Self.wakeToken, LODESTONE_READABLE, 1)
    guard result == 0 else { throw LocalSocketError("poller", errno: -result) }
    self.descriptor = descriptor
    self.wakeDescriptor = wakeDescriptor
  }

  /// Begins to wait for a descriptor. Its token may be any number but the largest.
  package func add(_ file: Int32, token: UInt64, _ interest: Interest) throws(LocalSocketError) {
    let result = lodestone_poller_set(descriptor.raw, file, token, interest.rawValue, 1)
    guard result == 0 else { throw LocalSocketError("poller", errno: -result) }
  }

  /// Changes what a descriptor is waited for.
  package func set(_ file: Int32, token: UInt64, _ interest: Interest) {
    _ = lodestone_poller_set(descriptor.raw, file, token, interest.rawValue, 0)
  }

  /// Waits for a descriptor no longer. Call it before the descriptor is closed.
  package func remove(_ file: Int32) { _ = lodestone_poller_remove(descriptor.raw, file) }

  /// Ends the wait, from any thread.
  package func wake() {
    var one: UInt64 = 1
    _ = posixWrite(wakeDescriptor.raw, &one, 8)
  }

  /// Waits until something happens, `wake()` is called or the time has come, a second at most.
  package func wait(until deadline: Timestamp) -> [Ready] {
    var ready = [lodestone_ready](repeating: lodestone_ready(), count: Self.most)
    let left = deadline.nanoseconds.subtractingReportingOverflow(lodestone_monotonic())
    let time = left.overflow ? 1_000_000_000 : max(0, min(left.partialValue, 1_000_000_000))
    let count = lodestone_poller_wait(descriptor.raw, &ready, UInt32(Self.most), time)
    return ready.prefix(Int(max(0, count))).compactMap { entry in
      guard entry.token != Self.wakeToken else {
        var count: UInt64 = 0
        _ = posixRead(wakeDescriptor.raw, &count, 8)
        return nil
      }
      return Ready(
        token: entry.token, isReadable: entry.events & LODESTONE_READABLE != 0,
        isWritable: entry.events & LODESTONE_WRITABLE != 0,
        isHungUp: entry.events & LODESTONE_HUNG_UP != 0)
    }
  }
}
