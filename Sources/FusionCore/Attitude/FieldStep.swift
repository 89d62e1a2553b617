// A field that points elsewhere sooner than a board can turn.

import LinearAlgebra

/// Tells a horizontal field that a magnet has turned from one that has turned with the board, without a gyro.
///
/// A magnet that comes near, or a motor that is switched on, may leave strength and dip as they are. Only the speed of that tells it from a
/// turn of the board. A field that points back at once is a faulty sample.
struct FieldStep: Sendable, Hashable, Codable {
  /// The azimuth of the last field in a level frame of the body, in radians.
  private var azimuth: Double?
  /// The angle that the field has turned by so far, too fast for a board, in radians.
  private var angle = 0.0

  /// Forgets the samples, which later ones cannot be compared with.
  mutating func forget() { self = FieldStep() }

  /// Takes one field, in a level frame of the body, `dt` seconds after the one before.
  ///
  /// - Returns: The angle in radians, after a step.
  mutating func update(level field: Vector3?, _ dt: Double, _ p: FieldTestParameters) -> Double? {
    guard let field, field.x != 0 || field.y != 0 else {
      forget()
      return nil
    }
    let azimuth = atan2(field.x, field.y)
    defer { self.azimuth = azimuth }
    guard let last = self.azimuth, dt > 0 else {
      angle = 0
      return nil
    }
    let turn = (azimuth - last).remainder(dividingBy: 2 * .pi)
    if abs(turn) > p.fastestTurn * dt {
      angle += turn
      return nil
    }
    defer { angle = 0 }
    return abs(angle) > p.leastStep ? abs(angle) : nil
  }
}
