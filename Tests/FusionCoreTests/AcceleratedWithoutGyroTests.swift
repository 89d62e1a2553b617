// Without a gyro an acceleration passes for a tilt: the interval has to know.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct AcceleratedWithoutGyroTests {
  /// A change of speed, along the quintic of the least jerk.
  struct Ride: CustomTestStringConvertible, Sendable {
    var heading: Double
    var from: Double
    var to: Double
    var seconds: Double
    var begin = 12.0
    /// How much longer the chip says that gravity is, m/s^2.
    var offset = 0.0
    /// Whether the acceleration comes and goes within half a second and is even in between.
    var isEven = false

    var testDescription: String { "\(from) to \(to) m/s in \(seconds) s at \(heading) deg" }

    private func acceleration(_ t: Double) -> Double {
      let u = (t - begin) / seconds
      guard u > 0, u < 1 else { return 0 }
      if isEven {
        let edge = 0.5
        let shape =
          Trajectory.ramp(t, begin, begin + edge)
          - Trajectory.ramp(t, begin + seconds - edge, begin + seconds)
        return (to - from) / (seconds - edge) * shape
      }
      return (to - from) / seconds * 30 * u * u * (1 - u) * (1 - u)
    }

    var trajectory: Trajectory {
      let (heading, offset) = (heading * degree, offset)
      let forward = Vector3(sin(heading), cos(heading), 0)
      return Trajectory(
        heading: { _ in heading },
        acceleration: { forward * acceleration($0) + Vector3(0, 0, offset) })
    }
  }

  /// An LSM303DLHC: no gyro, and more noise.
  private var board: SimulatedBoard {
    var board = SimulatedBoard()
    board.hasGyro = false
    board.rate = 100
    board.magneticRate = 75
    board.forceNoise = 0.03
    board.field = earthField(strength: 49, dip: 68)
    return board
  }

  private var expected: ReferenceField { ReferenceField(strength: 49, dip: 68 * degree) }

  private func run(
    _ trajectory: Trajectory, seconds: Double, seed: UInt64 = 5,
    _ body: (Double, Double, HeadingEstimate) -> Void
  ) {
    var estimator = AttitudeEstimator()
    estimator.expectedField = expected
    board.run(trajectory, seconds: seconds, seed: seed, &estimator) { t, truth, estimator in
      guard let estimate = estimator.headingOrNil(at: t) else { return }
      body(t, angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree, estimate)
    }
  }

  @Test(arguments: [
    Ride(heading: 90, from: 0, to: 1, seconds: 3), Ride(heading: 40, from: 0, to: 1, seconds: 3),
    Ride(heading: 40, from: 0, to: 5, seconds: 10), Ride(heading: 270, from: 0, to: 5, seconds: 10),
    Ride(heading: 90, from: 5, to: 0, seconds: 5), Ride(heading: 215, from: 10, to: 0, seconds: 5),
    Ride(heading: 90, from: 10, to: 0, seconds: 5), Ride(heading: 40, from: 10, to: 0, seconds: 5),
    Ride(heading: 90, from: 0, to: 10, seconds: 30),
    Ride(heading: 90, from: 0, to: 0.5, seconds: 2),
    Ride(heading: 90, from: 0, to: 2, seconds: 3, begin: 60),
    Ride(heading: 130, from: 0, to: 5, seconds: 10, begin: 120),
    Ride(heading: 90, from: 5, to: 0, seconds: 5, begin: 2),
    Ride(heading: 90, from: 10, to: 0, seconds: 5, offset: 0.3),
    Ride(heading: 90, from: 0, to: 5, seconds: 10, isEven: true),
    Ride(heading: 90, from: 0, to: 5, seconds: 10, begin: 120, isEven: true),
    Ride(heading: 90, from: 0, to: 10, seconds: 20, isEven: true),
    Ride(heading: 90, from: 5, to: 0, seconds: 5, begin: 30, isEven: true),
    Ride(heading: 0, from: 10, to: 0, seconds: 5), Ride(heading: 180, from: 10, to: 0, seconds: 5),
  ])
  func theTruthStaysInsideWhileItSetsOffAndBrakes(ride: Ride) {
    var during = ErrorStatistics()
    var whole = ErrorStatistics()
    var seconds: [Int: ErrorStatistics] = [:]
    var blamed = 0
    run(ride.trajectory, seconds: ride.begin + ride.seconds + 20) { t, error, estimate in
      guard t > 1 else { return }
      if estimate.reason != nil { blamed += 1 }
      guard let accuracy = estimate.accuracy else { return }
      whole.add(error, halfWidth: accuracy / degree)
      seconds[Int(t), default: ErrorStatistics()].add(error, halfWidth: accuracy / degree)
      if t >= ride.begin, t <= ride.begin + ride.seconds + 2 {
        during.add(error, halfWidth: accuracy / degree)
      }
    }
    let worst = seconds.values.map(\.coverage).min() ?? 0
    print(
      "no gyro, \(ride.testDescription): worst \(text(during.worst)) inside \(text(during.coverage))",
      "half-width \(text(during.meanWidth)); whole \(text(whole.coverage)), worst second",
      "\(text(worst)), before \(text(seconds[Int(ride.begin) - 1]?.meanWidth ?? 0))",
      "after \(text(seconds[Int(ride.begin + ride.seconds) + 15]?.meanWidth ?? 0)), blamed \(blamed)"
    )
    #expect(during.coverage >= 0.95 && whole.coverage >= 0.95)
    #expect(worst >= 0.9)
    // Braking is no iron.
    #expect(blamed == 0)
  }

  @Test func aBoardOnATableIsBelievedSoon() {
    var widths: [Int: Double] = [:]
    var result = ErrorStatistics()
    run(.still(heading: 1, pitch: 0.1), seconds: 70) { t, error, estimate in
      result.add(error, halfWidth: estimate.accuracy.map { $0 / degree })
      widths[Int(t)] = estimate.accuracy.map { $0 / degree }
    }
    print(
      "no gyro, at rest: half-width", [1, 5, 10, 20, 30, 60].map { text(widths[$0] ?? -1) },
      "inside \(text(result.coverage)) rms \(text(result.rms))")
    #expect(result.coverage >= 0.95)
    #expect((widths[10] ?? 99) < 9)
    #expect((widths[30] ?? 99) < 5)
  }

  @Test(arguments: [4.0, 8, 20])
  func aTurnTrailsByNoMoreThanIsSaid(seconds: Double) {
    var result = ErrorStatistics()
    let trajectory = Trajectory(
      heading: { 0.4 + .pi * Trajectory.ramp($0, 40, 40 + seconds) })
    run(trajectory, seconds: 45 + seconds) { t, error, estimate in
      guard t >= 40, t < 42 + seconds else { return }
      result.add(error, halfWidth: (estimate.accuracy ?? 0) / degree)
    }
    print(
      "no gyro, half a turn in \(seconds) s: worst \(text(result.worst)) inside",
      "\(text(result.coverage)) half-width \(text(result.meanWidth))")
    #expect(result.coverage >= 0.95)
    #expect(result.worst < 10)
  }

  /// Round and round at 1 m/s: the centripetal force is always there.
  @Test func inACircleTheTruthStaysInside() {
    let rate = 0.3
    var result = ErrorStatistics()
    let trajectory = Trajectory(
      heading: { rate * $0 },
      acceleration: { t in Vector3(cos(rate * t), -sin(rate * t), 0) * rate })
    run(trajectory, seconds: 60) { t, error, estimate in
      guard t > 1 else { return }
      result.add(error, halfWidth: (estimate.accuracy ?? 0) / degree)
    }
    print(
      "no gyro, in a circle: worst \(text(result.worst)) inside \(text(result.coverage))",
      "half-width \(text(result.meanWidth))")
    #expect(result.coverage >= 0.95)
  }

  /// In a hand: tilted this way and that, slowly, then held.
  @Test func inAHandItIsStillOfUse() {
    var result = ErrorStatistics()
    var end = 0.0
    let trajectory = Trajectory(
      heading: { 0.8 + 0.6 * Trajectory.ramp($0, 20, 24) },
      pitch: { 0.5 * Trajectory.ramp($0, 10, 12) - 0.3 * Trajectory.ramp($0, 26, 28) },
      roll: { 0.4 * Trajectory.ramp($0, 15, 17) })
    run(trajectory, seconds: 48) { t, error, estimate in
      guard t > 1 else { return }
      end = (estimate.accuracy ?? 0) / degree
      result.add(error, halfWidth: end)
    }
    print(
      "no gyro, in a hand: rms \(text(result.rms)) worst \(text(result.worst)) inside",
      "\(text(result.coverage)) half-width \(text(result.meanWidth)) at the end \(text(end))")
    #expect(result.coverage >= 0.95)
    #expect(result.meanWidth < 20 && end < 10)
  }

  @Test func ironIsStillNamed() {
    var board = board
    board.disturbance = { t in
      Trajectory.ramp(t, 30, 31)
        * (earthField(strength: 49, dip: 48) - earthField(strength: 49, dip: 68))
    }
    var estimator = AttitudeEstimator()
    estimator.expectedField = expected
    var first: Double?
    board.run(.still(heading: 1), seconds: 40, seed: 3, &estimator) { t, _, estimator in
      guard let estimate = estimator.headingOrNil(at: t), estimate.reason != nil else { return }
      first = first ?? t
    }
    #expect((first ?? 99) > 30 && (first ?? 99) < 33)
  }
}
