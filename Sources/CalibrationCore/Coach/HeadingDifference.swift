// How differently two calibrations tell the heading of the same samples.

import LinearAlgebra
public import SensorTypes

/// The difference of two calibrations' headings, root mean square, degrees: levelled by gravity for each sample that
/// has a force, and all round on a level board where none has.
///
/// - Parameters:
///   - before: A calibration, or `nil` for the raw field.
///   - after: Another one, by which the first is judged.
///   - expected: Which way is up on a level board, and the dip, where no sample has a force.
/// - Returns: 0 to 180; `nil` where no sample says a heading.
public func headingDifference(
  _ before: AppliedCalibration?, _ after: AppliedCalibration, of samples: [CalibrationSample],
  expected: CalibrationField
) -> Double? {
  let raw = AppliedCalibration(
    matrix: .identity, offset: .zero, offsetCovariance: .identity, residual: 0)
  let before = before ?? raw
  var (sum, count) = (0.0, 0)
  func add(_ field: Vector3, _ up: Vector3) {
    let (old, new) = (before.correct(field), after.correct(field))
    let (a, b) = (old - old.dot(up) * up, new - new.dot(up) * up)
    // Next to the vertical there is no heading to be wrong.
    guard b.length > 0.1 * new.length, a.length > 0 else { return }
    let angle = atan2(a.cross(b).dot(up), a.dot(b)) * 180 / .pi
    guard angle.isFinite else { return }
    sum += angle * angle
    count += 1
  }
  for sample in samples {
    guard let up = sample.force?.normalized, sample.field.isFinite else { continue }
    add(sample.field, up)
  }
  if count == 0, let up = expected.up.normalized, let back = after.matrix.inverse {
    let dip = expected.dip ?? CalibrationField.usualDip
    let aside = abs(up.x) < 0.8 ? Vector3(1, 0, 0) : Vector3(0, 1, 0)
    guard let east = aside.cross(up).normalized else { return nil }
    let strength = samples.isEmpty ? 0 : after.correct(samples[samples.count / 2].field).length
    for step in 0..<36 {
      let angle = Double(step) * .pi / 18
      let level = east * cos(angle) + up.cross(east) * sin(angle)
      add(back * (strength * (level * cos(dip) - up * sin(dip))) + after.offset, up)
    }
  }
  return count > 0 ? (sum / Double(count)).squareRoot() : nil
}
