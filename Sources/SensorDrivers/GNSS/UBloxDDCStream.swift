// A u-blox receiver's I2C port (DDC, 0x42) as a stream of bytes.

package import SensorBus

/// The stream behind a u-blox receiver's I2C port: registers 0xFD and 0xFE hold how many bytes wait,
/// 0xFF is the stream itself, which gives 0xFF when it is empty (u-blox M8 protocol description, section
/// "DDC Port"; the same on M9, M10 and F9).
///
/// The receiver stretches the clock. Boards whose hardware cannot follow (Raspberry Pi up to 4) flip
/// the top bit of a byte instead of reporting an error, which is why an impossible count is not
/// believed. Read it at most 10 times a second and at least once a second: what lies unread for about
/// 1.5 s is dropped by the receiver.
package final class UBloxDDCStream<Device: RegisterDevice & ~Copyable>: ByteStream {
  /// More than any receiver buffers (4 KiB): a larger count is a flipped bit.
  static var plausibleCount: Int { 8192 }
  /// Impossible counts in a row after which the port is given up.
  static var patience: Int { 10 }

  private let device: Device
  private var implausibleInARow = 0

  /// Counts of waiting bytes that could not be, and were not believed.
  package private(set) var implausibleCounts: UInt64 = 0
  /// Chunks that held nothing but the 0xFF of an empty stream, and were dropped.
  package private(set) var emptyChunks: UInt64 = 0
  package private(set) var messagesWritten: UInt64 = 0

  /// Takes the port; nothing is sent.
  package init(_ device: consuming Device) { self.device = device }

  /// Reads what waits, in chunks of at most 255 bytes, as far as `buffer` goes.
  ///
  /// Throws the bus's error, or `.disconnected` after ten impossible counts in a row.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    guard !buffer.isEmpty else { return 0 }
    let count = try device.burst(0xFD, count: 2)
    let waiting = Int(count[0]) << 8 | Int(count[1])
    guard waiting <= Self.plausibleCount else {
      implausibleCounts &+= 1
      implausibleInARow += 1
      guard implausibleInARow < Self.patience else {
        implausibleInARow = 0
        throw BusError(.disconnected, bus: "i2c", address: 0x42, register: 0xFD)
      }
      return 0
    }
    implausibleInARow = 0
    var filled = 0
    var left = min(waiting, buffer.count)
    while left > 0 {
      let length = min(left, 255)
      let chunk = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + length])
      do {
        try device.read(0xFF, into: chunk)
      } catch {
        // What came before is good; the error comes back at the next call if it lasts.
        guard filled > 0 else { throw error }
        return filled
      }
      left -= length
      if chunk.allSatisfy({ $0 == 0xFF }) {
        emptyChunks &+= 1
        return filled
      }
      filled += length
    }
    return filled
  }

  /// Sends one message of at least 2 bytes: a write of a single byte would only move the receiver's
  /// register pointer. The bytes go out as they are, so the first stands where others have a register.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    guard bytes.count >= 2 else {
      throw BusError(
        .unsupported("a message of fewer than 2 bytes"), bus: "i2c", address: 0x42)
    }
    var sent = 0
    while sent < bytes.count {
      let left = bytes.count - sent
      // Never leave a single byte for the last piece.
      let length = left <= 255 ? left : (left == 256 ? 254 : 255)
      let rest = UnsafeRawBufferPointer(rebasing: bytes[sent + 1..<sent + length])
      try device.write(bytes[sent], from: rest)
      sent += length
    }
    messagesWritten &+= 1
  }

  /// Does nothing: the port has no rate of its own.
  package func setBaudRate(_ rate: Int) throws(BusError) {}

  /// Nothing tells that something has arrived: poll.
  package var readiness: Readiness { .never }
}
