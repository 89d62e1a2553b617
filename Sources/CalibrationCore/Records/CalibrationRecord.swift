// A magnetometer's calibration as it is stored: JSON, schema 1 (Calibration/README.md).

public import LinearAlgebra
public import SensorTypes

/// One calibration of one magnetometer, with how it came about.
///
/// It acts in the chip's own frame, before the mount: `corrected = matrix * (raw - offset)`.
public struct CalibrationRecord: Sendable, Hashable {
  /// The schema this version writes and reads. Keys may be added to it; what they say may be left unread.
  public static let schema = 1

  /// The chip's name, as in a board file.
  public var chip: String
  /// Where it is: `/dev/i2c-1:0x1e`.
  public var busPosition: String
  /// The board's name.
  public var board: String
  /// When it was made, ISO 8601 UTC.
  public var date: String
  /// How: one of `CalibrationMethod`, or what a newer version calls its own.
  public var method: String
  /// Samples that went into the fit.
  public var samples: Int
  /// Share of 100 equal-area cells of the sphere that hold a sample, 0 to 1.
  public var coverage: Double
  /// How good it is, 0 to 100; `nil` where nobody judged it.
  public var score: Int?
  /// Root mean square of the fit's residual, microtesla.
  public var residual: Double
  /// The error of a level heading to expect from what the fit leaves open, degrees (root mean square over
  /// the compass); `nil` where nobody predicted it.
  public var headingError: Double?
  /// What a level heading was off by before, with the record that was in force or with none, degrees root mean square,
  /// as far as this one or what it was made by knows; `headingError` is what it came to. `nil` where nobody compared
  /// them.
  public var headingErrorBefore: Double?
  /// The heading accuracy to expect at best, degrees: half the width of the 95 % interval.
  public var expectedAccuracy: Double?
  /// The board's temperature then, degrees Celsius, as its barometer said it: no magnetometer's own is read. `nil` on a
  /// board without one.
  public var temperature: Double?
  /// Field strength of the fit, microtesla.
  public var field: Double
  /// Soft iron, scale and alignment; no unit.
  public var matrix: Matrix3
  /// Hard iron, microtesla.
  public var offset: Vector3
  /// Covariance of the offset, microtesla squared.
  public var offsetCovariance: Matrix3
  /// Whether nothing may take its place unless a person says so.
  public var isLocked: Bool

  /// Makes a record.
  public init(
    chip: String, busPosition: String, board: String, date: String, method: String, samples: Int,
    coverage: Double, residual: Double, temperature: Double? = nil, field: Double, matrix: Matrix3,
    offset: Vector3, offsetCovariance: Matrix3, score: Int? = nil, headingError: Double? = nil,
    headingErrorBefore: Double? = nil, expectedAccuracy: Double? = nil, isLocked: Bool = false
  ) {
    self.chip = chip
    self.busPosition = busPosition
    self.board = board
    self.date = date
    self.method = method
    self.samples = samples
    self.coverage = coverage
    self.score = score
    self.residual = residual
    self.headingError = headingError
    self.headingErrorBefore = headingErrorBefore
    self.expectedAccuracy = expectedAccuracy
    self.temperature = temperature
    self.field = field
    self.matrix = matrix
    self.offset = offset
    self.offsetCovariance = offsetCovariance
    self.isLocked = isLocked
  }

  /// Makes a record of what a fit has found.
  ///
  /// - Parameters:
  ///   - fit: The fit, an accepted one.
  ///   - chip: The chip's name, as in a board file.
  ///   - busPosition: Where it is: `/dev/i2c-1:0x1e`.
  ///   - board: The board's name.
  ///   - date: Now, ISO 8601 UTC.
  ///   - temperature: The board's, degrees Celsius, where it is known.
  ///   - headingErrorBefore: What a level heading was off by before, degrees, where that was compared; half a circle
  ///     is the most.
  public init(
    fit: CalibrationFit, chip: String, busPosition: String, board: String, date: String,
    temperature: Double? = nil, headingErrorBefore: Double? = nil
  ) {
    let (applied, quality) = (fit.applied, fit.quality)
    let error = quality.headingError.isFinite ? quality.headingError : nil
    self.init(
      chip: chip, busPosition: busPosition, board: board, date: date, method: fit.method.rawValue,
      samples: fit.inliers, coverage: quality.coverage, residual: quality.residual,
      temperature: temperature, field: fit.fieldStrength, matrix: applied.matrix,
      offset: applied.offset, offsetCovariance: applied.offsetCovariance, score: quality.score,
      headingError: error,
      headingErrorBefore: headingErrorBefore.flatMap { $0.isFinite ? min(180, $0) : nil },
      expectedAccuracy: error.map { min(180, 1.96 * $0) })
  }

  /// Whether the record belongs to this chip at this place.
  public func matches(chip: String, busPosition: String) -> Bool {
    self.chip == chip && self.busPosition == busPosition
  }

  /// The part that is applied to samples.
  public var applied: AppliedCalibration {
    AppliedCalibration(
      matrix: matrix, offset: offset, offsetCovariance: offsetCovariance, residual: residual,
      field: field)
  }
}

/// What is wrong with a record.
public struct InvalidRecord: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message, in one line.
  public let description: String
  /// Whether it may be good, and this version too old for it.
  public var isFromNewerVersion = false
}

extension CalibrationRecord {
  /// The record as JSON spells it.
  struct Stored: Codable {
    var schema: Int
    var kind: CalibrationKind?
    var chip: String
    var busPosition: String
    var board: String
    var date: String
    var method: String
    var samples: Int
    var coverage: Double
    var score: Int?
    var residual: Double
    var headingError: Double?
    var headingErrorBefore: Double?
    var expectedAccuracy: Double?
    var temperature: Double?
    var field: Double
    var matrix: [[Double]]
    var offset: [Double]
    var offsetCovariance: [[Double]]
    var locked: Bool?
  }

  /// Reads a stored record; throws `Invalid` for one that is damaged, of another schema or kind, or that no
  /// calibration could have made.
  public init(json: [UInt8]) throws(InvalidRecord) {
    let stored = try RecordJSON.read(json, as: .magnetometer, Stored.self)
    self.init(
      chip: stored.chip, busPosition: stored.busPosition, board: stored.board, date: stored.date,
      method: stored.method, samples: stored.samples, coverage: stored.coverage,
      residual: stored.residual, temperature: stored.temperature, field: stored.field,
      matrix: try RecordJSON.matrix(stored.matrix, "matrix"),
      offset: try RecordJSON.vector(stored.offset, "offset"),
      offsetCovariance: try RecordJSON.matrix(stored.offsetCovariance, "offsetCovariance"),
      score: stored.score, headingError: stored.headingError,
      headingErrorBefore: stored.headingErrorBefore, expectedAccuracy: stored.expectedAccuracy,
      isLocked: stored.locked ?? false)
    try validate()
  }

  /// The record as JSON with sorted keys, so that two versions differ where they differ.
  public func encoded() throws -> [UInt8] {
    try validate()
    return try RecordJSON.write(stored)
  }

  /// As JSON spells it, whether or not it is a good one.
  var stored: Stored {
    Stored(
      schema: Self.schema, kind: .magnetometer, chip: chip, busPosition: busPosition,
      board: board, date: date, method: method, samples: samples, coverage: coverage,
      score: score, residual: residual, headingError: headingError,
      headingErrorBefore: headingErrorBefore, expectedAccuracy: expectedAccuracy,
      temperature: temperature, field: field,
      matrix: RecordJSON.rows(matrix), offset: RecordJSON.list(offset),
      offsetCovariance: RecordJSON.rows(offsetCovariance), locked: isLocked ? true : nil)
  }

  private func validate() throws(InvalidRecord) {
    try RecordJSON.check(chip: chip, busPosition: busPosition, others: [board, date, method])
    guard matrix.determinant > 0.1, matrix.determinant < 10 else {
      throw InvalidRecord(
        description: "the matrix's determinant is \(matrix.determinant), not near 1")
    }
    let columns = [matrix.columns.x, matrix.columns.y, matrix.columns.z]
    guard columns.allSatisfy({ (0.05...20).contains($0.length) }) else {
      throw InvalidRecord(description: "the matrix stretches an axis more than any iron does")
    }
    guard offset.length < 5_000 else {
      throw InvalidRecord(
        description: "an offset of \(offset.length) microtesla is beyond any chip")
    }
    try validateCovariance()
    guard (0...1_000).contains(residual), (0...1).contains(coverage), samples >= 0,
      (1...1_000).contains(field)
    else {
      throw InvalidRecord(description: "residual, coverage, samples or field cannot be right")
    }
    guard (0...100).contains(score ?? 0), (0...180).contains(headingError ?? 0),
      (0...180).contains(headingErrorBefore ?? 0), (0...180).contains(expectedAccuracy ?? 0)
    else {
      throw InvalidRecord(
        description: "score, headingError, headingErrorBefore or expectedAccuracy cannot be right")
    }
    try RecordJSON.check(temperature: temperature)
  }

  private func validateCovariance() throws(InvalidRecord) {
    let c = offsetCovariance.columns
    let variances = Vector3(c.x.x, c.y.y, c.z.z)
    guard variances.min() >= 0 else {
      throw InvalidRecord(description: "a variance of the offset is negative")
    }
    // Beyond any chip's range squared nothing is known, and nothing is a covariance that its own
    // variances do not allow.
    let pairs = [
      (c.x.y, variances.x * variances.y), (c.y.x, variances.x * variances.y),
      (c.x.z, variances.x * variances.z), (c.z.x, variances.x * variances.z),
      (c.y.z, variances.y * variances.z), (c.z.y, variances.y * variances.z),
    ]
    guard variances.max() <= 25e6, pairs.allSatisfy({ $0 * $0 <= 1.001 * $1 + 1e-12 }) else {
      throw InvalidRecord(description: "the covariance of the offset cannot be right")
    }
  }
}
