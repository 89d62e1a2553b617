// Whether the board stands, by its positions.

import SensorTypes

/// Tells for how long the board has not moved.
///
/// It has moved when it is farther from where it was than the accuracies of both positions explain.
struct StationaryDetector: Sendable {
  /// How often the two 68 % radii together a distance has to be. Of independent errors one in 28,000 is farther:
  /// exp(-(3 c)^2 / 2) with c of `LocationReport.radiusOfSigma`.
  static let ratio = 3.0
  /// Less is no movement, metres: a boat at its berth, a board that is turned in the hand.
  let least: Double
  /// A position that is less accurate says nothing, metres.
  static let worstAccuracy = 100.0

  private var anchor: LocationReport?
  /// Since when the board has been there, and until when that is known.
  private var since = Timestamp(nanoseconds: 0)
  private var until = Timestamp(nanoseconds: 0)

  init(least: Double = 10) { self.least = least }

  /// For how long it has stood, seconds.
  var duration: Double { anchor == nil ? 0 : until.seconds(since: since) }

  /// Forgets where the board was: what it did meanwhile is not known.
  mutating func forget() { anchor = nil }

  /// Takes a position; returns whether the board is not known to be where it was.
  mutating func take(_ report: LocationReport, distance: LocationEngine.Distance) -> Bool {
    guard let accuracy = report.horizontalAccuracy, accuracy <= Self.worstAccuracy else {
      return false
    }
    guard let anchor, let old = anchor.horizontalAccuracy else {
      begin(report)
      return true
    }
    let error = (accuracy * accuracy + old * old).squareRoot()
    guard distance(anchor.position, report.position) <= max(least, Self.ratio * error) else {
      begin(report)
      return true
    }
    until = max(until, report.time)
    // A start with a poor fix would hide much: a far better one takes its place. Half as wide each time, so that
    // the place cannot creep along with the board.
    if accuracy < old / 2 { self.anchor = report }
    return false
  }

  private mutating func begin(_ report: LocationReport) {
    anchor = report
    since = report.time
    until = report.time
  }
}
