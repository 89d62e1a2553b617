// Rates that a user has lowered: what happens between two samples is not seen, and the interval has to know.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct SlowSamplesTests {
  /// A board that is shaken and turned about all axes at once, by frequencies and phases of chance.
  private func shaken(seed: UInt64) -> Trajectory {
    var noise = Noise(seed)
    let phases = (0..<9).map { _ in 2 * .pi * noise.uniform() }
    let speeds = (0..<9).map { _ in 0.8 + 0.4 * noise.uniform() }
    func wave(_ t: Double, _ hertz: Double, _ index: Int) -> Double {
      Trajectory.ramp(t, 3, 5) * sin(2 * .pi * hertz * speeds[index] * t + phases[index])
    }
    return Trajectory(
      heading: { 1 + 1.2 * wave($0, 0.5, 0) + 0.25 * wave($0, 2.5, 1) },
      pitch: { 0.5 * wave($0, 0.6, 2) + 0.15 * wave($0, 3, 3) },
      roll: { 0.6 * wave($0, 0.7, 4) + 0.15 * wave($0, 3.5, 5) },
      acceleration: {
        Vector3(
          4 * wave($0, 2, 6) + 3 * wave($0, 7, 7), 3 * wave($0, 2.4, 8) + 3 * wave($0, 8, 1),
          3 * wave($0, 3, 2))
      })
  }

  @Test(arguments: [208.0, 52, 26, 12.5], 1...3)
  func theTruthStaysInsideAtLowRates(rate: Double, seed: Int) {
    var board = SimulatedBoard()
    board.rate = rate
    board.magneticRate = min(80, rate)
    var noise = Noise(UInt64(seed + 40))
    board.bias = noise.vector(0.4 * degree)
    var estimator = AttitudeEstimator()
    var heading = ErrorStatistics()
    var tilt = ErrorStatistics()
    let seed = UInt64(seed)
    board.run(shaken(seed: seed), seconds: 60, seed: seed, &estimator) { t, truth, estimator in
      guard t > 5, let estimate = estimator.headingOrNil(at: t) else { return }
      heading.add(
        angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree,
        halfWidth: estimate.accuracy.map { $0 / degree })
      let up = estimate.attitude.rotate(truth.conjugate.rotate(Vector3(0, 0, 1)))
      let covariance = estimator.state.filter.summary.attitude.columns
      let deviation = max(covariance.x.x, covariance.y.y).squareRoot() / degree
      tilt.add(atan2(hypot(up.x, up.y), up.z) / degree, halfWidth: 2.45 * 1.4 * deviation)
    }
    print(
      "shaken at \(rate) Hz, seed \(seed): heading rms \(text(heading.rms)) inside",
      "\(text(heading.coverage)) half-width \(text(heading.meanWidth)), judged",
      "\(text(heading.judged / heading.count)); tilt rms \(text(tilt.rms)) inside",
      "\(text(tilt.coverage)) half-width \(text(tilt.meanWidth))")
    #expect(heading.coverage >= 0.95)
    #expect(heading.judged > 0.9 * heading.count)
    #expect(tilt.coverage >= 0.9)
  }
}
