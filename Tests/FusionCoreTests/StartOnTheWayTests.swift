// A board that starts, or starts again, in a carrier that moves: a chip came loose, or the program began on the way.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct StartOnTheWayTests {
  /// A way at 3 to 7 m/s through bends of up to 6 degrees a second, never at a standstill.
  private struct Way {
    private struct Change {
      let begin: Double
      let end: Double
      let size: Double
    }

    private var turns: [Change] = []
    private var speeds: [Change] = []
    private let start: Double

    init(seed: UInt64, seconds: Double) {
      var noise = Noise(seed)
      start = 2 * .pi * noise.uniform()
      var (time, speed) = (0.0, 3 + 4 * noise.uniform())
      speeds.append(Change(begin: -2, end: -1, size: speed))
      while time < seconds {
        let length = 4 + 5 * noise.uniform()
        let bend = noise.uniform() < 0.33 ? 0 : (noise.uniform() - 0.5) * 12 * degree * length
        turns.append(Change(begin: time, end: time + length, size: bend))
        let next = 3 + 4 * noise.uniform()
        speeds.append(Change(begin: time, end: time + min(length, 3), size: next - speed))
        (time, speed) = (time + length, next)
      }
    }

    private func sum(_ changes: [Change], _ t: Double) -> Double {
      changes.reduce(0) { $0 + $1.size * Trajectory.ramp(t, $1.begin, $1.end) }
    }

    func heading(_ t: Double) -> Double { start + sum(turns, t) }

    func velocity(_ t: Double) -> Vector3 {
      Vector3(sin(heading(t)), cos(heading(t)), 0) * sum(speeds, t)
    }

    var trajectory: Trajectory {
      Trajectory(
        heading: heading, pitch: { 0.04 * sin(2 * .pi * 0.05 * $0) },
        roll: { 0.05 * sin(2 * .pi * 0.07 * $0) },
        acceleration: { (velocity($0 + 0.001) - velocity($0 - 0.001)) / 0.002 })
    }
  }

  /// Headings of the 30 s after each of four starts, between which gyro and accelerometer are silent for 7 s.
  private func run(seed: Int, interval: Double) -> ErrorStatistics {
    let way = Way(seed: UInt64(seed), seconds: 250)
    var board = SimulatedBoard()
    board.rate = 104
    var silent = board
    (silent.hasGyro, silent.hasAccelerometer) = (false, false)
    var estimator = AttitudeEstimator()
    var noise = Noise(UInt64(seed + 900))
    var next = 0.0
    var result = ErrorStatistics()
    func hear(_ t: Double, _ estimator: inout AttitudeEstimator) {
      guard t >= next else { return }
      next += interval
      let velocity = way.velocity(t - 0.1) + noise.vector(0.12)
      estimator.update(
        velocity: SIMD2(velocity.x, velocity.y), deviation: 0.2,
        at: Timestamp(seconds: 100 + t - 0.1))
    }
    for begin in stride(from: 0.0, to: 240, by: 60) {
      board.run(
        way.trajectory, from: begin, seconds: 53, seed: UInt64(seed) &+ UInt64(10 * begin),
        &estimator
      ) { t, truth, estimator in
        hear(t, &estimator)
        guard t - begin < 30, let heading = estimator.headingOrNil(at: t) else { return }
        let error = angleDifference(heading.magneticHeading, trueHeading(truth)) / degree
        result.add(error, halfWidth: heading.accuracy.map { $0 / degree })
      }
      silent.run(
        way.trajectory, from: begin + 53, seconds: 7, seed: UInt64(seed), &estimator
      ) { t, _, estimator in hear(t, &estimator) }
    }
    return result
  }

  @Test("the first velocity that a receiver measures is no error of the tilt", arguments: [0.2, 1])
  func aided(interval: Double) {
    var all = ErrorStatistics()
    for seed in 1...12 {
      let result = run(seed: seed, interval: interval)
      all.squares += result.squares
      all.count += result.count
      all.worst = max(all.worst, result.worst)
      all.judged += result.judged
      all.inside += result.inside
      all.widths += result.widths
    }
    print(
      "starts on the way, a velocity each \(interval) s: rms \(text(all.rms)) worst \(text(all.worst)) inside",
      "\(text(all.coverage)) half-width \(text(all.meanWidth))")
    #expect(all.coverage >= 0.95)
    #expect(all.rms < 2.5 && all.worst < 20)
    #expect(all.meanWidth < 6)
  }

  @Test("a velocity of which nothing is known replaces none", arguments: [1e160, 900, 50])
  func vague(deviation: Double) {
    let board = SimulatedBoard()
    var estimator = AttitudeEstimator()
    var result = ErrorStatistics()
    var isHeard = false
    board.run(.still(heading: 1), seconds: 40, seed: 5, &estimator) { t, truth, estimator in
      if t > 20, !isHeard {
        isHeard = true
        estimator.update(
          velocity: SIMD2(90, -40), deviation: deviation, at: Timestamp(seconds: 100 + t - 0.1))
      }
      guard t > 15 else { return }
      guard let heading = estimator.headingOrNil(at: t) else { return result.count -= 1_000 }
      result.add(
        angleDifference(heading.magneticHeading, trueHeading(truth)) / degree, halfWidth: nil)
    }
    #expect(isHeard && result.count > 1_000)
    #expect(result.worst < 3)
    #expect(estimator.state.counters.rejected == (deviation > 1_000 ? 1 : 0))
  }
}
