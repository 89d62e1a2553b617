// What the daemon's sockets are served by.

package import LinuxIO
package import ServiceProtocol

/// The daemon's side of one connection, without its socket. One thread at a time calls it: that of the server, or one that has news and calls
/// `next()`.
package protocol ServedConnection: AnyObject, Sendable {
  /// Whether the other end may say more now. If not, the connection wakes its server once it may.
  var isReading: Bool { get }
  /// Whether nothing more is read, and the socket is closed once all is written.
  var isClosed: Bool { get }
  /// Whether the other end mostly reads, and may say early that it says nothing more.
  var isOneWay: Bool { get }
  /// Whether the other end may take nothing for ever: what waits for it is superseded by what is newer.
  var maySleep: Bool { get }
  /// Whether the kernel is to keep little of what is written, because a reader that is late wants what is newest.
  var hasSmallBuffer: Bool { get }
  /// The number of bytes that wait to be written.
  var waitingCount: Int { get }
  /// The time at which `advance(to:)` has something to do, or at which a closed connection's socket is to be closed, in seconds of the
  /// monotonic clock.
  var deadline: Double? { get }

  /// Does what the time makes due.
  func advance(to now: Double)
  /// Closes the connection for a reason, which is the last message.
  func close(_ reason: Farewell, at now: Double)
  /// Takes bytes of the other end.
  func receive(_ bytes: UnsafeRawBufferPointer, at now: Double)
  /// Returns the next bytes to write, or `nil`.
  func next() -> [UInt8]?
  /// The connection is gone. What was said before is carried out.
  func end()
}

extension ServedConnection {
  package var hasSmallBuffer: Bool { isOneWay }
}

/// A socket at which the daemon is reached, and what serves who arrives there.
package struct Entrance {
  /// Makes what serves a program that has connected.
  ///
  /// - Parameters:
  ///   - identity: Who it is.
  ///   - now: The monotonic clock in seconds.
  ///   - wake: To be called on any thread when there is something to write or to read again.
  package typealias Admit =
    @Sendable (_ identity: ProgramIdentity, _ now: Double, _ wake: @escaping @Sendable () -> Void)
    -> any ServedConnection

  package let listener: any ConnectionListener
  /// Who everybody is that arrives here, if the kernel does not say it.
  let stranger: ProgramIdentity?
  /// The number of connections that they all together may have here, or `nil` for the usual one.
  let mostStrangers: Int?
  /// The port, if it may have to wait for another program to end.
  var port: OutputPort? { listener as? OutputPort }
  /// Whether anybody can arrive.
  var isOpen: Bool { port?.isOpen ?? true }
  let admit: Admit
  /// Returns what is written to a program that is refused.
  let refusal: @Sendable (Farewell) -> [UInt8]

  package init(
    _ listener: any ConnectionListener, stranger: ProgramIdentity? = nil, mostStrangers: Int? = nil,
    refusal: @escaping @Sendable (Farewell) -> [UInt8], admit: @escaping Admit
  ) {
    (self.listener, self.stranger, self.mostStrangers) = (listener, stranger, mostStrangers)
    (self.refusal, self.admit) = (refusal, admit)
  }
}

extension DaemonEnd {
  /// Returns the frame for a program that is refused.
  package static func refusal(_ reason: Farewell) -> [UInt8] {
    var end = DaemonEnd(
      hello: DaemonHello(version: 0, software: "", run: 0, board: "", clock: 0), at: 0)
    end.close(reason)
    return end.next() ?? []
  }
}
