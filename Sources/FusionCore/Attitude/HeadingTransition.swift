// Keeps the published heading continuous while the filter behind it takes up another calibration.

import LinearAlgebra

/// The part of a change of calibration that the published heading has not followed yet.
struct HeadingTransition: Sendable, Hashable, Codable {
  /// Smaller than any heading is printed with, radians.
  private static let nothing = 1e-6

  /// Radians about the vertical, counterclockwise, that the published attitude is turned by.
  private(set) var angle = 0.0
  private var left = 0.0

  /// From now on the filter's corrections of heading are passed on slowly.
  mutating func settle(_ p: HeadingTransitionParameters) { left = p.settling }

  /// Takes a correction of the filter's, counterclockwise.
  mutating func absorb(correction: Double) {
    guard left > 0 else { return }
    angle = (angle - correction).remainder(dividingBy: 2 * .pi)
  }

  /// Takes a jump of the heading that is not to be seen: the heading before it less the one after it, radians.
  mutating func absorb(turn: Double) {
    angle = (angle - turn).remainder(dividingBy: 2 * .pi)
  }

  mutating func decay(_ dt: Double, _ p: HeadingTransitionParameters) {
    guard angle != 0 || left > 0 else { return }
    left = max(0, left - dt)
    angle *= p.timeConstant / (p.timeConstant + dt)
    if abs(angle) < Self.nothing { angle = 0 }
  }

  @inline(__always)
  func applied(to attitude: Quaternion) -> Quaternion {
    guard angle != 0 else { return attitude }
    return Quaternion(rotationVector: Vector3(0, 0, angle)) * attitude
  }
}
