// What a field strength that a person gives says about samples of an unknown unit.

import LinearAlgebra
public import SensorTypes

/// Fits samples of a file with a field strength that is known, and judges whether the two go together.
///
/// The strength holds in the unit of the samples. Ratio is that of the strength which the samples have by themselves
/// to the given one:
///
/// - within 25 percent: both are fitted together, and soft iron brings the field to the strength given;
/// - with counts in the header: the strength scales them;
/// - near a power of ten between two units (within 40 percent), or with a unit in the header: refused, and the reason
///   names the unit that the strength seems to have;
/// - otherwise beyond a factor of two: the samples are raw counts, which a known strength scales;
/// - otherwise refused: one of the two is wrong.
///
/// Samples whose own fit is not accepted do not know their strength well enough to contradict one that is not an
/// obvious mistake: then the fit with the given one counts.
public struct KnownStrength: Sendable, Hashable {
  /// What came of it.
  public enum Use: Sendable, Hashable {
    /// Fitted together.
    case constraint
    /// The samples are counts: the answer was scaled by this many microtesla (or whatever was given) a count.
    case scale(Double)
    /// It contradicts the samples.
    case contradicted
  }

  /// The strength of the field, in the unit of the samples unless these are counts.
  public var strength: Double
  /// The samples' unit where a header says it.
  public var unit: FieldUnit?

  /// Makes one.
  public init(_ strength: Double, unit: FieldUnit? = nil) {
    (self.strength, self.unit) = (strength, unit)
  }

  /// Fits samples, in order of time.
  ///
  /// - Parameter expected: What else is known of the field; its strength does not count.
  public func fit(
    _ samples: [CalibrationSample], expected: CalibrationField, by fitter: MagnetometerFitter
  ) -> (outcome: CalibrationOutcome, use: Use) {
    var expected = expected
    expected.strength = nil
    let free = fitter.fit(samples, expected: expected)
    expected.strength = strength
    let bound = fitter.fit(samples, expected: expected)
    guard let own = free.fit, own.fieldStrength > 0 else { return (bound, .constraint) }
    let ratio = own.fieldStrength / strength
    // How much the fit of both had to stretch the samples: 1 where they leave the strength open.
    let gain = bound.fit.map { $0.softIron.trace / 3 } ?? 0
    let isBound = Self.isNear(gain, 1, within: Self.agreement) && ratio < 1e3
    if isBound, Self.isNear(ratio, 1, within: Self.agreement) { return (bound, .constraint) }

    let knowsStrength = own.quality.residualPercent < FitEvidence.noiseOnly
    if unit != .counts, knowsStrength, let other = otherUnit(of: own.fieldStrength) {
      return (refused(own, other), .contradicted)
    }
    guard free.isAccepted else {
      // Too little of the sphere for a word of its own; what it lacks is the reason.
      return Self.isNear(gain, 1, within: 2) ? (bound, .constraint) : (free, .contradicted)
    }
    guard unit == .counts || (unit == nil && !Self.isNear(ratio, 1, within: 2)) else {
      return (
        CalibrationOutcome(
          fit: own,
          refusal: "the samples' field is \(Self.figures(own.fieldStrength))"
            + (unit.map { " \($0.rawValue)" } ?? "") + ", \(Self.figures(strength)) was given"),
        .contradicted
      )
    }
    var scaled = free
    scaled.fit = own.scaled(by: 1 / ratio)
    return (scaled, .scale(1 / ratio))
  }

  private static let agreement = 1.25

  private static func isNear(_ value: Double, _ other: Double, within factor: Double) -> Bool {
    value > other / factor && value < other * factor
  }

  /// The unit that the strength seems to be given in, and what it would be in the samples'.
  private func otherUnit(of own: Double) -> (mine: FieldUnit, given: FieldUnit, strength: Double)? {
    let known = unit.flatMap { $0 == .counts ? nil : $0 }
    for mine in known.map({ [$0] }) ?? FieldUnit.allCases {
      for given in FieldUnit.allCases where given != mine {
        guard let size = mine.microtesla, let other = given.microtesla else { continue }
        let meant = strength * other / size
        // Both have to be fields of the earth, which leaves no choice of units.
        guard Self.isNear(own / meant, 1, within: 1.4),
          (20...70).contains(strength * other), (14...100).contains(own * size)
        else { continue }
        return (mine, given, meant)
      }
    }
    return nil
  }

  private func refused(
    _ own: CalibrationFit, _ other: (mine: FieldUnit, given: FieldUnit, strength: Double)
  ) -> CalibrationOutcome {
    let size = Self.figures(own.fieldStrength)
    let meant = Self.figures(other.strength)
    let reason =
      unit == nil
      ? "the samples' field is \(size), like \(other.mine.rawValue), and \(Self.figures(strength)) is like "
        + "\(other.given.rawValue): give the strength in the file's unit, \(meant); of raw counts, a header with "
        + "mag_raw_x, mag_raw_y, mag_raw_z"
      : "the samples' field is \(size) \(other.mine.rawValue), and \(Self.figures(strength)) is like "
        + "\(other.given.rawValue): give \(meant)"
    return CalibrationOutcome(fit: own, refusal: reason)
  }

  /// A number in four figures, or all before its point.
  package static func figures(_ value: Double) -> String {
    guard value > 0, value.isFinite else { return "\(value)" }
    var size = 1.0
    var (digits, rest) = (0, value)
    while rest < 1_000, digits < 12 {
      (rest, size, digits) = (rest * 10, size * 10, digits + 1)
    }
    let rounded = (value * size).rounded() / size
    return rounded == rounded.rounded() && rounded < 1e15 ? "\(Int(rounded))" : "\(rounded)"
  }
}

extension CalibrationFit {
  /// The same for a field that is so many times as strong once it is corrected; hard iron is in the raw field's unit.
  func scaled(by factor: Double) -> CalibrationFit {
    var fit = self
    fit.softIron = factor * softIron
    fit.fieldStrength *= factor
    fit.quality.residual *= factor
    return fit
  }
}
