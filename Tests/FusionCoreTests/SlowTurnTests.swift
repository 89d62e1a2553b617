import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

/// A ship that swings at her anchor, or begins a turn: to gyro and accelerometer alone she lies still.
struct SlowTurnTests {
  private struct Outcome {
    var worst = 0.0
    var inside = 0.0
    var count = 0.0
    var share: Double { inside / max(1, count) }
  }

  /// Still for `rest` seconds, then so many degrees in so many seconds, eased in and out as a hull does it.
  private func turn(
    _ degrees: Double, in seconds: Double, rest: Double, roll: Double = 0, seed: UInt64
  ) -> Outcome {
    var noise = Noise(seed)
    var board = SimulatedBoard()
    board.bias = noise.vector(0.5 * degree)
    let start = Double(seed)
    let way = Trajectory(
      heading: { start + degrees * degree * Trajectory.ramp($0, rest, rest + seconds) },
      roll: { roll * degree * Trajectory.ramp($0, rest, rest + 2) })
    var estimator = AttitudeEstimator()
    var outcome = Outcome()
    board.run(way, seconds: rest + seconds + 20, seed: seed, &estimator) { t, truth, estimator in
      guard t > 5, case .success(let found) = estimator.heading(at: Timestamp(seconds: 100 + t)),
        let bar = found.accuracy
      else { return }
      let error = abs((found.magneticHeading - way.heading(t)).remainder(dividingBy: 2 * .pi))
      outcome.worst = max(outcome.worst, error / degree)
      outcome.inside += error <= bar ? 1 : 0
      outcome.count += 1
    }
    return outcome
  }

  @Test(
    "a turn that a gyro's bias could be is not taken for rest",
    arguments: [
      (36.0, 60.0, 5.0), (60, 100, 5), (400, 60, 2), (400, 40, 2), (20, 100, 5), (20, 100, 30),
      (90, 60, 10),
    ])
  func slowTurn(degrees: Double, seconds: Double, rest: Double) {
    var (worst, inside) = (0.0, 0.0)
    let seeds = UInt64(1)...12
    for seed in seeds {
      let outcome = turn(degrees, in: seconds, rest: rest, seed: seed)
      worst = max(worst, outcome.worst)
      inside += outcome.share / Double(seeds.count)
    }
    print("\(degrees) deg in \(seconds) s after \(rest) s: worst \(worst) deg, inside \(inside)")
    // Believed to be rest, the second of these turns ended 47 deg off, with a fifth of it inside the bar. The first
    // is the hardest: fast enough to go far before the field shows it, slow enough to begin as rest.
    #expect(worst < (degrees == 36 ? 3 : 2))
    #expect(inside >= 0.99)
  }

  @Test(
    "a board that turns steadily as it is switched on is not taken for one at rest",
    arguments: [1.0, 1.5, 2, 3, 4])
  func turnAtStart(rate: Double) {
    var (worst, outside, count) = (0.0, 0.0, 0.0)
    for seed in UInt64(1)...10 {
      var noise = Noise(seed)
      var board = SimulatedBoard()
      board.bias = noise.vector(0.3 * degree)
      var estimator = AttitudeEstimator()
      let turn = Trajectory(heading: { rate * degree * $0 })
      board.run(turn, seconds: 60, seed: seed, &estimator) { t, truth, estimator in
        guard let found = estimator.headingOrNil(at: t), let bar = found.accuracy else { return }
        let error = abs(angleDifference(found.magneticHeading, trueHeading(truth)))
        worst = max(worst, error / degree)
        outside += error > bar ? 1 : 0
        count += 1
      }
    }
    print("turn of \(rate) deg/s from the start: worst \(worst) deg, outside \(outside / count)")
    #expect(count > 10_000)
    // Believed to be rest it ended 93 deg off, and outside its bar for nine tenths of the time.
    #expect(outside < 0.05 * count && worst < 13)
  }

  @Test(
    "a new calibration of a board at rest is not taken for a turn",
    arguments: [Vector3(-1, 1, -0.5), Vector3(2, -1, -1), Vector3(-3, 0, 0), Vector3(1.5, 1.5, 0)])
  func calibrationAtRest(shift: Vector3) {
    var largest = 0.0
    for seed in UInt64(1)...12 {
      var noise = Noise(seed)
      var board = SimulatedBoard()
      board.bias = noise.vector(0.5 * degree)
      // The calibration of before has left it, the new one takes it away.
      board.offset = -shift
      let rest = Trajectory(heading: { _ in Double(seed) })
      var estimator = AttitudeEstimator()
      board.run(rest, seconds: 13, seed: seed, &estimator) { _, _, _ in }
      board.offset = .zero
      estimator.calibrationDidChange(shift: shift, quality: board.quality)
      var before = estimator.headingOrNil(at: 13)?.magneticHeading
      #expect(before != nil)
      board.run(rest, from: 13, seconds: 12, seed: seed + 100, &estimator) { time, _, estimator in
        let heading = estimator.headingOrNil(at: time)?.magneticHeading
        if let heading, let last = before {
          largest = max(largest, abs(angleDifference(heading, last)) / degree)
        }
        before = heading ?? before
      }
    }
    print("calibration moved by \(shift) at rest: largest step \(largest) deg")
    // Taken for a turn, the change moved the heading by three degrees in one sample.
    #expect(largest < 0.5)
  }

  @Test("a watch that begins anew after a disturbance does not take a sample's noise for a turn")
  func watchBegunAnew() {
    var turns = 0
    for seed in UInt64(1)...200 {
      var noise = Noise(seed &* 31)
      var detector = AttitudeStationaryDetector()
      let constants = AttitudeConstants(AttitudeParameters())
      for step in 0..<900 {
        if step == 300 { detector.forgetField() }
        detector.update(
          rate: noise.vector(0.1 * degree), 0.01, bias: .zero, limit: 0.1,
          constants)
        detector.update(force: Vector3(0, 0, 9.81) + noise.vector(0.02), 0.01, constants)
        let field = earthField() + noise.vector(0.35)
        let turn = detector.update(field: field, 0.01, constants)
        if turn != nil { turns += 1 }
      }
    }
    #expect(turns == 0)
  }
}
