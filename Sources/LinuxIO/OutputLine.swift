// The lines that an output writes to: what a serial port, a pseudo terminal and a CAN bus have in common.

import Glibc

/// The reason why nothing can be written to a line, with its place.
package struct OutputLineError: Error, Hashable, Sendable, CustomStringConvertible {
  package var place: String
  /// What is wrong and what mends it, in one line.
  package var reason: String
  /// The kernel's number, or 0.
  package var errno: Int32

  package init(_ place: String, _ reason: String, errno: Int32 = 0) {
    (self.place, self.reason, self.errno) = (place, reason, errno)
  }

  package var description: String { "\(place): \(reason)" }
}

/// A line that bytes are written to. Nothing is waited for, apart from opening it. One thread at a time uses it.
package protocol OutputLine: AnyObject, Sendable {
  /// Its device, or the path at which others find it.
  var place: String { get }

  /// Discards what has arrived, and looks whether the line is still there.
  ///
  /// - Returns: Whether somebody is at the other end. A line that cannot know says yes.
  func check() throws(OutputLineError) -> Bool
  /// Writes what there is room for.
  ///
  /// - Returns: The number of bytes that were taken: 0 while the other end takes nothing.
  func write(_ bytes: UnsafeRawBufferPointer) throws(OutputLineError) -> Int
}

/// A frame of a CAN bus with an identifier of 29 bits and at most 8 bytes.
package struct CANSocketFrame: Hashable, Sendable {
  package var identifier: UInt32
  /// The number of bytes, 0 to 8.
  package var count: Int
  /// The bytes as a little-endian number, zero above `count`.
  package var word: UInt64

  package init(identifier: UInt32, count: Int, word: UInt64) {
    (self.identifier, self.count, self.word) = (identifier, count, word)
  }
}

/// Which frames are received: those whose identifier is `identifier` in the bits of `mask`.
package struct CANSocketFilter: Hashable, Sendable {
  package var identifier: UInt32
  package var mask: UInt32

  package init(identifier: UInt32, mask: UInt32) {
    (self.identifier, self.mask) = (identifier, mask)
  }
}

/// A bus whose frames are sent and received. Nothing is waited for. One thread at a time uses it.
package protocol CANLine: AnyObject, Sendable {
  /// The name of the interface.
  var place: String { get }
  /// The descriptor that becomes readable when something arrives, or `nil` where nothing is to be waited for.
  var descriptor: Int32? { get }

  /// Receives the frames of these filters and no others, 16 filters at most.
  func receive(only filters: [CANSocketFilter]) throws(OutputLineError)
  /// Sends one CAN frame without waiting.
  ///
  /// - Returns: Whether it was taken; if not, there is no room for it now.
  func send(_ frame: CANSocketFrame) throws(OutputLineError) -> Bool
  /// Takes what has arrived, or returns `nil` if nothing is left.
  func next() throws(OutputLineError) -> CANArrival?
  /// Looks how the interface is.
  func condition() throws(OutputLineError) -> CANCondition
}

/// What has arrived from a bus.
package enum CANArrival: Hashable, Sendable {
  case frame(CANSocketFrame)
  case event(CANEvent)
  /// Something that is no data frame with an identifier of 29 bits.
  case other
}

/// What the controller of a bus says of itself.
package enum CANEvent: Hashable, Sendable {
  /// It has left the bus after too many errors.
  case busOff
  /// It is on the bus again.
  case restarted
  /// Its frames are not acknowledged, or it has many errors (error passive).
  case unheard
  /// It has few errors again.
  case active
}

/// How an interface is.
package enum CANCondition: Hashable, Sendable {
  case up
  /// Nobody has switched it on.
  case down
  /// Its controller has left the bus.
  case busOff
}
