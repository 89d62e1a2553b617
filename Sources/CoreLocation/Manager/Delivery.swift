// What a manager's delegate is told in one call.

import LocationServices

/// What a manager hears in one call.
enum DelegateCall: Hashable, Sendable {
  /// Locations, the oldest first.
  case locations([LocationReport])
  /// A deferral has ended.
  case deferralEnded(DeferralProblem?)
  case heading(HeadingReport)
  /// The newest heading no longer stands for now.
  case headingExpired
  case paused
  /// Locations are about to come again.
  case resumed
  case visit(VisitReport)
  /// What there is to tell of a region.
  case region(RegionEvent)
  /// What earlier runs have watched cannot be read, and why.
  case regionsUnreadable(String)
  /// Beacons of a second.
  case beacons(BeaconReport)
  /// Beacons cannot be ranged.
  case rangingFailed(RangingFailure)
  case failure(ServiceFailure)
}

extension DelegateCall {
  /// What events mean that are handed out together; `nil` for what a manager does not tell this way.
  init?(_ run: [EventContent]) {
    guard let first = run.first else { return nil }
    switch first {
    case .location:
      self = .locations(
        run.compactMap { if case .location(let report) = $0 { report } else { nil } })
    case .heading(let report): self = .heading(report)
    case .headingExpired: self = .headingExpired
    case .requestedLocation(let report), .significantChange(let report):
      self = .locations([report])
    case .deferredLocations(let batch): self = .locations(batch)
    case .deferralEnded(let problem): self = .deferralEnded(problem)
    case .paused: self = .paused
    case .resumed: self = .resumed
    case .visit(let report): self = .visit(report)
    case .region(let event): self = .region(event)
    case .regionsUnreadable(let reason): self = .regionsUnreadable(reason)
    case .beacons(let report): self = .beacons(report)
    case .rangingFailed(let failure): self = .rangingFailed(failure)
    case .failure(let failure), .requestFailed(let failure): self = .failure(failure)
    case .altitude, .absoluteAltitude, .motion, .question, .questionClosed, .authorization,
      .fullAccuracyAnswered, .observation, .reading:
      return nil
    }
  }
}
