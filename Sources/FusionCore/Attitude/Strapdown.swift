// The integration of the gyro: what happens at every sample, and nothing else.

import LinearAlgebra

/// Attitude carried on by a corrected gyro.
struct Strapdown: Sendable, Equatable, Codable {
  var attitude = Quaternion.identity {
    didSet { carried = nil }
  }
  /// Body frame, rad/s.
  var bias = Vector3.zero
  /// Scale and misalignment: `rate = (I - G)(measured - bias)`.
  var gyroMatrix = Matrix3(diagonal: .zero)
  /// The newest rate, corrected, rad/s.
  private(set) var rate = Vector3.zero
  /// What the newest force was turned with: field and force of one chip have one time, and so has who reads attitude then.
  private var carried: Carried?

  private struct Carried: Sendable, Equatable, Codable {
    var offset: Double
    var attitude: Quaternion
  }

  private func corrected(_ measured: Vector3) -> Vector3 {
    let unbiased = measured - bias
    return unbiased - gyroMatrix * unbiased
  }

  /// Turns the attitude by one interval; gives what it turned by in the body frame, radians, but for the
  /// cone that the axis describes.
  mutating func rotate(_ measured: Vector3, previous: Vector3, _ dt: Double) -> Vector3 {
    // The mean of the two ends is exact for a rate that changes evenly; the rest is the cone's
    // (Bortz 1971, second order).
    let (first, last) = (corrected(previous), corrected(measured))
    let turn = 0.5 * dt * (first + last)
    let cone = first.cross(last) * (dt * dt / 12)
    attitude = attitude * Quaternion(rotationVector: turn + cone)
    rate = last
    return turn
  }

  /// Turns the attitude by what no sample has shown, body frame, radians.
  mutating func turn(by turn: Vector3) {
    attitude = (attitude * Quaternion(rotationVector: turn)).normalized
  }

  /// The attitude `offset` seconds from the newest sample, within `limit` seconds of it; kept for who asks for the same.
  @inline(__always)
  mutating func carry(by offset: Double, limit: Double) -> Quaternion {
    let attitude = attitude(after: offset, limit: limit)
    carried = Carried(offset: offset, attitude: attitude)
    return attitude
  }

  /// The attitude `offset` seconds from the newest sample, within `limit` seconds of it.
  @inline(__always)  // A call would copy the whole struct.
  func attitude(after offset: Double, limit: Double) -> Quaternion {
    if let carried, carried.offset == offset { return carried.attitude }
    guard abs(offset) > 1e-6 else { return attitude }
    return attitude * Quaternion(rotationVector: rate * max(-limit, min(limit, offset)))
  }
}
