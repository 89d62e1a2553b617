// What a fit comes to: the calibration it found, how good it is, and whether it may be used.

public import LinearAlgebra
public import SensorTypes

/// How a calibration was found.
public enum CalibrationMethod: String, Sendable, Hashable, Codable, CaseIterable {
  /// Hard iron from a sphere.
  case sphere
  /// Hard iron and a scale for each axis.
  case diagonal
  /// Hard iron and the whole of soft iron, from an ellipsoid.
  case ellipsoid
  /// From a board that only turns: hard and soft iron in the plane of the turn.
  case planar
  /// From one attitude of known heading.
  case knownHeading
  /// From a deviation card: headings known at several points of the compass.
  case deviation
  /// From a receiver's course on a drive with bends.
  case course
  /// Found while the board was in use.
  case background
  /// The truth of a simulated board.
  case simulated
}

/// How good a calibration is, and what says so.
public struct CalibrationQuality: Sendable, Hashable {
  /// 0 to 100; 80 and more is good for a degree of heading.
  public var score: Int
  /// What keeps the score from being higher, in words; empty where nothing does.
  public var reason: String
  /// Cells of the sphere that hold a sample which the fit agrees with.
  public var cells: SphereCells
  /// Root mean square of the residual, microtesla.
  public var residual: Double
  /// The same in percent of the field's strength.
  public var residualPercent: Double
  /// The error of a level heading to expect from what the fit leaves open, degrees (root mean square over
  /// the compass).
  public var headingError: Double
  /// Ratio of the best to the worst determined direction of the hard iron, 1 and up.
  public var condition: Double

  /// The share of the sphere that was seen, 0 to 1.
  public var coverage: Double { cells.coverage }

  /// Makes a quality.
  public init(
    score: Int, reason: String, cells: SphereCells, residual: Double, residualPercent: Double,
    headingError: Double, condition: Double
  ) {
    self.score = score
    self.reason = reason
    self.cells = cells
    self.residual = residual
    self.residualPercent = residualPercent
    self.headingError = headingError
    self.condition = condition
  }
}

/// A calibration that a fit has found: `corrected = matrix * (raw - hardIron)`.
public struct CalibrationFit: Sendable, Hashable {
  /// How it was found.
  public var method: CalibrationMethod
  /// Microtesla, in the magnetometer's own frame; subtracted.
  public var hardIron: Vector3
  /// Symmetric: distortion and scale of the axes, the field's strength kept.
  public var softIron: Matrix3
  /// The small rotation that turns the magnetometer's axes onto the accelerometer's; identity where it is
  /// not known.
  public var alignment: Matrix3
  /// Strength of the corrected field, microtesla.
  public var fieldStrength: Double
  /// Covariance of the hard iron, microtesla squared.
  public var hardIronCovariance: Matrix3
  /// Samples that were given, but for those that are no field at all (not finite).
  public var samples: Int
  /// Samples that the fit agrees with.
  public var inliers: Int
  /// How good it is.
  public var quality: CalibrationQuality

  /// Makes a fit.
  public init(
    method: CalibrationMethod, hardIron: Vector3, softIron: Matrix3,
    alignment: Matrix3 = .identity, fieldStrength: Double, hardIronCovariance: Matrix3,
    samples: Int, inliers: Int, quality: CalibrationQuality
  ) {
    self.method = method
    self.hardIron = hardIron
    self.softIron = softIron
    self.alignment = alignment
    self.fieldStrength = fieldStrength
    self.hardIronCovariance = hardIronCovariance
    self.samples = samples
    self.inliers = inliers
    self.quality = quality
  }

  /// The part that is applied to samples.
  public var applied: AppliedCalibration {
    AppliedCalibration(
      matrix: alignment * softIron, offset: hardIron, offsetCovariance: hardIronCovariance,
      residual: quality.residual, field: fieldStrength)
  }
}

/// What a fit says: a calibration to use, or why there is none. What was found is shown in both cases.
public struct CalibrationOutcome: Sendable, Hashable {
  /// What was found; `nil` where the samples give no fit at all.
  public var fit: CalibrationFit?
  /// Why it is not to be used, in words; `nil` for one that is accepted.
  public var refusal: String?
  /// The change of the hard iron during the recording, where one was looked for and found.
  package var change: HardIronChange?

  /// Whether it may be used.
  public var isAccepted: Bool { fit != nil && refusal == nil }

  /// The most that a fit scores which is refused, whatever it would be worth otherwise.
  static let refusedScore = 35

  /// Makes an outcome.
  public init(fit: CalibrationFit?, refusal: String?) {
    self.fit = fit
    self.refusal = fit == nil ? (refusal ?? "no fit") : refusal
    guard refusal != nil, let score = fit?.quality.score else { return }
    self.fit?.quality.score = min(score, Self.refusedScore)
  }
}
