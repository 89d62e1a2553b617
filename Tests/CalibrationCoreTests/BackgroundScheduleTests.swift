// The intervals between background fits, by their results; no fit is computed here.

import LinearAlgebra
import SeededDraws
import SensorTypes
import Testing

@testable import CalibrationCore

@Suite struct BackgroundScheduleTests {
  /// A board that turns about at random in a field of 48 uT, and fits that find what they are told to.
  private struct Run {
    struct NeverDue: Error {}

    var calibrator = BackgroundCalibrator()
    /// Seconds between two samples.
    static let step = 0.27
    private var draws = SyntheticDraws(state: 5)
    private(set) var time = 0.0

    init(_ calibration: AppliedCalibration? = nil) {
      calibrator.use(calibration, at: Timestamp(seconds: 0))
    }

    /// Turns until a fit is due; returns how long that took, in seconds.
    ///
    /// - Throws: `NeverDue` after half an hour.
    mutating func untilDue() throws -> Double {
      let start = time
      while time < start + 1_800 {
        time += Self.step
        let field = 48 * draws.direction()
        calibrator.take(CalibrationSample(time: Timestamp(seconds: time), field: field))
        if calibrator.isDue { return time - start }
      }
      throw NeverDue()
    }

    /// The result of a fit that found no calibration.
    static func empty(_ current: AppliedCalibration?) -> BackgroundFitResult {
      BackgroundFitResult(
        outcome: CalibrationOutcome(fit: nil, refusal: "nothing"), current: current, samples: [])
    }

    /// Finishes a fit with an empty result, changed by `change`.
    mutating func fit(
      isUsed: Bool = false, _ change: (inout BackgroundFitResult) -> Void = { _ in }
    ) {
      let fit = calibrator.begin()
      var result = Self.empty(fit.current)
      change(&result)
      calibrator.finish(result, isUsed: isUsed)
    }

    /// Returns the intervals in seconds between `count` + 1 fits that all have the same result.
    mutating func gaps(
      _ count: Int, _ change: (inout BackgroundFitResult) -> Void = { _ in }
    ) throws -> [Double] {
      _ = try untilDue()
      return try (0..<count).map { _ in
        fit(change)
        return try untilDue()
      }
    }
  }

  private static let identity = AppliedCalibration(
    matrix: .identity, offset: .zero, offsetCovariance: Matrix3(diagonal: .zero), residual: 0.1,
    field: 48)

  private func expect(_ gaps: [Double], _ expected: [Double]) {
    #expect(gaps.count == expected.count)
    for (gap, least) in zip(gaps, expected) {
      #expect(gap >= least - 1e-6 && gap < least + 2 * Run.step, "\(gaps)")
    }
  }

  @Test("while heading is not trusted a fit in vain waits by half longer, at most a minute")
  func eager() throws {
    var run = Run()
    #expect(run.calibrator.isWanted)
    expect(try run.gaps(7), [12, 18, 27, 40.5, 60, 60, 60])
  }

  @Test("a calibration that is confirmed is fitted half as often, every ten minutes at least")
  func confirmed() throws {
    var run = Run(Self.identity)
    #expect(!run.calibrator.isWanted)
    expect(try run.gaps(6) { $0.isSettled = true }, [60, 120, 240, 480, 600, 600])
  }

  @Test("one that is neither confirmed nor bettered is fitted as often as before")
  func unsettled() throws {
    var run = Run(Self.identity)
    expect(try run.gaps(2), [30, 30])
    run.fit { $0.isSettled = true }
    expect([try run.untilDue()], [60])
    run.fit()
    expect([try run.untilDue()], [60])
  }

  @Test("a better one that is not allowed is not found again for ten minutes")
  func refused() throws {
    var run = Run(Self.identity)
    expect(try run.gaps(1) { $0.isBetter = true }, [600])
  }

  @Test("nothing is fitted while a fit runs, nor of fewer than thirty new samples")
  func busy() throws {
    var run = Run()
    let first = try run.untilDue()
    #expect(abs(first - 30 * Run.step) < 1e-6)
    let fit = run.calibrator.begin()
    #expect(throws: Run.NeverDue.self) {
      var other = run
      _ = try other.untilDue()
    }
    run.calibrator.finish(Run.empty(fit.current), isUsed: false)
    #expect(!run.calibrator.isDue)
  }

  @Test("what comes of a fit that another record overtook changes no schedule")
  func overtaken() throws {
    var run = Run()
    _ = try run.untilDue()
    _ = run.calibrator.begin()
    run.calibrator.use(Self.identity, at: Timestamp(seconds: run.time))
    run.calibrator.finish(Run.empty(nil), isUsed: false)
    // Somebody else's record is left alone for five minutes.
    expect([try run.untilDue()], [300])
  }
}
