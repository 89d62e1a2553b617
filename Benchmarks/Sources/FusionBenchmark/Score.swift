// The error as BROAD defines it, and what is made of it. Pure.

internal import Foundation
package import LinearAlgebra

/// The error of one estimate, degrees.
///
/// Of `estimate * conj(truth)` = (w, x, y, z), in the earth frame: total = 2 acos |w|, heading =
/// 2 atan |z / w|, inclination = 2 acos sqrt(w^2 + z^2). Written as arc tangents, which are the same on
/// unit quaternions and keep their digits near zero.
package struct AttitudeError: Equatable, Sendable {
  package var heading: Double
  package var inclination: Double
  package var total: Double
  /// The error of heading with its sign, counterclockwise, radians.
  package var turn: Double

  package init(estimate: Quaternion, truth: Quaternion) {
    let error = estimate * truth.conjugate
    let (w, v) = (error.w, error.vector)
    func degrees(_ y: Double, _ x: Double) -> Double { 2 * atan2(y, x) * 180 / .pi }
    heading = degrees(abs(v.z), abs(w))
    inclination = degrees(hypot(v.x, v.y), hypot(w, v.z))
    total = degrees(v.length, abs(w))
    turn = (2 * atan2(v.z, w)).remainder(dividingBy: 2 * .pi)
  }
}

/// What a trial comes to. Shares are 0 to 1; what is made of no row is `nil`.
package struct TrialScore: Sendable {
  package var name: String
  /// Rows that count.
  package private(set) var rows = 0
  /// Of these, the ones without an attitude; they are in no error.
  package private(set) var missing = 0
  /// A row that counts and has a valid bound.
  struct Judged: Sendable {
    var error: Double
    var bound: Double
  }
  private(set) var judged: [Judged] = []
  /// The same of the inclination.
  private(set) var judgedTilts: [Judged] = []
  private var squares = SIMD3<Double>.zero
  /// Errors of heading with their sign, counterclockwise, radians.
  private var turns: [Double] = []

  package init(name: String) { self.name = name }

  /// The score of estimates, one a row.
  package init(name: String, rows: [Row], estimates: [Estimate]) {
    self.init(name: name)
    for (row, estimate) in zip(rows, estimates) where row.counts {
      guard let truth = row.truth else { continue }
      add(estimate, truth: truth)
    }
  }

  package mutating func add(_ estimate: Estimate, truth: Quaternion) {
    rows += 1
    guard let attitude = estimate.attitude, attitude.w.isFinite, attitude.vector.isFinite else {
      missing += 1
      return
    }
    let error = AttitudeError(estimate: attitude, truth: truth)
    let each = SIMD3(error.heading, error.inclination, error.total)
    squares += each * each
    turns.append(error.turn)
    if let bound = estimate.tiltBound, bound.isFinite, bound > 0 {
      judgedTilts.append(Judged(error: error.inclination, bound: bound * 180 / .pi))
    }
    // A bound that is no positive number is none.
    guard let bound = estimate.headingBound, bound.isFinite, bound > 0 else { return }
    judged.append(Judged(error: error.heading, bound: bound * 180 / .pi))
  }

  /// Root mean square over the rows that count, degrees: heading, inclination, total.
  package var rms: SIMD3<Double>? {
    rows > missing ? (squares / Double(rows - missing)).squareRoot() : nil
  }
  /// Root mean square of heading's error without what it is wrong by in the mean of the trial, degrees.
  package var headingWithoutOffset: Double? {
    guard !turns.isEmpty else { return nil }
    let (sine, cosine) = turns.reduce((0, 0)) { ($0.0 + sin($1), $0.1 + cos($1)) }
    let offset = atan2(sine, cosine)
    let squares = turns.reduce(0) {
      let rest = ($1 - offset).remainder(dividingBy: 2 * .pi)
      return $0 + rest * rest
    }
    return (squares / Double(turns.count)).squareRoot() * 180 / .pi
  }
  /// Of the rows with a valid bound, how many have the truth inside.
  package var coverage: Double? { BoundScore(judged).coverage }
  /// Mean half-width of the valid bounds, degrees.
  package var width: Double? { BoundScore(judged).width }
  /// Of the rows that count, how many have no valid bound.
  package var invalid: Double? {
    rows > 0 ? Double(rows - judged.count) / Double(rows) : nil
  }
}

/// Of rows with a valid bound.
struct BoundScore {
  private let judged: [TrialScore.Judged]

  init(_ judged: [TrialScore.Judged]) { self.judged = judged }

  var coverage: Double? {
    guard !judged.isEmpty else { return nil }
    return Double(judged.count(where: { $0.error <= $0.bound })) / Double(judged.count)
  }
  var width: Double? { Self.meanWidth(judged[...]) }

  /// Mean half-width over the tenth of rows with the smallest error, by that over the tenth with the
  /// largest: below 1 where a bound knows when it is good.
  var tenthRatio: Double? {
    let tenth = judged.count / 10
    let sorted = judged.sorted { $0.error < $1.error }
    guard let least = Self.meanWidth(sorted.prefix(tenth)),
      let most = Self.meanWidth(sorted.suffix(tenth))
    else { return nil }
    return least / most
  }

  /// Correlation of the half-width's logarithm with that of the error: above 0 where a bound knows when it is good.
  var correlation: Double? {
    guard judged.count > 1 else { return nil }
    // A thousandth and a hundredth of a degree: no error is so small that its logarithm says anything.
    let pairs = judged.map { SIMD2(log($0.bound + 0.001), log($0.error + 0.01)) }
    let mean = pairs.reduce(.zero, +) / Double(pairs.count)
    var (squares, product) = (SIMD2<Double>.zero, 0.0)
    for pair in pairs {
      let rest = pair - mean
      squares += rest * rest
      product += rest.x * rest.y
    }
    let scale = (squares.x * squares.y).squareRoot()
    return scale > 0 ? product / scale : nil
  }

  private static func meanWidth(_ judged: ArraySlice<TrialScore.Judged>) -> Double? {
    judged.isEmpty ? nil : judged.reduce(0) { $0 + $1.bound } / Double(judged.count)
  }
}

/// All trials of a run: errors are plain means over trials, what is said of bounds is over the rows of
/// all trials together.
package struct RunScore: Sendable {
  package var trials: [TrialScore]

  package init(trials: [TrialScore]) { self.trials = trials }

  /// Mean of the trials' root mean squares, degrees: heading, inclination, total. `nil` where a trial has
  /// none: a mean of the others would hide it.
  package var rms: SIMD3<Double>? {
    var sum = SIMD3<Double>.zero
    for trial in trials {
      guard let rms = trial.rms else { return nil }
      sum += rms
    }
    return trials.isEmpty ? nil : sum / Double(trials.count)
  }

  private var bounds: BoundScore { BoundScore(trials.flatMap(\.judged)) }
  private func share(_ part: (TrialScore) -> Int) -> Double? {
    let all = trials.reduce(0) { $0 + $1.rows }
    return all > 0 ? Double(trials.reduce(0) { $0 + part($1) }) / Double(all) : nil
  }

  package var coverage: Double? { bounds.coverage }
  package var width: Double? { bounds.width }
  /// The same of the bound of the inclination.
  package var tiltCoverage: Double? { tiltBounds.coverage }
  package var tiltWidth: Double? { tiltBounds.width }
  private var tiltBounds: BoundScore { BoundScore(trials.flatMap(\.judgedTilts)) }
  package var tenthRatio: Double? { bounds.tenthRatio }
  package var correlation: Double? { bounds.correlation }
  /// Mean over trials of the error of heading without each trial's own offset, degrees.
  package var headingWithoutOffset: Double? {
    let all = trials.compactMap(\.headingWithoutOffset)
    return all.isEmpty ? nil : all.reduce(0, +) / Double(all.count)
  }
  /// The trials whose bound has the truth inside in less than `share` of its rows; without any bound a trial is not one.
  package func trials(coveredLessThan share: Double) -> [TrialScore] {
    trials.filter { ($0.coverage ?? 1) < share }
  }
  package var invalid: Double? { share { $0.rows - $0.judged.count } }
  package var missing: Double? { share(\.missing) }
  /// The least coverage of a trial; trials without a valid bound are in `worstInvalid`.
  package var worstCoverage: Double? { trials.compactMap(\.coverage).min() }
  /// The largest share of a trial without a valid bound.
  package var worstInvalid: Double? { trials.compactMap(\.invalid).max() }
}
