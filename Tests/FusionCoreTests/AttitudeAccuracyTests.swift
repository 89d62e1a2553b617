// Heading on a carried board against truth, and how honest its accuracy is.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct AttitudeAccuracyTests {
  /// Runs a trajectory; statistics of heading after the first two seconds, in degrees.
  private func run(
    _ trajectory: Trajectory, bias: Vector3, seed: UInt64, seconds: Double = 60
  ) -> ErrorStatistics {
    var board = SimulatedBoard()
    board.bias = bias * degree
    var estimator = AttitudeEstimator()
    var statistics = ErrorStatistics()
    board.run(trajectory, seconds: seconds, seed: seed, &estimator) { t, truth, estimator in
      guard t > 2, let estimate = estimator.headingOrNil(at: t) else { return }
      let error = angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree
      statistics.add(error, halfWidth: (estimate.accuracy ?? 0) / degree)
    }
    return statistics
  }

  static let biases = [Vector3(1, -1, 1), Vector3(-0.7, 1.2, 2), Vector3(0.2, 0.1, -0.3)]

  @Test(arguments: 0..<3, [0.0, 45.0])
  func walkingAfterARestStaysWithinOneDegree(variant: Int, tilt: Double) {
    let result = run(
      .walk(begin: 4, tilt: tilt * degree, phase: Double(variant)), bias: Self.biases[variant],
      seed: UInt64(variant + 1))
    print(
      "walk after rest, tilt \(tilt): rms \(text(result.rms)) worst \(text(result.worst))",
      "inside \(text(result.coverage)) half-width \(text(result.meanWidth))")
    #expect(result.rms <= 1)
    #expect(result.worst <= 3)
    #expect(result.coverage >= 0.95)
    #expect(result.meanWidth < 6)
    #expect(result.count > 10_000)
  }

  @Test(arguments: 0..<3, [0.0, 45.0])
  func walkingFromTheFirstSampleStaysWithinOneDegree(variant: Int, tilt: Double) {
    let result = run(
      .walk(begin: 0, tilt: tilt * degree, phase: Double(variant), setOff: 8),
      bias: Self.biases[variant],
      seed: UInt64(variant + 11))
    print(
      "walk at once, tilt \(tilt): rms \(text(result.rms)) worst \(text(result.worst))",
      "inside \(text(result.coverage)) half-width \(text(result.meanWidth))")
    #expect(result.rms <= 1)
    #expect(result.worst <= 3)
    #expect(result.coverage >= 0.95)
    #expect(result.count > 10_000)
  }

  /// Another board every time: place (dip 0 to 75 deg), bias, start heading, rates of turning and
  /// tilting, a calibration that left 0.2 uT and 0.5 % of soft iron.
  @Test(arguments: 1...12)
  func turningAndTiltingFromTheFirstSampleStaysWithinOneDegree(seed: Int) {
    var noise = Noise(UInt64(1000 + seed))
    var board = SimulatedBoard()
    board.field = earthField(strength: 35 + 20 * noise.uniform(), dip: 75 * noise.uniform())
    board.bias = noise.vector(0.6 * degree)
    board.offset = noise.vector(0.2)
    board.softIron = Matrix3(
      diagonal: Vector3(1 + 0.005 * noise.normal(), 1 + 0.005 * noise.normal(), 1))
    let start = 6 * noise.uniform()
    let rates = (0.1 + 0.15 * noise.uniform(), 0.08 + 0.1 * noise.uniform(), noise.uniform())
    let trajectory = Trajectory(
      // At most 90 deg/s, to and fro.
      heading: { start + 90 * degree / (2 * .pi * rates.0) * sin(2 * .pi * rates.0 * $0) },
      pitch: { 45 * degree * sin(2 * .pi * rates.1 * $0) },
      roll: { 30 * degree * sin(2 * .pi * 0.13 * $0 + rates.2) })
    var estimator = AttitudeEstimator()
    var result = ErrorStatistics()
    board.run(trajectory, seconds: 60, seed: UInt64(seed), &estimator) { t, truth, estimator in
      guard t > 2, let estimate = estimator.headingOrNil(at: t) else { return }
      let error = angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree
      result.add(error, halfWidth: estimate.accuracy.map { $0 / degree })
    }
    print(
      "turning, seed \(seed): rms \(text(result.rms)) worst \(text(result.worst))",
      "inside \(text(result.coverage)) half-width \(text(result.meanWidth))")
    #expect(result.rms <= 1)
    #expect(result.worst <= 3)
    #expect(result.coverage >= 0.95)
    #expect(result.judged > 12_000)
  }

  @Test(arguments: 1...8)
  func headingIsWithinADegreeOneSecondAfterTheStart(seed: Int) throws {
    var noise = Noise(UInt64(seed))
    var board = SimulatedBoard()
    board.bias = noise.vector(0.7 * degree)
    let trajectory = Trajectory.still(
      heading: 6 * noise.uniform(), pitch: 0.4 * noise.normal(), roll: 0.4 * noise.normal())
    var estimator = AttitudeEstimator()
    var first: Double?
    var late = ErrorStatistics()
    board.run(trajectory, seconds: 3, seed: UInt64(seed), &estimator) { t, truth, estimator in
      guard let estimate = estimator.headingOrNil(at: t) else { return }
      first = first ?? t
      if t > 1 {
        late.add(angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree)
      }
    }
    let start = try #require(first)
    #expect(start < 0.05)
    #expect(late.worst < 1)
  }

  /// Shaken from the first sample on with 3 g at 2 to 5 Hz while it turns, then laid down.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func aStartAmidShakesFindsItsLevelAndItsNorth(seed: UInt64) {
    var noise = Noise(500 + seed)
    var board = SimulatedBoard()
    board.bias = noise.vector(0.6 * degree)
    let (f, g, h) = (2 + 3 * noise.uniform(), 2 + 3 * noise.uniform(), 2 + 3 * noise.uniform())
    let (a, b) = (6 * noise.uniform(), 6 * noise.uniform())
    func envelope(_ t: Double) -> Double { 1 - Trajectory.ramp(t, 8, 9) }
    let trajectory = Trajectory(
      heading: { a + 2 * sin(0.9 * $0) * envelope($0) },
      pitch: { 0.9 * sin(1.7 * $0 + b) * envelope($0) },
      roll: { 0.7 * sin(1.3 * $0 + a) * envelope($0) },
      acceleration: {
        30 * envelope($0)
          * Vector3(
            sin(2 * .pi * f * $0 + a), sin(2 * .pi * g * $0 + b), 0.7 * sin(2 * .pi * h * $0))
      })
    var estimator = AttitudeEstimator()
    var late = (tilt: 0.0, heading: ErrorStatistics())
    board.run(trajectory, seconds: 25, seed: seed, &estimator) { t, truth, estimator in
      guard t > 12, let attitude = estimator.attitude(at: Timestamp(seconds: 100 + t)) else {
        return
      }
      let error = attitude * truth.conjugate
      late.tilt = max(late.tilt, acos(min(1, error.rotate(Vector3(0, 0, 1)).z)))
      if let estimate = estimator.headingOrNil(at: t) {
        late.heading.add(
          angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree,
          halfWidth: estimate.accuracy.map { $0 / degree })
      }
    }
    print(
      "shaken start, seed \(seed): tilt \(text(late.tilt / degree)) heading \(text(late.heading.rms))",
      "worst \(text(late.heading.worst)) inside \(text(late.heading.coverage))")
    #expect(late.tilt < 4 * degree)
    #expect(late.heading.rms < 4)
    #expect(late.heading.coverage >= 0.95)
  }

  @Test func theGyrosBiasIsFoundAtRest() {
    var board = SimulatedBoard()
    board.bias = Vector3(1, -2, 0.5) * degree
    var estimator = AttitudeEstimator()
    board.run(.still(heading: 1), seconds: 6, seed: 3, &estimator) { _, _, _ in }
    #expect((estimator.gyroBias - board.bias).length < 0.03 * degree)
    #expect(estimator.isResting)
    #expect(estimator.state.counters.starts == 1)
  }

  @Test func theAccuracyGrowsWhereTheReferenceAxisStandsUpright() throws {
    var widths: [Double] = []
    for pitch in [0.0, 60, 85] {
      var estimator = AttitudeEstimator()
      let trajectory = Trajectory.still(heading: 1, pitch: pitch * degree)
      SimulatedBoard().run(trajectory, seconds: 5, seed: 4, &estimator) { _, _, _ in }
      let estimate = try #require(estimator.headingOrNil(at: 5))
      widths.append(try #require(estimate.accuracy))
      #expect(abs(angleDifference(estimate.magneticHeading, 1)) <= widths[widths.count - 1])
    }
    #expect(widths[1] >= widths[0])
    #expect(widths[2] > 1.5 * widths[0])
  }

  @Test func aCalibrationThatLeavesMoreOpenGivesAWiderInterval() throws {
    func width(_ offsetVariance: Double) throws -> Double {
      var board = SimulatedBoard()
      let diagonal = Matrix3(diagonal: Vector3(repeating: offsetVariance))
      board.quality = MagnetometerQuality(
        isCalibrated: true, offsetCovariance: diagonal, residual: 0)
      var estimator = AttitudeEstimator()
      board.run(.still(heading: 2), seconds: 4, seed: 5, &estimator) { _, _, _ in }
      let estimate = try #require(estimator.headingOrNil(at: 4))
      return try #require(estimate.accuracy)
    }
    let loose = try width(4)
    // 2 uT of 19.15 uT horizontal field, 1.96 times: 11.7 deg, and the rest in squares.
    #expect(loose > 11.7 * degree && loose < 14 * degree)
    let tight = try width(0.01)
    #expect(tight < 3 * degree)
  }
}
