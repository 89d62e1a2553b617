// Whether the samples of a board in use prove a calibration that is better than the one in force.

import LinearAlgebra
public import SensorTypes

/// One fit of background calibration with its proof. It takes tens of milliseconds.
///
/// Two calibrations are tried: a whole fit, and the one in force with another hard iron, which needs far less turning
/// and is what a magnet that comes to the board changes. Each has to prove that it is better.
public struct BackgroundFit: Sendable, Hashable {
  /// What a calibration has to prove before it takes another one's place.
  public struct Proof: Sendable, Hashable {
    /// Samples that are needed.
    public var leastSamples = 96
    /// Half of them have to go over so long, seconds, as long as the field has not changed: what was near the board for
    /// a minute must not be in most of them.
    public var halfSpan = 120.0
    /// The score of a whole fit, at least, 0 to 100: of the first calibration of a board, and of any other.
    public var firstScore = 70
    /// See `firstScore`.
    public var leastScore = 40
    /// The compass has to change by so much, root mean square over a level turn, degrees: for less nothing is
    /// touched.
    public var leastChange = 0.5
    /// And by so many times the error that the new calibration is expected to have: if that is right, the error left
    /// is a fraction of the one before.
    public var changeShare = 3.5
    /// What another hard iron alone is wrong by at least, degrees: soft iron and alignment are taken over, with errors
    /// that the samples are asked nothing of.
    public var leastError = 0.4
    /// And by so many times the difference of the two halves' fits.
    public var halvesShare = 1.5
    /// Held-out samples have to fit better: the mean of the paired differences over blocks of time, in standard
    /// errors of it (Student's t; with 11 degrees of freedom 3 is one case in 160 by chance).
    public var significance = 3.0
    /// And the mean square that is left of them at most this share of what the calibration in force leaves.
    public var leastGain = 0.9
    /// The strength that a new calibration gives the field may differ by this share from the one known here, and its
    /// dip by so much, radians: iron on the board leaves the earth's field as it was, a magnet in the room does not.
    public var strengthShare = 0.15
    /// See `strengthShare`.
    public var dipReach = 0.12
    /// Whole fits of halves that differ by more than this on a level turn make no first calibration, degrees.
    public var firstSpread = 3.0

    /// Creates the default demands.
    public init() {}
  }

  /// Blocks of time that the samples are dealt out in, to two halves.
  private static let blocks = 12
  /// A sample that is off by more than this share of the field counts as if by so much.
  private static let cap = 0.15

  /// In order of time.
  public let samples: [CalibrationSample]
  /// The calibration in force; `nil` without one.
  public let current: AppliedCalibration?
  /// The error of heading that the calibration in force was expected to have when it was made, degrees: what is taken
  /// over from it cannot be surer.
  public var inheritedError = 0.0
  /// Whether headings are not to be trusted as they are.
  public let isUrgent: Bool
  /// The sine of the field's angle to the horizon as the calibration in force has shown it while it agreed, positive
  /// upwards; `nil` where that was too short.
  let lift: Double?
  /// What is to be proved.
  public let proof: Proof

  init(
    samples: [CalibrationSample], current: AppliedCalibration?, isUrgent: Bool, lift: Double?,
    proof: Proof
  ) {
    self.samples = samples
    self.current = current
    self.isUrgent = isUrgent
    self.lift = lift
    self.proof = proof
  }

  private var parts: TimeBlocks { TimeBlocks(samples: samples.count, count: Self.blocks) }

  /// Fits and compares.
  ///
  /// - Parameter expected: What is known of the field here, and which way is up on a level board.
  public func verdict(expected: CalibrationField) -> BackgroundFitResult {
    let fitter = MagnetometerFitter()
    var outcome = fitter.fit(samples, expected: expected)
    outcome.fit?.method = .background
    var verdict = BackgroundFitResult(outcome: outcome, current: current, samples: samples)
    guard samples.count >= proof.leastSamples else {
      verdict.reason = "\(samples.count) samples are too few"
      return verdict
    }
    let span = samples.count / 2
    let isCrowded = samples.indices.dropLast(span).contains {
      samples[$0 + span].time.seconds(since: samples[$0].time) < proof.halfSpan
    }
    if !isUrgent, isCrowded {
      verdict.reason = "the samples are of one place, as it may be"
      return verdict
    }
    let parts = parts
    let halves = (0..<2).map { parts.half($0).map { samples[$0] } }
    guard let current else {
      verdict.reason = firstObjection(outcome, halves, expected)
      verdict.isBetter = verdict.reason.isEmpty
      return verdict
    }
    let level = LevelTurn(samples, current, expected)
    var (words, best) = ("", Double.infinity)
    func judge(_ fit: CalibrationFit, _ halves: [AppliedCalibration?]) {
      // What keeps both from being used is told of the one that came nearest.
      guard let change = level.difference(current, fit.applied) else { return }
      guard isEarths(fit.applied, current, expected) else {
        words = "the field is not the earth's: go away from iron"
        return
      }
      switch objection(to: fit, change, halves, current, level) {
      case .success(let left) where left < (verdict.isBetter ? proof.leastGain : 1) * best:
        best = left
        verdict.outcome = CalibrationOutcome(fit: fit, refusal: nil)
        (verdict.isBetter, verdict.headingErrorBefore) = (true, change)
      case .success: break
      case .failure(let why):
        words = why.words
        verdict.isSettled = verdict.isSettled || why.isSettled
      }
    }
    if let fit = shifted(current, expected, level) {
      judge(
        fit,
        halves.map { samples in
          HardIronShift(samples, of: current, expected: expected)?.applied(covariance: .identity)
        })
    }
    if let fit = outcome.fit, outcome.isAccepted, fit.quality.score >= proof.leastScore {
      judge(fit, halves.map { fitter.fit($0, expected: expected).fit?.applied })
    }
    verdict.reason = verdict.isBetter ? "" : words.isEmpty ? outcome.refusal ?? "no fit" : words
    return verdict
  }

  /// Whether what a calibration makes of the samples has the strength and the dip that the field has here.
  private func isEarths(
    _ new: AppliedCalibration, _ current: AppliedCalibration, _ expected: CalibrationField
  ) -> Bool {
    // Before anything scales it to a strength that is known.
    func gain(_ calibration: AppliedCalibration) -> Double {
      let columns = calibration.matrix.columns
      return (columns.x.x + columns.y.y + columns.z.z) / 3
    }
    if let strength = new.field, let known = expected.strength ?? current.field {
      let ratio = strength / gain(new) / (known / gain(current))
      guard ratio > 1 - proof.strengthShare, ratio < 1 / (1 - proof.strengthShare) else {
        return false
      }
    }
    guard let known = expected.dip.map({ -sin($0) }) ?? lift,
      let shown = LevelTurn.lift(samples, new)
    else { return true }
    return abs(asin(max(-1, min(1, known))) - asin(shown)) < proof.dipReach
  }

  /// Why a whole fit is not to be a board's first calibration; empty where nothing speaks against it.
  private func firstObjection(
    _ outcome: CalibrationOutcome, _ halves: [[CalibrationSample]], _ expected: CalibrationField
  ) -> String {
    guard let fit = outcome.fit, outcome.isAccepted else { return outcome.refusal ?? "no fit" }
    guard fit.quality.score >= proof.firstScore else { return fit.quality.reason }
    let fits = halves.map { MagnetometerFitter().fit($0, expected: expected).fit?.applied }
    guard let first = fits[0], let second = fits[1],
      let spread = LevelTurn(samples, fit.applied, expected).difference(first, second),
      spread <= proof.firstSpread
    else { return "two halves of the samples do not agree" }
    return ""
  }

  /// The calibration in force with another hard iron.
  private func shifted(
    _ current: AppliedCalibration, _ expected: CalibrationField, _ level: LevelTurn
  ) -> CalibrationFit? {
    guard let shift = HardIronShift(samples, of: current, expected: expected),
      2 * shift.inliers.count >= samples.count,
      let covariance = shift.covariance(
        blocks: samples.indices.map(parts.block), count: Self.blocks)
    else { return nil }
    let applied = shift.applied(covariance: covariance)
    guard let error = level.error(applied), error.isFinite else { return nil }
    var cells = SphereCells()
    for place in shift.inliers { cells.insert(applied.correct(samples[place].field)) }
    let total = hypot(error, inheritedError)
    let score = min(
      CalibrationQuality.points(headingError: total),
      CalibrationQuality.points(coverage: cells.coverage))
    let directions = SymmetricEigenvalues(covariance)?.values ?? Vector3(1, 1, 1)
    return CalibrationFit(
      method: .background, hardIron: applied.offset, softIron: applied.matrix,
      fieldStrength: shift.strength, hardIronCovariance: covariance, samples: samples.count,
      inliers: shift.inliers.count,
      quality: CalibrationQuality(
        score: Int(score), reason: "all but the hard iron is as it was", cells: cells,
        residual: applied.residual, residualPercent: 100 * applied.residual / shift.strength,
        headingError: total,
        condition: directions.z > 0 ? (directions.x / directions.z).squareRoot() : 1))
  }

  private struct Objection: Error {
    let words: String
    var isSettled = false
  }

  /// Why a calibration is not to take the place of the one in force, or the mean square that it leaves of samples that
  /// were not fitted.
  private func objection(
    to fit: CalibrationFit, _ change: Double, _ halves: [AppliedCalibration?],
    _ current: AppliedCalibration, _ level: LevelTurn
  ) -> Result<Double, Objection> {
    // Of what is inherited both have the same.
    var error = fit.quality.headingError
    if fit.applied.matrix == current.matrix {
      error = (error * error - inheritedError * inheritedError).squareRoot()
      error = hypot(error, proof.leastError)
    }
    guard change >= proof.leastChange, change >= proof.changeShare * error else {
      return .failure(
        Objection(words: "the compass would hardly change", isSettled: error < 1.5))
    }
    guard let first = halves[0], let second = halves[1],
      let spread = level.difference(first, second), spread * proof.halvesShare <= change
    else { return .failure(Objection(words: "two halves of the samples do not agree")) }
    guard let left = left(of: [second, first], current) else {
      return .failure(Objection(words: "samples that were not fitted do not prove it"))
    }
    return .success(left)
  }

  /// The mean square that fits to one half leave of the other, where it is provably less than what the calibration
  /// in force leaves.
  private func left(of fits: [AppliedCalibration], _ current: AppliedCalibration) -> Double? {
    var sums = [Double](repeating: 0, count: Self.blocks)
    var counts = [Double](repeating: 0, count: Self.blocks)
    var (old, new) = (0.0, 0.0)
    let parts = parts
    for which in 0..<2 {
      let trained = parts.half(1 - which).map { samples[$0] }
      guard let before = FieldOfFit(current, trained), let after = FieldOfFit(fits[which], trained)
      else { return nil }
      for place in parts.half(which) {
        let a = before.square(samples[place], cap: Self.cap)
        let b = after.square(samples[place], cap: Self.cap)
        (old, new) = (old + a, new + b)
        sums[parts.block(of: place)] += a - b
        counts[parts.block(of: place)] += 1
      }
    }
    guard new <= proof.leastGain * old, counts.allSatisfy({ $0 > 0 }) else { return nil }
    let gains = zip(sums, counts).map { $0 / $1 }
    let mean = gains.reduce(0, +) / Double(gains.count)
    let variance =
      gains.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gains.count - 1)
    let error = (variance / Double(gains.count)).squareRoot()
    return mean > proof.significance * error ? new / Double(samples.count) : nil
  }
}

/// What came of a fit.
public struct BackgroundFitResult: Sendable, Hashable {
  /// What is to be used where it is better, else what a whole fit has found, and why it cannot be used.
  public var outcome: CalibrationOutcome
  /// Whether it is provably better than the calibration in force.
  public var isBetter = false
  /// Why it is not, in words; empty where it is.
  public var reason = ""
  /// Whether a sound fit would hardly change the compass: the calibration in force is good.
  public var isSettled = false
  /// What the heading was off by on a level board before, as far as the new calibration knows, degrees root mean
  /// square; `nil` without a calibration in force.
  public var headingErrorBefore: Double?
  /// The calibration that was in force.
  public let current: AppliedCalibration?
  /// What was fitted, in order of time.
  public let samples: [CalibrationSample]

  init(outcome: CalibrationOutcome, current: AppliedCalibration?, samples: [CalibrationSample]) {
    self.outcome = outcome
    self.current = current
    self.samples = samples
  }

  /// What to do next, in words, for whoever is asked to calibrate the board.
  public var advice: String {
    if isBetter { return "calibrated" }
    let coverage = outcome.fit?.quality.coverage ?? 0
    return coverage < 0.6 ? "turn every side of the board up once" : "go on turning, away from iron"
  }
}

/// The strength and the vertical part that a calibration gives the field, and how far samples are off them.
private struct FieldOfFit {
  let calibration: AppliedCalibration
  let strength: Double
  let vertical: Double?

  /// Medians over samples that nothing else is asked of.
  init?(_ calibration: AppliedCalibration, _ samples: [CalibrationSample]) {
    var strengths: [Double] = []
    var verticals: [Double] = []
    for sample in samples {
      let field = calibration.correct(sample.field)
      strengths.append(field.length)
      if let up = sample.force?.normalized { verticals.append(field.dot(up)) }
    }
    self.calibration = calibration
    strength = DistortionSolver.median(strengths)
    vertical = verticals.isEmpty ? nil : DistortionSolver.median(verticals)
    guard strength > 0, strength.isFinite else { return nil }
  }

  /// The square of what a sample is off by, as a share of the field.
  func square(_ sample: CalibrationSample, cap: Double) -> Double {
    let field = calibration.correct(sample.field)
    var sum = min(cap, abs(field.length / strength - 1))
    sum *= sum
    if let vertical, let up = sample.force?.normalized {
      let off = min(cap, abs(field.dot(up) - vertical) / strength)
      sum += off * off
    }
    return sum
  }
}

/// A level board's turn at the place of the samples.
private struct LevelTurn {
  private let expected: CalibrationField
  private let dip: Double
  private let field: CalibrationSample?

  init(_ samples: [CalibrationSample], _ calibration: AppliedCalibration, _ known: CalibrationField)
  {
    var expected = known
    // Next to a pole there is no compass.
    if expected.dip == nil, let lift = Self.lift(samples, calibration) {
      expected.dip = -asin(min(0.99, max(-0.99, lift)))
    }
    self.expected = expected
    dip = expected.dip ?? CalibrationField.usualDip
    field = samples.last.map { CalibrationSample(time: $0.time, field: $0.field) }
  }

  /// The sine of the middle one of the angles to the horizon, positive upwards; `nil` without a force.
  static func lift(_ samples: [CalibrationSample], _ calibration: AppliedCalibration) -> Double? {
    let sines = samples.compactMap { sample -> Double? in
      guard let up = sample.force?.normalized,
        let field = calibration.correct(sample.field).normalized
      else { return nil }
      return field.dot(up)
    }
    return sines.isEmpty ? nil : min(1, max(-1, DistortionSolver.median(sines)))
  }

  /// Degrees, root mean square.
  func difference(_ before: AppliedCalibration, _ after: AppliedCalibration) -> Double? {
    guard let field else { return nil }
    return headingDifference(before, after, of: [field], expected: expected)
  }

  /// What the offset's covariance lets expect, degrees, root mean square.
  func error(_ calibration: AppliedCalibration) -> Double? {
    guard let strength = calibration.field, let up = expected.up.normalized else { return nil }
    let aside = abs(up.x) < 0.8 ? Vector3(1, 0, 0) : Vector3(0, 1, 0)
    guard let first = aside.cross(up).normalized else { return nil }
    let second = up.cross(first)
    let back = calibration.matrix.transposed
    var sum = 0.0
    for step in 0..<12 {
      let angle = Double(step) * .pi / 6
      let across = back * (first * cos(angle) + second * sin(angle))
      sum += max(0, across.dot(calibration.offsetCovariance * across))
    }
    let horizontal = strength * max(0.05, cos(dip))
    return (sum / 12).squareRoot() / horizontal * 180 / .pi
  }
}
