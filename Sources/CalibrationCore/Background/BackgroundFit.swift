// Whether the samples of a board in use prove a calibration that is better than the one in force.

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif
import LinearAlgebra
public import SensorTypes

/// One fit of background calibration with its proof. It takes tens of milliseconds.
public struct BackgroundFit: Sendable, Hashable {
  /// What a calibration has to prove before it takes another one's place.
  public struct Proof: Sendable, Hashable {
    /// Samples that are needed.
    public var leastSamples = 96
    /// The fit's score, at least, 0 to 100; of the first calibration of a board, and of any other.
    public var firstScore = 70
    /// See `firstScore`.
    public var leastScore = 60
    /// The compass has to change by so much, root mean square over a level turn, degrees: for less nothing is
    /// touched.
    public var leastChange = 0.5
    /// And by so many times the error that the new fit is expected to have: if that is right, the error left is
    /// a fraction of the one before.
    public var changeShare = 3.0
    /// And by so many times the difference of the two halves' fits.
    public var halvesShare = 1.5
    /// Held-out samples have to fit better: the mean of the paired differences over blocks of time, in standard
    /// errors of it (Student's t; with 11 degrees of freedom 3 is one case in 160 by chance).
    public var significance = 3.0
    /// And the mean square that is left of them at most this share of what the calibration in force leaves.
    public var leastGain = 0.9

    /// The defaults.
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
  /// What is to be proved.
  public let proof: Proof

  /// Fits and compares.
  ///
  /// - Parameter expected: What is known of the field here, and which way is up on a level board.
  public func verdict(expected: ExpectedField) -> BackgroundVerdict {
    let fitter = MagnetometerFitter()
    var outcome = fitter.fit(samples, expected: expected)
    outcome.fit?.method = .background
    var verdict = BackgroundVerdict(outcome: outcome, current: current, samples: samples)
    guard let fit = outcome.fit, outcome.isAccepted else {
      verdict.reason = outcome.refusal ?? "no fit"
      return verdict
    }
    guard samples.count >= proof.leastSamples else {
      verdict.reason = "\(samples.count) samples are too few"
      return verdict
    }
    guard fit.quality.score >= (current == nil ? proof.firstScore : proof.leastScore) else {
      verdict.reason = fit.quality.reason
      return verdict
    }
    let level = Level(samples, fit.applied, expected)
    var before: Double?
    if let current {
      guard let change = level.difference(current, fit.applied) else {
        verdict.reason = "no heading to compare"
        return verdict
      }
      before = change
      verdict.headingErrorBefore = change
      guard change >= proof.leastChange, change >= proof.changeShare * fit.quality.headingError
      else {
        verdict.reason = "the compass would hardly change"
        return verdict
      }
    }
    let blocks = samples.indices.map { min(Self.blocks - 1, $0 * Self.blocks / samples.count) }
    let halves = (0..<2).map { half in samples.indices.filter { blocks[$0] % 2 == half } }
    let fits = halves.map { half in fitter.fit(half.map { samples[$0] }, expected: expected).fit }
    guard let first = fits[0]?.applied, let second = fits[1]?.applied,
      let spread = level.difference(first, second)
    else {
      verdict.reason = "half of the samples make no fit"
      return verdict
    }
    // Without a record there is nothing to lose but a heading that says how wrong it may be.
    guard spread <= (before.map { $0 / proof.halvesShare } ?? 3) else {
      verdict.reason = "two halves of the samples do not agree"
      return verdict
    }
    if let current, !isProved(current, [second, first], halves, blocks) {
      verdict.reason = "samples that were not fitted do not prove it"
      return verdict
    }
    verdict.isBetter = true
    return verdict
  }

  /// Whether what was fitted to one half explains the other one better than the calibration in force does.
  private func isProved(
    _ current: AppliedCalibration, _ fits: [AppliedCalibration], _ halves: [[Int]], _ blocks: [Int]
  ) -> Bool {
    var sums = [Double](repeating: 0, count: Self.blocks)
    var counts = [Double](repeating: 0, count: Self.blocks)
    var (old, new) = (0.0, 0.0)
    for half in 0..<2 {
      let trained = halves[1 - half].map { samples[$0] }
      guard let before = Shape(current, trained), let after = Shape(fits[half], trained) else {
        return false
      }
      for place in halves[half] {
        let a = before.square(samples[place], cap: Self.cap)
        let b = after.square(samples[place], cap: Self.cap)
        (old, new) = (old + a, new + b)
        sums[blocks[place]] += a - b
        counts[blocks[place]] += 1
      }
    }
    guard new <= proof.leastGain * old, counts.allSatisfy({ $0 > 0 }) else { return false }
    let gains = zip(sums, counts).map { $0 / $1 }
    let mean = gains.reduce(0, +) / Double(gains.count)
    let variance =
      gains.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gains.count - 1)
    let error = (variance / Double(gains.count)).squareRoot()
    return mean > proof.significance * error
  }
}

/// What came of a fit.
public struct BackgroundVerdict: Sendable, Hashable {
  /// What was fitted, and whether the fit is one that may be used at all.
  public var outcome: CalibrationOutcome
  /// Whether it is provably better than the calibration in force.
  public var isBetter = false
  /// Why it is not, in words; empty where it is.
  public var reason = ""
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
}

/// The strength and the vertical part that a calibration gives the field, and how far samples are off them.
private struct Shape {
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
    strength = IronSolver.median(strengths)
    vertical = verticals.isEmpty ? nil : IronSolver.median(verticals)
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

/// A level turn at the place of the samples.
private struct Level {
  private let expected: ExpectedField
  private let field: CalibrationSample?

  init(_ samples: [CalibrationSample], _ calibration: AppliedCalibration, _ known: ExpectedField) {
    var expected = known
    if expected.dip == nil {
      let sines = samples.compactMap { sample -> Double? in
        guard let up = sample.force?.normalized,
          let field = calibration.correct(sample.field).normalized
        else { return nil }
        return -field.dot(up)
      }
      // Next to a pole there is no compass.
      if !sines.isEmpty { expected.dip = asin(min(0.99, max(-0.99, IronSolver.median(sines)))) }
    }
    self.expected = expected
    field = samples.last.map { CalibrationSample(time: $0.time, field: $0.field) }
  }

  func difference(_ before: AppliedCalibration, _ after: AppliedCalibration) -> Double? {
    guard let field else { return nil }
    return headingDifference(before, after, of: [field], expected: expected)
  }
}
