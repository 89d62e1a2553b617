// Velocity that is taken for zero: somebody who walks, and vehicles without a receiver.

import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite struct StandstillTests {
  /// The angle between true up and the one of the filter, degrees.
  private func tilt(_ truth: Quaternion, _ estimator: AttitudeEstimator, at t: Double) -> Double {
    guard let attitude = estimator.attitude(at: Timestamp(seconds: 100 + t)) else { return 180 }
    let up = Vector3(0, 0, 1)
    return acos(min(1, (attitude * truth.conjugate).rotate(up).dot(up))) / degree
  }

  /// A walk in which the gyro misses a turn of 15 degrees: the tilt's error, rms of each 5 s after that, degrees.
  private func recovery(_ params: AttitudeParameters, seed: UInt64) -> [Double] {
    var board = SimulatedBoard()
    var noise = Noise(seed)
    let trajectory = Trajectory.walk(begin: 4, tilt: 0.2, phase: noise.uniform())
    var estimator = AttitudeEstimator(params)
    board.run(trajectory, seconds: 8, seed: seed, &estimator) { _, _, _ in }
    let angle = 2 * .pi * noise.uniform()
    board.bias = Vector3(cos(angle), sin(angle), 0) * (30 * degree)
    board.run(trajectory, from: 8, seconds: 0.5, seed: seed + 100, &estimator) { _, _, _ in }
    board.bias = .zero
    var sums = [ErrorStatistics](repeating: ErrorStatistics(), count: 8)
    board.run(trajectory, from: 8.5, seconds: 40, seed: seed + 200, &estimator) { t, truth, now in
      sums[min(7, Int((t - 8.5) / 5))].add(tilt(truth, now, at: t))
    }
    return sums.map(\.rms)
  }

  @Test(
    "a tilt that is wrong by 15 degrees does not keep itself alive while somebody walks",
    arguments: 1...4 as ClosedRange<UInt64>)
  func walking(seed: UInt64) {
    let now = recovery(AttitudeParameters(), seed: seed)
    var (undoubted, unlimited) = (AttitudeParameters(), AttitudeParameters())
    undoubted.divergence.legLimit = 1000
    (unlimited.divergence.legLimit, unlimited.velocity.largestScatter) = (1000, 1000)
    let limited = recovery(undoubted, seed: seed)
    let before = recovery(unlimited, seed: seed)
    print(
      "seed \(seed): tilt \(now.map(text)) deg; not doubted \(limited.map(text)), before \(before.map(text))"
    )
    #expect(now[1] < 6 && now[7] < 1.5)
    // The limit of the weight helps, the doubt helps on top of it.
    #expect(limited[3] < 0.6 * before[3] && now[1] < 0.6 * limited[1])
  }

  /// It sets off after 8 s, gains `speed` with 1.5 m/s^2, rolls for 20 s, and brakes as gently.
  private func train(ahead: Double, speed: Double) -> Trajectory {
    let direction = Vector3(sin(ahead), cos(ahead), 0)
    let time = speed / 1.5
    return Trajectory(
      heading: { _ in ahead },
      acceleration: { t in
        func between(_ from: Double, _ to: Double) -> Double {
          Trajectory.ramp(t, from, from + 2) - Trajectory.ramp(t, to, to + 2)
        }
        return direction * (1.5 * (between(8, 8 + time) - between(28 + time, 28 + 2 * time)))
      })
  }

  @Test(
    "a train that gains 100 km/h is not levelled, live or smoothed",
    arguments: 1...4 as ClosedRange<UInt64>)
  func train(seed: UInt64) throws {
    var board = SimulatedBoard()
    var noise = Noise(seed)
    board.bias = noise.vector(0.3 * degree)
    let trajectory = train(ahead: 2 * .pi * noise.uniform(), speed: 28)
    var (estimator, tilts, heading) = (AttitudeEstimator(), ErrorStatistics(), ErrorStatistics())
    var moments: [(t: Double, truth: Quaternion)] = []
    board.run(trajectory, seconds: 75, seed: seed, &estimator) { t, truth, estimator in
      guard t > 3, let now = estimator.headingOrNil(at: t) else { return }
      tilts.add(tilt(truth, estimator, at: t))
      heading.add(
        angleDifference(now.magneticHeading, trueHeading(truth)), halfWidth: now.accuracy)
    }
    var recorded = AttitudeEstimator(.offline, keepsHistory: true)
    board.run(trajectory, seconds: 75, seed: seed, &recorded) { t, truth, _ in
      if t > 3, t < 74 { moments.append((t, truth)) }
    }
    let smoother = AttitudeSmoother(recorded)
    var smoothed = ErrorStatistics()
    for moment in moments {
      let attitude = try #require(smoother.attitude(at: Timestamp(seconds: 100 + moment.t)))
      let up = Vector3(0, 0, 1)
      let off = acos(min(1, (attitude * moment.truth.conjugate).rotate(up).dot(up)))
      smoothed.add(off / degree)
    }
    print(
      "train \(seed): tilt \(text(tilts.worst)), smoothed \(text(smoothed.worst)), heading \(text(heading.worst / degree)) deg at most, inside \(text(heading.coverage))"
    )
    // 1.5 m/s^2 looks like 8.7 degrees.
    #expect(tilts.worst < 3 && smoothed.worst < 3)
    #expect(heading.judged > 14_000 && heading.coverage > 0.95)
  }
}

@Suite struct GaitTests {
  private let velocity = VelocityAidingParameters()
  private let divergence = DivergenceParameters()

  /// Some seconds of a vertical acceleration with this amplitude at 2 Hz, in blocks of 0.1 s.
  private func shake(_ gait: inout Gait, amplitude: Double, seconds: Int) {
    for block in 0..<10 * seconds {
      gait.update(lift: amplitude * sin(0.4 * .pi * Double(block)), 0.1, velocity)
    }
  }

  @Test(
    "shaking is a mean square, and limits what is believed of a velocity"
  )
  func shaking() {
    var gait = Gait()
    #expect(gait.largestScatter(velocity) == .infinity)
    shake(&gait, amplitude: 0.4, seconds: 20)
    #expect(abs(gait.shaking - 0.08) < 0.008)
    #expect(gait.largestScatter(velocity) > 1000)
    shake(&gait, amplitude: 2.5, seconds: 20)
    #expect(abs(gait.shaking - 3.125) < 0.3)
    let smoothness = 4 / gait.shaking
    #expect(abs(gait.largestScatter(velocity) - 2 * smoothness * smoothness) < 1e-9)
    shake(&gait, amplitude: 5, seconds: 20)
    #expect(gait.largestScatter(velocity) == velocity.largestScatter)
    gait.restart()
    #expect(gait.shaking == 0 && gait.largestScatter(velocity) == .infinity)
  }

  @Test(
    "a velocity that legs cannot reach is a contradiction once, until it has been half as large")
  func contradiction() {
    var gait = Gait()
    func isContradiction(_ speed: Double) -> Bool {
      gait.contradicts(gained: SIMD2(0, -speed), velocity, divergence)
    }
    // A smooth ride may be as fast as it likes.
    #expect(!isContradiction(30))
    shake(&gait, amplitude: 2.5, seconds: 10)
    #expect(!isContradiction(7.9))
    #expect(isContradiction(8.1))
    for speed in [8.1, 7.9, 8.2, 4.1, 9] { #expect(!isContradiction(speed)) }
    #expect(!isContradiction(3.9))
    #expect(isContradiction(8.1))
    gait.restart()
    shake(&gait, amplitude: 2.5, seconds: 10)
    #expect(isContradiction(8.1))
  }

  @Test("what a receiver has seen faster than legs are is on none, until it stands")
  func rides() {
    var gait = Gait()
    shake(&gait, amplitude: 2.5, seconds: 10)
    gait.update(velocity: SIMD2(3, -2), divergence)
    #expect(!gait.rides)
    gait.update(velocity: SIMD2(6, -6), divergence)
    #expect(gait.rides && gait.largestScatter(velocity) == .infinity)
    let isContradiction = gait.contradicts(gained: SIMD2(20, 0), velocity, divergence)
    #expect(!isContradiction)
    gait.stand()
    #expect(!gait.rides && gait.largestScatter(velocity) < 10)
  }
}
