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
    #expect(altitude.state.x[0].isFinite)
  }

  @Test func randomValuesNeverMakeAnAttitudeThatIsNone() {
    var noise = Noise(34)
    var estimator = AttitudeEstimator()
    let quality = SimulatedBoard().quality
    var time = 0.0
    for _ in 0..<20_000 {
      time += 0.02 * noise.uniform() + (noise.uniform() < 0.01 ? 0.8 : 0)
      let stamp = Timestamp(seconds: time)
      estimator.update(
        angularRate: noise.vector(20), acceleration: noise.vector(100), at: stamp)
      estimator.update(magneticField: noise.vector(500), at: stamp, quality: quality)
      if let q = estimator.attitude {
        let norm = q.w * q.w + q.vector.lengthSquared
        #expect(abs(norm - 1) < 1e-6)
      }
      if let accuracy = try? estimator.heading(at: stamp).get().accuracy {
        #expect(accuracy > 0 && accuracy <= .pi)
      }
    }
    #expect(estimator.state.counters.starts > 0)
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
      let state = try JSONDecoder().decode(AttitudeEstimator.State.self, from: saved)
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
