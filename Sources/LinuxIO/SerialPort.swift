import CLinuxIO
import Glibc
import SensorBus

/// A serial port, raw, of this process alone. When the device went away it is opened again by itself.
final class SerialPort: ByteStream {
  /// How long a write may take, milliseconds.
  private static let writeTimeout: Int64 = 1_000
  /// The pause between two attempts to open a port that went away, nanoseconds.
  private static let reopenPause: Int64 = 500_000_000

  private let path: String
  private var rate: Int
  private var file: Int32
  private var nextOpen: Int64 = 0

  init(path: String, rate: Int) throws(BusError) {
    self.path = path
    self.rate = rate
    file = -1
    try open()
  }

  deinit { if file >= 0 { close(file) } }

  var readiness: Readiness { file >= 0 ? .descriptor(file) : .at(nanoseconds: nextOpen) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    guard !buffer.isEmpty else { return 0 }
    if file < 0 {
      // Between attempts it is silent: the loss was said when it happened.
      guard lodestone_monotonic() >= nextOpen else { return 0 }
      try open()
    }
    let count = posixRead(file, buffer.baseAddress, buffer.count)
    if count > 0 { return count }
    // VMIN 0 makes an idle line read as 0 bytes; a line that hung up says so to poll.
    if count == 0 || errno == EAGAIN || errno == EINTR {
      guard hungUp() else { return 0 }
      throw lost(EIO)
    }
    throw lost(errno)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    guard file >= 0 else { throw BusError(.disconnected, bus: path) }
    let deadline = lodestone_monotonic() + Self.writeTimeout * 1_000_000
    var rest = bytes
    while !rest.isEmpty {
      let count = posixWrite(file, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        continue
      }
      guard count == 0 || errno == EAGAIN || errno == EINTR else { throw lost(errno) }
      let left = (deadline - lodestone_monotonic()) / 1_000_000
      guard left > 0 else { throw BusError(.timedOut, bus: path, errno: ETIMEDOUT) }
      var entry = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
      _ = poll(&entry, 1, Int32(left))
    }
  }

  func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int {
    guard file >= 0 else { throw BusError(.disconnected, bus: path) }
    guard !bytes.isEmpty else { return 0 }
    let count = posixWrite(file, bytes.baseAddress, bytes.count)
    guard count < 0 else { return count }
    guard errno == EAGAIN || errno == EINTR else { throw lost(errno) }
    return 0
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    self.rate = rate
    guard file >= 0 else { return }
    let result = lodestone_serial_rate(file, UInt32(clamping: rate))
    if result < 0 { throw lost(-result) }
  }

  private func open() throws(BusError) {
    nextOpen = lodestone_monotonic() + Self.reopenPause
    file = try Self.opened(path, rate: rate)
  }

  /// Opens a port, or says who has it.
  static func opened(_ path: String, rate: Int) throws(BusError) -> Int32 {
    let result = lodestone_serial_open(path, UInt32(clamping: rate))
    guard result < 0 else { return result }
    var error = BusError(result: result, .serial, bus: path)
    if result == -EBUSY {
      let usage = PortHolder.usage(of: path)
      let names = usage.holders + usage.suspects
      if !names.isEmpty {
        error.reason = .inUse(by: PortHolder.list(names))
      } else if !usage.isComplete {
        error.reason = .inUse(by: "a process of another user ('sudo fuser -v \(path)' names it)")
      }
    }
    throw error
  }

  private func hungUp() -> Bool {
    var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 0) > 0 else { return false }
    return entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
  }

  private func lost(_ errno: Int32) -> BusError {
    close(file)
    file = -1
    nextOpen = lodestone_monotonic() + Self.reopenPause
    return BusError(.disconnected, bus: path, errno: errno)
  }
}
