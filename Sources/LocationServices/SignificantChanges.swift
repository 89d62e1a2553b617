// Positions for a client that only wants to know when the board is somewhere else.

import SensorTypes

/// Decides which positions are a significant change.
///
/// The SDK's words: as soon as the device has moved 500 metres or more from the last notification, and no oftener than
/// every five minutes. Neither the accuracy that is desired nor the distance filter counts.
struct SignificantChanges: Sendable {
  /// Metres.
  static let distance = 500.0
  /// Seconds between two.
  static let pause = 300.0
  /// Seconds that may lie between two positions of the board. At 30 m/s it gets 1.8 km far in that time, which on a
  /// phone is the next cell.
  static let interval = 60.0
  /// A position that is less accurate tells no 500 metres from none, metres.
  static let worstAccuracy = 500.0

  private var told: LocationReport?

  /// Whether the client has been told of any position.
  var hasTold: Bool { told != nil }

  /// Whether a position is told: the first, and then what is farther from the last that was told.
  mutating func accepts(_ report: LocationReport, distance: LocationEngine.Distance) -> Bool {
    guard let accuracy = report.horizontalAccuracy, accuracy <= Self.worstAccuracy else {
      return false
    }
    if let told {
      guard report.time.seconds(since: told.time) >= Self.pause,
        distance(told.position, report.position) >= Self.distance
      else { return false }
    }
    told = report
    return true
  }
}
