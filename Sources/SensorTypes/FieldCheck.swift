// The measured magnetic field beside what it should be: what a judgement of it rests on.

/// Strength and dip of a magnetic field.
public struct FieldShape: Sendable, Hashable, Codable {
  /// Total intensity, microtesla.
  public var strength: Double
  /// Inclination, radians, positive where the field points down; `nil` where nothing says which way down is.
  public var dip: Double?

  /// Makes a shape.
  @inlinable public init(strength: Double, dip: Double? = nil) {
    self.strength = strength
    self.dip = dip
  }
}

/// The field that a magnetometer measures, and the one that is expected of the place.
///
/// It goes with every heading a magnetometer has a part in. Nothing of it is a reason in words: what asks a person
/// for a calibration compares numbers.
public struct FieldCheck: Sendable, Hashable, Codable {
  /// Low-passed over a quarter of a second, calibrated, and freed of a magnet that the filter has found.
  public var measured: FieldShape
  /// What it should be; `nil` where nothing is known yet.
  public var expected: FieldShape?
  /// Where `expected` comes from.
  public var origin: FieldReference?
  /// Whether the field is judged not to be the earth's: heading is the gyro's then, for the most part, as long as its
  /// accuracy lasts.
  public var isDisturbed: Bool
  /// Strength of the magnet on the board that the filter has found since the calibration, microtesla; 0 without.
  public var magnet: Double
  /// Counts the calibration records that were applied in this run, from 1; `nil` where none is applied.
  public var calibration: UInt32?

  /// Makes a check.
  @inlinable public init(
    measured: FieldShape, expected: FieldShape? = nil, origin: FieldReference? = nil,
    isDisturbed: Bool = false, magnet: Double = 0, calibration: UInt32? = nil
  ) {
    self.measured = measured
    self.expected = expected
    self.origin = origin
    self.isDisturbed = isDisturbed
    self.magnet = magnet
    self.calibration = calibration
  }
}

/// Where an expectation comes from.
public enum FieldReference: String, Sendable, Hashable, Codable {
  /// The magnetic model at a known position.
  case model
  /// The calibration record: the strength that it was made in; it says nothing of the dip.
  case calibration
  /// What was measured of late.
  case learned
}
