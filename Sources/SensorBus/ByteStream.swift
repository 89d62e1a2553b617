/// Something that bytes arrive from.
package protocol ByteSource: AnyObject {
  /// Reads what has already arrived, without waiting: 0 bytes means nothing yet.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int
}

/// A serial line, or something that behaves like one.
package protocol ByteStream: ByteSource {
  /// Sends all of `bytes`, within a bounded time.
  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError)

  /// Sends as many of `bytes` as there is room for, without a wait. Returns how many.
  func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int

  /// Changes the line's rate, bits per second; what has not been read yet is dropped.
  func setBaudRate(_ rate: Int) throws(BusError)

  /// What to wait for until there is more to read.
  var readiness: Readiness { get }

  /// What a person should know of where the bytes come from; `nil` for nothing.
  var note: String? { get }

  /// The number of messages that were not read because another sender's are; it only grows.
  var ignored: UInt64 { get }
}

extension ByteStream {
  /// It has one source, and nothing is to be said of it.
  package var note: String? { nil }
  /// It has one source.
  package var ignored: UInt64 { 0 }
}

extension ByteStream {
  /// Sends all: a stream that always has room.
  package func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int {
    try write(bytes)
    return bytes.count
  }
}

/// A connection to a server in the network. It is made while it is read.
package protocol NetworkStream: ByteStream {
  /// Whether it stands: what is written before is lost.
  var isOpen: Bool { get }
}

/// How to learn that something has arrived, without polling for it.
package enum Readiness: Sendable, Hashable {
  /// This file descriptor becomes readable.
  case descriptor(Int32)
  /// Known in advance, in nanoseconds of the monotonic clock: a simulated board's own schedule.
  case at(nanoseconds: Int64)
  /// It cannot be waited for: poll.
  case never
}
