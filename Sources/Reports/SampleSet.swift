// Kept samples in the light of a record: corrected, and told apart by whether the record agrees.

import CalibrationCore
import LinearAlgebra
import SensorTypes

/// The samples of a record as the plots need them.
struct SampleSet: Sendable {
  /// Further off than this many residuals, a sample is one the record does not agree with: where the fits
  /// give a sample no weight any more.
  static let reach = 4.7

  let points: [ReportPoint]
  /// Samples that agree, by the cell of the sphere their corrected field lies in.
  let cellCounts: [Int]
  /// How far off an agreeing sample may lie, microtesla.
  let gate: Double
  /// The field's dip by the samples that know which way is up, radians; `nil` with too few.
  let dip: Double?

  init(_ samples: CalibrationSamples, of record: CalibrationRecord) {
    let applied = record.applied
    // Records of a simulated board's truth may claim a residual of nothing.
    let gate = Self.reach * max(record.residual, 0.001 * record.field)
    self.gate = gate
    points = samples.samples.compactMap { sample in
      let corrected = applied.correct(sample.field)
      guard corrected.isFinite else { return nil }
      let residual = corrected.length - record.field
      return ReportPoint(
        seconds: sample.time.seconds, raw: sample.field, corrected: corrected, residual: residual,
        isInlier: abs(residual) < gate)
    }
    var counts = [Int](repeating: 0, count: SphereCells.count)
    for point in points where point.isInlier {
      if let cell = SphereCells.index(of: point.corrected) { counts[cell] += 1 }
    }
    cellCounts = counts
    dip = Self.dip(samples, of: record)
  }

  /// The middle one of what each sample at rest says.
  private static func dip(_ samples: CalibrationSamples, of record: CalibrationRecord) -> Double? {
    let applied = record.applied
    let dips = samples.samples.compactMap { sample -> Double? in
      guard let force = sample.force, (8.8...10.8).contains(force.length),
        let up = force.normalized, let field = applied.correct(sample.field).normalized
      else { return nil }
      return asin(max(-1, min(1, -field.dot(up))))
    }.sorted()
    return dips.count < 20 ? nil : dips[dips.count / 2]
  }

  var inliers: Int { points.count { $0.isInlier } }

  /// Root mean square of the residual of those that agree, microtesla.
  var residual: Double {
    let squares = points.reduce(0.0) { $0 + ($1.isInlier ? $1.residual * $1.residual : 0) }
    return inliers == 0 ? 0 : (squares / Double(inliers)).squareRoot()
  }

  var seenCells: Int { cellCounts.count { $0 > 0 } }
}

struct ReportPoint: Sendable {
  var seconds: Double
  var raw: Vector3
  var corrected: Vector3
  /// Length of the corrected field less the record's field, microtesla.
  var residual: Double
  var isInlier: Bool
}
