// A vehicle whose heading comes from its receiver's course: no magnetometer, or one beside an engine.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct CourseTests {
  /// Stands, sets off at 2 m/s^2, drives bends at 12 m/s, stops for 20 s, and drives on. Signs and sizes of
  /// the bends by chance.
  struct Drive {
    let start: Double
    let bends: [Double]

    init(seed: UInt64) {
      var noise = Noise(seed)
      start = 2 * .pi * noise.uniform()
      bends = (0..<24).map { _ in (noise.uniform() - 0.5) * 2.4 }
    }

    func heading(_ t: Double) -> Double {
      var sum = start
      for (k, bend) in bends.enumerated() where !(4...8).contains(k) {
        let begin = 14 + 7 * Double(k)
        sum += bend * Trajectory.ramp(t, begin, begin + 5)
      }
      return sum
    }

    func speed(_ t: Double) -> Double {
      12 * (Trajectory.ramp(t, 5, 12) - Trajectory.ramp(t, 44, 52) + Trajectory.ramp(t, 72, 80))
    }

    func velocity(_ t: Double) -> Vector3 {
      Vector3(sin(heading(t)), cos(heading(t)), 0) * speed(t)
    }

    /// On springs and stones: some degrees of pitch and roll, and the noise of the road.
    var trajectory: Trajectory {
      Trajectory(
        heading: heading,
        pitch: { 0.02 * speed($0) / 12 * sin(2 * .pi * 0.9 * $0) },
        roll: { 0.02 * speed($0) / 12 * sin(2 * .pi * 1.3 * $0) },
        acceleration: { t in
          let road = speed(t) / 12 * Vector3(0.3 * sin(40 * t), 0.3 * sin(53 * t), sin(61 * t))
          return (velocity(t + 0.001) - velocity(t - 0.001)) / 0.002 + road
        })
    }

    /// Feeds a receiver's velocity every second, 0.1 s late, beside what the board's chips say.
    func run(
      _ board: SimulatedBoard, seed: UInt64, seconds: Double = 150,
      silence: ClosedRange<Double>? = nil, _ estimator: inout AttitudeEstimator,
      _ body: (Double, Quaternion, inout AttitudeEstimator) -> Void
    ) {
      var noise = Noise(seed)
      var next = 1.0
      board.run(trajectory, seconds: seconds, seed: seed, &estimator) { t, truth, estimator in
        if t >= next {
          next += 1
          let then = t - 0.1
          let v = velocity(then) + noise.vector(0.12)
          if silence?.contains(t) != true {
            estimator.update(
              velocity: SIMD2(v.x, v.y), deviation: 0.2, at: Timestamp(seconds: 100 + then))
          }
        }
        body(t, truth, &estimator)
      }
    }
  }

  @Test(arguments: 1...6)
  func withoutAMagnetometerHeadingIsTheCourseCarriedOnByTheGyro(seed: Int) {
    var board = SimulatedBoard()
    board.hasMagnetometer = false
    var noise = Noise(UInt64(seed + 70))
    board.bias = noise.vector(0.5 * degree)
    var estimator = AttitudeEstimator()
    estimator.followsCourse = true
    var result = ErrorStatistics()
    var first: Double?
    Drive(seed: UInt64(seed)).run(board, seed: UInt64(seed), &estimator) { t, truth, estimator in
      guard let estimate = estimator.headingOrNil(at: t) else { return }
      first = first ?? t
      let error = angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree
      result.add(error, halfWidth: estimate.accuracy.map { $0 / degree })
    }
    print(
      "by course, seed \(seed): rms \(text(result.rms)) worst \(text(result.worst)) inside",
      "\(text(result.coverage)) half-width \(text(result.meanWidth)) from \(text(first ?? -1)) s")
    // Nothing before it moves: a vehicle that stands points anywhere.
    #expect((first ?? 0) > 6 && (first ?? 99) < 10)
    #expect(result.rms < 1.5 && result.worst < 6)
    #expect(result.coverage >= 0.95)
    #expect(result.meanWidth < 8)
  }

  @Test func withoutTheDeclarationACourseIsNoHeading() {
    var board = SimulatedBoard()
    board.hasMagnetometer = false
    var estimator = AttitudeEstimator()
    Drive(seed: 3).run(board, seed: 3, seconds: 30, &estimator) { t, _, estimator in
      #expect(estimator.headingOrNil(at: t) == nil)
    }
  }

  @Test func aLostReceiverWidensTheBoundAndTheTruthStaysInside() throws {
    var board = SimulatedBoard()
    board.hasMagnetometer = false
    board.bias = Vector3(0.3, -0.2, 0.4) * degree
    var estimator = AttitudeEstimator()
    estimator.followsCourse = true
    var result = ErrorStatistics()
    var widths: (before: Double?, after: Double?)
    Drive(seed: 4).run(board, seed: 4, silence: 80...150, &estimator) { t, truth, estimator in
      guard let estimate = estimator.headingOrNil(at: t), let accuracy = estimate.accuracy else {
        return
      }
      if t < 80 { widths.before = accuracy } else { widths.after = accuracy }
      let error = angleDifference(estimate.magneticHeading, trueHeading(truth))
      result.add(error, halfWidth: accuracy)
    }
    let (before, after) = (try #require(widths.before), try #require(widths.after))
    #expect(after > 1.05 * before)
    #expect(result.coverage >= 0.95)
  }

  /// Stands for 2 s, then sets off at 2 m/s^2 along its y axis, turning at `turn` rad/s clockwise from 3 s on, and hears
  /// its first course `offset` gyro samples after the block that ends past 6 s has begun.
  private func setOff(turn: Double, courseAfter offset: Int) -> AttitudeEstimator {
    var estimator = AttitudeEstimator()
    estimator.followsCourse = true
    var sinceClosed = 0
    var isOwed = true
    var closed = 0
    for step in 0..<1_000 {
      let t = Double(step) / 100
      let time = Timestamp(seconds: 100 + t)
      let rate = t > 3 ? turn : 0
      let speed = 2 * max(0, t - 2)
      let before = estimator.state.filter.block.duration
      estimator.update(
        angularRate: Vector3(0, 0, -rate),
        acceleration: Vector3(speed * rate, t > 2 ? 2 : 0, 9.80665), at: time)
      sinceClosed = estimator.state.filter.block.duration > before ? sinceClosed + 1 : 0
      if t > 6 && sinceClosed == 0 { closed += 1 }
      if isOwed && closed == 1 && sinceClosed == offset {
        isOwed = false
        let course = 2 + turn * (t - 3)
        estimator.update(
          velocity: SIMD2(sin(course), cos(course)) * 8, deviation: 0.2, at: time)
      }
      if closed == 2 { return estimator }
    }
    return estimator
  }

  @Test func aCourseInTheMiddleOfABlockIsWorthTheSameAsOneAtItsEnd() throws {
    let end = setOff(turn: 0, courseAfter: 8).state.filter
    for offset in 1...8 {
      let middle = setOff(turn: 0, courseAfter: offset).state.filter
      #expect(middle.hasNorth)
      let difference = middle.strapdown.attitude * end.strapdown.attitude.conjugate
      #expect(difference.rotationVector.length < 1e-9)
      #expect((middle.strapdown.bias - end.strapdown.bias).length < 1e-9)
      #expect(abs(middle.velocity.x - end.velocity.x) < 1e-9)
      #expect(abs(middle.velocity.y - end.velocity.y) < 1e-9)
      let (a, b) = (try #require(middle.lastForce), try #require(end.lastForce))
      #expect((a - b).length < 1e-9)
      for axis in 0..<ErrorVector.count {
        for other in 0..<ErrorVector.count {
          #expect(abs(middle.covariance[axis, other] - end.covariance[axis, other]) < 1e-9)
        }
      }
    }
  }

  @Test(arguments: 1...8)
  func aCourseThatWaitsTurnsOnWithTheCarrier(offset: Int) throws {
    let estimator = setOff(turn: 0.3, courseAfter: offset)
    let now = try #require(estimator.state.rateTime).seconds(since: Timestamp(seconds: 100))
    let heading = DirectAttitude.heading(of: try #require(estimator.attitude))
    // Waiting for 0.08 s unturned it would be 1.4 degrees off.
    #expect(abs(angleDifference(heading, 2 + 0.3 * (now - 3))) < 0.3 * degree)
  }

  @Test(arguments: 1...8)
  func whatTheFilterRemembersOfMotionTurnsWithTheEarthFrame(offset: Int) throws {
    // It moves along its y axis all the time: so does all that it remembers of that, in any frame.
    let filter = setOff(turn: 0, courseAfter: offset).state.filter
    let heading = DirectAttitude.heading(of: filter.strapdown.attitude)
    #expect(abs(angleDifference(heading, 2)) < 0.1 * degree)
    func along(_ v: Vector3) -> Double { angleDifference(atan2(v.x, v.y), heading) / degree }
    #expect(abs(along(try #require(filter.lastForce))) < 0.5)
    #expect(abs(along(try #require(filter.meanForce))) < 0.5)
    #expect(abs(along(Vector3(filter.velocity.x, filter.velocity.y, 0))) < 0.5)
    // A tilt is one about the axis across.
    let pull = Vector3(filter.pull.x, filter.pull.y, 0)
    #expect(pull.length > 0.001)
    #expect(abs(abs(along(pull)) - 90) < 0.5)
  }

  @Test func theFieldOfASilentMagnetometerIsMissingNotOld() throws {
    var board = SimulatedBoard()
    var estimator = AttitudeEstimator()
    estimator.followsCourse = true
    let drive = Drive(seed: 6)
    drive.run(board, seed: 6, seconds: 30, &estimator) { _, _, _ in }
    #expect(try estimator.heading(at: Timestamp(seconds: 130)).get().field != nil)
    board.hasMagnetometer = false
    board.run(drive.trajectory, from: 30, seconds: 3, seed: 7, &estimator) { _, _, _ in }
    let estimate = try estimator.heading(at: Timestamp(seconds: 133)).get()
    #expect(estimate.field == nil)
    #expect(estimate.accuracy != nil && estimate.reason == nil)
  }

  @Test(arguments: [true, false])
  func smoothedTheBoundKnowsHowACarrierSlipsAndIsMounted(hasMagnetometer: Bool) {
    var board = SimulatedBoard()
    board.hasMagnetometer = hasMagnetometer
    var estimator = AttitudeEstimator(keepsHistory: true)
    estimator.followsCourse = true
    var moments: [(truth: Double, heading: HeadingEstimate)] = []
    Drive(seed: 8).run(board, seed: 8, seconds: 60, &estimator) { t, truth, estimator in
      guard t > 15, let estimate = estimator.headingOrNil(at: t) else { return }
      moments.append((trueHeading(truth), estimate))
    }
    let smoother = AttitudeSmoother(estimator)
    #expect(moments.count > 9_000)
    // Mounting and slip of 2 degrees, that no number of courses shows, are in it at 95 %.
    let least = 1.96 * 0.0012.squareRoot()
    var worst = Double.pi
    var result = ErrorStatistics()
    for (truth, causal) in moments {
      let later = smoother.heading(causal)
      worst = min(worst, later.accuracy ?? 0)
      result.add(angleDifference(later.magneticHeading, truth), halfWidth: later.accuracy)
    }
    #expect(worst > least)
    #expect(worst < 2 * least, "and not much more")
    #expect(result.coverage > 0.99)
  }

  @Test func besideAnEngineTheCoursePutsTheMagnetometerRight() {
    var board = SimulatedBoard()
    // 6 uT that no calibration knows of.
    board.offset = Vector3(5, -3, 1)
    func rms(follows: Bool) -> Double {
      var estimator = AttitudeEstimator()
      estimator.followsCourse = follows
      var result = ErrorStatistics()
      Drive(seed: 5).run(board, seed: 5, &estimator) { t, truth, estimator in
        guard t > 30, let estimate = estimator.headingOrNil(at: t) else { return }
        result.add(angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree)
      }
      return result.rms
    }
    let (alone, followed) = (rms(follows: false), rms(follows: true))
    print("beside an engine: rms \(text(alone)), with course \(text(followed))")
    #expect(followed < 0.6 * alone)
    #expect(followed < 5)
  }
}
