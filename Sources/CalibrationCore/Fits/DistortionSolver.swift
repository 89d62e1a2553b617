// Finds the iron: least squares of what the samples' lengths and their vertical parts leave, again and again,
// with less weight for what lies far off.

import LinearAlgebra

/// A robust fit of an `DistortionModel` to points.
struct DistortionSolver {
  /// What is known without the samples, in the points' units.
  struct Prior: Sendable {
    /// The field's strength and its deviation.
    var radius: (value: Double, deviation: Double)?
    /// The field's vertical part as a share of its strength, and its deviation.
    var vertical: (value: Double, deviation: Double)?
    /// Deviation of soft iron's entries from a sphere's.
    var soft: Double
    /// Deviation of the alignment about each axis, radians.
    var turn: Double
  }

  let points: [DistortionPoint]
  let hasForce: Bool
  /// Whether a gyro has freed the forces from a hand's accelerations.
  private let hasGyro: Bool
  let prior: Prior
  var model: DistortionModel
  /// How far inliers lie off, root mean square: lengths, and vertical parts of a board at rest.
  var (spread, tilt) = (0.1, 0.1)
  /// How many samples tell as much as one that knew nothing of its neighbours would.
  var (run, tiltRun) = (1.0, 1.0)
  /// What each sample counts after this round, by its length and by its vertical part.
  private(set) var weights: [Double]
  private(set) var tiltWeights: [Double]
  /// Samples that are left out for their neighbours' sake: in the middle of a disturbance.
  private var shut: [Bool]

  /// Least deviation that is believed, of the spread of the data: a chip has noise.
  static let leastSpread = 2e-4
  /// Deviation of the field's lag behind the force, seconds.
  static let lag = 0.02
  /// Where a weight has fallen to nothing, in deviations (Tukey's biweight).
  static let reach = 4.685

  init(points: [DistortionPoint], prior: Prior, model: DistortionModel) {
    self.points = points
    self.prior = prior
    self.model = model
    hasForce = points.contains { $0.up != nil }
    hasGyro = 2 * points.filter { $0.rate != .zero }.count > points.count
    weights = points.map(\.share)
    tiltWeights = points.map { $0.up == nil ? 0 : $0.share }
    shut = Array(repeating: false, count: points.count)
  }

  // MARK: Residuals

  private func residuals(_ model: DistortionModel) -> (lengths: [Double], verticals: [Double]) {
    let soft = model.soft
    let back = model.turn.conjugate
    var lengths: [Double] = []
    var verticals: [Double] = []
    lengths.reserveCapacity(points.count)
    verticals.reserveCapacity(hasForce ? points.count : 0)
    for point in points {
      let corrected = soft * (point.raw - model.offset)
      lengths.append(model.misfit(corrected, soft: soft))
      if hasForce {
        guard let up = point.up else {
          verticals.append(0)
          continue
        }
        let turned = back.rotate(up)
        let late = back.rotate(point.rate).dot(corrected.cross(turned))
        verticals.append(corrected.dot(turned) - model.vertical - model.lag * late)
      }
    }
    return (lengths, verticals)
  }

  static func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    return sorted[sorted.count / 2]
  }

  private static func biweight(_ value: Double, _ reach: Double) -> Double {
    let part = value / reach
    let rest = 1 - part * part
    return rest > 0 ? rest * rest : 0
  }

  /// Tukey's loss, in units of a squared deviation.
  private static func loss(_ value: Double, _ reach: Double) -> Double {
    let part = value / reach
    let rest = max(0, 1 - part * part)
    return reach * reach / 3 * (1 - rest * rest * rest)
  }

  /// How far the middle one of all samples lies off.
  var middle: Double { Self.median(residuals(model).lengths.map(abs)) }

  // MARK: Rounds

  /// Sets deviations and weights from the residuals.
  private mutating func weigh(reach: Double) {
    let (lengths, verticals) = residuals(model)
    let open = points.indices.filter { !shut[$0] }
    spread = max(Self.leastSpread, 1.4826 * Self.median(open.map { abs(lengths[$0]) }))
    for i in points.indices {
      weights[i] =
        shut[i] ? 0 : points[i].share * Self.biweight(lengths[i] / spread, reach)
    }
    guard hasForce else { return }
    tilt = max(
      Self.leastSpread,
      1.4826
        * Self.median(
          open.filter { points[$0].up != nil && weights[$0] > 0 }
            .map { abs(verticals[$0]) / points[$0].doubt }))
    for i in points.indices {
      tiltWeights[i] =
        points[i].up == nil
        ? 0 : weights[i] * Self.biweight(verticals[i] / (tilt * points[i].doubt), reach)
    }
  }

  /// Shuts out what lies in and about a disturbance: a run of samples that are off.
  private mutating func shutRuns() {
    let (lengths, _) = residuals(model)
    let isOff = lengths.map { abs($0) > 3.5 * spread }
    shut = Array(repeating: false, count: points.count)
    // A disturbance: of the samples within half a second most are off.
    let half = 0.4
    var (low, high, off) = (0, 0, 0)
    for i in points.indices {
      let time = points[i].time
      while high < points.count, points[high].time <= time + half {
        off += isOff[high] ? 1 : 0
        high += 1
      }
      while low < i, points[low].time < time - half {
        off -= isOff[low] ? 1 : 0
        low += 1
      }
      shut[i] = off >= 3 && 2 * off > high - low
    }
    // Nobody knows what is the disturbance where most of it is.
    if shut.filter({ $0 }).count * 2 > shut.count {
      shut = Array(repeating: false, count: points.count)
    }
  }

  /// How much less than their number samples tell whose residuals resemble their neighbours': in time, and
  /// in direction (where the model does not fit).
  private mutating func measureRuns() {
    let (lengths, verticals) = residuals(model)
    let soft = model.soft
    let corrected = points.map { soft * ($0.raw - model.offset) }
    let cells = corrected.map { SphereCells.index(of: $0) ?? 0 }
    let start = points.first?.time ?? 0
    let duration = (points.last?.time ?? 0) - start
    let block = min(6, max(1.5, duration / 20))
    let blocks = points.map { Int(min(4_095, max(0, ($0.time - start) / block))) }
    // Sums of what the residuals pull at, by groups, against what they were if no residual knew of another.
    func ratio(_ weights: [Double], _ groups: [Int], _ pull: (Int) -> SIMD4<Double>) -> Double {
      var sums = [SIMD4<Double>](repeating: .zero, count: (groups.max() ?? 0) + 1)
      var squares = SIMD4<Double>.zero
      for i in points.indices where weights[i] > 0 {
        let value = weights[i] * pull(i)
        sums[groups[i]] += value
        squares += value * value
      }
      var square = SIMD4<Double>.zero
      for sum in sums { square += sum * sum }
      var worst = 1.0
      for k in 0..<4 where squares[k] > 0 { worst = max(worst, square[k] / squares[k]) }
      return min(200, worst)
    }
    func pull(_ i: Int) -> SIMD4<Double> {
      let direction = corrected[i].normalized ?? .zero
      return lengths[i] * SIMD4(direction.x, direction.y, direction.z, 1)
    }
    run = max(ratio(weights, blocks, pull), ratio(weights, cells, pull))
    guard hasForce else { return }
    tiltRun = ratio(tiltWeights, blocks) { i in
      guard let up = points[i].up else { return .zero }
      let lever = model.turn.rotate(corrected[i]).cross(up)
      return verticals[i] / (points[i].doubt * points[i].doubt)
        * SIMD4(lever.x, lever.y, lever.z, model.radius)
    }
    // A hand's acceleration goes with how it turns, which no residual tells.
    if !hasGyro { tiltRun *= 2 }
  }

  /// Fits: rounds of weights, each with a few steps; `settled` where the start is a fit already.
  mutating func solve(rounds: Int = 12, settled: Bool = false) {
    if hasForce, !settled {
      let (_, verticals) = residuals(model)
      let heard = points.indices.filter { points[$0].up != nil }.map { verticals[$0] }
      model.vertical += Self.median(heard)
    }
    for round in 0..<rounds {
      let isLate = settled || round >= 4
      if isLate { shutRuns() }
      let before = spread
      let reach = isLate ? Self.reach : 1.5 * Self.reach
      weigh(reach: reach)
      if isLate { measureRuns() }
      let moved = descend(steps: settled ? 2 : 4, freedom: .ellipsoid, reach: reach)
      if round > 6 || settled, moved < 1e-6, abs(spread - before) < 1e-3 * spread { break }
    }
    shutRuns()
    weigh(reach: Self.reach)
    measureRuns()
  }

  /// A fit of fewer unknowns to samples that are weighed already. Returns what is left, in squared
  /// deviations.
  mutating func refit(_ freedom: DistortionFreedom) -> Double {
    switch freedom {
    case .sphere:
      (model.first, model.second, model.mixed) = (0, 0, .zero)
    case .diagonal: model.mixed = .zero
    case .ellipsoid: break
    }
    _ = descend(steps: 12, freedom: freedom, reach: nil)
    return cost(model, reach: nil)
  }

  // MARK: Steps

  /// What a model leaves, in squared deviations; without a reach at the weights as they stand.
  private func cost(_ model: DistortionModel, reach: Double?) -> Double {
    let (lengths, verticals) = residuals(model)
    var (sum, tilts) = (0.0, 0.0)
    for i in points.indices {
      let value = lengths[i] / spread
      if let reach {
        guard !shut[i] else { continue }
        sum += points[i].share * Self.loss(value, reach)
      } else {
        sum += weights[i] * value * value
      }
      guard hasForce, points[i].up != nil else { continue }
      let other = verticals[i] / (tilt * points[i].doubt)
      if let reach {
        tilts += weights[i] * Self.loss(other, reach)
      } else {
        tilts += tiltWeights[i] * other * other
      }
    }
    sum = sum / run + tilts / tiltRun
    for (value, deviation) in priors(model) { sum += value * value / (deviation * deviation) }
    return sum
  }

  private func priors(_ model: DistortionModel) -> [(value: Double, deviation: Double)] {
    let third = -model.first - model.second
    let mixed = prior.soft / 2.0.squareRoot()
    var list = [
      (model.first, prior.soft), (model.second, prior.soft), (third, prior.soft),
      (model.mixed.x, mixed), (model.mixed.y, mixed), (model.mixed.z, mixed),
    ]
    if let known = prior.radius { list.append((model.radius - known.value, known.deviation)) }
    guard hasForce else { return list }
    let turn = model.turn.rotationVector
    list += [
      (turn.x, prior.turn), (turn.y, prior.turn), (turn.z, prior.turn), (model.lag, Self.lag),
    ]
    if let known = prior.vertical {
      list.append(
        (model.vertical - known.value * model.radius, max(1e-3, known.deviation) * model.radius))
    }
    return list
  }

  /// Goes down in steps that are damped until each is one down. Returns the length of the last.
  private mutating func descend(steps: Int, freedom: DistortionFreedom, reach: Double?) -> Double {
    var damping = 1e-6
    var current = cost(model, reach: reach)
    var last = 0.0
    for _ in 0..<steps {
      if let reach { reweigh(reach) }
      var accepted = false
      let system = equations(model, freedom: freedom)
      for _ in 0..<8 {
        var damped = system
        let scale = Double(points.count) / (spread * spread) / run
        for i in 0..<damped.count {
          damped.expect(i, 0, deviation: 1 / (damping * scale).squareRoot())
        }
        if let step = damped.solution()?.x {
          let candidate = model.moved(step, freedom: freedom)
          let value = candidate.isSane ? cost(candidate, reach: reach) : .infinity
          if value <= current {
            model = candidate
            current = value
            last = step.map(abs).max() ?? 0
            accepted = true
            damping = max(1e-9, damping / 10)
            break
          }
        }
        damping *= 10
      }
      guard accepted, last > 1e-7 else { break }
    }
    return last
  }

  /// Weights for the residuals as they are now, at the deviations as they stand. What the length says of a
  /// sample's vertical part stays as it was.
  private mutating func reweigh(_ reach: Double) {
    let (lengths, verticals) = residuals(model)
    for i in points.indices {
      weights[i] =
        shut[i] ? 0 : points[i].share * Self.biweight(lengths[i] / spread, reach)
      guard hasForce, points[i].up != nil else { continue }
      tiltWeights[i] =
        weights[i] * Self.biweight(verticals[i] / (tilt * points[i].doubt), reach)
    }
  }

  /// The equations of a step, in deviations.
  private func equations(_ model: DistortionModel, freedom: DistortionFreedom) -> LeastSquares {
    let iron = freedom.rawValue
    let count = iron + (hasForce ? 5 : 0)
    var system = LeastSquares(unknowns: count)
    var row = [Double](repeating: 0, count: count)
    let soft = model.soft
    let back = model.turn.conjugate
    let weight = 1 / (spread * spread * run)
    let tiltWeight = 1 / (tilt * tilt * tiltRun)
    for (i, point) in points.enumerated() where weights[i] > 0 {
      let away = point.raw - model.offset
      for k in iron..<count { row[k] = 0 }
      guard let misfit = model.misfitSlopes(away, soft: soft, freedom: freedom, into: &row)
      else { continue }
      system.add(row, equals: -misfit, weight: weights[i] * weight)
      guard hasForce, let up = point.up, tiltWeights[i] > 0 else { continue }
      let corrected = soft * away
      let turned = back.rotate(up)
      DistortionModel.slopes(turned, away, soft, freedom: freedom, into: &row)
      let lever = model.turn.rotate(corrected).cross(up)
      (row[iron], row[iron + 1], row[iron + 2], row[iron + 3]) = (lever.x, lever.y, lever.z, -1)
      let late = point.rate.dot(lever)
      row[iron + 4] = -late
      system.add(
        row, equals: model.vertical + model.lag * late - corrected.dot(turned),
        weight: tiltWeights[i] * tiltWeight / (point.doubt * point.doubt))
    }
    addPriors(to: &system, model, freedom: freedom)
    return system
  }

  private func addPriors(
    to system: inout LeastSquares, _ model: DistortionModel, freedom: DistortionFreedom
  ) {
    let iron = freedom.rawValue
    var row = [Double](repeating: 0, count: system.count)
    if freedom != .sphere {
      let weight = 1 / (prior.soft * prior.soft)
      system.expect(4, -model.first, deviation: prior.soft)
      system.expect(5, -model.second, deviation: prior.soft)
      (row[4], row[5]) = (1, 1)
      system.add(row, equals: -model.first - model.second, weight: weight)
      (row[4], row[5]) = (0, 0)
    }
    if freedom == .ellipsoid {
      let deviation = prior.soft / 2.0.squareRoot()
      system.expect(6, -model.mixed.x, deviation: deviation)
      system.expect(7, -model.mixed.y, deviation: deviation)
      system.expect(8, -model.mixed.z, deviation: deviation)
    }
    if let known = prior.radius {
      system.expect(3, known.value - model.radius, deviation: known.deviation)
    }
    guard hasForce else { return }
    let turn = model.turn.rotationVector
    system.expect(iron, -turn.x, deviation: prior.turn)
    system.expect(iron + 1, -turn.y, deviation: prior.turn)
    system.expect(iron + 2, -turn.z, deviation: prior.turn)
    system.expect(iron + 4, -model.lag, deviation: Self.lag)
    if let known = prior.vertical {
      row[3] = -known.value
      row[iron + 3] = 1
      let deviation = max(1e-3, known.deviation) * model.radius
      system.add(
        row, equals: known.value * model.radius - model.vertical,
        weight: 1 / (deviation * deviation))
    }
  }

  /// Covariance of all unknowns where the fit stands, whatever freedom it had: what a simpler model leaves
  /// unsaid is not known for that. `nil` where the samples and all that is known leave something open.
  func covariance() -> [[Double]]? {
    equations(model, freedom: .ellipsoid).solution()?.covariance
  }
}
