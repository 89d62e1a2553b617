// Every kind of calibration comes to the figures that it came to before.

import LinearAlgebra
import RecordedFigures
import SeededDraws
import SensorTypes
import Testing

@testable import CalibrationCore

/// The units are the same whatever SEED says.
@Suite("the figures of calibrations are as they were", CalibrationCoachTests.isOptimised)
struct FigureTests {
  private static let figures = RecordedFigures("calibration")

  private func differences(_ run: String, _ outcome: Any) throws -> [String] {
    var summary = FigureSummary()
    summary.add("", everythingIn: outcome)
    return try Self.figures.differences(of: run, summary)
  }

  @Test("fits of a recording in a hand", arguments: 1...8)
  func fits(seed: Int) throws {
    var draws = SyntheticDraws(state: UInt64(seed) &* 0x1_0000_0007)
    var unit = SyntheticUnit(draws: &draws, hasForce: seed % 3 != 0)
    let motion = SyntheticUnit.motion(draws: &draws)
    unit.record(motion, draws: &draws)
    var params = FitParameters()
    params.demandsSteadyIron = seed % 2 == 0
    let expected =
      seed % 4 < 2
      ? CalibrationField() : CalibrationField(strength: unit.strength, dip: unit.dip)
    var outcomes = [MagnetometerFitter(params: params).fit(unit.samples, expected: expected)]
    // Half a turn, and iron that moves in the middle.
    outcomes.append(
      MagnetometerFitter(params: params).fit(
        Array(unit.samples.prefix(unit.samples.count / 5)), expected: expected))
    let moved = unit.samples.enumerated().map { index, sample in
      var sample = sample
      if 2 * index > unit.samples.count { sample.field += Vector3(4, -3, 2) }
      return sample
    }
    outcomes.append(MagnetometerFitter(params: params).fit(moved, expected: expected))
    for (number, outcome) in outcomes.enumerated() {
      #expect(try differences("fit \(seed), \(number + 1)", outcome) == [])
    }
  }

  @Test("the mount of a handled board", arguments: 1...4)
  func mount(seed: Int) throws {
    var random = HandlingRandom(UInt64(seed))
    let board = HandledBoard.drawn(&random, hasGyro: seed % 2 == 0)
    let minute = board.findings(.minute(&random), &random)
    #expect(try differences("mount \(seed)", minute) == [])
    let weak = board.findings(WeakMotion.oneAxis.handling(&random), &random)
    #expect(try differences("mount \(seed), one axis", weak) == [])
  }

  @Test("calibration of a board in use", arguments: Use.allCases, [false, true])
  func background(use: Use, isPlaceKnown: Bool) throws {
    var board = BoardInUse(use, seed: 3)
    board.iron = { $0 < 200 ? .zero : Vector3(6, -4, 2) }
    var run = BackgroundCalibratorTests.Run(board, record: board.record(off: Vector3(3, -2, 4)))
    if isPlaceKnown {
      run.expected = CalibrationField(strength: board.unit.strength, dip: board.unit.dip)
    }
    run.live(400)
    #expect(run.fits > 1)
    let outcomes: [Any] = [run.verdicts, run.swaps.map(\.time), run.fits]
    #expect(try differences("background \(use), place \(isPlaceKnown)", outcomes) == [])
    let reasons = run.reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    #expect(try differences("background \(use), place \(isPlaceKnown), reasons", reasons) == [])
  }

  @Test("a guided calibration", arguments: 1...4)
  func coach(seed: Int) throws {
    var board = CoachedBoard(seed: seed)
    board.hasGyro = seed % 2 == 0
    var coach = CalibrationCoach(
      expected: seed == 1 ? CalibrationField(strength: board.unit.strength) : CalibrationField())
    var words = FigureSummary()
    board.run(&coach, seed: seed, limit: 120) { coach, _ in
      words.add("words", everythingIn: coach.words)
      words.add("score", Double(coach.score))
      words.add("coverage", coach.coverage)
      words.add("warning", everythingIn: coach.warning as Any)
    }
    #expect(try Self.figures.differences(of: "coach \(seed), words", words) == [])
    #expect(try differences("coach \(seed)", coach.outcome) == [])
  }

  @Test("a vessel's turn", arguments: 1...4)
  func vessel(seed: Int) throws {
    var vessel = Vessel(seed)
    vessel.hasGyro = seed % 2 == 0
    let fitter = ReferencedFitter(mount: vessel.mount, earth: seed < 3 ? vessel.earth : nil)
    let samples = vessel.samples(seconds: 75, acceleration: { _ in .zero }) { 0.1 * $0 }
    #expect(try differences("vessel \(seed)", fitter.planar(samples)) == [])
  }
}
