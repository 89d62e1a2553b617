// Whether one hard iron explains a recording from its start to its end.

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
struct HardIronChangeTest {
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
  static let outlierScale = 4.0
  /// Prior standard deviation of a change, in field strengths.
  static let reach = 1.0
  static let softDeviation = 0.15

  /// One explanation of the samples.
  struct Explanation {
    var shape: HardIronChangeModel
    var model: DistortionModel
    var moves: [Vector3]
    /// Standard deviation of the noise, and the share of outliers.
    var sigma: Double
    var outliers = 0.05
    /// The share of the second of two states.
    var share = 0.5
  }

  let points: [DistortionPoint]
  let model: DistortionModel
  let spread: Double
  let all: [Int]
  let sought: [Int]

  /// - Parameters:
  ///   - points: In order of time, without spikes.
  ///   - model: A fit to them with a fixed hard iron.
  ///   - spread: Standard deviation of what it leaves of the points that it agrees with.
  init(points: [DistortionPoint], model: DistortionModel, spread: Double) {
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
    _ points: [DistortionPoint], _ model: DistortionModel, _ spread: Double
  ) -> [DistortionPoint] {
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
  func finding() -> HardIronChangeEstimate? {
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
    var best: (finding: HardIronChangeEstimate, proof: Double)?
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
      if abs(misfit) < DistortionSolver.reach * explanation.sigma {
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

  private func finding(_ explanation: Explanation) -> HardIronChangeEstimate? {
    guard let kind = explanation.shape.kind else { return nil }
    let offset = explanation.model.offset
    let move = explanation.moves[0]
    switch explanation.shape {
    case .fixed: return nil
    case .step(let place):
      return HardIronChangeEstimate(
        kind: kind, first: offset - 0.5 * move, second: offset + 0.5 * move,
        share: Double(place) / Double(points.count))
    case .states:
      let isMore = explanation.share > 0.5
      let sign = isMore ? 0.5 : -0.5
      return HardIronChangeEstimate(
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
      return HardIronChangeEstimate(kind: kind, first: ends.first, second: ends.second, share: 0.5)
    }
  }
}

/// How the hard iron is said to change.
enum HardIronChangeModel {
  case fixed, step(Int), drift, states

  var kind: HardIronChangeKind? {
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

/// A hard iron that changed, in the points' units.
struct HardIronChangeEstimate: Hashable {
  var kind: HardIronChangeKind
  var first: Vector3
  var second: Vector3
  var share: Double
}
