// Headings as an asynchronous sequence. The SDK has none; this one is made like that of its locations.

package import LocationServices

/// What there is to say of the board's heading at a moment: a heading, or that there is none.
public struct CLHeadingUpdate: Sendable {
  /// The heading; `nil` while there is none to say. Its `headingAccuracy` says whether it is to be trusted.
  public let heading: CLHeading?
  /// Whether there is no heading at the moment; others follow as soon as there is one again.
  public var headingUnavailable: Bool { heading == nil }

  /// Headings from now on; none on a board without a magnetometer.
  ///
  /// The magnetometer runs from the first `next()` on, and no longer than the sequence is iterated: it stops with the loop
  /// that is left, and with the task that is cancelled, where the sequence ends. `trueHeading` needs a position, as with
  /// `CLLocationManager.startUpdatingHeading()`. The calibration prompt is not asked for: that needs a delegate.
  ///
  /// - Parameters:
  ///   - filter: Degrees of turn between two headings; `kCLHeadingFilterNone` for all.
  ///   - orientation: The edge that headings are measured from; those that name none mean the top edge.
  public static func liveUpdates(
    filter: CLLocationDegrees = 1, orientation: CLDeviceOrientation = .portrait
  ) -> Updates { Updates(filter: filter, orientation: orientation, port: processPort) }

  /// The same as the public declaration, with the services of `port` instead of the process's. For tests.
  package static func liveUpdates(
    filter: CLLocationDegrees = 1, orientation: CLDeviceOrientation = .portrait,
    on port: any ServicePort
  ) -> Updates { Updates(filter: filter, orientation: orientation, port: port) }

  /// Headings, one after the other.
  public struct Updates: AsyncSequence, Sendable {
    /// What it consists of.
    public typealias Element = CLHeadingUpdate
    let filter: CLLocationDegrees
    let orientation: CLDeviceOrientation
    let port: any ServicePort

    /// Begins anew.
    public func makeAsyncIterator() -> AsyncIterator {
      let settings = ClientSettings(
        headingFilter: filter, headingOrientation: HeadingOrientation(orientation) ?? .portrait)
      return AsyncIterator(feed: LiveFeed(port, [.configure(settings), .start(.heading)]))
    }

    /// One way through the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let feed: LiveFeed

      /// The next update; `nil` once the task is cancelled.
      public mutating func next() async -> CLHeadingUpdate? {
        while let content = await feed.next() {
          if case .heading(let report) = content {
            return CLHeadingUpdate(
              heading: CLHeading(report, timestamp: feed.port.date(utc: nil, report.time)))
          }
          if case .failure = content { return CLHeadingUpdate(heading: nil) }
        }
        return nil
      }
    }
  }
}
