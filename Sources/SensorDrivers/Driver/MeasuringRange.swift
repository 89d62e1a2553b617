// The ranges that a chip can be told to measure in.

/// A measuring range, declared among the others of its chip from the narrowest to the widest.
package protocol MeasuringRange: CaseIterable, Hashable, Sendable {}

extension MeasuringRange {
  /// Becomes the next wider of `ranges`, ascending; `false` for the widest.
  mutating func widen(among ranges: [Self] = Array(allCases)) -> Bool {
    guard let wider = ranges.drop(while: { $0 != self }).dropFirst().first else { return false }
    self = wider
    return true
  }
}
