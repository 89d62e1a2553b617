// Which columns of a table without names hold a magnetometer.

import LinearAlgebra
import SensorTypes

/// Finds a magnetometer's columns by what their numbers do: a field of one strength, turned about, lies on a sphere or
/// an ellipsoid. Gravity does, too, with a radius that gives it away; angular rates do not.
package enum FieldSearch {
  /// The number of columns that are searched.
  static let mostColumns = 24
  /// The most rows that a fit uses; more are thinned evenly.
  static let mostRows = 600
  /// How far an accelerometer's scale may be off.
  private static let scaleError = 0.02

  /// Whether a sphere's radius is that of gravity in m/s^2 or g.
  package static func isGravity(_ radius: Double) -> Bool {
    isNear(radius, 9.806_65) || isNear(radius, 1)
  }

  /// The same in thousandths of g, in cm/s^2 and in the counts of usual chips, 256 to 16384 a g. Among several sensors'
  /// columns a sphere of this size is an accelerometer's; alone it may be a field in counts as well.
  static func isCountedGravity(_ radius: Double) -> Bool {
    isNear(radius, 1_000) || isNear(radius, 980.665)
      || (8...14).contains { isNear(radius, Double(1 << $0)) }
  }

  private static func isNear(_ radius: Double, _ value: Double) -> Bool {
    abs(radius / value - 1) <= scaleError
  }

  /// Whether three columns are a magnetometer's, by their rows.
  static func isField(_ rows: [Vector3], by recognition: SampleRecognition) -> Bool {
    let count = min(rows.count, mostRows)
    let samples = (0..<count).map { index in
      CalibrationSample(
        time: Timestamp(seconds: Double(index) * SampleTable.interval),
        field: rows[index * rows.count / count])
    }
    guard let radius = recognition.fieldStrength(samples) else { return false }
    return !isGravity(radius) && !isCountedGravity(radius)
  }

  /// The place of the first of the field's columns, from 0, among columns of numbers; `nil` where none or several of
  /// them are a field.
  ///
  /// - Parameter rows: Rows of numbers; each has as many as the others.
  static func first(_ rows: [[Double]], by recognition: SampleRecognition) -> Int? {
    let width = min(mostColumns, rows.first?.count ?? 0)
    guard width >= 3 else { return nil }
    let moves = (0..<width).map { column in rows.contains { $0[column] != rows[0][column] } }
    let fields = (0...width - 3).filter { at in
      moves[at..<at + 3].allSatisfy { $0 }
        && isField(rows.map { Vector3($0[at], $0[at + 1], $0[at + 2]) }, by: recognition)
    }
    return fields.count == 1 ? fields[0] : nil
  }
}
