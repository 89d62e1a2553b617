// What arrives decides the mode: without gyro, level board, sensors that come and go.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct AttitudeModesTests {
  @Test(arguments: [0.0, 30])
  func accelerometerAndMagnetometerAloneGiveATiltCompensatedHeading(tilt: Double) {
    var board = SimulatedBoard()
    board.hasGyro = false
    board.rate = 100
    var estimator = AttitudeEstimator()
    let trajectory = Trajectory(
      heading: { 1 + 0.5 * Trajectory.ramp($0, 10, 12) }, pitch: { _ in tilt * degree },
      roll: { _ in -tilt / 2 * degree })
    var still = ErrorStatistics()
    var turning = ErrorStatistics()
    board.run(trajectory, seconds: 20, seed: 6, &estimator) { t, truth, estimator in
      guard t > 1, let estimate = estimator.headingOrNil(at: t) else { return }
      let error = angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree
      if t > 10 && t < 12.5 {
        turning.add(error, halfWidth: (estimate.accuracy ?? 0) / degree)
      } else {
        still.add(error, halfWidth: (estimate.accuracy ?? 0) / degree)
      }
    }
    #expect(estimator.state.mode == .direct)
    #expect(still.rms < 0.5 && still.worst < 2)
    #expect(turning.worst < 6)
    #expect(still.coverage > 0.95 && turning.coverage > 0.9)
    #expect(estimator.verticalAcceleration == nil)
  }

  @Test func aMagnetometerAloneGivesHeadingOnALevelBoardOnly() throws {
    var board = SimulatedBoard()
    board.hasGyro = false
    board.hasAccelerometer = false
    let trajectory = Trajectory(heading: { 0.3 + 0.2 * $0 })
    var params = AttitudeParameters()
    params.level = true
    var level = AttitudeEstimator(params)
    var statistics = ErrorStatistics()
    board.run(trajectory, seconds: 20, seed: 7, &level) { t, truth, estimator in
      guard t > 1, let estimate = estimator.headingOrNil(at: t) else { return }
      statistics.add(angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree)
    }
    #expect(level.state.mode == .level)
    #expect(statistics.count > 1000)
    #expect(statistics.rms < 3 && statistics.worst < 6)

    var unknown = AttitudeEstimator()
    board.run(trajectory, seconds: 2, seed: 7, &unknown) { _, _, _ in }
    #expect(unknown.heading(at: Timestamp(seconds: 102)) == .failure(.tiltUnknown))
  }

  @Test func aGyroThatFallsSilentLeavesTheOtherTwoAndComesBack() throws {
    var board = SimulatedBoard()
    var estimator = AttitudeEstimator()
    let trajectory = Trajectory.still(heading: 2, pitch: 0.3)
    board.run(trajectory, seconds: 5, seed: 8, &estimator) { _, _, _ in }
    #expect(estimator.state.mode == .inertial)
    board.hasGyro = false
    board.run(trajectory, from: 5, seconds: 5, seed: 9, &estimator) { _, _, _ in }
    #expect(estimator.state.mode == .direct)
    let direct = try #require(estimator.headingOrNil(at: 10))
    #expect(abs(angleDifference(direct.magneticHeading, 2)) < 2 * degree)
    board.hasGyro = true
    board.run(trajectory, from: 10, seconds: 3, seed: 10, &estimator) { _, _, _ in }
    #expect(estimator.state.mode == .inertial)
    let back = try #require(estimator.headingOrNil(at: 13))
    #expect(abs(angleDifference(back.magneticHeading, 2)) < 1 * degree)
  }

  @Test func aSilentSensorIsReportedWithinTwoSeconds() {
    var estimator = AttitudeEstimator()
    #expect(estimator.heading(at: Timestamp(seconds: 100)) == .failure(.notYet))
    SimulatedBoard().run(.still(heading: 2), seconds: 3, seed: 8, &estimator) { _, _, _ in }
    #expect(estimator.headingOrNil(at: 4.9) != nil)
    guard case .failure(.sensorLost) = estimator.heading(at: Timestamp(seconds: 105.1)) else {
      Issue.record("a silent magnetometer still gives heading")
      return
    }
  }

  @Test func anAccelerometerThatFallsSilentIsReportedAndHeadingIsRightWhenItIsBack() throws {
    var board = SimulatedBoard()
    board.bias = Vector3(0.4, -0.3, 0.5) * degree
    var estimator = AttitudeEstimator()
    let trajectory = Trajectory(heading: { 1 + 0.1 * $0 }, pitch: { _ in 0.3 })
    board.run(trajectory, seconds: 6, seed: 50, &estimator) { _, _, _ in }
    board.hasAccelerometer = false
    board.run(trajectory, from: 6, seconds: 5, seed: 51, &estimator) { _, _, _ in }
    guard case .failure(.sensorLost) = estimator.heading(at: Timestamp(seconds: 111)) else {
      Issue.record("heading without knowing where down is")
      return
    }
    board.hasAccelerometer = true
    board.run(trajectory, from: 11, seconds: 2, seed: 52, &estimator) { _, _, _ in }
    let back = try #require(estimator.headingOrNil(at: 13))
    #expect(abs(angleDifference(back.magneticHeading, 2.3)) < 2 * degree)
  }

  @Test func aMagnetometerThatComesLateTurnsTheFrameToNorth() throws {
    var estimator = AttitudeEstimator()
    let truth = attitude(heading: 2.5, pitch: 0.2, roll: -0.3)
    let up = truth.conjugate.rotate(Vector3(0, 0, 9.80665))
    for i in 0..<1000 {
      let time = Timestamp(seconds: Double(i) * 0.005)
      estimator.update(angularRate: .zero, acceleration: up, at: time)
    }
    #expect(estimator.state.mode == .inertial)
    #expect(estimator.heading(at: Timestamp(seconds: 5)) == .failure(.notYet))
    let field = truth.conjugate.rotate(earthField())
    let quality = SimulatedBoard().quality
    for i in 1000..<1100 {
      let time = Timestamp(seconds: Double(i) * 0.005)
      estimator.update(angularRate: .zero, acceleration: up, at: time)
      estimator.update(magneticField: field, at: time, quality: quality)
    }
    let estimate = try estimator.heading(at: Timestamp(seconds: 5.5)).get()
    #expect(abs(angleDifference(estimate.magneticHeading, trueHeading(truth))) < 0.5 * degree)
  }

  @Test func withoutACalibrationHeadingHasNoAccuracyAndSaysWhy() throws {
    var board = SimulatedBoard()
    board.quality = .uncalibrated
    var estimator = AttitudeEstimator()
    board.run(.still(heading: 2), seconds: 3, seed: 8, &estimator) { _, _, _ in }
    let estimate = try #require(estimator.headingOrNil(at: 3))
    #expect(estimate.accuracy == nil && estimate.reason == .uncalibrated)
    // A record arrives: the next samples count.
    board.quality = SimulatedBoard().quality
    board.run(.still(heading: 2), from: 3, seconds: 2, seed: 9, &estimator) { _, _, _ in }
    let calibrated = try #require(estimator.headingOrNil(at: 5))
    #expect(calibrated.accuracy != nil && calibrated.reason == nil)
  }

  @Test func aFirstRecordDoesNotInheritTheIronThatWasFoundWithoutIt() throws {
    var board = SimulatedBoard()
    board.quality = .uncalibrated
    board.offset = Vector3(25, -18, 12)
    var estimator = AttitudeEstimator()
    let trajectory = Trajectory(
      heading: { 1 + 2 * sin(0.7 * $0) }, pitch: { 0.8 * sin(0.9 * $0) },
      roll: { 0.9 * sin(0.6 * $0) })
    board.run(trajectory, seconds: 30, seed: 80, &estimator) { _, _, _ in }
    #expect(estimator.state.filter.summary.iron.length > 10)
    board.offset = .zero
    board.quality = SimulatedBoard().quality
    var result = ErrorStatistics()
    board.run(trajectory, from: 30, seconds: 20, seed: 81, &estimator) { t, truth, estimator in
      guard t > 31, let estimate = estimator.headingOrNil(at: t) else { return }
      let error = angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree
      result.add(error, halfWidth: estimate.accuracy.map { $0 / degree })
    }
    #expect(result.rms < 2 && result.coverage >= 0.95)
  }

  @Test func aRecordsQualityIsTurnedIntoTheBodyFrame() throws {
    let mount = try #require(Mount(x: .plusY, y: .minusX, z: .plusZ))
    let quality = MagnetometerQuality(
      AppliedCalibration(
        matrix: Matrix3(diagonal: Vector3(2, 1, 1)), offset: Vector3(5, 6, 7),
        offsetCovariance: Matrix3(diagonal: Vector3(1, 2, 3)), residual: 0.4), mount: mount)
    // Sensor x (variance 1, scaled by 2: 4) lies against body y, sensor y along body x.
    #expect(quality.offsetCovariance == Matrix3(diagonal: Vector3(2, 4, 3)))
    #expect(quality.residual == 0.4 && quality.isCalibrated)
    let hostile = MagnetometerQuality(
      isCalibrated: true, offsetCovariance: Matrix3(diagonal: Vector3(.nan, 0, 0)), residual: 0)
    #expect(!hostile.isCalibrated)
  }
}
