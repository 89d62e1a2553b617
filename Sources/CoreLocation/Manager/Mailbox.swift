// What waits for a manager's thread: bounded, in order.

import LocationServices

/// What a manager hears in one call.
enum Delivery: Hashable, Sendable {
  /// Locations, the oldest first.
  case locations([LocationReport])
  /// A deferral has ended.
  case deferralEnded(DeferralProblem?)
  /// A heading.
  case heading(HeadingReport)
  /// The newest heading no longer stands for now.
  case headingExpired
  /// Locations pause.
  case paused
  /// Locations are about to come again.
  case resumed
  /// A stay.
  case visit(VisitReport)
  /// What there is to tell of a region.
  case region(RegionEvent)
  /// Beacons of a second.
  case beacons(BeaconReport)
  /// Beacons cannot be ranged.
  case rangingFailed(RangingFailure)
  /// A failure.
  case failure(ServiceFailure)
}

/// Events on their way to a manager's thread.
///
/// Locations queue up to a limit, then the oldest is dropped and counted; what was deferred has a limit of its own, and
/// arrives as it was gathered. Of headings, of a constraint's beacons, and of
/// failures of one service, only the newest waits: an older one says nothing any more. The answer to a request for one location is
/// never dropped, and arrives alone.
struct Mailbox: Sendable {
  /// Locations that may wait: a little more than four minutes at one a second.
  static let locationLimit = 256
  /// Beginnings and ends of pauses that may wait; then the oldest pause is dropped with its end.
  static let pauseLimit = 16
  /// Significant changes, visits, and words of regions that may wait: of each a day's; then the oldest is dropped.
  static let changeLimit = 256
  /// Deferred locations that may wait: one deferral that is full, or several short ones.
  static let deferredLimit = 3_600

  private var waiting: [ServiceEvent.Content] = []
  private var locations = 0
  /// Locations that were dropped.
  private(set) var dropped: UInt64 = 0

  /// Whether nothing waits.
  var isEmpty: Bool { waiting.isEmpty }
  /// How many events wait.
  var count: Int { waiting.count }
  /// Whether the answer to a request waits.
  var holdsAnswer: Bool { waiting.contains(where: \.isAnswer) }

  /// Takes an event; returns how many were dropped for it.
  mutating func append(_ content: ServiceEvent.Content) -> UInt64 {
    let before = dropped
    switch content {
    case .location:
      if locations >= Self.locationLimit, let oldest = waiting.firstIndex(where: \.isLocation) {
        waiting.remove(at: oldest)
        locations -= 1
        dropped += 1
      }
      locations += 1
    case .deferredLocations(let batch):
      while waiting.reduce(batch.count, { $0 + $1.deferred }) > Self.deferredLimit,
        let oldest = waiting.firstIndex(where: { $0.deferred > 0 })
      {
        dropped += UInt64(waiting.remove(at: oldest).deferred)
      }
    case .deferralEnded: limit(\.isDeferralEnd)
    case .heading, .headingExpired: waiting.removeAll { $0.isHeading }
    case .failure(let failure): waiting.removeAll { $0.isFailure(of: failure.service) }
    case .requestedLocation, .requestFailed: break
    case .paused, .resumed:
      guard waiting.count(where: \.isPause) >= Self.pauseLimit else { break }
      for _ in 0..<2 {
        if let oldest = waiting.firstIndex(where: \.isPause) { waiting.remove(at: oldest) }
      }
    case .significantChange: limit(\.isChange)
    case .visit: limit(\.isVisit)
    case .region: limit(\.isRegion)
    case .beacons(let report): discardBeacons(report.constraint)
    case .rangingFailed(let failure): discardBeacons(failure.constraint)
    case .altitude, .absoluteAltitude, .motion, .question, .questionClosed, .authorization,
      .fullAccuracyAnswered:
      return 0
    }
    waiting.append(content)
    return dropped - before
  }

  /// Makes room for one more of a rare kind.
  private mutating func limit(_ isAlike: (ServiceEvent.Content) -> Bool) {
    guard waiting.count(where: isAlike) >= Self.changeLimit,
      let oldest = waiting.firstIndex(where: isAlike)
    else { return }
    waiting.remove(at: oldest)
    dropped += 1
  }

  /// Takes out what is to be delivered next: locations that follow one another go together.
  mutating func next() -> Delivery? {
    guard let first = waiting.first else { return nil }
    switch first {
    case .location:
      var batch: [LocationReport] = []
      for content in waiting {
        guard case .location(let report) = content else { break }
        batch.append(report)
      }
      waiting.removeFirst(batch.count)
      locations -= batch.count
      return .locations(batch)
    case .heading(let report):
      waiting.removeFirst()
      return .heading(report)
    case .headingExpired:
      waiting.removeFirst()
      return .headingExpired
    case .requestedLocation(let report), .significantChange(let report):
      waiting.removeFirst()
      return .locations([report])
    case .deferredLocations(let batch):
      waiting.removeFirst()
      return .locations(batch)
    case .deferralEnded(let problem):
      waiting.removeFirst()
      return .deferralEnded(problem)
    case .paused:
      waiting.removeFirst()
      return .paused
    case .resumed:
      waiting.removeFirst()
      return .resumed
    case .visit(let report):
      waiting.removeFirst()
      return .visit(report)
    case .region(let event):
      waiting.removeFirst()
      return .region(event)
    case .beacons(let report):
      waiting.removeFirst()
      return .beacons(report)
    case .rangingFailed(let failure):
      waiting.removeFirst()
      return .rangingFailed(failure)
    case .failure(let failure), .requestFailed(let failure):
      waiting.removeFirst()
      return .failure(failure)
    case .altitude, .absoluteAltitude, .motion, .question, .questionClosed, .authorization,
      .fullAccuracyAnswered:
      // Never appended.
      waiting.removeFirst()
      return next()
    }
  }

  /// Throws away the answer to a request that is cancelled.
  mutating func discardAnswer() { waiting.removeAll(where: \.isAnswer) }

  /// Throws away what waits of a constraint's beacons. A loss that is over before it was told was none.
  mutating func discardBeacons(_ constraint: BeaconConstraint) {
    waiting.removeAll { $0.isOfBeacons(constraint) }
  }

  /// Throws away what a service that is stopped has left. That a deferral has ended is told all the same.
  mutating func discard(_ service: Service) {
    waiting.removeAll { content in
      content.isFailure(of: service)
        || (service == .location
          && (content.isLocation || content.isAnswer || content.isPause || content.deferred > 0))
        || (service == .heading && content.isHeading)
        || (service == .significantChanges && content.isChange)
        || (service == .visits && content.isVisit)
    }
    if service == .location { locations = 0 }
  }
}

extension ServiceEvent.Content {
  fileprivate var isLocation: Bool { if case .location = self { true } else { false } }
  /// How many locations of a deferral it holds.
  fileprivate var deferred: Int {
    if case .deferredLocations(let batch) = self { batch.count } else { 0 }
  }
  fileprivate var isDeferralEnd: Bool { if case .deferralEnded = self { true } else { false } }
  fileprivate var isHeading: Bool {
    switch self {
    case .heading, .headingExpired: true
    default: false
    }
  }
  fileprivate var isChange: Bool { if case .significantChange = self { true } else { false } }
  fileprivate var isRegion: Bool { if case .region = self { true } else { false } }
  fileprivate var isVisit: Bool { if case .visit = self { true } else { false } }
  fileprivate var isAnswer: Bool {
    switch self {
    case .requestedLocation, .requestFailed: true
    default: false
    }
  }
  fileprivate var isPause: Bool { self == .paused || self == .resumed }
  fileprivate func isOfBeacons(_ constraint: BeaconConstraint) -> Bool {
    switch self {
    case .beacons(let report): report.constraint == constraint
    case .rangingFailed(let failure): failure.constraint == constraint
    default: false
    }
  }
  fileprivate func isFailure(of service: Service) -> Bool {
    if case .failure(let failure) = self { failure.service == service } else { false }
  }
}
