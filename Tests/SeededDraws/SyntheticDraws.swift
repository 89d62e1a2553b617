// Chance in the shapes that simulations need.

package import LinearAlgebra

/// What the simulation of a unit draws.
package struct SyntheticDraws {
  private var bits: SplitMix64

  package init(state: UInt64) { bits = SplitMix64(state: state) }

  package mutating func uniform(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * bits.unit()
  }

  package mutating func normal() -> Double {
    (-2 * log(max(1e-300, uniform(0, 1)))).squareRoot() * cos(2 * .pi * uniform(0, 1))
  }

  package mutating func normals() -> Vector3 { Vector3(normal(), normal(), normal()) }

  package mutating func direction() -> Vector3 {
    let z = uniform(-1, 1)
    let azimuth = uniform(0, 2 * .pi)
    let r = (1 - z * z).squareRoot()
    return Vector3(r * cos(azimuth), r * sin(azimuth), z)
  }
}
