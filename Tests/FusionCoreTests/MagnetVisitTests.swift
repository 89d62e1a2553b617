// A magnet comes near for five seconds and goes again: heading is inside its bar or says that it is not.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct MagnetVisitTests {
  enum Sensors: String, CaseIterable { case gyro, direct, level }
  enum Motion: String, CaseIterable { case still, turning, walking }

  struct Visit {
    var sensors: Sensors
    var motion: Motion
    var isOnBoard = false
    var hasModel = true
    var strength: Double
    var seed: UInt64
    var edge = 0.3
    var seconds = 5.0
  }

  struct Outcome {
    /// Seconds with an accuracy that the truth is outside of, from the magnet's coming on.
    var outside = 0.0
    var worstExcess = 0.0
    /// When accuracy went, seconds from the magnet's coming; `nil` if never.
    var lostAfter: Double?
    /// When accuracy was back for good, seconds from the magnet's going.
    var backAfter = 0.0
  }

  func run(_ visit: Visit) -> Outcome {
    var random = Noise(0xA11CE &+ visit.seed &* 7919)
    var board = SimulatedBoard()
    board.hasGyro = visit.sensors == .gyro
    board.hasAccelerometer = visit.sensors != .level
    board.bias = random.vector(0.4 * degree)
    board.offset = random.vector(0.2)
    let direction = random.vector(1)
    let magnet = direction * (visit.strength / direction.length)
    let (from, to) = (20.0, 20 + visit.seconds)
    func swell(_ t: Double) -> Double {
      Trajectory.ramp(t, from, from + visit.edge) - Trajectory.ramp(t, to - visit.edge, to)
    }
    let field: (Double) -> Vector3 = { magnet * swell($0) }
    if visit.isOnBoard { board.attached = field } else { board.disturbance = field }
    var params = AttitudeParameters()
    params.level = visit.sensors == .level
    var estimator = AttitudeEstimator(params)
    estimator.expectedField =
      visit.hasModel ? ReferenceField(strength: 49, dip: 67 * degree) : nil
    let heading = 2 * .pi * random.uniform()
    let trajectory: Trajectory
    switch visit.motion {
    case .still: trajectory = .still(heading: heading)
    case .turning:
      let rate = random.uniform() < 0.5 ? 0.35 : -0.35
      trajectory = Trajectory(heading: { heading + rate * $0 })
    case .walking:
      trajectory =
        visit.sensors == .level
        ? Trajectory(heading: { heading + 0.8 * sin(0.5 * $0) })
        : .walk(begin: 3, tilt: 15 * degree, phase: heading)
    }
    var outcome = Outcome()
    var before = from
    board.run(trajectory, seconds: to + 15, seed: visit.seed &+ 40, &estimator) { t, truth, e in
      guard t > from else { return }
      defer { before = t }
      guard let estimate = e.headingOrNil(at: t) else { return }
      let error = abs(angleDifference(estimate.magneticHeading, trueHeading(truth))) / degree
      guard let accuracy = estimate.accuracy.map({ $0 / degree }) else {
        if t < to, outcome.lostAfter == nil { outcome.lostAfter = t - from }
        if t > to { outcome.backAfter = t - to }
        return
      }
      if error > accuracy {
        outcome.outside += t - before
        outcome.worstExcess = max(outcome.worstExcess, error - accuracy)
      }
    }
    return outcome
  }

  /// Seeds of the trials: a few in every check, many where time does not matter.
  static let seeds: ClosedRange<UInt64> =
    ProcessInfo.processInfo.environment["LODESTONE_LONG"] == nil ? 1...3 : 1...24

  struct Summary {
    var trials = 0
    /// Trials in which the truth was outside of a bar, and by how much at worst, degrees.
    var outside = 0
    var excess = 0.0
    /// Trials in which accuracy never went, or went after more than two seconds.
    var missed = 0
    var lost = 0.0
    var back = 0.0
  }

  func summary(
    _ sensors: Sensors, _ motion: Motion, isOnBoard: Bool, strength: Double
  ) -> Summary {
    var summary = Summary()
    for seed in Self.seeds {
      let outcome = run(
        Visit(
          sensors: sensors, motion: motion, isOnBoard: isOnBoard, hasModel: seed % 2 == 0,
          strength: strength, seed: seed))
      summary.trials += 1
      if outcome.outside > 0 { summary.outside += 1 }
      summary.excess = max(summary.excess, outcome.worstExcess)
      if outcome.lostAfter ?? 99 > 2 { summary.missed += 1 }
      summary.lost = max(summary.lost, outcome.lostAfter ?? 0)
      summary.back = max(summary.back, outcome.backAfter)
    }
    print(
      "\(sensors) \(motion) \(isOnBoard ? "board" : "room") \(Int(strength)) uT, \(summary.trials) trials:",
      "outside \(summary.outside) by \(text(summary.excess)) deg, not lost within 2 s \(summary.missed),",
      "lost after \(text(summary.lost)) s, back after \(text(summary.back)) s")
    return summary
  }

  @Test(
    "D8: with a gyro the truth stays inside the bar, or there is none", arguments: Motion.allCases,
    [false, true])
  func withGyro(motion: Motion, isOnBoard: Bool) {
    for strength in [8.0, 10, 15, 20, 50, 100, 200, 380] {
      let summary = summary(.gyro, motion, isOnBoard: isOnBoard, strength: strength)
      #expect(summary.outside == 0, "\(strength) uT")
      #expect(summary.back < 5, "\(strength) uT")
    }
  }

  @Test(
    "D8: without a gyro a magnet of 50 uT or more takes the accuracy away within two seconds",
    arguments: [Sensors.direct, .level], Motion.allCases)
  func withoutGyro(sensors: Sensors, motion: Motion) {
    for isOnBoard in [false, true] {
      for strength in [10.0, 20, 50, 100, 200, 380] {
        let summary = summary(sensors, motion, isOnBoard: isOnBoard, strength: strength)
        #expect(summary.back < 5, "\(strength) uT")
        // A weak one can turn the horizontal field and leave strength and dip within what a calibration and a
        // place leave open: nothing but a gyro tells that from a turn.
        // Nor does a board that is carried at a walk know quite how the field dips: one of 50 uT is missed there
        // once in a hundred times.
        if strength >= (motion == .walking ? 100 : 50) {
          #expect(summary.missed == 0, "\(strength) uT")
        }
      }
    }
  }

  @Test(
    "a steady turn without a gyro: the bar holds the lag of the low pass, also where the field is steep"
  )
  func turning() {
    var board = SimulatedBoard()
    board.hasGyro = false
    var estimator = AttitudeEstimator()
    var statistics = ErrorStatistics()
    board.run(Trajectory(heading: { 0.35 * $0 }), seconds: 20, seed: 5, &estimator) { t, truth, e in
      guard t > 3, let estimate = e.headingOrNil(at: t), let accuracy = estimate.accuracy else {
        return
      }
      statistics.add(
        angleDifference(estimate.magneticHeading, trueHeading(truth)), halfWidth: accuracy)
    }
    #expect(statistics.judged > 1_000)
    #expect(statistics.coverage > 0.99)
  }

  @Test(
    "a chip driven beyond its range: a reason in words at once, and heading by the gyro, inside its bar"
  )
  func saturated() throws {
    var board = SimulatedBoard()
    var estimator = AttitudeEstimator()
    estimator.expectedField = ReferenceField(strength: 49, dip: 67 * degree)
    let isNews = estimator.fieldIsBeyondRange(at: Timestamp(seconds: 1))
    #expect(!isNews)
    board.run(.still(heading: 1), seconds: 10, seed: 6, &estimator) { _, _, _ in }
    board.hasMagnetometer = false
    var worst = 0.0
    board.run(.still(heading: 1), from: 10, seconds: 6, seed: 7, &estimator) { t, _, e in
      let isNews = e.fieldIsBeyondRange(at: Timestamp(seconds: 100 + t))
      #expect(isNews || t < 10.02)
      guard let estimate = e.headingOrNil(at: t) else { return }
      if t > 10.05 {
        let error = abs(angleDifference(estimate.magneticHeading, 1))
        #expect(estimate.accuracy.map { error < $0 && $0 < 5 * degree } == true)
        #expect(estimate.reason?.description.contains("beyond") == true)
      }
      worst = max(worst, abs(angleDifference(estimate.magneticHeading, 1)) / degree)
    }
    #expect(worst < 1.5)
    board.hasMagnetometer = true
    board.run(.still(heading: 1), from: 16, seconds: 4, seed: 8, &estimator) { _, _, _ in }
    let back = try #require(estimator.headingOrNil(at: 20))
    #expect(back.accuracy != nil)
  }
}
