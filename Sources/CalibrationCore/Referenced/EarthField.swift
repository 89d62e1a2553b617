// The earth's field as a calibration with known headings expects it.

public import Geomagnetism
import LinearAlgebra

/// The earth's field where a calibration is made, and how well it is known there.
public struct EarthField: Sendable, Hashable {
  /// Horizontal intensity, microtesla, above 0.
  public var horizontal: Double
  /// Vertical intensity, microtesla, positive where the field points down.
  public var vertical: Double
  /// One sigma of the horizontal intensity, microtesla.
  public var horizontalDeviation: Double
  /// One sigma of the vertical intensity, microtesla.
  public var verticalDeviation: Double

  /// Makes a field.
  public init(
    horizontal: Double, vertical: Double, horizontalDeviation: Double, verticalDeviation: Double
  ) {
    self.horizontal = horizontal
    self.vertical = vertical
    self.horizontalDeviation = horizontalDeviation
    self.verticalDeviation = verticalDeviation
  }

  /// Makes a field from its strength, microtesla, and its dip below the horizon, radians.
  ///
  /// The model's own error is 0.13 uT and 0.2 deg (WMM2025 report, section 3); soil, quays and buildings add
  /// a few times that, hence the defaults.
  public init(
    strength: Double, dip: Double, strengthDeviation: Double = 0.5,
    dipDeviation: Double = 0.5 * .pi / 180
  ) {
    let (c, s) = (cos(dip), sin(dip))
    self.init(
      horizontal: strength * c, vertical: strength * s,
      horizontalDeviation: hypot(strengthDeviation * c, strength * dipDeviation * s),
      verticalDeviation: hypot(strengthDeviation * s, strength * dipDeviation * c))
  }

  /// Makes the field of a magnetic model.
  public init(_ field: MagneticField) {
    self.init(
      strength: field.totalIntensity / 1_000, dip: field.inclination * .pi / 180,
      strengthDeviation: hypot(0.5, field.totalIntensityUncertainty / 1_000),
      dipDeviation: hypot(0.5, field.inclinationUncertainty) * .pi / 180)
  }

  /// Total intensity, microtesla.
  public var strength: Double { hypot(horizontal, vertical) }

  /// Whether a calibration can be made by it: all finite, and enough of it horizontal to point.
  public var isUsable: Bool {
    [horizontal, vertical, horizontalDeviation, verticalDeviation].allSatisfy(\.isFinite)
      && horizontal >= 2 && horizontalDeviation > 0 && verticalDeviation > 0 && strength < 200
  }
}
