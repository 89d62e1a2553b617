// A field that points elsewhere at first and then is right: what heading does, and its bar.

import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite struct TurnedFieldTests {
  /// Heading's error in degrees, second by second from the moment on at which the field is right, and for how long at a
  /// stretch it was outside its bar.
  private struct Course {
    var errors: [Double] = []
    var longestLie = 0.0
  }

  private func course(turnedBy angle: Double, seconds: Double, seed: UInt64) -> Course {
    var board = SimulatedBoard()
    var noise = Noise(seed)
    board.bias = noise.vector(0.3 * degree)
    let turned = Quaternion(rotationVector: Vector3(0, 0, -angle * degree)).rotate(board.field)
    let difference = turned - board.field
    board.disturbance = { $0 < seconds ? difference : .zero }
    var (estimator, course) = (AttitudeEstimator(), Course())
    var lie = 0.0
    let trajectory = Trajectory.walk(begin: 1, tilt: 0.5, phase: noise.uniform())
    board.run(trajectory, seconds: seconds + 62, seed: seed, &estimator) { t, truth, estimator in
      guard t > 1.5, let heading = estimator.headingOrNil(at: t) else { return }
      let error = abs(angleDifference(heading.magneticHeading, trueHeading(truth)))
      lie = error > heading.accuracy ?? .infinity ? lie + 1 / board.rate : 0
      // Until the field is right, nobody can know.
      guard t > seconds else { return lie = 0 }
      course.longestLie = max(course.longestLie, lie)
      if Int(t - seconds) >= course.errors.count { course.errors.append(error / degree) }
    }
    return course
  }

  @Test(
    "ten seconds of a field turned by 10 degrees are forgotten within a minute",
    arguments: 1...80 as ClosedRange<UInt64>)
  func tenDegrees(seed: UInt64) throws {
    let course = course(turnedBy: seed % 2 == 0 ? 10 : -10, seconds: 10, seed: seed)
    let last = course.errors.suffix(2)
    print(
      "turned by 10 deg, seed \(seed): after 60 s \(text(last.max() ?? .nan)) deg, outside the bar for \(text(course.longestLie)) s"
    )
    #expect(course.errors.count > 60 && last.allSatisfy { $0 < 1 })
    #expect(course.longestLie < 5)
  }
}

@Suite struct CompassTests {
  /// Returns the limit of the heading after `seconds` seconds.
  private func limit(
    _ board: SimulatedBoard, _ trajectory: Trajectory, seconds: Double
  ) -> HeadingLimit? {
    var (estimator, heading) = (AttitudeEstimator(), HeadingEstimate?.none)
    board.run(trajectory, seconds: seconds, seed: 5, &estimator) { t, _, estimator in
      heading = estimator.headingOrNil(at: t)
    }
    #expect(heading != nil)
    return heading?.limit
  }

  @Test("a heading says what makes its bar wide")
  func limits() {
    var board = SimulatedBoard()
    board.quality = MagnetometerQuality(
      isCalibrated: true, offsetCovariance: Matrix3(diagonal: Vector3(repeating: 1)), residual: 0.2)
    // Rest shows nothing of an offset of 1 uT.
    #expect(limit(board, .still(heading: 1), seconds: 20) == .calibration)
    // A car that gains speed as soon as it is switched on.
    board = SimulatedBoard()
    let start = Trajectory(
      heading: { _ in 1 }, acceleration: { Vector3(2 * Trajectory.ramp($0, 0.5, 2), 0, 0) })
    #expect(limit(board, start, seconds: 14) == .acceleration)
    // Steel passes by for as long as the walk lasts.
    board.disturbance = { Vector3(6 * sin(1.3 * $0), 5 * sin(0.9 * $0), 4 * cos(0.7 * $0)) }
    #expect(limit(board, .walk(begin: 1, tilt: 0.5, phase: 1), seconds: 30) == .iron)
    board = SimulatedBoard()
    // North is a mean of a tenth of a second.
    #expect(limit(board, .still(heading: 1), seconds: 0.2) == .gyro)
    board.hasGyro = false
    #expect(limit(board, .walk(begin: 1, tilt: 0.3, phase: 1), seconds: 10) == .acceleration)
    #expect(limit(board, Trajectory(heading: { 2 * $0 }), seconds: 10) == .motion)
    // Mounted with the forward axis up: at the start with a gyro, and always without one.
    let steep = Trajectory.still(heading: 1, pitch: 1.45)
    #expect(limit(board, steep, seconds: 10) == .elevation)
    board.hasGyro = true
    #expect(limit(board, steep, seconds: 0.2) == .elevation)
    // A magnet is there, and the gyro holds the heading.
    board.disturbance = { $0 > 8 ? Vector3(15, 0, 10) : .zero }
    #expect(limit(board, .still(heading: 1), seconds: 12) == .iron)
    board.quality = .uncalibrated
    #expect(limit(board, .still(heading: 1), seconds: 5) == nil)
  }

  @Test("a tilt error that turns the heading of a steep axis counts for its elevation")
  func elevation() {
    let parameters = HeadingAccuracyParameters()
    func share(pitch: Double, tilt: Double, heading: Double) -> Double {
      // North is forward, and so the gradient of heading is the tangent of the pitch along north.
      let rotation = Matrix3(
        columns: Vector3(1, 0, 0), Vector3(0, cos(pitch), sin(pitch)),
        Vector3(0, -sin(pitch), cos(pitch)))
      let slopes = HeadingSlopes(rotation: rotation, field: Vector3(0, 20, -45), parameters)
      let variance = Vector3(tilt * tilt, tilt * tilt, heading * heading)
      return slopes.elevationShare(of: Matrix3(diagonal: variance))
    }
    #expect(share(pitch: 0, tilt: 0.1, heading: 0.01) == 0)
    // tan(1.5) is 14.1: 1 against 14.1 times a tenth.
    let square = 1.41014 * 1.41014
    #expect(abs(share(pitch: 1.5, tilt: 0.01, heading: 0.1) - square / (1 + square)) < 1e-5)
    #expect(share(pitch: 1.5, tilt: 0, heading: 0) == 0)
  }

  @Test(
    "compass(at:) says what heading(at:) says, in every mode",
    arguments: [
      (true, true), (false, true), (true, false), (false, false),
    ] as [(Bool, Bool)])
  func same(hasGyro: Bool, hasField: Bool) {
    var board = SimulatedBoard()
    (board.hasGyro, board.hasMagnetometer) = (hasGyro, hasField)
    board.disturbance = { $0 > 12 && $0 < 15 ? Vector3(40, 20, 0) : .zero }
    var estimator = AttitudeEstimator()
    var (given, withheld, missing) = (0, 0, 0)
    board.run(.walk(begin: 3, tilt: 0.3, phase: 1), seconds: 20, seed: 3, &estimator) {
      t, _, estimator in
      for later in [0, 0.02, 3] {
        let now = Timestamp(seconds: 100 + t + later)
        guard case .success(let heading) = estimator.heading(at: now) else {
          missing += 1
          #expect(estimator.compass(at: now) == nil)
          continue
        }
        if heading.accuracy == nil { withheld += 1 } else { given += 1 }
        let compass = estimator.compass(at: now)
        #expect(compass?.magneticHeading == heading.magneticHeading)
        #expect(compass?.accuracy == heading.accuracy && compass?.attitude == heading.attitude)
        #expect(heading.accuracy != nil || heading.reason != nil)
        #expect((heading.accuracy == nil) == (heading.limit == nil))
      }
    }
    #expect(missing > 100 && (given > 100) == hasField && (withheld > 0) == hasField)
  }
}
