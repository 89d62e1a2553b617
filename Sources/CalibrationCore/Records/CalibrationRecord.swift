// A magnetometer's calibration as it is stored: JSON, schema 1 (Calibration/README.md).

import FoundationEssentials
public import LinearAlgebra
public import SensorTypes

/// One calibration of one magnetometer, with how it came about.
///
/// It acts in the chip's own frame, before the mount: `corrected = matrix * (raw - offset)`.
public struct CalibrationRecord: Sendable, Hashable {
  /// What is wrong with a record.
  public struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line for a person.
    public let description: String
  }

  /// The schema this version writes and reads.
  public static let schema = 1

  /// The chip's name, as in a board file.
  public var chip: String
  /// Where it is: `/dev/i2c-1:0x1e`.
  public var busPosition: String
  /// The board's name.
  public var board: String
  /// When it was made, ISO 8601 UTC.
  public var date: String
  /// How: `sphere`, `ellipsoid`, `planar`, `simulated`, …
  public var method: String
  /// Samples that went into the fit.
  public var samples: Int
  /// Share of 100 equal-area cells of the sphere that hold a sample, 0 to 1.
  public var coverage: Double
  /// Root mean square of the fit's residual, microtesla.
  public var residual: Double
  /// The chip's temperature, degrees Celsius; `nil` where it was not measured.
  public var temperature: Double?
  /// Field strength of the fit, microtesla.
  public var field: Double
  /// Soft iron, scale and alignment; no unit.
  public var matrix: Matrix3
  /// Hard iron, microtesla.
  public var offset: Vector3
  /// Covariance of the offset, microtesla squared.
  public var offsetCovariance: Matrix3

  /// Makes a record.
  public init(
    chip: String, busPosition: String, board: String, date: String, method: String, samples: Int,
    coverage: Double, residual: Double, temperature: Double? = nil, field: Double, matrix: Matrix3,
    offset: Vector3, offsetCovariance: Matrix3
  ) {
    self.chip = chip
    self.busPosition = busPosition
    self.board = board
    self.date = date
    self.method = method
    self.samples = samples
    self.coverage = coverage
    self.residual = residual
    self.temperature = temperature
    self.field = field
    self.matrix = matrix
    self.offset = offset
    self.offsetCovariance = offsetCovariance
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

extension CalibrationRecord {
  /// The record as JSON spells it.
  private struct Stored: Codable {
    var schema: Int
    var chip: String
    var busPosition: String
    var board: String
    var date: String
    var method: String
    var samples: Int
    var coverage: Double
    var residual: Double
    var temperature: Double?
    var field: Double
    var matrix: [[Double]]
    var offset: [Double]
    var offsetCovariance: [[Double]]
  }

  /// Reads a stored record; throws `Invalid` for one that is damaged, of another schema, or that no
  /// calibration could have made.
  public init(json: [UInt8]) throws(Invalid) {
    let stored: Stored
    do {
      stored = try JSONDecoder().decode(Stored.self, from: Data(json))
    } catch let error as DecodingError {
      throw Invalid(description: "not a calibration record: \(Self.words(error))")
    } catch {
      throw Invalid(description: "not a calibration record: \(error)")
    }
    guard stored.schema == Self.schema else {
      throw Invalid(description: "schema \(stored.schema) is not known; this version reads 1")
    }
    self.init(
      chip: stored.chip, busPosition: stored.busPosition, board: stored.board, date: stored.date,
      method: stored.method, samples: stored.samples, coverage: stored.coverage,
      residual: stored.residual, temperature: stored.temperature, field: stored.field,
      matrix: try Self.matrix(stored.matrix, "matrix"),
      offset: try Self.vector(stored.offset, "offset"),
      offsetCovariance: try Self.matrix(stored.offsetCovariance, "offsetCovariance"))
    try validate()
  }

  private static func words(_ error: DecodingError) -> String {
    func place(_ path: [any CodingKey]) -> String {
      path.isEmpty ? "it" : "'\(path.map(\.stringValue).joined(separator: "."))'"
    }
    switch error {
    case .keyNotFound(let key, _): return "'\(key.stringValue)' is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return "\(place(context.codingPath)) is of the wrong kind"
    case .dataCorrupted(let context):
      return context.codingPath.isEmpty
        ? "this is not JSON" : "\(place(context.codingPath)) cannot be read"
    @unknown default: return "it cannot be read"
    }
  }

  /// The record as JSON with sorted keys, so that two versions differ where they differ.
  public func encoded() throws -> [UInt8] {
    func rows(_ m: Matrix3) -> [[Double]] {
      let t = m.transposed.columns
      return [t.x, t.y, t.z].map { [$0.x, $0.y, $0.z] }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(
      try encoder.encode(
        Stored(
          schema: Self.schema, chip: chip, busPosition: busPosition, board: board, date: date,
          method: method, samples: samples, coverage: coverage, residual: residual,
          temperature: temperature, field: field, matrix: rows(matrix),
          offset: [offset.x, offset.y, offset.z], offsetCovariance: rows(offsetCovariance))))
  }

  private func validate() throws(Invalid) {
    guard !chip.isEmpty, !busPosition.isEmpty else {
      throw Invalid(description: "the record names no chip or no place")
    }
    guard matrix.determinant > 0.1, matrix.determinant < 10 else {
      throw Invalid(description: "the matrix's determinant is \(matrix.determinant), not near 1")
    }
    guard offset.length < 5_000 else {
      throw Invalid(description: "an offset of \(offset.length) microtesla is beyond any chip")
    }
    let variances = offsetCovariance
    guard variances.columns.x.x >= 0, variances.columns.y.y >= 0, variances.columns.z.z >= 0 else {
      throw Invalid(description: "a variance of the offset is negative")
    }
    guard residual >= 0, residual.isFinite, (0...1).contains(coverage), samples >= 0,
      (1...1_000).contains(field)
    else { throw Invalid(description: "residual, coverage, samples or field cannot be right") }
  }

  private static func vector(_ values: [Double], _ name: String) throws(Invalid) -> Vector3 {
    guard values.count == 3, values.allSatisfy(\.isFinite) else {
      throw Invalid(description: "\(name) must be three finite numbers")
    }
    return Vector3(values[0], values[1], values[2])
  }

  private static func matrix(_ rows: [[Double]], _ name: String) throws(Invalid) -> Matrix3 {
    guard rows.count == 3 else { throw Invalid(description: "\(name) must have three rows") }
    return Matrix3(
      rows: try vector(rows[0], name), try vector(rows[1], name), try vector(rows[2], name))
  }
}
