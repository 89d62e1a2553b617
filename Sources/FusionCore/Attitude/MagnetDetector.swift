// Notices that a magnet was attached to the board, or taken off.

import LinearAlgebra

/// Means over the last seconds of what the filter does not explain of the field.
///
/// Iron in the room is an error that turns as the board turns; iron on the board is one that turns with
/// it. So an error that is large, the same in the body frame and not the same in the earth frame belongs
/// to the board.
struct MagnetDetector: Sendable, Hashable, Codable {
  private var inBody = Vector3.zero
  private var inEarth = Vector3.zero
  private var square = 0.0
  private var holdOff = 0.0

  /// Takes what is left of the field over a block.
  /// - Parameters:
  ///   - error: Earth frame, microtesla.
  ///   - rotation: Mean of the attitude matrices.
  ///   - scale: The field's strength over the one for which the threshold holds.
  /// - Returns: Square of the offset that has come, microtesla squared, or `nil`.
  mutating func update(
    error: Vector3, rotation: Matrix3, isStationary: Bool, scale: Double, _ duration: Double,
    _ p: MagnetDetectorParameters
  ) -> Double? {
    // At rest board and room cannot be told apart; what was seen then would only hide what turning shows.
    guard !isStationary else { return nil }
    let gain = duration / (p.memory + duration)
    inBody += (rotation.transposed * error - inBody) * gain
    inEarth += (error - inEarth) * gain
    square += (error.lengthSquared - square) * gain
    holdOff = max(0, holdOff - duration)
    let size = inBody.lengthSquared
    let least = p.threshold * scale
    guard holdOff == 0, size > least * least, size > p.bodyShare * square,
      size - inEarth.lengthSquared > p.excessShare * square
    else { return nil }
    self = MagnetDetector()
    holdOff = p.pause
    return size
  }
}
