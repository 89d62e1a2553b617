// How each alternative to a fixed hard iron is fitted to the samples.

import LinearAlgebra

extension HardIronChangeTest {
  // MARK: Alternatives

  /// The best of several fits: tried on some of the points, the best three fitted to all. Each start is tried with round
  /// axes as well: the fixed fit has taken some of a change for soft iron.
  func best(_ starts: [Explanation], rounds: Int) -> Explanation? {
    let round = starts.map { start in
      with(start) { ($0.model.first, $0.model.second, $0.model.mixed) = (0, 0, .zero) }
    }
    let tried = (starts + round).compactMap { fitted($0, to: sought, rounds: rounds) }
      .map { (fit: $0, value: likelihood($0, of: sought)) }
      .sorted { $0.value > $1.value }
    return tried.prefix(3).compactMap { fitted($0.fit, to: all, rounds: 25) }
      .map { (fit: $0, value: likelihood($0, of: all)) }
      .max { $0.value < $1.value }?.fit
  }

  /// Deviations to start from: near the fixed fit's, and so wide that no state is an outlier.
  private func widths(_ fixed: Explanation) -> [Double] {
    [2 * fixed.sigma, max(4 * fixed.sigma, wide(all))]
  }

  func step(_ fixed: Explanation) -> Explanation? {
    let starts = (1..<Self.parts).flatMap { part in
      widths(fixed).map { sigma in
        with(fixed) {
          ($0.shape, $0.moves, $0.sigma) = (
            .step(part * points.count / Self.parts), [.zero], sigma
          )
        }
      }
    }
    return best(starts, rounds: 6)
  }

  func drift(_ fixed: Explanation) -> Explanation? {
    let starts = widths(fixed).map { sigma in
      with(fixed) {
        ($0.shape, $0.moves, $0.sigma) = (.drift, [.zero, .zero, .zero], sigma)
      }
    }
    return best(starts, rounds: 12)
  }

  /// Two states pull residuals both ways along their difference: where squared residuals depend on the direction, that
  /// is where to begin. The fixed fit may lie between both states or at one of them.
  func states(_ fixed: Explanation) -> Explanation? {
    let soft = fixed.model.soft
    let most = 0.5 * fixed.model.radius
    var second = Matrix3(diagonal: .zero)
    for point in points {
      let corrected = soft * (point.raw - fixed.model.offset)
      guard let normal = (soft * corrected).normalized else { continue }
      let misfit = min(most, abs(fixed.model.misfit(corrected, soft: soft)))
      let square = misfit * misfit / Double(points.count)
      second =
        second
        + Matrix3(
          columns: normal * (square * normal.x), normal * (square * normal.y),
          normal * (square * normal.z))
    }
    guard let eigen = SymmetricEigenvalues(second) else { return nil }
    let axes = eigen.vectors.columns
    var starts: [Explanation] = []
    for (axis, value) in [
      (axes.x, eigen.values.x), (axes.y, eigen.values.y), (axes.z, eigen.values.z),
    ] {
      // Over the whole sphere the moment along the difference is a twentieth of its square with the fit in the middle,
      // a tenth with the fit at one of two equal states.
      let move = max((15 * max(0, value)).squareRoot(), 2 * fixed.sigma) * axis
      for share in [0, 0.5, -0.5] {
        starts.append(
          with(fixed) {
            ($0.shape, $0.moves, $0.sigma) = (.states, [move], 0.2 * move.length)
            $0.model.offset += share * move
          })
      }
    }
    return best(starts, rounds: 8)
  }

  // MARK: Fits

  func with(
    _ explanation: Explanation, _ change: (inout Explanation) -> Void
  ) -> Explanation {
    var changed = explanation
    change(&changed)
    return changed
  }

  /// How much of each move a sample has; of two states it is not known.
  func factors(_ shape: HardIronChangeModel, _ place: Int) -> [Double] {
    switch shape {
    case .fixed, .states: return []
    case .step(let first): return [place < first ? -0.5 : 0.5]
    case .drift:
      // Legendre's polynomials of the time, from -1 to 1.
      let p = 2 * Double(place) / Double(max(1, points.count - 1)) - 1
      return [p / 2, (3 * p * p - 1) / 4, (5 * p * p * p - 3 * p) / 4]
    }
  }

  func misfit(_ explanation: Explanation, _ place: Int, _ factors: [Double]) -> Double {
    var away = points[place].raw - explanation.model.offset
    for (factor, move) in zip(factors, explanation.moves) { away -= factor * move }
    let soft = explanation.model.soft
    return explanation.model.misfit(soft * away, soft: soft)
  }

  /// Root mean square of what the fixed fit leaves of all of some points, outliers among them.
  func wide(_ places: [Int]) -> Double {
    let fixed = Explanation(shape: .fixed, model: model, moves: [], sigma: spread)
    let square = places.reduce(0.0) { sum, place in
      let misfit = min(model.radius, abs(misfit(fixed, place, [])))
      return sum + misfit * misfit
    }
    return max(spread, (square / Double(max(1, places.count))).squareRoot())
  }

  /// The logarithm of the density of a residual, how much of it is the noise's rather than an outlier's, and its weight
  /// in a least-squares step.
  static func density(
    _ misfit: Double, _ variance: Double, _ outliers: Double
  ) -> (logarithm: Double, core: Double, weight: Double) {
    let square = misfit * misfit
    let broad = outlierScale * outlierScale * variance
    let deviation = variance.squareRoot()
    let core = (1 - outliers) * exp(-square / (2 * variance)) / (deviation * 2.506_628_274_631)
    let tail = outliers * outlierScale * deviation / (.pi * (broad + square))
    let share = core / (core + tail)
    return (log(core + tail), share, share / variance + (1 - share) * 2 / (broad + square))
  }

  /// The logarithm of the likelihood of some points.
  func likelihood(_ explanation: Explanation, of places: [Int]) -> Double {
    let variance = explanation.sigma * explanation.sigma
    func part(_ place: Int, _ factors: [Double]) -> Double {
      Self.density(misfit(explanation, place, factors), variance, explanation.outliers).logarithm
    }
    var sum = 0.0
    for place in places {
      if case .states = explanation.shape {
        sum += points[place].share * mixed(explanation, part(place, [-0.5]), part(place, [0.5])).sum
      } else {
        sum += points[place].share * part(place, factors(explanation.shape, place))
      }
    }
    return sum
  }

  /// The logarithm of two states' densities together, and the probability of the second.
  private func mixed(
    _ explanation: Explanation, _ low: Double, _ high: Double
  ) -> (sum: Double, second: Double) {
    let a = low + log(1 - explanation.share)
    let b = high + log(explanation.share)
    let most = max(a, b)
    let total = most + log(exp(a - most) + exp(b - most))
    return (total, exp(b - total))
  }

  /// Climbs to the likelihood's maximum by expectation maximization: what is noise, outlier, and which state, then a
  /// step of least squares. `nil` where the steps lead nowhere.
  func fitted(_ start: Explanation, to places: [Int], rounds: Int) -> Explanation? {
    var now = start
    let iron = DistortionModel.iron
    let unknowns = iron + 3 * start.shape.moves
    var row = [Double](repeating: 0, count: unknowns)
    for round in 0..<rounds {
      var system = LeastSquares(unknowns: unknowns)
      let soft = now.model.soft
      let variance = now.sigma * now.sigma
      var (squares, tails, seconds, total) = (0.0, 0.0, 0.0, 0.0)

      func add(_ place: Int, _ factors: [Double], _ probability: Double) {
        var away = points[place].raw - now.model.offset
        for (factor, move) in zip(factors, now.moves) { away -= factor * move }
        guard
          let misfit = now.model.misfitSlopes(away, soft: soft, freedom: .ellipsoid, into: &row)
        else { return }
        for (index, factor) in factors.enumerated() {
          for axis in 0..<3 { row[iron + 3 * index + axis] = factor * row[axis] }
        }
        let density = Self.density(misfit, variance, now.outliers)
        let share = points[place].share * probability
        system.add(row, equals: -misfit, weight: share * density.weight)
        squares += share * density.weight * variance * misfit * misfit
        tails += share * (1 - density.core)
        total += share
      }

      for place in places {
        guard case .states = now.shape else {
          add(place, factors(now.shape, place), 1)
          continue
        }
        func part(_ factor: Double) -> Double {
          Self.density(misfit(now, place, [factor]), variance, now.outliers).logarithm
        }
        let second = mixed(now, part(-0.5), part(0.5)).second
        add(place, [-0.5], 1 - second)
        add(place, [0.5], second)
        seconds += points[place].share * second
      }
      addPriors(to: &system, now)
      guard total > 0, let x = system.solution()?.x else { return nil }
      let largest = x.map(abs).max() ?? 0
      // Far from the maximum a step of the linear equations goes too far.
      let scale = min(1, 0.3 / max(largest, 1e-12))
      let moved = now.model.moved(x.prefix(iron).map { scale * $0 }, freedom: .ellipsoid)
      guard moved.isSane else { return nil }
      now.model = moved
      for index in now.moves.indices {
        let at = iron + 3 * index
        now.moves[index] += scale * Vector3(x[at], x[at + 1], x[at + 2])
      }
      now.sigma = max(DistortionSolver.leastSpread, (squares / total).squareRoot())
      now.outliers = min(0.3, max(1e-3, tails / total))
      if case .states = now.shape { now.share = min(0.95, max(0.05, seconds / total)) }
      guard now.sigma.isFinite else { return nil }
      if round > 5, largest < 1e-5 { break }
    }
    return now
  }

  private func addPriors(to system: inout LeastSquares, _ now: Explanation) {
    let model = now.model
    var row = [Double](repeating: 0, count: system.count)
    (row[4], row[5]) = (1, 1)
    let deviation = Self.softDeviation
    system.expect(4, -model.first, deviation: deviation)
    system.expect(5, -model.second, deviation: deviation)
    system.add(row, equals: -model.first - model.second, weight: 1 / (deviation * deviation))
    for (index, mixed) in [model.mixed.x, model.mixed.y, model.mixed.z].enumerated() {
      system.expect(6 + index, -mixed, deviation: deviation / 2.0.squareRoot())
    }
    for (index, move) in now.moves.enumerated() {
      for axis in 0..<3 {
        system.expect(
          DistortionModel.iron + 3 * index + axis, -move[axis], deviation: Self.reach * model.radius
        )
      }
    }
    // Keeps a step short where the samples leave something open.
    for unknown in 0..<system.count { system.expect(unknown, 0, deviation: 3) }
  }
}
