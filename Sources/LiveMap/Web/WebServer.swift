// A small HTTP/1.1 and WebSocket server. It bounds what a stranger can cost before it knows whether the stranger has a token:
// RequestReader limits the size of a request, Places the number of connections, and WebConnection.Deadlines the time. A client
// with the token therefore never waits for strangers, and sensors and saves always find a free descriptor.
//
// No library was used, for these reasons:
// - FlyingFox, which served the page before, collects a header line without a limit and in quadratic time, and accepts
//   connections until descriptors run out. Its reader cannot be replaced from outside. A proxy in front of it would need the
//   same bounded reader as this server, and would hold every byte twice.
// - swift-nio 2.101 and what is built on it need Swift 6.1. Boards have 6.0.3.
// The page needs little of HTTP: GET requests without a body, responses of known length, and one WebSocket.
//
// One thread serves all connections and waits in poll(2). Its work between two waits is bounded, and with 64 connections
// poll(2) is fast enough. Work that may wait for a disk runs on a dispatch queue.

import Dispatch
import Glibc
import SensorTypes
import Threads

/// Serves HTTP and WebSockets to a bounded number of connections.
package final class WebServer: Sendable {
  private let service: any WebService
  private let limits: ConnectionLimits
  private let inbox: WebInbox
  private let hasEnded = DispatchSemaphore(value: 0)

  package init(service: any WebService, limits: ConnectionLimits = ConnectionLimits())
    throws(SystemProblem)
  {
    self.service = service
    self.limits = limits
    inbox = try WebInbox()
  }

  /// Starts to listen.
  ///
  /// - Returns: The port, which the system chooses if `port` is 0.
  /// - Throws: The error number of the call that failed, such as `EADDRINUSE`.
  package func start(at address: ListenAddress, port: UInt16) throws(SystemProblem) -> UInt16 {
    let listener = try WebListener(at: address, port: port)
    var limits = limits
    limits.places.total = DescriptorLimit.connections(of: limits.places.total)
    let failure = SystemThread.start("lodestone-web") { [service, inbox, hasEnded, limits] in
      WebLoop(listener: listener, service: service, inbox: inbox, limits: limits).run()
      hasEnded.signal()
    }
    guard failure == 0 else { throw SystemProblem(failure) }
    return listener.port
  }

  /// Stops the server. Streams that have ended before still send their last message, which may take 0.2 s.
  package func stop() {
    inbox.stop()
    // The process exits next, and closes what is still open.
    _ = hasEnded.wait(timeout: .now() + 1)
  }

  /// Returns the number of connections that were evicted or found no place since the last call.
  package func takeCrowdedOut() -> Int { inbox.takeCrowdedOut() }
}

package struct ConnectionLimits: Sendable {
  var places = Places()
  var deadlines = WebConnection.Deadlines()

  package init() {}
}
