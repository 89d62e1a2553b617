// What a calibration learns from: one field sample and what the board felt at that moment.

public import LinearAlgebra

/// One raw field sample, with gravity and turning where the board has chips that feel them. Everything is in
/// the *magnetometer's own* frame, before calibration and mount.
public struct CalibrationSample: Sendable, Hashable {
  /// When the field was measured.
  public var time: Timestamp
  /// The field as the chip gave it, microtesla.
  public var field: Vector3
  /// Specific force, m/s^2, at rest pointing up; `nil` without an accelerometer.
  public var force: Vector3?
  /// Angular rate, rad/s, right-handed in the body; `nil` without a gyro.
  public var angularRate: Vector3?

  /// Makes a sample.
  public init(
    time: Timestamp, field: Vector3, force: Vector3? = nil, angularRate: Vector3? = nil
  ) {
    self.time = time
    self.field = field
    self.force = force
    self.angularRate = angularRate
  }
}
