// The integration of the gyro: what happens at every sample, and nothing else.

import LinearAlgebra

/// Attitude carried on by a corrected gyro.
struct Strapdown: Sendable, Equatable, Codable {
  var attitude = Quaternion.identity
  /// Body frame, rad/s.
  var bias = Vector3.zero
  /// Scale and misalignment: `rate = (I - G)(measured - bias)`.
  var gyroMatrix = Matrix3(diagonal: .zero)
  /// The newest rate, corrected, rad/s.
  private(set) var rate = Vector3.zero

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

  /// The attitude `offset` seconds from the newest sample, within `limit` seconds of it.
  @inline(__always)  // A call would copy the whole struct.
  func attitude(after offset: Double, limit: Double) -> Quaternion {
    guard abs(offset) > 1e-6 else { return attitude }
    return attitude * Quaternion(rotationVector: rate * max(-limit, min(limit, offset)))
  }
}
