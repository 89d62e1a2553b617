// Hard iron anew, all else as a calibration has it: what iron that comes to a board mostly is.

import LinearAlgebra
import SensorTypes

/// Another offset for a calibration whose matrix stays, from far less turning than a whole fit needs.
///
/// Least squares of what lengths and vertical parts of the corrected field differ by, with weights that fall to nothing
/// for what lies far off (Tukey's biweight). What the samples leave open stays as it was.
struct HardIronShift: Sendable {
  /// Unknowns: offset (microtesla, raw frame), strength and vertical part of the corrected field.
  private static let unknowns = 5
  /// How far hard iron is expected to move, microtesla. It holds only what the samples leave open.
  private static let reach = 30.0
  /// Least deviation that is believed, microtesla.
  private static let leastSpread = 0.3

  private let samples: [CalibrationSample]
  private let matrix: Matrix3
  private let start: Vector3
  private let strengthPrior: (value: Double, deviation: Double)
  private let verticalPrior: (value: Double, deviation: Double)
  private(set) var offset: Vector3
  private(set) var strength: Double
  private var vertical: Double
  private var (lengthSpread, verticalSpread) = (1.0, 1.0)
  /// Samples that the fit agrees with.
  private(set) var inliers: [Int] = []

  /// Fits; `nil` where that comes to nothing.
  init?(
    _ samples: [CalibrationSample], of calibration: AppliedCalibration, expected: CalibrationField
  ) {
    self.samples = samples
    matrix = calibration.matrix
    start = calibration.offset
    offset = calibration.offset
    let known = expected.strength ?? calibration.field ?? 0
    strength = known
    guard samples.count >= 30, known > 1, known < 1_000, matrix.inverse != nil else { return nil }
    let share = expected.strength == nil ? 0.1 : max(0.005, expected.strengthDeviation)
    strengthPrior = (known, share * known)
    let dip = expected.dip ?? 0
    verticalPrior =
      expected.dip == nil
      ? (0, known) : (-known * sin(dip), known * max(0.02, expected.dipDeviation))
    vertical = verticalPrior.value
    if expected.dip == nil {
      let heights = samples.compactMap { sample in
        sample.force?.normalized.map { calibration.correct(sample.field).dot($0) }
      }
      if !heights.isEmpty { vertical = DistortionSolver.median(heights) }
    }
    for round in 0..<12 {
      weigh()
      let before = offset
      // Wide at first: the start may be far away.
      guard step(reach: round < 6 ? 3 * DistortionSolver.reach : DistortionSolver.reach) else {
        return nil
      }
      if round > 6, (offset - before).length < 1e-4 { break }
    }
    weigh()
    guard offset.isFinite, offset.length < 5_000, strength > 1, strength < 1_000 else { return nil }
    inliers = samples.indices.filter {
      abs(lengthError(samples[$0])) < DistortionSolver.reach * lengthSpread
    }
  }

  private func lengthError(_ sample: CalibrationSample) -> Double {
    (matrix * (sample.field - offset)).length - strength
  }

  private func verticalError(_ sample: CalibrationSample) -> Double? {
    sample.force?.normalized.map { (matrix * (sample.field - offset)).dot($0) - vertical }
  }

  private mutating func weigh() {
    let lengths = samples.map { abs(lengthError($0)) }
    let verticals = samples.compactMap { verticalError($0).map(abs) }
    lengthSpread = max(Self.leastSpread, 1.4826 * DistortionSolver.median(lengths))
    verticalSpread = max(Self.leastSpread, 1.4826 * DistortionSolver.median(verticals))
  }

  private func weight(_ error: Double, _ spread: Double, _ reach: Double) -> Double {
    let part = error / (reach * spread)
    let rest = max(0, 1 - part * part)
    return rest * rest / (spread * spread)
  }

  /// Calls `body` with each sample's place, row, what the row shall come to, and weight.
  private func forEachRow(
    reach: Double, _ body: (Int, _ row: [Double], _ value: Double, _ weight: Double) -> Void
  ) {
    let back = matrix.transposed
    var row = [Double](repeating: 0, count: Self.unknowns)
    for (place, sample) in samples.enumerated() {
      let corrected = matrix * (sample.field - offset)
      guard let unit = corrected.normalized else { continue }
      let length = corrected.length - strength
      let counts = weight(length, lengthSpread, reach)
      guard counts > 0 else { continue }
      let slope = back * unit
      (row[0], row[1], row[2], row[3], row[4]) = (slope.x, slope.y, slope.z, 1, 0)
      body(place, row, length, counts)
      guard let up = sample.force?.normalized else { continue }
      let off = corrected.dot(up) - vertical
      let also = weight(off, verticalSpread, reach) * counts * lengthSpread * lengthSpread
      let lean = back * up
      (row[0], row[1], row[2], row[3], row[4]) = (lean.x, lean.y, lean.z, 0, 1)
      if also > 0 { body(place, row, off, also) }
    }
  }

  private func addPriors(to system: inout LeastSquares) {
    for axis in 0..<3 { system.expect(axis, start[axis] - offset[axis], deviation: Self.reach) }
    system.expect(3, strengthPrior.value - strength, deviation: strengthPrior.deviation)
    system.expect(4, verticalPrior.value - vertical, deviation: verticalPrior.deviation)
  }

  private mutating func step(reach: Double) -> Bool {
    var system = LeastSquares(unknowns: Self.unknowns)
    forEachRow(reach: reach) { _, row, value, weight in
      system.add(row, equals: value, weight: weight)
    }
    addPriors(to: &system)
    guard let x = system.solution()?.x, x.allSatisfy(\.isFinite) else { return false }
    offset += Vector3(x[0], x[1], x[2])
    strength += x[3]
    vertical += x[4]
    return strength > 0
  }

  /// Covariance of the offset, microtesla squared: what the samples' noise leaves open, and how much the offset
  /// depends on each of some blocks of time (a jackknife), which knows of errors that neighbours share.
  func covariance(blocks: [Int], count: Int) -> Matrix3? {
    var whole = LeastSquares(unknowns: Self.unknowns)
    var without = [LeastSquares](repeating: whole, count: count)
    forEachRow(reach: DistortionSolver.reach) { place, row, value, weight in
      whole.add(row, equals: value, weight: weight)
      for block in 0..<count where block != blocks[place] {
        without[block].add(row, equals: value, weight: weight)
      }
    }
    addPriors(to: &whole)
    guard let solution = whole.solution() else { return nil }
    let c = solution.covariance
    var sum = Matrix3(
      rows: Vector3(c[0][0], c[0][1], c[0][2]), Vector3(c[1][0], c[1][1], c[1][2]),
      Vector3(c[2][0], c[2][1], c[2][2]))
    for block in 0..<count {
      addPriors(to: &without[block])
      guard let x = without[block].solution()?.x else { return nil }
      let move = Vector3(x[0], x[1], x[2])
      let share = Double(count - 1) / Double(count)
      sum =
        sum
        + Matrix3(
          columns: move * (move.x * share), move * (move.y * share), move * (move.z * share))
    }
    return sum
  }

  /// The calibration with the offset that was found, and the soft iron's own strength.
  func applied(covariance: Matrix3) -> AppliedCalibration {
    var squares = 0.0
    for place in inliers {
      let off = lengthError(samples[place])
      squares += off * off
    }
    return AppliedCalibration(
      matrix: matrix, offset: offset, offsetCovariance: covariance,
      residual: (squares / Double(max(1, inliers.count))).squareRoot(), field: strength)
  }
}
