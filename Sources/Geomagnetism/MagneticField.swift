import LinearAlgebra

/// The earth's field at one place and date, with its change and the model's own uncertainty.
///
/// Components along geodetic north, east and down, nanotesla; angles in degrees. At a geographic pole
/// north is the direction of the given longitude's meridian.
public struct MagneticField: Sendable, Hashable {
  /// How useful a compass is, by the horizontal intensity (report, section 1.7).
  public enum Zone: Sendable, Hashable {
    /// More than 6000 nT.
    case normal
    /// 2000 to 6000 nT: a compass errs more than usual.
    case caution
    /// Less than 2000 nT: a compass is not to be relied on.
    case blackout
  }

  /// North component, nT.
  public let north: Double
  /// East component, nT.
  public let east: Double
  /// Down component, nT.
  public let down: Double
  /// Change of the north component, nT a year.
  public let northRate: Double
  /// Change of the east component, nT a year.
  public let eastRate: Double
  /// Change of the down component, nT a year.
  public let downRate: Double
  /// Whether the date lies past the model's years: the uncertainties are doubled then.
  public let isExtrapolated: Bool

  init(components: SIMD3<Double>, rates: SIMD3<Double>, isExtrapolated: Bool) {
    (north, east, down) = (components.x, components.y, components.z)
    (northRate, eastRate, downRate) = (rates.x, rates.y, rates.z)
    self.isExtrapolated = isExtrapolated
  }

  private static let degrees = 180 / Double.pi

  /// Horizontal intensity, nT.
  public var horizontalIntensity: Double { (north * north + east * east).squareRoot() }
  /// Total intensity, nT.
  public var totalIntensity: Double {
    (north * north + east * east + down * down).squareRoot()
  }
  /// Angle of the horizontal part from true north, degrees, east positive.
  public var declination: Double { atan2(east, north) * Self.degrees }
  /// Angle of the field below the horizon, degrees.
  public var inclination: Double { atan2(down, horizontalIntensity) * Self.degrees }

  /// Change of the horizontal intensity, nT a year.
  public var horizontalIntensityRate: Double {
    (north * northRate + east * eastRate) / horizontalIntensity
  }
  /// Change of the total intensity, nT a year.
  public var totalIntensityRate: Double {
    (north * northRate + east * eastRate + down * downRate) / totalIntensity
  }
  /// Change of the declination, degrees a year.
  public var declinationRate: Double {
    let h = horizontalIntensity
    return (north * eastRate - east * northRate) / (h * h) * Self.degrees
  }
  /// Change of the inclination, degrees a year.
  public var inclinationRate: Double {
    let f = totalIntensity
    return (horizontalIntensity * downRate - down * horizontalIntensityRate) / (f * f)
      * Self.degrees
  }

  /// One sigma of the declination, degrees: `sqrt(0.26^2 + (5417 / H)^2)` (WMM2025 report, section 3.4).
  public var declinationUncertainty: Double {
    let fromField = 5_417 / horizontalIntensity
    return min(180, factor * (0.26 * 0.26 + fromField * fromField).squareRoot())
  }
  /// One sigma of the inclination, degrees (report, table 9).
  public var inclinationUncertainty: Double { factor * 0.20 }
  /// One sigma of the horizontal intensity, nT.
  public var horizontalIntensityUncertainty: Double { factor * 133 }
  /// One sigma of the total intensity, nT.
  public var totalIntensityUncertainty: Double { factor * 138 }
  /// One sigma of north, east and down, nT.
  public var componentUncertainty: SIMD3<Double> { factor * SIMD3(137, 89, 141) }

  private var factor: Double { isExtrapolated ? 2 : 1 }

  /// How useful a compass is here.
  public var zone: Zone {
    switch horizontalIntensity {
    case ..<2_000: .blackout
    case ..<6_000: .caution
    default: .normal
    }
  }
}
