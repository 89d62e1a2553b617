// The field that the magnetic model expects at the board's place.

/// The earth's field as a magnetic model gives it for the board's place and date.
///
/// A calibration's type of the same name holds the errors of an uncalibrated chip as well, and is wider.
public struct ReferenceField: Sendable, Hashable, Codable {
  /// Total intensity, microtesla.
  public var strength: Double
  /// Inclination, radians, positive where the field points down.
  public var dip: Double
  /// One sigma of the strength, microtesla: the model's own and the neighbourhood's.
  public var strengthDeviation: Double
  /// One sigma of the dip, radians.
  public var dipDeviation: Double

  /// Makes an expectation. WMM2025's own global uncertainty is 0.13 uT and 0.2 deg (technical
  /// report, section 3); soil and buildings add a few times that, hence the defaults.
  public init(
    strength: Double, dip: Double, strengthDeviation: Double = 0.5,
    dipDeviation: Double = 0.5 * .pi / 180
  ) {
    self.strength = strength
    self.dip = dip
    self.strengthDeviation = strengthDeviation
    self.dipDeviation = dipDeviation
  }
}
