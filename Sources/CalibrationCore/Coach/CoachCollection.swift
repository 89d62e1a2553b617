// The samples that the guided calibration keeps: as many of each part of the sphere, however long it takes.

import LinearAlgebra
import SensorTypes

/// A bounded collection of samples, thinned by cells of the sphere: a board that lies still fills one cell and no
/// more.
struct CoachCollection: Sendable, Hashable {
  /// Samples of one cell at most. A turn in ten seconds leaves about thirty.
  static let mostOfCell = 60
  /// Seconds between two samples at least: a hand does nothing faster that a fit could use.
  static let shortest = 0.035
  /// Seconds after which a sample is kept though the field has hardly changed, so that the samples of a slow turn
  /// hang together.
  static let longest = 0.2
  /// Microtesla by which the field has to have changed, more than noise does.
  static let leastChange = 1.5
  /// Below this spread of an axis nobody knows where the sphere's middle is, microtesla.
  private static let leastSpread = 12.0

  /// In order of time.
  private(set) var samples: [CalibrationSample] = []
  /// How many of them lie in each cell; the last place is for those without one.
  private var counts = [Int](repeating: 0, count: SphereCells.count + 1)
  /// Takes a sample to the sphere: a fit's, or else the middle of what came.
  private var basis: AppliedCalibration?
  private var last: CalibrationSample?
  // Turning since the last kept one, so that what is left out is not missing in between.
  private var turning = Vector3.zero
  private var turns = 0

  /// The cells that hold a sample, by the present basis.
  var cells: SphereCells {
    var cells = SphereCells()
    guard let basis else { return cells }
    for sample in samples { cells.insert(basis.correct(sample.field)) }
    return cells
  }

  /// The cell that a field lies in, where the basis is known.
  func cell(of field: Vector3) -> Int? {
    basis.flatMap { SphereCells.index(of: $0.correct(field)) }
  }

  /// Takes a sample if its part of the sphere has room. Returns whether it was taken.
  mutating func take(_ sample: CalibrationSample) -> Bool {
    if let rate = sample.angularRate, rate.isFinite {
      turning += rate
      turns += 1
    }
    if let last {
      let step = sample.time.seconds(since: last.time)
      // Time that runs backwards is a fault of the source; a fit wants order.
      guard step >= Self.shortest else { return false }
      guard step >= Self.longest || (sample.field - last.field).length >= Self.leastChange else {
        return false
      }
    }
    let place = cell(of: sample.field) ?? SphereCells.count
    guard counts[place] < (place == SphereCells.count ? 4 : 1) * Self.mostOfCell else {
      return false
    }
    var kept = sample
    if turns > 0 { kept.angularRate = turning / Double(turns) }
    (turning, turns) = (.zero, 0)
    counts[place] += 1
    samples.append(kept)
    last = kept
    return true
  }

  /// Looks at the samples anew by what a fit has found, or by their own middle where there is none.
  mutating func settle(by calibration: AppliedCalibration?) {
    basis = calibration ?? middle()
    counts = [Int](repeating: 0, count: SphereCells.count + 1)
    var kept: [CalibrationSample] = []
    kept.reserveCapacity(samples.count)
    // Newer ones stay: what came first was often a board that had just been taken up.
    for sample in samples.reversed() {
      let place = cell(of: sample.field) ?? SphereCells.count
      guard counts[place] < 2 * Self.mostOfCell else { continue }
      counts[place] += 1
      kept.append(sample)
    }
    samples = kept.reversed()
  }

  private func middle() -> AppliedCalibration? {
    guard samples.count >= 10 else { return nil }
    var center = Vector3.zero
    var spreads = 0
    for axis in 0..<3 {
      let values = samples.map { $0.field[axis] }.sorted()
      // Without the outermost, which may be a disturbance.
      let low = values[values.count / 50]
      let high = values[values.count - 1 - values.count / 50]
      center[axis] = (low + high) / 2
      if high - low > Self.leastSpread { spreads += 1 }
    }
    guard spreads >= 2 else { return nil }
    return AppliedCalibration(
      matrix: .identity, offset: center, offsetCovariance: .identity, residual: 0)
  }
}
