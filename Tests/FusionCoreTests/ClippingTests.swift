// Rates and forces beyond a chip's range: marked, they cost certainty and little else.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct ClippingTests {
  /// Swings about a slanted axis, out faster than the gyro shows and slowly back.
  private static var swings: Trajectory {
    Trajectory(
      heading: { 1 + swing($0) }, pitch: { 0.2 * swing($0) }, roll: { -0.15 * swing($0) })
  }

  /// Radians: every 4 s out by 150 degrees within 0.3 s, at 13 rad/s at most, and back within two seconds.
  private static func swing(_ t: Double) -> Double {
    let phase = (t - 5).truncatingRemainder(dividingBy: 4)
    guard t > 5 else { return 0 }
    return 2.6 * (Trajectory.ramp(phase, 0, 0.3) - Trajectory.ramp(phase, 1.5, 3.5))
  }

  private struct Outcome {
    var heading = ErrorStatistics()
    var tilt = ErrorStatistics()
    /// Error of heading after the first swing, degrees.
    var first = 0.0
  }

  /// - Parameter range: Largest rate of an axis, rad/s.
  private func run(range: Double, isMarked: Bool, hasField: Bool = true) -> Outcome {
    let trajectory = Self.swings
    var estimator = AttitudeEstimator()
    var outcome = Outcome()
    var noise = Noise(11)
    let quality = SimulatedBoard().quality
    for index in 0..<Int(208 * 60) {
      let t = Double(index) / 208
      let truth = trajectory.attitude(t)
      let time = Timestamp(seconds: 100 + t)
      var rate = trajectory.rate(t) + noise.vector(0.0388 * degree)
      var clipped: ClippedAxes = []
      for axis in 0..<3 where abs(rate[axis]) > range {
        rate[axis] = rate[axis] < 0 ? -range : range
        clipped.insert(ClippedAxes(axis: axis))
      }
      let force = truth.conjugate.rotate(Vector3(0, 0, 9.80665)) + noise.vector(0.007)
      estimator.update(
        angularRate: rate, acceleration: force,
        clipped: InertialClipping(angularRate: isMarked ? clipped : []), at: time)
      if index % 3 == 0, hasField || t < 4 {
        estimator.update(
          magneticField: truth.conjugate.rotate(earthField()) + noise.vector(0.3), at: time,
          quality: quality)
      }
      guard t > 4, let attitude = estimator.attitude(at: time) else { continue }
      let error = angleDifference(trueHeading(attitude), trueHeading(truth)) / degree
      if t < 6 { outcome.first = error }
      outcome.heading.add(
        error, halfWidth: estimator.headingOrNil(at: t)?.accuracy.map { $0 / degree })
      let up = attitude.rotate(truth.conjugate.rotate(Vector3(0, 0, 1)))
      outcome.tilt.add(atan2(hypot(up.x, up.y), up.z) / degree)
    }
    return outcome
  }

  @Test("a swing beyond the range is mended to a fraction of what it would cost")
  func swing() {
    let whole = run(range: 35, isMarked: true)
    let told = run(range: 10, isMarked: true)
    let untold = run(range: 10, isMarked: false)
    print(
      "swings of 13 rad/s, heading rms: within the range \(text(whole.heading.rms)), beyond it and",
      "marked \(text(told.heading.rms)), not marked \(text(untold.heading.rms)) deg; bar",
      "\(text(whole.heading.meanWidth)) and \(text(told.heading.meanWidth)), inside",
      text(told.heading.coverage))
    #expect(told.heading.rms < 0.5 * untold.heading.rms)
    #expect(told.tilt.rms < 0.5 * untold.tilt.rms)
    #expect(told.heading.coverage >= 0.95)
    // What is not known for sure is not called sure.
    #expect(told.heading.meanWidth > whole.heading.meanWidth)
  }

  @Test("without a field to mend it, the first swing is off by less than half of what was clipped")
  func parabola() {
    let told = run(range: 10, isMarked: true, hasField: false)
    let untold = run(range: 10, isMarked: false, hasField: false)
    print("one swing: \(text(told.first)) deg marked, \(text(untold.first)) not")
    #expect(abs(told.first) < 0.5 * abs(untold.first))
  }

  @Test("an axis that stays clipped takes heading's certainty away, up to half a turn")
  func forever() {
    func variance(isMarked: Bool, seconds: Double) -> Double {
      var estimator = AttitudeEstimator()
      let quality = SimulatedBoard().quality
      for index in 0..<Int(200 * (5 + seconds)) {
        let time = Timestamp(seconds: 100 + Double(index) / 200)
        // From rest to the end of the range within a sample, and nothing more is seen.
        estimator.update(
          angularRate: Vector3(0, 0, index > 1000 ? 17 : 0), acceleration: Vector3(0, 0, 9.81),
          clipped: InertialClipping(angularRate: isMarked && index > 1000 ? .z : []), at: time)
        if index <= 1000 {
          estimator.update(magneticField: earthField(), at: time, quality: quality)
        }
      }
      return estimator.state.filter.covariance[2, 2]
    }
    let (short, long) = (
      variance(isMarked: true, seconds: 0.3), variance(isMarked: true, seconds: 25)
    )
    let unmarked = variance(isMarked: false, seconds: 0.3)
    print(
      "clipped for 0.3 s and for 25 s: \(text(short)) and \(text(long)) rad^2, not marked \(text(unmarked))"
    )
    #expect(short > 2 && unmarked < 0.1)
    #expect(long >= short)
  }

  @Test("of a swing that goes far beyond the range the bar knows", arguments: [1.3, 2, 3])
  func far(share: Double) {
    let told = run(range: 13 / share, isMarked: true)
    print(
      "swings to \(share) times the range: heading \(text(told.heading.rms)) deg, bar",
      "\(text(told.heading.meanWidth)), inside \(text(told.heading.coverage))")
    #expect(told.heading.coverage >= 0.95)
  }

  @Test("a range that becomes wider in the middle of a swing is no end of it")
  func widened() {
    // The rate rises evenly to 12 rad/s; from 5 on it is clipped, and from 9 on seen again.
    func rate(_ t: Double) -> Double { max(0, min(12, 20 * (t - 5))) }
    var estimator = AttitudeEstimator()
    var turned = 0.0
    for index in 0..<1200 {
      let t = Double(index) / 200
      if index > 0 { turned += 0.5 * (rate(t) + rate(t - 0.005)) * 0.005 }
      let isClipped = rate(t) > 5 && rate(t) < 9
      let time = Timestamp(seconds: 100 + t)
      estimator.update(
        angularRate: Vector3(0, 0, isClipped ? 5 : rate(t)), acceleration: Vector3(0, 0, 9.80665),
        clipped: InertialClipping(angularRate: isClipped ? .z : []), at: time)
      if index < 900 {
        estimator.update(
          magneticField: earthField(), at: time, quality: SimulatedBoard().quality)
      }
    }
    // A counterclockwise turn lowers heading. From 5 to 9 rad/s the board turned by 80 degrees; the samples show 57.
    let attitude = estimator.attitude(at: Timestamp(seconds: 105.995))
    let heading = attitude.map { trueHeading($0) } ?? .nan
    let error = angleDifference(heading, -turned) / degree
    print("a range that became wider: \(text(error)) deg")
    #expect(abs(error) < 3)
  }

  @Test("a shake from one end of the range to the other is two swings")
  func shake() {
    func heading(isMarked: Bool) -> Double {
      var estimator = AttitudeEstimator()
      for index in 0..<1100 {
        let t = Double(index) / 200
        // Out for twice as long as back.
        let rate = t < 5 ? 0 : t < 5.1 ? 20 : t < 5.15 ? -20 : 0.0
        let time = Timestamp(seconds: 100 + t)
        estimator.update(
          angularRate: Vector3(0, 0, max(-15, min(15, rate))),
          acceleration: Vector3(0, 0, 9.80665),
          clipped: InertialClipping(angularRate: isMarked && abs(rate) > 15 ? .z : []), at: time)
        if index < 900 {
          estimator.update(
            magneticField: earthField(), at: time, quality: SimulatedBoard().quality)
        }
      }
      let attitude = estimator.attitude(at: Timestamp(seconds: 105.495))
      return attitude.map { trueHeading($0) } ?? .nan
    }
    // What was missed outwards is more, and counterclockwise.
    #expect(angleDifference(heading(isMarked: true), heading(isMarked: false)) < -0.1)
  }

  @Test("before the filter runs, and without a gyro, clipped samples are dropped")
  func start() {
    var (estimator, plain) = (AttitudeEstimator(), AttitudeEstimator())
    for index in 0..<400 {
      let time = Timestamp(seconds: 100 + Double(index) / 200)
      if index % 5 == 0, !plain.state.filter.isRunning {
        estimator.update(
          angularRate: Vector3(35, 0, 0), acceleration: Vector3(0, 160, 0),
          clipped: InertialClipping(angularRate: .x, acceleration: .y), at: time)
        continue
      }
      estimator.update(angularRate: .zero, acceleration: Vector3(0, 1, 9.75), at: time)
      plain.update(angularRate: .zero, acceleration: Vector3(0, 1, 9.75), at: time)
    }
    #expect(estimator.attitude == plain.attitude && plain.attitude != nil)
    var (direct, same) = (AttitudeEstimator(), AttitudeEstimator())
    for index in 0..<100 {
      let time = Timestamp(seconds: 100 + Double(index) / 100)
      direct.update(acceleration: Vector3(0, 1, 9.75), at: time)
      same.update(acceleration: Vector3(0, 1, 9.75), at: time)
      let quality = SimulatedBoard().quality
      direct.update(magneticField: earthField(), at: time, quality: quality)
      same.update(magneticField: earthField(), at: time, quality: quality)
      direct.update(
        acceleration: Vector3(160, 0, 0), clipped: .x, at: time.advanced(bySeconds: 0.001))
    }
    #expect(direct.attitude == same.attitude && same.attitude != nil)
  }

  @Test("the frames of device motion are mended too")
  func frames() {
    let trajectory = Self.swings
    var (estimator, frames) = (AttitudeEstimator(), VerticalFrames())
    var (noise, first, last) = (Noise(11), 0.0, 0.0)
    for index in 0..<Int(208 * 30) {
      let t = Double(index) / 208
      let truth = trajectory.attitude(t)
      let time = Timestamp(seconds: 100 + t)
      var rate = trajectory.rate(t) + noise.vector(0.0388 * degree)
      let clipped = ClippedAxes(rate, beyond: 10)
      for axis in 0..<3 where clipped.contains(axis: axis) {
        rate[axis] = rate[axis] < 0 ? -10 : 10
      }
      estimator.update(
        angularRate: rate, acceleration: truth.conjugate.rotate(Vector3(0, 0, 9.80665)),
        clipped: InertialClipping(angularRate: clipped), at: time)
      frames.update(angularRate: rate, at: time, estimator)
      guard let free = frames.free else { continue }
      last = angleDifference(trueHeading(free), trueHeading(truth)) / degree
      if t < 4 { first = last }
    }
    // Without the mend each of the seven swings costs 16 degrees.
    print("the free frame after seven swings: \(text(last - first)) deg")
    #expect(abs(last - first) < 0.3 * 7 * 16)
  }

  /// Somebody who runs: his steps are beyond what the accelerometer shows, mostly along the body's y axis, which leans.
  @Test("forces beyond the range cost velocity's certainty, along the axis that was clipped")
  func force() {
    func variances(_ clipped: ClippedAxes) -> (x: Double, y: Double) {
      var estimator = AttitudeEstimator()
      for index in 0..<400 {
        let t = Double(index) / 100
        // y axis north, z up.
        estimator.update(
          angularRate: .zero, acceleration: Vector3(0, 0, 9.80665),
          clipped: InertialClipping(acceleration: index > 300 ? clipped : []),
          at: Timestamp(seconds: 100 + t))
        estimator.update(
          magneticField: earthField(), at: Timestamp(seconds: 100 + t),
          quality: SimulatedBoard().quality)
      }
      let covariance = estimator.state.filter.covariance
      return (covariance[6, 6], covariance[7, 7])
    }
    let (none, x, y, z) = (variances([]), variances(.x), variances(.y), variances(.z))
    #expect(x.x > 2 * none.x && x.y < 1.1 * none.y)
    #expect(y.y > 2 * none.y && y.x < 1.1 * none.x)
    // Upwards no velocity is estimated.
    #expect(z.x < 1.1 * none.x && z.y < 1.1 * none.y)
  }
}

@Suite struct ClippedAxesTests {
  @Test("axes show in another frame where half of them lies, and always in one")
  func turned() {
    let quarter = Quaternion(rotationVector: Vector3(0, 0, .pi / 2)).matrix
    #expect(ClippedAxes.x.seen(through: quarter) == .y)
    #expect(ClippedAxes([.x, .z]).seen(through: quarter) == [.y, .z])
    #expect(ClippedAxes([]).seen(through: quarter).isEmpty)
    var noise = Noise(4)
    for _ in 0..<500 {
      let turn = Quaternion(rotationVector: noise.vector(2)).matrix
      for axis in 0..<3 { #expect(!ClippedAxes(axis: axis).seen(through: turn).isEmpty) }
    }
    // 45 degrees: both.
    let slanted = Quaternion(rotationVector: Vector3(0, 0, .pi / 4)).matrix
    #expect(ClippedAxes.x.seen(through: slanted) == [.x, .y])
    let pair = InertialClipping(angularRate: .x, acceleration: [])
    #expect(pair.seen(through: quarter) == InertialClipping(angularRate: .y))
    #expect(!pair.isEmpty && InertialClipping().isEmpty)
  }

  @Test("axes beyond a limit, either way; a value that is none is not beyond it")
  func beyond() {
    #expect(ClippedAxes(Vector3(2, -3, 1), beyond: 1.5) == [.x, .y])
    #expect(ClippedAxes(Vector3(1.5, -1.5, 0), beyond: 1.5).isEmpty)
    #expect(ClippedAxes(Vector3(-.infinity, .nan, 0), beyond: 1.5) == .x)
    #expect(ClippedAxes.all == [.x, .y, .z])
    for axis in 0..<3 { #expect(ClippedAxes(axis: axis).contains(axis: axis)) }
  }
}
