// Values and times no chip should give, gaps, and runs that are saved and resumed.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct HostileInputTests {
  @Test func valuesThatAreNoNumbersAreDroppedAndCounted() throws {
    var estimator = AttitudeEstimator()
    let board = SimulatedBoard()
    let trajectory = Trajectory.still(heading: 2)
    var i = 0
    board.run(trajectory, seconds: 5, seed: 30, &estimator) { t, _, estimator in
      i += 1
      guard i % 7 == 0 else { return }
      let time = Timestamp(seconds: 100 + t + 0.0005)
      let bad = [Vector3(.nan, 0, 0), Vector3(0, .infinity, 0), Vector3(0, 0, 1e300)][i / 7 % 3]
      estimator.update(angularRate: bad, acceleration: bad, at: time)
      estimator.update(magneticField: bad, at: time, quality: board.quality)
    }
    #expect(estimator.state.counters.rejected == UInt64(i / 7 * 3))
    let estimate = try #require(estimator.headingOrNil(at: 5))
    #expect(abs(angleDifference(estimate.magneticHeading, 2)) < degree)
  }

  @Test func timesThatRepeatOrStepBackAreDroppedAndCounted() throws {
    var estimator = AttitudeEstimator()
    let trajectory = Trajectory(heading: { 0.5 * $0 })
    SimulatedBoard().run(trajectory, seconds: 5, seed: 31, &estimator) { t, _, estimator in
      estimator.update(angularRate: Vector3(9, 9, 9), at: Timestamp(seconds: 100 + t))
      estimator.update(angularRate: Vector3(9, 9, 9), at: Timestamp(seconds: 99.9 + t))
    }
    #expect(estimator.state.counters.outOfOrder > 2000)
    let estimate = try #require(estimator.headingOrNil(at: 5))
    #expect(abs(angleDifference(estimate.magneticHeading, 2.5)) < 1.5 * degree)
  }

  @Test(arguments: [-1e6, 3, 600, 1e9])
  func aGapStartsAttitudeAnewAndKeepsTheBias(gap: Double) throws {
    var board = SimulatedBoard()
    board.bias = Vector3(1, 1, -1) * degree
    var estimator = AttitudeEstimator()
    board.run(.still(heading: 2), seconds: 6, seed: 32, &estimator) { _, _, _ in }
    board.run(.still(heading: 4), from: gap + 6, seconds: 1, seed: 33, &estimator) { _, _, _ in }
    #expect(estimator.state.counters.gaps >= 3)
    #expect(estimator.state.counters.starts == 2)
    #expect((estimator.gyroBias - board.bias).length < 0.2 * degree)
    let estimate = try #require(estimator.headingOrNil(at: gap + 7))
    #expect(abs(angleDifference(estimate.magneticHeading, 4)) < degree)
  }

  @Test func extremeTimesDoNotTrap() {
    var estimator = AttitudeEstimator()
    var altitude = RelativeAltitudeEstimator()
    let quality = SimulatedBoard().quality
    let up = Vector3(0, 0, 9.8)
    for n: Int64 in [0, .max, .min, -1, .max, 1, 2, .min, .max - 1] {
      let time = Timestamp(nanoseconds: n)
      estimator.update(angularRate: .zero, acceleration: up, at: time)
      estimator.update(magneticField: earthField(), at: time, quality: quality)
      _ = estimator.heading(at: Timestamp(nanoseconds: n &+ 5))
      altitude.update(verticalAcceleration: 1, at: time)
      _ = altitude.update(pressure: 101_325, at: time)
    }
    #expect(estimator.attitude.map { $0.w.isFinite } != false)
    #expect(altitude.state.filter.height.isFinite)
  }

  /// What a vector may be that nobody should send.
  private func hostile(_ noise: inout Noise, usual: Double) -> Vector3 {
    let specials = [
      0, -0.0, .leastNonzeroMagnitude, 1e-160, -1e-9, 1e3, 1e4, -1e4, 1e150, -1e308, .nan,
      .infinity, -.infinity,
    ]
    switch noise.uniform() {
    case ..<0.7: return noise.vector(usual)
    case ..<0.8: return .zero
    case ..<0.9: return noise.vector(usual * 1e-6)
    case ..<0.95: return noise.vector(usual * 30)
    default:
      return Vector3(
        specials[Int(noise.uniform() * 13)], specials[Int(noise.uniform() * 13)],
        specials[Int(noise.uniform() * 13)])
    }
  }

  private func interval(_ noise: inout Noise) -> Double {
    switch noise.uniform() {
    case ..<0.9: 0.02 * noise.uniform()
    case ..<0.94: 0
    case ..<0.96: -0.5 * noise.uniform()
    case ..<0.98: 0.9 * noise.uniform()
    case ..<0.99: 10
    default: [1e-9, -1e3, 1e6, 3600][Int(noise.uniform() * 4)]
    }
  }

  /// A million steps where they are fast; sensors come and go for seconds, as phases draw it.
  @Test(arguments: 1...4)
  func whateverIsSentAttitudeAndBoundStayNumbers(seed: Int) {
    var noise = Noise(UInt64(340 + seed))
    var estimator = AttitudeEstimator()
    let good = SimulatedBoard().quality
    let gravity = Vector3(0, 0, 9.8)
    var (time, hasGyro, hasForce, hasField, isHostile) = (0.0, true, true, true, true)
    var (headings, attitudes) = (0, 0)
    for step in 0..<(BroadTests.isReleaseBuild ? 250_000 : 12_000) {
      if step % 500 == 0 {
        hasGyro = noise.uniform() < 0.8
        hasForce = noise.uniform() < 0.8
        hasField = noise.uniform() < 0.8
        isHostile = noise.uniform() < 0.7
        estimator.followsCourse = noise.uniform() < 0.5
        estimator.expectedField =
          noise.uniform() < 0.5
          ? nil : ReferenceField(strength: hostile(&noise, usual: 50).x, dip: noise.normal())
      }
      time += isHostile ? interval(&noise) : 0.005
      if abs(time) > 1e8 { time = 0 }
      let now = Timestamp(seconds: time)
      if hasGyro {
        let rate = isHostile ? hostile(&noise, usual: 3) : noise.vector(0.3)
        estimator.update(angularRate: rate, at: now)
      }
      if hasForce {
        let force = isHostile ? hostile(&noise, usual: 10) : gravity + noise.vector(1)
        estimator.update(acceleration: force, at: now)
      }
      if hasField {
        let field = isHostile ? hostile(&noise, usual: 50) : earthField() + noise.vector(1)
        let variance = hostile(&noise, usual: 1)
        let odd = MagnetometerQuality(
          isCalibrated: true, offsetCovariance: Matrix3(diagonal: variance), residual: variance.x)
        estimator.update(
          magneticField: field, at: now, quality: noise.uniform() < 0.01 ? odd : good)
      }
      if noise.uniform() < 0.02 {
        let v = hostile(&noise, usual: 10)
        estimator.update(velocity: SIMD2(v.x, v.y), deviation: v.z, at: now)
      }
      if noise.uniform() < 0.002 {
        estimator.calibrationDidChange(shift: hostile(&noise, usual: 20), quality: good)
      }
      if let q = estimator.attitude(at: now) {
        attitudes += 1
        let norm = q.w * q.w + q.vector.lengthSquared
        // Not `#expect` a million times: it is slow where it holds.
        if !(abs(norm - 1) < 1e-6) { Issue.record("step \(step): attitude of length \(norm)") }
      }
      if let heading = try? estimator.heading(at: now).get() {
        headings += 1
        let isSound =
          heading.magneticHeading >= 0 && heading.magneticHeading < 2 * .pi
          && heading.accuracy.map { $0 > 0 && $0 <= .pi } != false
        if !isSound { Issue.record("step \(step): \(heading)") }
      }
    }
    #expect(estimator.state.counters.starts > 3)
    #expect(estimator.state.counters.rejected > 100)
    #expect(attitudes > 1000 && headings > 500)
  }

  @Test(arguments: [Double.nan, -1, .infinity, 0])
  func parametersThatMakeNoSenseAreNotTaken(value: Double) throws {
    var params = AttitudeParameters()
    params.gravity = value
    params.blockDuration = value
    params.magneticNoise = value.isNaN ? value : -1
    params.biasDeviation = .infinity
    var estimator = AttitudeEstimator(params)
    SimulatedBoard().run(.still(heading: 2), seconds: 5, seed: 62, &estimator) { _, _, _ in }
    let estimate = try #require(estimator.headingOrNil(at: 5))
    #expect(abs(angleDifference(estimate.magneticHeading, 2)) < degree)
    #expect(try #require(estimate.accuracy) < 6 * degree)
  }

  @Test func freeFallAndASaturatedGyroLeaveAnAttitudeThatFindsItsWayBack() throws {
    let board = SimulatedBoard()
    var estimator = AttitudeEstimator()
    let trajectory = Trajectory.still(heading: 2)
    board.run(trajectory, seconds: 5, seed: 60, &estimator) { _, _, _ in }
    for i in 0..<400 {
      let time = Timestamp(seconds: 105 + Double(i) * 0.005)
      estimator.update(
        angularRate: Vector3(34.9, -34.9, 34.9), acceleration: .zero, at: time)
      estimator.update(magneticField: noiseField(i), at: time, quality: board.quality)
    }
    board.run(trajectory, from: 7, seconds: 20, seed: 61, &estimator) { _, _, _ in }
    let estimate = try #require(estimator.headingOrNil(at: 27))
    #expect(abs(angleDifference(estimate.magneticHeading, 2)) < 3 * degree)
    let up = estimator.attitude?.rotate(Vector3(0, 0, 1)) ?? .zero
    #expect(up.z > cos(2 * degree))
  }

  private func noiseField(_ i: Int) -> Vector3 {
    Quaternion(rotationVector: Vector3(0.3, 0.2, 0.1) * Double(i)).rotate(earthField())
  }

  @Test func savingSplittingAndResumingIsBitIdentical() throws {
    let trajectory = Trajectory.walk(begin: 1, tilt: 0.4, phase: 1)
    var whole = AttitudeEstimator()
    var resumed = AttitudeEstimator()
    whole.expectedField = MagneticDisturbanceTests.model
    resumed.expectedField = MagneticDisturbanceTests.model
    let board = SimulatedBoard()
    for part in 0..<6 {
      let begin = Double(part) * 1.3
      let seed = UInt64(part + 40)
      board.run(trajectory, from: begin, seconds: 1.3, seed: seed, &whole) { _, _, _ in }
      board.run(trajectory, from: begin, seconds: 1.3, seed: seed, &resumed) { _, _, _ in }
      let saved = try JSONEncoder().encode(resumed.state)
      let state = try JSONDecoder().decode(AttitudeState.self, from: saved)
      #expect(state == resumed.state)
      resumed = AttitudeEstimator(state: state)
      #expect(whole.state == resumed.state)
      #expect(whole.attitude == resumed.attitude)
    }
    let now = Timestamp(seconds: 107.8)
    #expect(whole.heading(at: now) == resumed.heading(at: now))
    #expect(whole.state.mode == .inertial)
  }
}
