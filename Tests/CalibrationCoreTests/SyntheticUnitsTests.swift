// A thousand boards with iron of their own, each turned about by somebody for a minute: what the fit makes of
// them against the truth.

import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@Suite struct SyntheticUnitsTests {
  /// The whole thousand needs an optimised build, or patience.
  static var isLong: Bool {
    #if DEBUG
      ProcessInfo.processInfo.environment["LODESTONE_LONG"] == "1"
    #else
      true
    #endif
  }

  struct Row {
    var seed: Int
    var error: Double
    var score: Int
    var coverage: Double
    var predicted: Double
    var isAccepted: Bool
    var hasForce: Bool
  }

  static func run(_ seed: Int, hasForce: Bool) -> Row {
    var draws = SyntheticDraws(state: UInt64(seed) &* 0x1_0000_0001)
    var unit = SyntheticUnit(draws: &draws, hasForce: hasForce)
    let motion = SyntheticUnit.motion(draws: &draws)
    unit.record(motion, draws: &draws)
    let outcome = MagnetometerFitter().fit(unit.samples)
    guard let fit = outcome.fit else {
      return Row(
        seed: seed, error: 180, score: 0, coverage: 0, predicted: 180, isAccepted: false,
        hasForce: hasForce)
    }
    let row = Row(
      seed: seed, error: unit.headingError(fit.applied.matrix, fit.applied.offset),
      score: fit.quality.score, coverage: fit.quality.coverage,
      predicted: fit.quality.headingError, isAccepted: outcome.isAccepted, hasForce: hasForce)
    if ProcessInfo.processInfo.environment["FITDEBUG"] != nil {
      print(
        "UNIT", seed, hasForce ? "F" : "-", "err", row.error, "pred", row.predicted, "score",
        row.score,
        "cov", row.coverage, fit.method.rawValue, outcome.refusal ?? fit.quality.reason, "|",
        motion.seconds, motion.rate, motion.liveliness, "shake", motion.shaking, "rest",
        motion.rest,
        "mag", motion.magnet as Any, "gyro", motion.hasGyro, "n", fit.samples, fit.inliers, "res",
        fit.quality.residual)
    }
    return row
  }

  static func percentile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  static func judge(_ rows: [Row]) {
    let good = rows.filter { $0.score >= 80 }
    #expect(percentile(good.map(\.error), 0.95) <= 1)
    for row in rows {
      #expect(!(row.score >= 80 && row.error > 3), "confident and wrong: \(row)")
      #expect(row.score >= 80 || row.coverage <= 0.7, "well covered and not said so: \(row)")
    }
  }

  @Test func debugUnits() {
    guard let list = ProcessInfo.processInfo.environment["UNITS"] else { return }
    for seed in list.split(separator: ",") { _ = Self.run(Int(seed) ?? 1, hasForce: true) }
  }

  @Test func fewUnits() {
    let rows = (1...14).map { Self.run($0, hasForce: true) }
    Self.judge(rows)
    #expect(rows.filter { $0.score >= 80 }.count >= 7)
    Self.judge((15...18).map { Self.run($0, hasForce: false) })
  }

  @Test(.enabled(if: isLong, "skipped: LODESTONE_LONG is not 1"))
  func thousandUnits() {
    for hasForce in [true] {
      let start = ContinuousClock.now
      let rows = (1...1_000).map { Self.run($0, hasForce: hasForce) }
      print("1000 units in", ContinuousClock.now - start, hasForce ? "with force" : "without")
      Self.table(rows)
      Self.judge(rows)
    }
  }

  static func table(_ rows: [Row]) {
    func line(_ name: String, _ part: [Row]) {
      let errors = part.map(\.error)
      func text(_ value: Double) -> String { String(format: "%8.3f", value) }
      print(
        name.padding(toLength: 18, withPad: " ", startingAt: 0),
        String(format: "%5d", part.count), text(percentile(errors, 0.5)),
        text(percentile(errors, 0.95)), text(errors.max() ?? 0),
        text(percentile(part.map { $0.error / max(1e-9, $0.predicted) }, 0.5)),
        text(percentile(part.map { $0.error / max(1e-9, $0.predicted) }, 0.95)),
        String(format: "%5d", part.filter(\.isAccepted).count), part.map(\.score).min() ?? 0)
    }
    print(
      "part               units   median     95 %      max  e/p median   95 % accepted least score")
    for (low, high) in [(0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)] {
      line("coverage \(low)...", rows.filter { $0.coverage > low && $0.coverage <= high })
    }
    for (low, high) in [(0, 40), (40, 60), (60, 80), (80, 90), (90, 101)] {
      line("score \(low)...", rows.filter { $0.score >= low && $0.score < high })
    }
    line("score 80 and more", rows.filter { $0.score >= 80 })
    line("accepted", rows.filter(\.isAccepted))
  }
}
