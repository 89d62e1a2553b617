// A measurement that corrects some errors only in part, against the covariance of any gain.

import LinearAlgebra
import Testing

@testable import FusionCore

@Suite struct PartialUpdateTests {
  private static let n = ErrorVector.count

  private static func vector(_ noise: inout Noise) -> ErrorVector {
    var v = ErrorVector.zero
    for index in 0..<n { v[index] = noise.normal() }
    return v
  }

  /// Some covariance: a diagonal and three causes that are common to all errors.
  private static func covariance(_ noise: inout Noise) -> ErrorCovariance {
    var p = ErrorCovariance()
    for index in 0..<n { p.decouple(index, variance: 0.5 + noise.uniform()) }
    for _ in 0..<3 { p.add(common: vector(&noise)) }
    return p
  }

  private static func shares(_ noise: inout Noise) -> UpdateShares {
    var shares = ErrorVector.zero
    for index in 0..<n { shares[index] = [0, 0.3, 1][Int(3 * noise.uniform())] }
    let up = Quaternion(rotationVector: noise.vector(1)).rotate(Vector3(0, 0, 1))
    return UpdateShares(
      shares: shares, levelBias: 0.3, verticalBias: 0.6, up: SIMD3(up.x, up.y, up.z))
  }

  @Test(
    "errors and covariance are those of the gain that is left",
    arguments: 1...5 as ClosedRange<UInt64>)
  func josephsForm(seed: UInt64) {
    var noise = Noise(seed)
    var p = Self.covariance(&noise)
    let (before, part, h) = (p, Self.shares(&noise), Self.vector(&noise))
    let (value, variance) = (noise.normal(), 0.2 + noise.uniform())
    let ph = p.times(h)
    let spread = h.dot(ph) + variance
    var gain = ErrorVector.zero
    for index in 0..<Self.n { gain[index] = part.shares[index] * ph[index] / spread }
    // Of the bias, one share of what lies along the vertical, and another of the rest.
    let bias = ph[vector: ErrorVector.bias] / spread
    let along = (bias * part.up).sum() * part.up
    gain[vector: ErrorVector.bias] = part.verticalBias * along + part.levelBias * (bias - along)

    var x = ErrorVector.zero
    _ = p.update(&x, h: h, ph: ph, value: value, variance: variance, part: part)
    for a in 0..<Self.n {
      #expect(abs(x[a] - gain[a] * value) < 1e-12)
      for b in 0..<Self.n {
        // P - K (P h)' - (P h) K' + K s K', which holds for any gain.
        let wanted =
          before[a, b] - gain[a] * ph[b] - ph[a] * gain[b] + gain[a] * spread * gain[b]
        #expect(abs(p[a, b] - wanted) < 1e-11)
      }
    }
  }

  @Test(
    "what it has taken gives the product with another row", arguments: 1...5 as ClosedRange<UInt64>)
  func reduction(seed: UInt64) throws {
    var noise = Noise(seed)
    var p = Self.covariance(&noise)
    let (part, h, other) = (Self.shares(&noise), Self.vector(&noise), Self.vector(&noise))
    let before = p.times(other)
    var x = ErrorVector.zero
    let ph = p.times(h)
    let taken = p.update(&x, h: h, ph: ph, value: 1, variance: 0.3, part: part)
    let reduction = try #require(taken)
    let (told, whole) = (reduction.applied(to: before, other), p.times(other))
    for index in 0..<Self.n { #expect(abs(told[index] - whole[index]) < 1e-11) }
  }

  @Test("whole shares give the Kalman filter's update")
  func whole() {
    var noise = Noise(9)
    var (p, q) = (Self.covariance(&noise), ErrorCovariance())
    q = p
    let h = Self.vector(&noise)
    var shares = ErrorVector.zero
    for index in 0..<Self.n { shares[index] = 1 }
    let part = UpdateShares(shares: shares, levelBias: 1, up: SIMD3(0, 0, 1))
    var (x, y) = (ErrorVector.zero, ErrorVector.zero)
    let ph = p.times(h)
    _ = p.update(&x, h: h, ph: ph, value: 0.7, variance: 0.4, part: part)
    q.update(&y, h: h, value: 0.7, variance: 0.4)
    for a in 0..<Self.n {
      #expect(abs(x[a] - y[a]) < 1e-12)
      for b in 0..<Self.n { #expect(abs(p[a, b] - q[a, b]) < 1e-11) }
    }
  }

  @Test("a spread that is not positive takes nothing")
  func refused() {
    var noise = Noise(3)
    var p = Self.covariance(&noise)
    let before = p
    let (h, part) = (Self.vector(&noise), Self.shares(&noise))
    var x = ErrorVector.zero
    let ph = p.times(h)
    for variance in [-1e9, .nan, .infinity] {
      #expect(p.update(&x, h: h, ph: ph, value: 1, variance: variance, part: part) == nil)
    }
    #expect(p == before && x == .zero)
  }
}
