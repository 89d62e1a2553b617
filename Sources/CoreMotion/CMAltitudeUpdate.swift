// Altitudes as an asynchronous sequence. The SDK has none; this one is made like that of its locations.

package import LocationServices

/// What there is to say of the board's climb at a moment: an altitude, or that there is none.
public struct CMAltitudeUpdate: Sendable {
  /// The altitude, relative to the first of the iteration; `nil` while there is none to say.
  public let altitude: CMAltitudeData?
  /// Whether there is no altitude at the moment; others follow as soon as there is one again.
  public var altitudeUnavailable: Bool { altitude == nil }

  /// Relative altitudes from now on, one a second; none on a board without a barometer.
  ///
  /// The barometer runs from the first `next()` on, and no longer than the sequence is iterated: it stops with the loop
  /// that is left, and with the task that is cancelled, where the sequence ends. Each iteration has a zero of its own.
  public static func liveUpdates() -> Updates { Updates(port: processPort) }

  /// The same as the public declaration, with the services of `port` instead of the process's. For tests.
  package static func liveUpdates(on port: any ServicePort) -> Updates {
    Updates(port: port)
  }

  /// Altitudes, one after the other.
  public struct Updates: AsyncSequence, Sendable {
    /// What it consists of.
    public typealias Element = CMAltitudeUpdate
    let port: any ServicePort

    /// Begins anew.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(feed: LiveFeed(port, [.start(.altitude)]))
    }

    /// One way through the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let feed: LiveFeed

      /// The next update; `nil` once the task is cancelled.
      public mutating func next() async -> CMAltitudeUpdate? {
        while let content = await feed.next() {
          if case .altitude(let report) = content {
            return CMAltitudeUpdate(altitude: CMAltitudeData(report))
          }
          if case .failure = content { return CMAltitudeUpdate(altitude: nil) }
        }
        return nil
      }
    }
  }
}
