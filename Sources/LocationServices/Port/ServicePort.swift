// How a program reaches the services, in its own process or in another one.

package import SensorTypes

/// One program's connection to the services, in the same process or through a socket to the daemon that owns the board. A
/// caller cannot tell which.
///
/// Requests (`ServiceRequest`), questions (`ServiceQuestion`), events (`ServiceEvent`) and answers (`ServiceAnswer`) are all
/// `Codable` values. Requests of one thread are carried out in order, and a question is answered after the requests that were
/// sent before it. All methods may be called on any thread, including delegate methods and handlers. They must not be called in
/// `ServiceClient.post(_:)`, nor while holding a lock that client code takes.
package protocol ServicePort: AnyObject, Sendable {
  /// Adds a client, which receives events and is retained until it sends `.release`. Starts no service and does not block. If the
  /// application is suspended, the client is told so before anything else.
  func connect(_ client: any ServiceClient) -> ClientID

  /// Carries out a client's request, or forwards it, and returns at once. Results arrive as events.
  func send(_ request: ServiceRequest)

  /// Returns the answer to a question, or `nil` if there is none before the question's deadline.
  ///
  /// Blocks for milliseconds at most, except for `capabilities` and `beacons`, which may take seconds; do not ask these in an
  /// asynchronous function.
  func answer(_ question: ServiceQuestion) -> ServiceAnswer?

  /// Returns the wall time of a moment in seconds since 1970, by this machine's clock as it is set now. Asks no service.
  func wallTime(of time: Timestamp) -> Double

  /// Reports a line to the developer of the program, once. It does not leave the program.
  func note(_ line: String)
}

extension ServicePort {
  /// Asks a question and returns the answer, or the query's default if there is none.
  package func ask<Answer>(_ query: ServiceQuery<Answer>) -> Answer {
    answer(query.question).flatMap(query.read) ?? query.unanswered
  }
}

/// A receiver of events, usually an `EventInbox`.
package protocol ServiceClient: AnyObject, Sendable {
  /// Takes an event. The events of one client arrive in order, one at a time.
  ///
  /// Called on the publishing thread with the services locked: it must return at once, and must call neither the port nor
  /// application code.
  ///
  /// - Returns: The number of positions that were dropped for it.
  @discardableResult
  func post(_ content: EventContent) -> Int

  /// Called when the application is suspended or resumed. Nothing is delivered in between. Called as `post(_:)` is.
  func applicationChanged(isSuspended: Bool)
}
