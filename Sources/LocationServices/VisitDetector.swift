// Stays at places, by the board's positions.

package import Geodesy
package import SensorTypes

/// A stay at a place as a client gets it; what is not known is `nil`.
package struct VisitReport: Hashable, Codable, Sendable {
  /// The first position at the place; `nil` where the board was there already when watching began.
  package var arrival: VisitPhase?
  /// The last position at the place; `nil` as long as the board is there.
  package var departure: VisitPhase?
  /// Where: the most accurate position of the stay.
  package var position: Position
  /// Radius of the circle that holds the place in 68 % of cases, metres.
  package var horizontalAccuracy: Double?
}

/// A moment of which a client is told.
package struct VisitPhase: Hashable, Codable, Sendable {
  /// On the monotonic clock.
  package var time: Timestamp
  /// UTC by the receiver, seconds since 1970.
  package var utc: Double?

  init(_ report: LocationReport) { (time, utc) = (report.time, report.utc) }
}

/// Tells when the board has come to stay, and when it has left.
///
/// It stays where it is no farther from its first position than a hundred metres, or than the accuracies explain
/// (`Standstill`), for at least five minutes. A stay is told twice: when it is known to be one, and when it is over.
struct VisitDetector: Sendable {
  /// How long a stay is at least, seconds: longer than a traffic light, shorter than a coffee.
  static let least = 300.0
  /// Seconds that may lie between two positions of the board.
  static let interval = 60.0

  /// Less is no departure, metres: the rooms of a house, its yard, and what walls do to positions.
  static let extent = 100.0

  private var standstill = StationaryDetector(least: extent)
  /// The first and the last position where it stands, and the most accurate.
  private var first: LocationReport?
  private var last: LocationReport?
  private var best: LocationReport?
  /// Whether it was seen on its way before.
  private var hasMoved = false
  private var isTold = false

  /// Whether any position has come.
  var hasBegun: Bool { first != nil }

  /// What is to be told after a position.
  mutating func take(
    _ report: LocationReport, distance: LocationEngine.Distance
  ) -> VisitReport? {
    guard report.horizontalAccuracy ?? .infinity <= StationaryDetector.worstAccuracy else {
      return nil
    }
    if standstill.take(report, distance: distance) {
      let ended = isTold ? visit(departure: last) : nil
      hasMoved = first != nil
      (first, last, best, isTold) = (report, report, report, false)
      return ended
    }
    last = report
    if report.horizontalAccuracy ?? .infinity < best?.horizontalAccuracy ?? .infinity {
      best = report
    }
    guard !isTold, standstill.duration >= Self.least else { return nil }
    isTold = true
    return visit(departure: nil)
  }

  private func visit(departure: LocationReport?) -> VisitReport? {
    guard let first, let best else { return nil }
    return VisitReport(
      arrival: hasMoved ? .init(first) : nil, departure: departure.map { .init($0) },
      position: best.position, horizontalAccuracy: best.horizontalAccuracy)
  }
}
