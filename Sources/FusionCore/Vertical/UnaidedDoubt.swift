// What a barometer alone cannot know: how much of its height was doors.

/// The doubt that a stretch without an accelerometer leaves in the height.
///
/// Slow doors and fans cannot be told from stairs then, so that part of the range which the height went
/// through may have been air.
struct UnaidedDoubt: Sendable, Hashable, Codable {
  /// The range of height in the stretch, m.
  private var lowest = 0.0
  private var highest = 0.0
  /// The variance that earlier stretches left, m^2.
  private(set) var earlier = 0.0

  /// A stretch begins at a height.
  mutating func begin(at height: Double) {
    lowest = height
    highest = height
  }

  /// Takes a height of the stretch.
  mutating func follow(_ height: Double) {
    lowest = min(lowest, height)
    highest = max(highest, height)
  }

  /// The stretch ends; what went before keeps its doubt.
  /// - Parameter slope: Metres per pascal.
  mutating func end(slope: Double, _ params: RelativeAltitudeParameters) {
    let most = params.doors.usualStep * slope
    earlier = min(most * most, earlier + variance(slope: slope, params))
  }

  /// What of the height that changed in the stretch may have been a door or a fan, m^2.
  func variance(slope: Double, _ params: RelativeAltitudeParameters) -> Double {
    let part = params.unaided.share * min(highest - lowest, params.doors.usualStep * slope)
    return part * part
  }
}
