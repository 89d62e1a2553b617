public import LinearAlgebra

/// A calibration as it is applied to a magnetometer's samples, in the chip's own frame, before the mount:
/// `corrected = matrix * (raw - offset)`.
///
/// The offset is *subtracted*, then the matrix is applied: `matrix` is `R S` with S symmetric from the
/// ellipsoid fit (field strength kept) and R the small rotation that aligns magnetometer and
/// accelerometer.
public struct AppliedCalibration: Sendable, Hashable {
  /// Soft iron, scale and alignment; no unit.
  public var matrix: Matrix3
  /// Hard iron in microtesla.
  public var offset: Vector3
  /// Covariance of the offset in microtesla squared: what the fit left unresolved.
  public var offsetCovariance: Matrix3
  /// Root mean square of the fit's residual, microtesla.
  public var residual: Double
  /// Strength of the field that it was made in, microtesla; `nil` where that is not known.
  public var field: Double?

  /// Makes a calibration from its parts.
  public init(
    matrix: Matrix3, offset: Vector3, offsetCovariance: Matrix3, residual: Double,
    field: Double? = nil
  ) {
    self.matrix = matrix
    self.offset = offset
    self.offsetCovariance = offsetCovariance
    self.residual = residual
    self.field = field
  }

  /// The field corrected for the board's iron, in the frame of `raw`, microtesla.
  @inlinable public func correct(_ raw: Vector3) -> Vector3 { matrix * (raw - offset) }
}
