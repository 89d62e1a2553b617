// A serial port that an output writes to.

import CLinuxIO
import Glibc
import SensorBus

/// A serial port of this process alone. It does not open itself again: that is its owner's decision.
package final class SerialOutputLine: OutputLine {
  /// The number of bytes that the kernel may hold, in seconds of the line and at least: what waits here is late when it is sent.
  private static let (held, leastHeld) = (0.5, 256)
  /// The number of reads of one check. Nobody has asked for what arrives.
  private static let mostReads = 16

  package let place: String
  private let file: Int32
  private let room: Int

  /// Opens a port. This may take a moment: call it on a thread that may wait.
  ///
  /// - Parameter rate: In bits per second; a byte has ten.
  package init(path: String, rate: Int) throws(OutputLineError) {
    place = path
    room = max(Self.leastHeld, Int(Double(rate) / 10 * Self.held))
    do throws(BusError) {
      file = try SerialPort.opened(path, rate: rate)
    } catch {
      throw OutputLineError(path, Self.words(error), errno: error.errno)
    }
  }

  deinit {
    // Closing a port waits for what it still has to send.
    tcflush(file, TCOFLUSH)
    close(file)
  }

  private static func words(_ error: BusError) -> String {
    switch error.reason {
    case .notFound: "there is no such device: plug it in, or correct 'device'"
    case .permissionDenied(let group):
      "this user may not open it: add the user of the daemon to group \(group)"
    case .inUse(let owner): "in use by \(owner): a line has one owner"
    case .disconnected: "the device went away"
    default: error.errno == ENOTTY ? "this is no serial port" : "\(error)"
    }
  }

  package func check() throws(OutputLineError) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 512)
    for _ in 0..<Self.mostReads {
      let count = posixRead(file, &buffer, buffer.count)
      if count > 0 { continue }
      guard count == 0 || errno == EAGAIN || errno == EINTR else { throw lost(errno) }
      break
    }
    var entry = pollfd(fd: file, events: 0, revents: 0)
    if poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 {
      throw lost(EIO)
    }
    return true
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(OutputLineError) -> Int {
    let held = lodestone_serial_unsent(file)
    if held < 0, -held != ENOTTY { throw lost(-held) }
    let room = min(bytes.count, self.room - Int(max(0, held)))
    guard room > 0 else { return 0 }
    let count = posixWrite(file, bytes.baseAddress, room)
    guard count < 0 else { return count }
    guard errno == EAGAIN || errno == EINTR else { throw lost(errno) }
    return 0
  }

  private func lost(_ errno: Int32) -> OutputLineError {
    OutputLineError(place, "the device went away", errno: errno)
  }
}
