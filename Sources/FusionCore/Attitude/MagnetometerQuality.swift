// How far a magnetometer's samples can be trusted, as its calibration record says. A value; knows no filter.

public import LinearAlgebra
public import SensorTypes

/// How good the magnetometer's calibration is; goes with every field sample.
public struct MagnetometerQuality: Sendable, Hashable, Codable {
  /// Whether a record of this chip was applied. Without one heading is given without accuracy.
  public let isCalibrated: Bool
  /// Root mean square of the fit's residual, uT.
  public let residual: Double
  /// Strength of the field that the record was made in, uT; `nil` where that is not known.
  public let strength: Double?
  /// Covariance of the offset error in the *body* frame, uT^2.
  public let offsetCovariance: Matrix3

  /// Whether all is equal; asked at every sample.
  @inlinable @inline(__always)
  public static func == (a: MagnetometerQuality, b: MagnetometerQuality) -> Bool {
    let (m, n) = (a.offsetCovariance.columns, b.offsetCovariance.columns)
    return a.isCalibrated == b.isCalibrated && a.residual == b.residual && a.strength == b.strength
      && m.x == n.x && m.y == n.y && m.z == n.z
  }

  /// Makes a quality; values that are not finite count as no calibration.
  public init(
    isCalibrated: Bool, offsetCovariance: Matrix3, residual: Double, strength: Double? = nil
  ) {
    let columns = offsetCovariance.columns
    let isSound =
      residual.isFinite && columns.x.isFinite && columns.y.isFinite && columns.z.isFinite
    self.isCalibrated = isCalibrated && isSound
    self.residual = isSound ? residual : 0
    self.offsetCovariance = isSound ? offsetCovariance : Matrix3(diagonal: .zero)
    self.strength = strength.flatMap { isSound && $0.isFinite && $0 > 0 ? $0 : nil }
  }

  /// The quality of an applied record, turned into the body frame.
  ///
  /// `corrected = M (raw - b)`, so the error of b enters as `M C M'`, then turned by the mount.
  public init(_ calibration: AppliedCalibration, mount: Mount) {
    self.init(calibration, mount: mount.matrix)
  }

  /// The same where more than the mount lies between chip and body.
  ///
  /// - Parameter mount: From the chip's frame to the body's; orthonormal.
  public init(_ calibration: AppliedCalibration, mount: Matrix3) {
    let turn = mount * calibration.matrix
    self.init(
      isCalibrated: true, offsetCovariance: turn * calibration.offsetCovariance * turn.transposed,
      residual: calibration.residual, strength: calibration.field)
  }

  /// No record: samples as the chip gives them.
  public static let uncalibrated = MagnetometerQuality(
    isCalibrated: false, offsetCovariance: Matrix3(diagonal: .zero), residual: 0)
}
