// Positions that a client lets wait.

import Geodesy
import SensorTypes

/// Why a deferral has not begun, or has ended before its distance or its time was reached.
package enum DeferralProblem: Hashable, Codable, Sendable {
  /// Updates do not run, or are paused.
  case notUpdating
  /// The best accuracy is not what is desired.
  case accuracyTooLow
  /// A distance filter is set.
  case distanceFiltered
  /// The client has ended it, or asked for another one.
  case canceled
  /// Anything else, in words.
  case failed(String)
}

/// What a client has allowed to wait, until the board is so far from where it was, or so much time is over.
///
/// The distance is the straight one from the last position that the client has had: a sum of steps would grow with
/// the receiver's noise where the board stands.
struct Deferral: Sendable {
  /// Positions that may wait: an hour at one a second, less than a megabyte. With the last of them the deferral ends,
  /// so that none is lost.
  static let limit = 3_600
  /// Longer times, in seconds, are no limit: 31 years.
  private static let forever = 1e9

  /// When the time is over; `nil`: never.
  private(set) var deadline: Timestamp?
  private let distance: Double
  private var origin: LocationReport?
  /// What waits, the oldest first.
  private(set) var gathered: [LocationReport] = []

  /// Begins one; `nil` for what is no distance or no time.
  init?(distance: Double, timeout: Double, from origin: LocationReport?, at now: Timestamp) {
    guard distance >= 0, timeout >= 0 else { return nil }
    self.distance = distance
    self.origin = origin
    deadline = timeout <= Self.forever ? now.advanced(bySeconds: timeout) : nil
  }

  /// Takes a position; one that is late goes where it belongs.
  mutating func take(_ report: LocationReport, measure: LocationEngine.Distance) -> DeferralDecision
  {
    let before = gathered.lastIndex { $0.time <= report.time }
    gathered.insert(report, at: before.map { $0 + 1 } ?? 0)
    let origin = origin ?? report
    self.origin = origin
    if measure(origin.position, report.position) >= distance { return .reached }
    return gathered.count >= Self.limit ? .full : .waits
  }

  /// Forgets what the board has said: another one speaks now.
  mutating func forget() {
    origin = nil
    gathered = []
  }
}

/// What a position comes to.
enum DeferralDecision: Sendable {
  case waits
  /// The board has got so far.
  case reached
  /// No more can wait.
  case full
}
