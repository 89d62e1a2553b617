// Which way gravity is, seen by an accelerometer that moves.

import LinearAlgebra
import SensorTypes

/// The force that a sample's accelerometer would have felt at rest, and how far that is to be trusted.
struct GravityReference: Sendable {
  /// Half of the time that a mean goes over, seconds.
  static let half = 1.0

  /// In the magnetometer's axes.
  var force: Vector3
  /// How far its direction may be off, radians.
  var deviation: Double

  /// One for each sample, `nil` where no force was felt or it cannot be gravity.
  ///
  /// With a gyro it is the mean over about two seconds around the sample, turned to the sample's axes: a
  /// hand's accelerations come to nothing over that time, and of a gyro's bias the two halves cancel.
  /// Without one it is what was felt, and how much its length changes about then says how the board was
  /// shaken.
  static func felt(_ samples: [CalibrationSample]) -> [GravityReference?] {
    // The scale of this accelerometer, and of a file that has no units: mostly a board does not accelerate.
    let gravity = DistortionSolver.median(
      samples.compactMap { $0.force?.length }.filter(\.isFinite))
    var found = [GravityReference?](repeating: nil, count: samples.count)
    guard gravity > 0, gravity.isFinite else { return found }
    var start = 0
    while start < samples.count {
      // A stretch without gaps, with a gyro all the way or without one.
      let hasGyro = rate(samples[start]) != nil
      var end = start
      while end < samples.count, let force = samples[end].force, force.isFinite,
        (rate(samples[end]) != nil) == hasGyro
      {
        if end > start {
          let step = samples[end].time.seconds(since: samples[end - 1].time)
          guard step >= 0, step < 0.25 else { break }
        }
        end += 1
      }
      let stretch = Array(samples[start..<end])
      let gravities =
        hasGyro && stretch.count > 4
        ? turned(stretch, gravity: gravity) : still(stretch, gravity: gravity)
      for (k, value) in gravities.enumerated() {
        // Beyond a third of gravity nobody knows where up is.
        let isGravity = abs(value.force.length / gravity - 1) < 0.3 && value.deviation < 0.3
        found[start + k] = isGravity ? value : nil
      }
      start = max(end, start + 1)
    }
    return found
  }

  private static func rate(_ sample: CalibrationSample) -> Vector3? {
    sample.angularRate.flatMap { $0.isFinite && $0.length < 100 ? $0 : nil }
  }

  private static func turned(_ samples: [CalibrationSample], gravity: Double) -> [GravityReference]
  {
    let times = samples.map { $0.time.seconds(since: samples[0].time) }
    var attitudes = [Quaternion.identity]
    for k in samples.indices.dropFirst() {
      let turn = (rate(samples[k]) ?? .zero) * (times[k] - times[k - 1])
      attitudes.append((attitudes[k - 1] * Quaternion(rotationVector: turn)).normalized)
    }
    let felt = samples.indices.map { attitudes[$0].rotate(samples[$0].force ?? .zero) }
    // Twice a box: what is left has no steps.
    let smooth = means(means(felt, times), times)
    let shaking = means(zip(felt, smooth).map { ($0 - $1) * ($0 - $1) }, times)
    return samples.indices.map { k in
      // About a tenth of what shakes a board is left in such a mean.
      GravityReference(
        force: attitudes[k].conjugate.rotate(smooth[k]),
        deviation: 0.1 * max(0, shaking[k].sum()).squareRoot() / gravity)
    }
  }

  private static func still(_ samples: [CalibrationSample], gravity: Double) -> [GravityReference] {
    let times = samples.map { $0.time.seconds(since: samples[0].time) }
    let excess = samples.map { ($0.force?.length ?? 0) / gravity - 1 }
    let shaking = means(excess.map { Vector3($0 * $0, 0, 0) }, times)
    return samples.indices.map { k in
      // Along gravity it is seen, across it turns what is felt, in two directions of three.
      GravityReference(
        force: samples[k].force ?? .zero,
        deviation: (2 * shaking[k].x + excess[k] * excess[k]).squareRoot())
    }
  }

  /// Means over as much time before each sample as after it, at most `half` seconds.
  private static func means(_ values: [Vector3], _ times: [Double]) -> [Vector3] {
    var sums = [Vector3.zero]
    sums.reserveCapacity(values.count + 1)
    for value in values { sums.append((sums.last ?? .zero) + value) }
    var (low, high) = (0, 0)
    return values.indices.map { i in
      while times[low] < times[i] - half { low += 1 }
      while high + 1 < values.count, times[high + 1] <= times[i] + half { high += 1 }
      let reach = min(i - low, high - i)
      return (sums[i + reach + 1] - sums[i - reach]) / Double(2 * reach + 1)
    }
  }
}
