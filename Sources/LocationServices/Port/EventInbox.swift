// The queue of events between the services and a client's thread, queue or task.

package import Inboxes

/// The kinds of event that share a limit while they wait for a client.
package enum EventKind: Hashable, Sendable {
  case location
  /// Positions that a deferral has gathered.
  case deferred
  case deferralEnd
  /// Answers to requests for one position.
  case answer
  /// Beginnings and ends of pauses.
  case pause
  case change
  case visit
  case region
  /// That regions of earlier runs are lost.
  case regionsUnreadable
  /// Headings, and that the newest no longer stands.
  case heading
  /// Losses of a service.
  case failure(Service)
  /// Beacons of a constraint, and that they cannot be ranged.
  case beacons(BeaconConstraint)
  case altitude
  /// Heights above the sea.
  case absoluteAltitude
  /// What the motion services have measured.
  case motion
  /// Questions to the application, and that they are closed.
  case question
  /// What the application may have.
  case authorization
  /// Answers to requests for exact positions.
  case fullAccuracy
  /// Observations of the board.
  case observation
  /// Samples of chips, before calibration and mount.
  case reading
}

extension EventKind {
  /// Returns whether waiting events of this kind are discarded when a service is stopped. The end of a deferral is still
  /// delivered.
  package func isOf(_ service: Service) -> Bool {
    switch self {
    case .failure(service): true
    case .location, .answer, .pause, .deferred: service == .location
    case .heading: service == .heading
    case .change: service == .significantChanges
    case .visit: service == .visits
    default: false
    }
  }
}

extension EventContent {
  /// The kind whose limit the event shares.
  package var kind: EventKind {
    switch self {
    case .location: .location
    case .deferredLocations: .deferred
    case .deferralEnded: .deferralEnd
    case .heading, .headingExpired: .heading
    case .significantChange: .change
    case .visit: .visit
    case .region: .region
    case .regionsUnreadable: .regionsUnreadable
    case .beacons(let report): .beacons(report.constraint)
    case .rangingFailed(let failure): .beacons(failure.constraint)
    case .altitude: .altitude
    case .absoluteAltitude: .absoluteAltitude
    case .motion: .motion
    case .requestedLocation, .requestFailed: .answer
    case .paused, .resumed: .pause
    case .failure(let failure): .failure(failure.service)
    case .question, .questionClosed: .question
    case .authorization: .authorization
    case .fullAccuracyAnswered: .fullAccuracy
    case .observation: .observation
    case .reading: .reading
    }
  }
}

/// The queue of events between the services and a client's thread, queue or task.
package typealias EventInbox = Inbox<EventContent, EventKind>

/// A client that delivers on a queue of its own, for which a test can wait.
package protocol SettlingClient: ServiceClient {
  /// Waits until the calls on the client's queue have returned.
  func settle()
}

extension Inbox: ServiceClient, SettlingClient
where Element == EventContent, Kind == EventKind {
  package func applicationChanged(isSuspended: Bool) { hold(isSuspended) }
}

/// The limits of waiting events.
package enum EventLimits {
  /// Positions: a little more than four minutes at one a second.
  package static let locations = 256
  /// Positions of deferrals: one deferral that is full, or several short ones.
  package static let deferred = 3_600
  /// Beginnings and ends of pauses; then the oldest pause is dropped with its end.
  package static let pauses = 16
  /// Of significant changes, visits, and words of regions a day's each.
  package static let changes = 256
}

extension InboxPolicy where Element == EventContent, Kind == EventKind {
  /// The policy of a location manager. Positions and rare events wait in order. Of headings, beacons of a constraint, failures of
  /// a service and questions only the newest waits, because it supersedes the older ones. The answer to a request is never
  /// dropped.
  package static var manager: Self {
    Self(
      kind: { content in
        switch content {
        case .altitude, .absoluteAltitude, .motion, .fullAccuracyAnswered, .observation,
          .reading:
          nil
        default: content.kind
        }
      },
      limit: { kind in
        switch kind {
        case .location: .oldestGo(EventLimits.locations)
        case .deferred: .oldestGo(EventLimits.deferred)
        case .pause: .oldestGo(EventLimits.pauses, together: 2)
        case .deferralEnd, .change, .visit, .region: .oldestGo(EventLimits.changes)
        case .answer, .regionsUnreadable: .all
        case .heading, .failure, .beacons, .question, .authorization, .altitude,
          .absoluteAltitude, .motion, .fullAccuracy, .observation, .reading:
          .newest
        }
      },
      weight: { if case .deferredLocations(let batch) = $0 { batch.count } else { 1 } },
      isCounted: { $0 == .location || $0 == .deferred || $0 == .change })
  }

  /// The policy of an asynchronous sequence: events wait in order, and the oldest of a kind are dropped beyond its limit.
  package static var feed: Self {
    Self(
      kind: \.kind, limit: { _ in .oldestGo(EventLimits.locations) },
      isCounted: { $0 == .location })
  }

  /// The policy of a handler: measurements and failures wait in order, and the oldest of a kind are dropped beyond `limit`.
  /// Events that arrive while the application is suspended are discarded.
  package static func handler(limit: Int) -> Self {
    Self(
      kind: { content in
        switch content {
        case .altitude, .absoluteAltitude, .motion, .failure: content.kind
        default: nil
        }
      }, limit: { _ in .oldestGo(limit) }, isCounted: { _ in false }, losesWhileHeld: true)
  }

  /// The policy of a client that receives no events.
  package static var mute: Self { Self(kind: { _ in nil }, limit: { _ in .all }) }
}
