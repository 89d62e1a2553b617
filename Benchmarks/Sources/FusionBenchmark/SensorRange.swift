// The ranges of a recording's gyro and accelerometer, as their datasheets would have said them.

internal import Foundation
package import LinearAlgebra
package import SensorTypes

/// The largest value that each axis shows either way, where the sensor was at the end of its range.
package struct SensorRange: Equatable, Sendable {
  private var upper = Vector3(repeating: .infinity)
  private var lower = Vector3(repeating: .infinity)

  /// How near to the end counts as the end: a calibration tilts the axes a little, and scales them.
  private static let nearness = 0.008
  /// Fewest rows at the largest value that count as a flat top.
  private static let leastRows = 3
  /// And it is entered and left by a step of at least this share.
  private static let leastStep = 0.03

  /// Finds the ends in a recording, which a driver knows from its chip's registers: the largest value of an axis, where
  /// that lasts for some rows.
  ///
  /// - Parameter least: No sensor of the kind ends below this.
  init(_ records: [Record], _ value: KeyPath<Record, Vector3>, least: Double) {
    for axis in 0..<3 {
      for sign in [1.0, -1] {
        let values = records.map { sign * $0[keyPath: value][axis] }
        guard let most = values.filter(\.isFinite).max(), most > least else { continue }
        guard Self.hasFlatTop(values, most) else { continue }
        if sign > 0 { upper[axis] = most } else { lower[axis] = most }
      }
    }
  }

  /// A sensor that ends at `end` on each axis either way.
  init(end: Double) {
    (upper, lower) = (Vector3(repeating: end), Vector3(repeating: end))
  }

  /// What the sensor says of a value.
  func limited(_ value: Vector3) -> Vector3 { value.clamped(lowerBound: -lower, upperBound: upper) }

  /// Whether the largest rate is an edge: some rows of it, which are entered and left at a step. The top of a swing that
  /// is not clipped is round: of three rows within 0.8 % the next ones are at most 2.4 % lower.
  private static func hasFlatTop(_ values: [Double], _ most: Double) -> Bool {
    let level = most * (1 - nearness)
    var begin = 0
    while let first = values[begin...].firstIndex(where: { $0 > level }) {
      let end = values[first...].firstIndex { !($0 > level) } ?? values.count
      begin = end
      guard end - first >= leastRows, first > 0, end < values.count else { continue }
      let step = min(values[first] - values[first - 1], values[end - 1] - values[end])
      if step > leastStep * most { return true }
    }
    return false
  }

  /// The axes on which a value is at the end.
  package func clipped(_ value: Vector3) -> ClippedAxes {
    var axes: ClippedAxes = []
    for axis in 0..<3 {
      let end = value[axis] > 0 ? upper[axis] : lower[axis]
      if abs(value[axis]) > end * (1 - Self.nearness) {
        axes.insert(ClippedAxes(rawValue: 1 << axis))
      }
    }
    return axes
  }
}

extension Recording {
  /// The range of its gyro, rad/s: none ends below 125 deg/s.
  package var gyroRange: SensorRange { SensorRange(records, \.rate, least: 2.18) }

  /// The range of its accelerometer, m/s^2: none ends below 2 g.
  package var accelerometerRange: SensorRange { SensorRange(records, \.force, least: 18) }
}
