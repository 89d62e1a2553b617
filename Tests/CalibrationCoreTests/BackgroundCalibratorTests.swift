// Calibration while the board is in use: never worse than before, and better where it can be.

import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@Suite("Background calibration")
struct BackgroundCalibratorTests {
  /// A calibrator with a board, as the hub goes about it.
  struct Run {
    var board: BoardInUse
    var calibrator = BackgroundCalibrator()
    var record: AppliedCalibration?
    var isLocked = false
    var expected = ExpectedField()
    /// When, degrees before and after, what was expected.
    var swaps: [(time: Double, before: Double?, after: Double, verdict: BackgroundVerdict)] = []
    var fits = 0
    var reasons: [String: Int] = [:]
    var time = 0.0

    init(_ board: BoardInUse, record: AppliedCalibration?) {
      self.board = board
      self.record = record
      calibrator.use(record, at: Timestamp(seconds: 1_000))
    }

    /// Errors are those with `iron(time)` on the board.
    mutating func live(_ seconds: Double) {
      let end = time + seconds
      while time < end {
        time += 1 / board.rate
        let sample = board.next()
        calibrator.take(sample)
        guard calibrator.isDue else { continue }
        let fit = calibrator.begin()
        fits += 1
        let verdict = fit.verdict(expected: expected)
        let isUsed = verdict.isBetter && !isLocked
        calibrator.finish(verdict, isUsed: isUsed)
        if !isUsed { reasons[verdict.reason, default: 0] += 1 }
        guard isUsed, let found = verdict.outcome.fit?.applied else { continue }
        let iron = board.iron(time)
        swaps.append(
          (time, record.map { board.error($0, iron: iron) }, board.error(found, iron: iron), verdict)
        )
        record = found
        calibrator.use(found, at: sample.time)
      }
    }

    var error: Double { record.map { board.error($0, iron: board.iron(time)) } ?? 180 }
  }

  struct Row: Sendable {
    var seed: Int
    var use: Use
    var first: Double
    var last: Double
    var swaps: Int
    var worst: Double
    var fits: Int
  }

  /// Twenty minutes of use with a record that is off by up to 8 microtesla, in a world with iron here and there.
  static func use(_ use: Use, seed: Int) -> Row {
    var board = BoardInUse(use, seed: seed)
    var draws = SyntheticDraws(state: UInt64(seed) &* 77_003 &+ 5)
    let off = exp(draws.uniform(log(0.2), log(8))) * draws.direction()
    let soft = draws.uniform(0, 0.02) * draws.direction()
    // The places that it comes through, and things that pass.
    let size = draws.uniform(0, 2)
    let tones = (0..<3).map { _ in (draws.uniform(0.02, 0.3), draws.uniform(0, 6.3)) }
    let visits = (0..<6).map { _ in
      (
        at: draws.uniform(0, 1_200), for: draws.uniform(3, 60),
        field: exp(draws.uniform(log(5), log(100))) * draws.direction()
      )
    }
    board.room = { time in
      var field =
        size * Vector3(
          sin(tones[0].0 * time + tones[0].1), sin(tones[1].0 * time + tones[1].1),
          sin(tones[2].0 * time + tones[2].1))
      for visit in visits where time > visit.at && time < visit.at + visit.for {
        field += visit.field
      }
      return field
    }
    let record = board.record(off: off, soft: soft)
    var run = Run(board, record: record)
    if seed % 2 == 0 {
      run.expected = ExpectedField(strength: board.unit.strength, dip: board.unit.dip)
    }
    let first = run.error
    run.live(1_200)
    let worst = run.swaps.map { $0.after - ($0.before ?? 180) }.max() ?? 0
    if ProcessInfo.processInfo.environment["VERBOSE"] != nil {
      print(use, seed, "first", first, "last", run.error, "fits", run.fits, run.reasons)
      for swap in run.swaps {
        let quality = swap.verdict.outcome.fit?.quality
        print(
          "  at \(Int(swap.time)) s: \(swap.before ?? 180) -> \(swap.after) (told \(swap.verdict.headingErrorBefore ?? 180) -> \(quality?.headingError ?? 180)), score \(quality?.score ?? 0) coverage \(quality?.coverage ?? 0) of \(swap.verdict.samples.count)"
        )
      }
    }
    return Row(
      seed: seed, use: use, first: first, last: run.error, swaps: run.swaps.count, worst: worst,
      fits: run.fits)
  }

  /// Two hundred where time does not matter.
  static var seeds: ClosedRange<Int> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["SEED"].flatMap { Int($0) } ?? 1
    let count =
      environment["COUNT"].flatMap { Int($0) } ?? (environment["LODESTONE_LONG"] == "1" ? 200 : 24)
    return first...first + count - 1
  }

  /// What goes through minutes of use takes an optimised build, or patience.
  static var isOptimised: ConditionTrait {
    .enabled(if: SyntheticUnitsTests.isLong, "skipped: not optimised, and LODESTONE_LONG is not 1")
  }

  @Test("normal use: no swap is for the worse, and headings are better on average", Self.isOptimised)
  func normalUse() async {
    let rows = await withTaskGroup(of: Row.self) { group in
      for seed in Self.seeds {
        group.addTask { Self.use(Use.allCases[seed % Use.allCases.count], seed: seed) }
      }
      return await group.reduce(into: [Row]()) { $0.append($1) }
    }
    for use in Use.allCases {
      let those = rows.filter { $0.use == use }
      let swapped = those.filter { $0.swaps > 0 }
      func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }
      print(
        "\(use): \(swapped.count) of \(those.count) calibrated anew, heading error mean",
        "\(mean(swapped.map(\.first))) -> \(mean(swapped.map(\.last))) deg of these,",
        "\(mean(those.map(\.first))) -> \(mean(those.map(\.last))) of all, worst change",
        "\(those.map(\.worst).max() ?? 0), worst after \(swapped.map(\.last).max() ?? 0),",
        "fits \(mean(those.map { Double($0.fits) })) in 20 min")
      #expect(mean(those.map(\.last)) <= mean(those.map(\.first)))
    }
    for row in rows { #expect(row.worst <= 0.3, "\(row)") }
  }
}
