// Attitude without memory: from two vectors measured at the same moment, and what follows from an
// attitude for a heading. Pure functions.

public import LinearAlgebra

/// Attitude and heading as pure functions of vectors; no state.
public enum DirectAttitude {
  /// The attitude (body to earth: ENU with y to magnetic north) from the direction of up and the
  /// field.
  ///
  /// TRIAD (Black 1964) with up trusted wholly: the field only turns about the vertical.
  /// - Parameters:
  ///   - up: Specific force at rest, any unit, body frame: it points up.
  ///   - field: Magnetic field, any unit, body frame.
  /// - Returns: `nil` where the two are parallel within half a degree, zero or not finite.
  public static func attitude(up: Vector3, field: Vector3) -> Quaternion? {
    guard let z = up.normalized, let m = field.normalized else { return nil }
    let across = m.cross(z)
    guard across.length > 0.0087, let east = across.normalized else { return nil }
    return Quaternion(Matrix3(rows: east, z.cross(east), z)).normalized
  }

  /// An attitude with the right tilt and an arbitrary heading: the shortest turn that brings `up`
  /// to the vertical. `nil` where `up` has no direction.
  public static func attitude(up: Vector3) -> Quaternion? {
    guard let z = up.normalized else { return nil }
    // Upside down every horizontal axis is as short; body x is taken.
    guard z.z > -1 + 1e-9 else { return Quaternion(w: 0, x: 1, y: 0, z: 0) }
    return Quaternion(w: 1 + z.z, vector: z.cross(Vector3(0, 0, 1))).normalized
  }

  /// The direction of the body's y axis clockwise from north, radians, 0 up to 2 pi; 0 where y is
  /// exactly vertical and has none.
  public static func heading(of attitude: Quaternion) -> Double {
    heading(forward: attitude.rotate(Vector3(0, 1, 0)))
  }

  /// The same, of the body's y axis in the earth frame.
  static func heading(forward y: Vector3) -> Double {
    let angle = atan2(y.x, y.y)
    let positive = angle < 0 ? angle + 2 * .pi : angle
    // A tiny negative angle rounds up to the full turn.
    return positive < 2 * .pi ? positive : 0
  }

  /// How heading moves with a small turn `phi` of the attitude in the earth frame
  /// (`R_true = exp([phi]x) R`): the gradient of heading by `phi`, of the body's y axis in the earth frame.
  ///
  /// With h the horizontal length of y, the gradient is
  /// `(x z / h^2, y z / h^2, -1)`: it grows without bound when y nears the vertical, which is what
  /// makes the accuracy of a heading grow there.
  static func headingGradient(forward y: Vector3) -> Vector3 {
    let horizontal = max(y.x * y.x + y.y * y.y, 1e-6)
    return Vector3(y.x * y.z / horizontal, y.y * y.z / horizontal, -1)
  }
}
