// Whether one hard iron explains a recording from its start to its end.

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif
import LinearAlgebra

/// A test of the hypothesis that a recording has one hard iron, against three alternatives: a step at some moment, a
/// drift (a cubic polynomial over the samples), and two states that come and go.
///
/// Errors of a fixed hard iron, noise and disturbances alike, leave residuals that no alternative explains on samples
/// that it was not fitted to. So each alternative is fitted to one half of the recording (`TimeBlocks`) and judged on
/// the other, there against the best that a fixed hard iron can do. The ratio of the two likelihoods exceeds `1 / p`
/// with a probability of at most `p` if the hard iron was fixed, whatever the number of samples and however irregular
/// the alternative (a mixture of two states is); so does the mean of the ratios of both halves (Wasserman, Ramdas,
/// Balakrishnan, "Universal inference", PNAS 2020). Therefore nothing here is tuned: the threshold follows from the
/// probability of a false alarm.
///
/// The likelihood is that of normal noise with a share of outliers (Cauchy's distribution). Neighbours are not
/// independent; the logarithm of a ratio is divided by the number of samples that tell as much as one, as measured on
/// the residuals that the alternative leaves. To two states a fixed hard iron answers with noise that is as much
/// stronger along one axis: only residuals with two humps prove them.
struct IronChangeTest {
  /// A hard iron that changed, in the points' units.
  struct Finding: Hashable {
    var kind: IronChange.Kind
    var first: Vector3
    var second: Vector3
    var share: Double
  }

  /// The probability that one of the alternatives is found though the hard iron was fixed. Recordings are never quite
  /// as the model has them, and a refusal costs a person another one: so one in a million.
  static let falseAlarm = 1e-6
  /// The number of equal parts of the recording; a step is sought at each boundary between them.
  static let parts = 16
  /// The logarithm of the likelihood ratio that proves a change: each step, the drift and the states have an equal
  /// share of the false alarms (Bonferroni).
  static let threshold = -log(falseAlarm / Double(parts - 1 + 2))
  /// The least share of the samples before a change, and of those after it, that the alternative has to explain. Where
  /// iron has moved it explains all but outliers; where a magnet passes, only some.
  static let leastAgreement = 2.0 / 3
  /// The most points that are used; more are thinned evenly.
  static let mostPoints = 1_200
  /// The most points that starting values are sought with.
  private static let mostSought = 400
  /// The least number of points for a test: each half has to determine up to 18 unknowns.
  static let leastPoints = 120
  /// The number of blocks of time; in a recording of half a minute each is longer than a second.
  private static let blocks = 24
  /// How many samples tell as much as one where their noise is independent: 1, and by chance up to twice that in blocks of
  /// this number.
  private static let independentRun = 2.0
  /// The largest distance between the samples of a stationary period, as a share of the field: 5 degrees. The fit's
  /// error is the same for all of them, so together they tell as much as one sample.
  private static let stationaryDistance = 2 * sin(2.5 * Double.pi / 180)
  /// The same distance in standard deviations of the noise; the larger of the two counts, up to half of the field.
  private static let stationaryReach = 6.0
  /// The least duration of a stationary period, in seconds.
  private static let stationaryTime = 2.0
  /// The scale of an outlier, in standard deviations of the noise.
  private static let outlierScale = 4.0
  /// Prior standard deviation of a change, in field strengths.
  private static let reach = 1.0
  private static let softDeviation = 0.15

  /// How the hard iron is said to change.
  private enum Shape {
    case fixed, step(Int), drift, states

    var kind: IronChange.Kind? {
      switch self {
      case .fixed: nil
      case .step: .step
      case .drift: .drift
      case .states: .states
      }
    }

    /// How many vectors describe the change.
    var moves: Int {
      switch self {
      case .fixed: 0
      case .step, .states: 1
      case .drift: 3
      }
    }
  }

  /// One explanation of the samples.
  private struct Explanation {
    var shape: Shape
    var model: IronModel
    var moves: [Vector3]
    /// Standard deviation of the noise, and the share of outliers.
    var sigma: Double
    var outliers = 0.05
    /// The share of the second of two states.
    var share = 0.5
  }

  private let points: [IronPoint]
  private let model: IronModel
  private let spread: Double
  private let all: [Int]
  private let sought: [Int]

  /// - Parameters:
  ///   - points: In order of time, without spikes.
  ///   - model: A fit to them with a fixed hard iron.
  ///   - spread: Standard deviation of what it leaves of the points that it agrees with.
  init(points: [IronPoint], model: IronModel, spread: Double) {
    self.points = Self.weighted(
      points.count <= Self.mostPoints
        ? points : (0..<Self.mostPoints).map { points[$0 * points.count / Self.mostPoints] },
      model, spread)
    self.model = model
    self.spread = spread
    let count = self.points.count
    all = Array(0..<count)
    sought =
      count <= Self.mostSought
      ? all : (0..<Self.mostSought).map { $0 * count / Self.mostSought }
  }

  /// The points with a share that gives each stationary period the weight of one sample.
  private static func weighted(
    _ points: [IronPoint], _ model: IronModel, _ spread: Double
  ) -> [IronPoint] {
    var points = points
    var start = 0
    while start < points.count {
      // Of the measured field: soft iron makes it weaker one way than another, and its noise stays.
      let first = points[start].raw
      let field = (first - model.offset).length
      let reach = min(0.5 * field, max(stationaryDistance * field, stationaryReach * spread))
      var end = start + 1
      while end < points.count, (points[end].raw - first).length < reach { end += 1 }
      let total = points[start..<end].reduce(0) { $0 + $1.share }
      if points[end - 1].time - points[start].time > stationaryTime, total > 1 {
        for place in start..<end { points[place].share /= total }
      }
      start = end
    }
    return points
  }

  /// The change that the samples prove best; `nil` where they prove none.
  func finding() -> Finding? {
    guard points.count >= Self.leastPoints else { return nil }
    let start = Explanation(shape: .fixed, model: model, moves: [], sigma: spread)
    guard let fixed = fitted(start, to: all, rounds: 20) else { return nil }
    let least = likelihood(fixed, of: all)
    let parts = TimeBlocks(samples: points.count, count: Self.blocks)
    let halves = (0..<2).map(parts.half)
    let answers = halves.map { half in
      [fixed, with(start) { $0.sigma = wide(half) }].compactMap {
        fitted($0, to: half, rounds: 20)
      }
    }
    var best: (finding: Finding, proof: Double)?
    for alternative in [step(fixed), drift(fixed), states(fixed)].compactMap({ $0 }) {
      // What does not fit the samples better as a whole does not fit unseen ones better.
      guard likelihood(alternative, of: all) - least > Self.threshold else { continue }
      guard let proof = proof(of: alternative, halves, answers), proof > Self.threshold,
        proof > best?.proof ?? 0, let finding = finding(alternative)
      else { continue }
      best = (finding, proof)
    }
    return best?.finding
  }

  /// The standard deviation of the part of the residuals that neighbours in time share; 0 for noise alone.
  ///
  /// Independent noise averages out over a block of samples, and an error that lasts does not. A hard iron that moves in
  /// another way than the alternatives above leaves such an error, and so do currents and magnets near the board.
  func wander() -> Double {
    guard points.count >= Self.leastPoints else { return 0 }
    let fixed = Explanation(shape: .fixed, model: model, moves: [], sigma: spread)
    let run = run(fixed, all)
    guard run > Self.independentRun else { return 0 }
    let length = points.reduce(0) { $0 + $1.share } / Double(2 * Self.blocks)
    let share = min(1, (run - 1) / max(1, length - 1))
    return share.squareRoot() * wide(all)
  }

  // MARK: Proof

  /// The logarithm of the mean of both halves' likelihood ratios; `nil` where one of them speaks against the
  /// alternative, or where it leaves too many samples unexplained.
  private func proof(
    of alternative: Explanation, _ halves: [[Int]], _ answers: [[Explanation]]
  ) -> Double? {
    var logarithms: [Double] = []
    for which in 0..<2 {
      let test = halves[which]
      guard let trained = fitted(alternative, to: halves[1 - which], rounds: 15),
        agrees(trained)
      else { return nil }
      var rivals = answers[which]
      let start = with(trained) {
        ($0.shape, $0.moves, $0.sigma) = (.fixed, [], 2 * trained.sigma)
      }
      if let rival = fitted(start, to: test, rounds: 20) { rivals.append(rival) }
      guard
        let rival = rivals.map({ (answer: $0, value: likelihood($0, of: test)) })
          .max(by: { $0.value < $1.value })
      else { return nil }
      var value = rival.value
      if case .states = trained.shape {
        value = max(value, broadened(rival.answer, by: trained, test))
      }
      let ratio = (likelihood(trained, of: test) - value) / run(trained, test)
      guard ratio > 0 else { return nil }
      logarithms.append(ratio)
    }
    let most = max(logarithms[0], logarithms[1])
    return most + log((exp(logarithms[0] - most) + exp(logarithms[1] - most)) / 2)
  }

  /// The likelihood of one hard iron whose noise is stronger along one axis, by as much as two states would make it:
  /// the same spread with one hump.
  private func broadened(_ fixed: Explanation, by states: Explanation, _ places: [Int]) -> Double {
    let soft = fixed.model.soft
    let square = states.share * (1 - states.share)
    let rows = places.map { place -> (misfit: Double, excess: Double, share: Double) in
      let corrected = soft * (points[place].raw - fixed.model.offset)
      let along = (soft * corrected).normalized?.dot(states.moves[0]) ?? 0
      return (
        fixed.model.misfit(corrected, soft: soft), along * along * square, points[place].share
      )
    }
    var best = -Double.infinity
    for size in [0.3, 0.6, 0.8, 1, 1.2] {
      for factor in [0.7, 1, 1.3, 1.7] {
        let variance = factor * factor * states.sigma * states.sigma
        for outliers in [0.001, states.outliers, 0.1, 0.2] {
          var sum = 0.0
          for row in rows {
            sum +=
              row.share
              * Self.density(row.misfit, variance + size * row.excess, outliers).logarithm
          }
          best = max(best, sum)
        }
      }
    }
    return best
  }

  /// Whether an alternative explains most of the samples on each side of its change.
  private func agrees(_ explanation: Explanation) -> Bool {
    var counts = [0.0, 0.0]
    var agreeing = [0.0, 0.0]
    for place in all {
      let (misfit, side) = nearest(explanation, place)
      counts[side] += points[place].share
      if abs(misfit) < IronSolver.reach * explanation.sigma {
        agreeing[side] += points[place].share
      }
    }
    return (0..<2).allSatisfy {
      counts[$0] > 0 && agreeing[$0] >= Self.leastAgreement * counts[$0]
    }
  }

  /// How far a sample lies off the better one of an explanation's states, and on which side of the change it is.
  private func nearest(_ explanation: Explanation, _ place: Int) -> (misfit: Double, side: Int) {
    switch explanation.shape {
    case .states:
      let low = misfit(explanation, place, [-0.5])
      let high = misfit(explanation, place, [0.5])
      return abs(low) <= abs(high) ? (low, 0) : (high, 1)
    case .fixed, .step, .drift:
      let factors = factors(explanation.shape, place)
      return (misfit(explanation, place, factors), factors.first ?? 0 > 0 ? 1 : 0)
    }
  }

  /// How many samples tell as much as one that knew nothing of its neighbours would, by the sums of what residuals
  /// pull at over parts of blocks.
  private func run(_ explanation: Explanation, _ places: [Int]) -> Double {
    let parts = TimeBlocks(samples: points.count, count: 2 * Self.blocks)
    var sums = [SIMD4<Double>](repeating: .zero, count: parts.count)
    var squares = SIMD4<Double>.zero
    let soft = explanation.model.soft
    let variance = explanation.sigma * explanation.sigma
    for place in places {
      let misfit = nearest(explanation, place).misfit
      let direction = (soft * (points[place].raw - explanation.model.offset)).normalized ?? .zero
      let weight: Double =
        variance * Self.density(misfit, variance, explanation.outliers).weight
      let strength: Double = weight * misfit
      let pull = strength * SIMD4<Double>(direction.x, direction.y, direction.z, 1)
      let share: Double = points[place].share
      sums[parts.block(of: place)] += share * pull
      squares += share * pull * pull
    }
    var square = SIMD4<Double>.zero
    for sum in sums { square += sum * sum }
    var worst = 1.0
    for k in 0..<4 where squares[k] > 0 { worst = max(worst, square[k] / squares[k]) }
    return worst
  }

  private func finding(_ explanation: Explanation) -> Finding? {
    guard let kind = explanation.shape.kind else { return nil }
    let offset = explanation.model.offset
    let move = explanation.moves[0]
    switch explanation.shape {
    case .fixed: return nil
    case .step(let place):
      return Finding(
        kind: kind, first: offset - 0.5 * move, second: offset + 0.5 * move,
        share: Double(place) / Double(points.count))
    case .states:
      let isMore = explanation.share > 0.5
      let sign = isMore ? 0.5 : -0.5
      return Finding(
        kind: kind, first: offset + sign * move, second: offset - sign * move,
        share: isMore ? explanation.share : 1 - explanation.share)
    case .drift:
      // The two moments that differ most.
      let way = (0...12).map { step -> Vector3 in
        let factors = factors(.drift, step * (points.count - 1) / 12)
        return offset + zip(factors, explanation.moves).reduce(.zero) { $0 + $1.0 * $1.1 }
      }
      var ends = (first: way[0], second: way[0], distance: 0.0)
      for (index, first) in way.enumerated() {
        for second in way[index...] {
          let distance = (explanation.model.soft * (second - first)).length
          if distance > ends.distance { ends = (first, second, distance) }
        }
      }
      return Finding(kind: kind, first: ends.first, second: ends.second, share: 0.5)
    }
  }

  // MARK: Alternatives

  /// The best of several fits: tried on some of the points, the best three fitted to all. Each start is tried with round
  /// axes as well: the fixed fit has taken some of a change for soft iron.
  private func best(_ starts: [Explanation], rounds: Int) -> Explanation? {
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

  private func step(_ fixed: Explanation) -> Explanation? {
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

  private func drift(_ fixed: Explanation) -> Explanation? {
    let starts = widths(fixed).map { sigma in
      with(fixed) {
        ($0.shape, $0.moves, $0.sigma) = (.drift, [.zero, .zero, .zero], sigma)
      }
    }
    return best(starts, rounds: 12)
  }

  /// Two states pull residuals both ways along their difference: where squared residuals depend on the direction, that
  /// is where to begin. The fixed fit may lie between both states or at one of them.
  private func states(_ fixed: Explanation) -> Explanation? {
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

  private func with(
    _ explanation: Explanation, _ change: (inout Explanation) -> Void
  ) -> Explanation {
    var changed = explanation
    change(&changed)
    return changed
  }

  /// How much of each move a sample has; of two states it is not known.
  private func factors(_ shape: Shape, _ place: Int) -> [Double] {
    switch shape {
    case .fixed, .states: return []
    case .step(let first): return [place < first ? -0.5 : 0.5]
    case .drift:
      // Legendre's polynomials of the time, from -1 to 1.
      let p = 2 * Double(place) / Double(max(1, points.count - 1)) - 1
      return [p / 2, (3 * p * p - 1) / 4, (5 * p * p * p - 3 * p) / 4]
    }
  }

  private func misfit(_ explanation: Explanation, _ place: Int, _ factors: [Double]) -> Double {
    var away = points[place].raw - explanation.model.offset
    for (factor, move) in zip(factors, explanation.moves) { away -= factor * move }
    let soft = explanation.model.soft
    return explanation.model.misfit(soft * away, soft: soft)
  }

  /// Root mean square of what the fixed fit leaves of all of some points, outliers among them.
  private func wide(_ places: [Int]) -> Double {
    let fixed = Explanation(shape: .fixed, model: model, moves: [], sigma: spread)
    let square = places.reduce(0.0) { sum, place in
      let misfit = min(model.radius, abs(misfit(fixed, place, [])))
      return sum + misfit * misfit
    }
    return max(spread, (square / Double(max(1, places.count))).squareRoot())
  }

  /// The logarithm of the density of a residual, how much of it is the noise's rather than an outlier's, and its weight
  /// in a least-squares step.
  private static func density(
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
  private func likelihood(_ explanation: Explanation, of places: [Int]) -> Double {
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
  private func fitted(_ start: Explanation, to places: [Int], rounds: Int) -> Explanation? {
    var now = start
    let iron = IronModel.iron
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
      now.sigma = max(IronSolver.leastSpread, (squares / total).squareRoot())
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
          IronModel.iron + 3 * index + axis, -move[axis], deviation: Self.reach * model.radius)
      }
    }
    // Keeps a step short where the samples leave something open.
    for unknown in 0..<system.count { system.expect(unknown, 0, deviation: 3) }
  }
}
