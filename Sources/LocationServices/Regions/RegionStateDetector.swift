// On which side of one boundary the board is, by positions that are not exact.

import SensorTypes

/// Decides when a boundary was crossed.
///
/// A position counts for a side when it is farther from the boundary than one and a half times its 68 % radius explains:
/// of independent errors one in 36 is (exp(-(1.5 c)^2 / 2) with c of `LocationReport.radiusOfSigma`, on either side).
/// Inwards no more than half of the region's radius is asked for, or a small region could not be entered. A crossing
/// counts when a later position says the same after twenty seconds, as the SDK's region monitoring has it, and none in
/// between has said otherwise.
struct RegionStateDetector: Hashable, Codable, Sendable {
  static let cushion = 1.5
  /// Seconds.
  static let dwell = 20.0

  private(set) var state: RegionState
  /// Where the board seems to be now, and since when.
  private var seeming: RegionState?
  private var since = Timestamp(nanoseconds: 0)

  init(state: RegionState = .unknown) { self.state = state }

  /// Whether a crossing waits for its confirmation.
  var isUndecided: Bool { seeming != nil || state == .unknown }

  /// The side that a position counts for; `unknown` near the boundary.
  static func side(_ distance: Double, of radius: Double, accuracy: Double) -> RegionState {
    let margin = cushion * accuracy
    if distance > radius + margin { return .outside }
    return distance < radius - min(margin, radius / 2) ? .inside : .unknown
  }

  /// Takes a position; returns the new state where it has become another.
  mutating func take(
    _ distance: Double, of radius: Double, accuracy: Double, at time: Timestamp
  ) -> RegionState? {
    let side = Self.side(distance, of: radius, accuracy: accuracy)
    guard side != .unknown else { return nil }
    guard side != state else {
      seeming = nil
      return nil
    }
    if state != .unknown {
      guard seeming == side else {
        (seeming, since) = (side, time)
        return nil
      }
      guard time.seconds(since: since) >= Self.dwell else { return nil }
    }
    (state, seeming) = (side, nil)
    return side
  }
}
