// Reproducible randomness: every imperfection of the simulated board follows from a seed.

package import LinearAlgebra

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
///
/// A stream is chosen by seed, stream number and index, so that the noise of the n-th conversion of a
/// chip does not depend on how often, or when, somebody looked at the chip.
package struct SeededGenerator: RandomNumberGenerator, Sendable, Hashable {
  private var state: UInt64

  /// Makes the generator of one `stream` and one `index` in it.
  package init(seed: UInt64, stream: UInt64 = 0, index: UInt64 = 0) {
    state = Self.mixed(Self.mixed(seed) ^ Self.mixed(stream &+ 0x9E37_79B9_7F4A_7C15))
    state = Self.mixed(state ^ Self.mixed(index &+ 0xD1B5_4A32_D192_ED03))
  }

  /// Starts SplitMix64 with exactly this state, as the paper's reference does.
  package init(state: UInt64) {
    self.state = state
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// The next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mixed(state)
  }

  /// A number above 0 and at most 1, evenly spread.
  package mutating func unit() -> Double {
    (Double(next() >> 11) + 1) * 0x1p-53
  }

  /// A number between -1 and 1, evenly spread.
  package mutating func symmetric() -> Double { 2 * unit() - 1 }

  /// A normally distributed number, mean 0, standard deviation 1 (Box and Muller, 1958).
  package mutating func gaussian() -> Double {
    let radius = (-2 * log(unit())).squareRoot()
    return radius * cos(2 * Double.pi * unit())
  }

  /// Three independent normally distributed numbers.
  package mutating func gaussianVector() -> Vector3 {
    let x = gaussian()
    let y = gaussian()
    return Vector3(x, y, gaussian())
  }

  /// Three independent numbers between -1 and 1.
  package mutating func symmetricVector() -> Vector3 {
    let x = symmetric()
    let y = symmetric()
    return Vector3(x, y, symmetric())
  }
}
