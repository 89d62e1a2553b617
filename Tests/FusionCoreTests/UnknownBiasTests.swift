import Foundation
import FusionCore
import LinearAlgebra
import SensorTypes
import Testing

/// A gyro without a record, which by its datasheet may say at rest what a hand does.
struct UnknownBiasTests {
  struct Case: Sendable, CustomTestStringConvertible {
    /// What the gyro may say at rest, deg/s either way.
    let zeroRateLevel: Double
    /// What it says at most, of that.
    var share = 1.0
    var testDescription: String { "\(share) x \(zeroRateLevel) deg/s" }
  }

  private struct Outcome {
    var trusted = 0
    var outside = 0
    var worst = 0.0
    /// Degrees, half the last interval and the error then.
    var last = (width: Double.infinity, error: Double.infinity)
  }

  private static let ways: [(name: String, way: @Sendable (Double) -> Trajectory)] = [
    ("at rest", { .still(heading: $0, pitch: 0.1, roll: -0.05) }),
    ("carried after 4 s", { .walk(begin: 4, tilt: 0.3, phase: $0) }),
    ("carried at once", { .walk(begin: 0, tilt: 0.3, phase: $0) }),
    ("on a turntable", { phase in Trajectory(heading: { phase + 20 * degree * $0 }) }),
  ]

  /// Twenty seconds from power-on.
  private func run(_ trajectory: Trajectory, _ given: Case, seed: UInt64) -> Outcome {
    var noise = Noise(seed &* 977)
    func even() -> Double { (2 * noise.uniform() - 1) * given.share * given.zeroRateLevel * degree }
    var board = SimulatedBoard()
    board.bias = Vector3(even(), even(), even())
    var params = AttitudeParameters()
    params.allow(zeroRateLevel: given.zeroRateLevel)
    var estimator = AttitudeEstimator(params)
    if seed % 2 == 0 { estimator.expectedField = ReferenceField(strength: 49, dip: 67 * degree) }
    var outcome = Outcome()
    board.run(trajectory, seconds: 20, seed: seed, &estimator) { t, truth, estimator in
      guard let estimate = estimator.headingOrNil(at: t), let accuracy = estimate.accuracy else {
        return
      }
      let error = abs(angleDifference(estimate.magneticHeading, trueHeading(truth)))
      outcome.trusted += 1
      if error > accuracy { outcome.outside += 1 }
      outcome.worst = max(outcome.worst, error / degree)
      outcome.last = (accuracy / degree, error / degree)
    }
    return outcome
  }

  @Test(
    "heading is honest from the first second and good after twenty, whatever the gyro says at rest",
    arguments: [
      Case(zeroRateLevel: 1), Case(zeroRateLevel: 5), Case(zeroRateLevel: 10),
      Case(zeroRateLevel: 20), Case(zeroRateLevel: 30),
      // Typical values are one sigma of parts at 25 degrees.
      Case(zeroRateLevel: 1, share: 2), Case(zeroRateLevel: 3, share: 2),
      Case(zeroRateLevel: 5, share: 2), Case(zeroRateLevel: 10, share: 2),
    ])
  func honest(_ given: Case) {
    for (name, way) in Self.ways {
      var (trusted, outside, dishonest) = (0, 0, 0)
      var (worst, width, error) = (0.0, 0.0, 0.0)
      for seed in UInt64(1)...20 {
        let outcome = run(way(Double(seed)), given, seed: seed)
        trusted += outcome.trusted
        outside += outcome.outside
        if Double(outcome.outside) > 0.05 * Double(outcome.trusted) { dishonest += 1 }
        worst = max(worst, outcome.worst)
        width = max(width, outcome.last.width)
        error = max(error, outcome.last.error)
      }
      let share = Double(outside) / Double(trusted)
      print(
        "gyro of \(given.testDescription) \(name): \(text(100 * share)) % of \(trusted) outside, "
          + "\(dishonest) of 20 runs dishonest, worst \(text(worst)) deg, "
          + "after 20 s \(text(error)) of +-\(text(width)) deg")
      #expect(dishonest == 0 && share < 0.01, "\(name)")
      // Who never holds still gets no better bar than the way to the bias has left, and rest that looks like a turn
      // takes longer.
      guard given.share == 1 else { continue }
      #expect(width < (name == "carried at once" ? 40 : 5) && error < 7, "\(name)")
    }
  }
}
