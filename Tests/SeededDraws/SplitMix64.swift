// Chance that comes again with the same seed, and a figure of many.

/// SplitMix64 (Steele, Lea, Flood 2014): what every simulated unit, hand and vessel of the tests draws its bits from.
package struct SplitMix64: RandomNumberGenerator {
  package var state: UInt64

  package init(state: UInt64) { self.state = state }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// 0 up to 1, all 53 bits of it.
  package mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}

/// The value that the share of the others is below; NaN of nothing, so that no limit holds it.
package func percentile(_ values: [Double], _ share: Double) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
}
