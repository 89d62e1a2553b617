import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

/// Samples of two calibrations may never meet in one mean.
@Suite struct CalibrationChangeTests {
  @Test("neither the block that is being filled nor the magnet detector keeps samples")
  func means() {
    let board = SimulatedBoard()
    var estimator = AttitudeEstimator()
    // 12.1 s end in the middle of a block.
    let walk = Trajectory.walk(begin: 1, tilt: 0.5, phase: 1)
    board.run(walk, seconds: 12.1, seed: 1, &estimator) { _, _, _ in }
    #expect(estimator.state.filter.block.field != nil)
    #expect(estimator.state.filter.magnetDetector != MagnetDetector())
    estimator.calibrationDidChange(shift: Vector3(1, 0, 0), quality: board.quality)
    #expect(estimator.state.filter.block.field == nil)
    #expect(estimator.state.filter.magnetDetector == MagnetDetector())
  }

  @Test(
    "the heading after a first calibration owes nothing to the samples before it",
    arguments: [(true, 0.09), (true, 5), (false, 0.09), (false, 5.0)])
  func first(hasGyro: Bool, change: Double) throws {
    var board = SimulatedBoard()
    board.hasGyro = hasGyro
    let good = board.quality
    board.quality = .uncalibrated
    board.offset = Vector3(40, -30, 10)
    let rest = Trajectory.still(heading: 1)
    var estimator = AttitudeEstimator()
    board.run(rest, seconds: change, seed: 1, &estimator) { _, _, _ in }
    board.offset = .zero
    board.quality = good
    estimator.calibrationDidChange(shift: Vector3(-40, 30, -10), quality: good)
    var (worst, count) = (0.0, 0)
    board.run(rest, from: change, seconds: 4, seed: 2, &estimator) { t, truth, estimator in
      guard let heading = estimator.headingOrNil(at: t), let accuracy = heading.accuracy else {
        return
      }
      let error = abs(angleDifference(heading.magneticHeading, trueHeading(truth)))
      worst = max(worst, error / accuracy)
      count += 1
    }
    print("gyro \(hasGyro), first calibration after \(change) s: \(worst) of the bar, \(count)")
    #expect(count > 200)
    #expect(worst < 1)
  }
}
