// The smoother: against the filter on simulated runs, gaps and hostile input.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite struct AttitudeSmootherTests {
  struct Comparison {
    var causal = ErrorStatistics()
    var smoothed = ErrorStatistics()
    var causalTilt = ErrorStatistics()
    var smoothedTilt = ErrorStatistics()

    var text: String {
      "heading \(FusionCoreTests.text(causal.rms)) -> \(FusionCoreTests.text(smoothed.rms)),"
        + " tilt \(FusionCoreTests.text(causalTilt.rms)) -> \(FusionCoreTests.text(smoothedTilt.rms)),"
        + " inside \(FusionCoreTests.text(smoothed.coverage))"
        + " at \(FusionCoreTests.text(smoothed.meanWidth))"
    }
  }

  struct Moment {
    var t: Double
    var truth: Quaternion
    var attitude: Quaternion
    var heading: HeadingEstimate?
  }

  static func tilt(_ a: Quaternion, _ b: Quaternion) -> Double {
    let (x, y) = (a.conjugate.rotate(Vector3(0, 0, 1)), b.conjugate.rotate(Vector3(0, 0, 1)))
    return atan2(x.cross(y).length, x.dot(y)) / degree
  }

  static func record(
    _ board: SimulatedBoard, _ trajectory: Trajectory, from begin: Double = 0, seconds: Double,
    seed: UInt64, _ estimator: inout AttitudeEstimator
  ) -> [Moment] {
    var moments: [Moment] = []
    board.run(trajectory, from: begin, seconds: seconds, seed: seed, &estimator) {
      t, truth, estimator in
      guard let attitude = estimator.attitude else { return }
      moments.append(
        Moment(
          t: t, truth: truth, attitude: attitude,
          heading: try? estimator.heading(at: Timestamp(seconds: 100 + t)).get()))
    }
    return moments
  }

  static func compare(
    _ moments: [Moment], _ smoother: AttitudeSmoother,
    where counts: (Double) -> Bool = { _ in true }
  ) throws -> Comparison {
    var result = Comparison()
    for moment in moments where counts(moment.t) {
      guard let causal = moment.heading else { continue }
      let time = Timestamp(seconds: 100 + moment.t)
      let attitude = try #require(smoother.attitude(at: time))
      let smoothed = smoother.heading(causal)
      func error(_ heading: HeadingEstimate) -> Double {
        angleDifference(heading.magneticHeading, trueHeading(moment.truth)) / degree
      }
      result.causal.add(error(causal), halfWidth: causal.accuracy.map { $0 / degree })
      result.smoothed.add(error(smoothed), halfWidth: smoothed.accuracy.map { $0 / degree })
      result.causalTilt.add(Self.tilt(moment.attitude, moment.truth))
      result.smoothedTilt.add(Self.tilt(attitude, moment.truth))
    }
    return result
  }

  @Test(
    "someone walks, after a rest or from the first sample on", arguments: [0.0, 4],
    [1, 2, 3] as [UInt64])
  func walking(begin: Double, seed: UInt64) throws {
    let (moments, smoother) = Self.walk(begin: begin, setOff: begin > 0 ? 3 : 6, seed)
    let all = try Self.compare(moments, smoother)
    print("walk from \(begin): \(all.text)")
    #expect(all.smoothed.rms < 0.8 * all.causal.rms)
    #expect(all.smoothedTilt.rms < 0.8 * all.causalTilt.rms)
    #expect(all.smoothed.coverage >= 0.95)
  }

  @Test("a start amid steps and turns is as good as the rest", arguments: [1, 2, 3] as [UInt64])
  func startInMotion(seed: UInt64) throws {
    let (moments, smoother) = Self.walk(begin: 0, setOff: 1_000, seed)
    let early = try Self.compare(moments, smoother) { $0 < 5 }
    print("start in motion, first 5 s: \(early.text)")
    #expect(early.smoothed.rms < 0.2 * early.causal.rms)
    #expect(early.smoothedTilt.rms < 0.2 * early.causalTilt.rms)
    #expect(early.smoothed.coverage >= 0.95)
  }

  static func walk(
    begin: Double, setOff: Double, _ seed: UInt64
  ) -> ([Moment], AttitudeSmoother) {
    var board = SimulatedBoard()
    board.bias = Vector3(0.7, -0.4, 0.9) * degree
    var estimator = AttitudeEstimator(.offline, keepsHistory: true)
    let trajectory = Trajectory.walk(
      begin: begin, tilt: 35 * degree, phase: Double(seed), setOff: setOff)
    let moments = record(board, trajectory, seconds: 40, seed: seed, &estimator)
    return (moments, AttitudeSmoother(estimator))
  }

  @Test("iron in the room pulls less", arguments: [11, 12, 13] as [UInt64])
  func disturbance(seed: UInt64) throws {
    var board = SimulatedBoard()
    board.bias = Vector3(0.3, 0.2, -0.4) * degree
    board.disturbance = { t in
      Vector3(6, -2, 3) * Trajectory.ramp(t, 20, 22) * (1 - Trajectory.ramp(t, 28, 30))
    }
    var estimator = AttitudeEstimator(.offline, keepsHistory: true)
    let moments = Self.record(
      board, .walk(begin: 4, tilt: 30 * degree, phase: Double(seed)), seconds: 60, seed: seed,
      &estimator)
    let smoother = AttitudeSmoother(estimator)
    let all = try Self.compare(moments, smoother)
    let late = try Self.compare(moments, smoother) { $0 > 20 && $0 < 45 }
    print("iron: \(all.text); meanwhile and after \(late.text)")
    #expect(all.smoothed.rms <= all.causal.rms)
    #expect(late.smoothed.rms < 0.8 * late.causal.rms)
    #expect(all.smoothed.coverage >= 0.95)
  }

  @Test("the filter does the same with a history, and the smoother ends where the filter ends")
  func end() throws {
    let board = SimulatedBoard()
    let trajectory = Trajectory.walk(begin: 1, tilt: 30 * degree, phase: 0)
    var plain = AttitudeEstimator(.offline)
    var recorded = AttitudeEstimator(.offline, keepsHistory: true)
    _ = Self.record(board, trajectory, seconds: 20, seed: 5, &plain)
    let moments = Self.record(board, trajectory, seconds: 20, seed: 5, &recorded)
    #expect(plain.state == recorded.state)
    let smoother = AttitudeSmoother(recorded)
    let last = try #require(moments.last)
    let attitude = try #require(smoother.attitude(at: Timestamp(seconds: 100 + last.t)))
    #expect((attitude * last.attitude.conjugate).rotationVector.length < 1e-9)
    // As far as the estimator goes on by itself, and no further.
    #expect(smoother.attitude(at: Timestamp(seconds: 100 + last.t + 0.09)) != nil)
    #expect(smoother.attitude(at: Timestamp(seconds: 100 + last.t + 0.11)) == nil)
    #expect(smoother.attitude(at: Timestamp(seconds: 99)) == nil)
  }

  @Test("attitude has no step that the gyro did not see")
  func continuity() throws {
    var board = SimulatedBoard()
    board.bias = Vector3(1, 1, -1) * degree
    var estimator = AttitudeEstimator(.offline, keepsHistory: true)
    let trajectory = Trajectory.walk(begin: 0, tilt: 30 * degree, phase: 1)
    let moments = Self.record(board, trajectory, seconds: 20, seed: 6, &estimator)
    let smoother = AttitudeSmoother(estimator)
    var worst = 0.0
    var old: (Quaternion, Quaternion)?
    for moment in moments {
      let now = try #require(smoother.attitude(at: Timestamp(seconds: 100 + moment.t)))
      if let old {
        let turn = (old.0.conjugate * now).rotationVector
        let truth = (old.1.conjugate * moment.truth).rotationVector
        worst = max(worst, (turn - truth).length / degree)
      }
      old = (now, moment.truth)
    }
    // The filter's own steps are up to degrees; the gyro's noise and bias are 0.01 deg a sample.
    #expect(worst < 0.05)
  }

  @Test(
    "a north that is found late turns all before it, by half a turn too",
    arguments: [-4, -2, 2, 4.0])
  func halfTurn(beyond: Double) throws {
    var board = SimulatedBoard()
    board.hasMagnetometer = false
    var estimator = AttitudeEstimator(.offline, keepsHistory: true)
    // Until there is a field the estimator says 0, and drifts by a bias that no rest shows.
    board.bias = Vector3(0, 0, 0.8 * degree)
    let trajectory = Trajectory(
      heading: { _ in .pi + beyond * degree }, pitch: { _ in 0 },
      roll: { 10 * degree * sin(2 * .pi * 0.5 * $0) }, acceleration: { _ in .zero })
    var moments = Self.record(board, trajectory, seconds: 8, seed: 20, &estimator)
    board.hasMagnetometer = true
    moments += Self.record(board, trajectory, from: 8, seconds: 8, seed: 21, &estimator)
    let smoother = AttitudeSmoother(estimator)
    var worst = 0.0
    for moment in moments {
      let attitude = try #require(smoother.attitude(at: Timestamp(seconds: 100 + moment.t)))
      worst = max(
        worst, abs(angleDifference(trueHeading(attitude), trueHeading(moment.truth))) / degree)
    }
    #expect(worst < 3)
  }

  @Test("the field of the place, and not the gyro, limits a smoothed heading")
  func limit() throws {
    var board = SimulatedBoard()
    board.bias = Vector3(0.5, 0.5, -0.5) * degree
    var estimator = AttitudeEstimator(.offline, keepsHistory: true)
    let moments = Self.record(
      board, .walk(begin: 0, tilt: 30 * degree, phase: 1), seconds: 90, seed: 7, &estimator)
    let smoother = AttitudeSmoother(estimator)
    for moment in moments where moment.t > 20 && moment.t < 70 {
      let heading = smoother.heading(try #require(moment.heading))
      #expect(heading.limit == .iron)
    }
  }

  @Test("in windows it comes to what it comes to at once")
  func windows() throws {
    var board = SimulatedBoard()
    board.bias = Vector3(0.5, 0.5, -0.5) * degree
    let trajectory = Trajectory.walk(begin: 0, tilt: 30 * degree, phase: 1)
    // An anomaly of the field takes minutes to average out, and windows of 10 s have not got them.
    var params = AttitudeParameters.offline
    (params.azimuth.leastDeviation, params.azimuth.deviation) = (0, 0)
    var (whole, parts) = (
      AttitudeEstimator(params, keepsHistory: true), AttitudeEstimator(params, keepsHistory: true)
    )
    parts.storage.history = AttitudeHistory(smootherParameters(window: 100, overlap: 300))
    _ = Self.record(board, trajectory, seconds: 90, seed: 7, &whole)
    let moments = Self.record(board, trajectory, seconds: 90, seed: 7, &parts)
    let (a, b) = (AttitudeSmoother(whole), AttitudeSmoother(parts))
    var worst = 0.0
    for moment in moments {
      let time = Timestamp(seconds: 100 + moment.t)
      let (x, y) = try (#require(a.attitude(at: time)), #require(b.attitude(at: time)))
      worst = max(worst, (x * y.conjugate).rotationVector.length / degree)
    }
    // 30 s of foresight instead of 90: the bias is known as well by then, the gyro's scale nearly.
    #expect(worst < 0.3)
  }

  @Test("nothing is carried over a gap, and nothing is said of it")
  func gap() throws {
    let board = SimulatedBoard()
    var estimator = AttitudeEstimator(.offline, keepsHistory: true)
    let first = Self.record(
      board, .walk(begin: 0, tilt: 20 * degree, phase: 1), seconds: 15, seed: 8, &estimator)
    let alone = AttitudeSmoother(estimator)
    let second = Self.record(
      board, .still(heading: 3), from: 40, seconds: 15, seed: 9, &estimator)
    let both = AttitudeSmoother(estimator)
    for moment in first {
      let time = Timestamp(seconds: 100 + moment.t)
      #expect(alone.attitude(at: time) == both.attitude(at: time))
    }
    #expect(both.attitude(at: Timestamp(seconds: 120)) == nil)
    let late = try Self.compare(second, both)
    #expect(late.smoothed.rms < 1)
    #expect(late.smoothedTilt.rms < 0.2)
  }

  @Test("without a gyro, or without an accelerometer, there is nothing to smooth")
  func nothing() {
    for (gyro, accelerometer) in [(false, true), (true, false), (false, false)] {
      var board = SimulatedBoard()
      (board.hasGyro, board.hasAccelerometer) = (gyro, accelerometer)
      var estimator = AttitudeEstimator(.offline, keepsHistory: true)
      let moments = Self.record(board, .still(heading: 1), seconds: 5, seed: 10, &estimator)
      let smoother = AttitudeSmoother(estimator)
      #expect(smoother.isEmpty)
      for heading in moments.compactMap(\.heading) { #expect(smoother.heading(heading) == heading) }
    }
    #expect(AttitudeSmoother(AttitudeEstimator()).isEmpty)
  }

  @Test("a history that begins in the middle of a run, and a state saved with one")
  func resumed() throws {
    let board = SimulatedBoard()
    let trajectory = Trajectory.walk(begin: 0, tilt: 30 * degree, phase: 1)
    var before = AttitudeEstimator(.offline, keepsHistory: true)
    _ = Self.record(board, trajectory, seconds: 10, seed: 11, &before)
    var after = AttitudeEstimator(state: before.state, keepsHistory: true)
    let moments = Self.record(board, trajectory, from: 10, seconds: 20, seed: 12, &after)
    let result = try Self.compare(moments, AttitudeSmoother(after))
    #expect(result.smoothed.rms <= result.causal.rms)
    // What can be smoothed takes every correction whole.
    var params = AttitudeParameters()
    params.magnetometer.takeWholeGains()
    var plain = AttitudeEstimator(params, state: before.state)
    _ = Self.record(board, trajectory, from: 10, seconds: 20, seed: 12, &plain)
    #expect(plain.state == after.state)
  }

  @Test("hostile values and times give attitudes that are rotations, or none", arguments: 1...6)
  func hostile(seed: UInt64) {
    var random = Noise(400 + seed)
    var estimator = AttitudeEstimator(.offline, keepsHistory: true)
    estimator.storage.history = AttitudeHistory(smootherParameters(window: 20, overlap: 10))
    let extremes = [0, 1e-300, 1e300, -.infinity, .nan, 99, -99, 999, 9_999]
    var time = Timestamp(nanoseconds: 0)
    var times: [Timestamp] = []
    func vector(_ scale: Double) -> Vector3 {
      guard random.uniform() < 0.02 else { return random.vector(scale) }
      return Vector3(extremes.randomElement(using: &random) ?? 0, random.normal(), 0)
    }
    for step in 0..<20_000 {
      time.nanoseconds &+= Int64(1e7 * random.uniform())
      if random.uniform() < 0.001 {
        time.nanoseconds =
          [.min, .max, 0, time.nanoseconds &+ 5_000_000_000].randomElement(
            using: &random) ?? 0
      }
      let scale = step / 4_000 % 2 == 0 ? 1.0 : 80
      estimator.update(angularRate: vector(scale), at: time)
      estimator.update(acceleration: vector(scale) + Vector3(0, 0, 9.8), at: time)
      let quality = random.uniform() < 0.01 ? .uncalibrated : SimulatedBoard().quality
      estimator.update(magneticField: vector(20 * scale), at: time, quality: quality)
      if random.uniform() < 0.002 {
        estimator.calibrationDidChange(shift: vector(10), quality: quality)
      }
      times.append(time)
    }
    let smoother = AttitudeSmoother(estimator)
    for time in times + [Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max)] {
      guard let q = smoother.attitude(at: time) else { continue }
      #expect(abs(q.w * q.w + q.vector.lengthSquared - 1) < 1e-9)
      let causal = HeadingEstimate(
        time: time, magneticHeading: 0, accuracy: 1, field: Vector3(.nan, 0, 1e300),
        attitude: .identity)
      if let accuracy = smoother.heading(causal).accuracy {
        #expect(accuracy >= 0 && accuracy <= .pi)
      }
    }
  }
}

private func smootherParameters(window: Int, overlap: Int) -> SmootherParameters {
  var params = SmootherParameters()
  params.window = window
  params.overlap = overlap
  return params
}
