// A field that points elsewhere at first and then is right: what heading does, and its bar.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

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
    arguments: 1...8 as ClosedRange<UInt64>)
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
      }
    }
    #expect(missing > 100 && (given > 100) == hasField && (withheld > 0) == hasField)
  }
}
