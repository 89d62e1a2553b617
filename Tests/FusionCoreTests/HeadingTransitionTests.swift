// A heading that was found to be wrong goes to the right one in a second or two, and does not jump.

import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

import Glibc

struct HeadingTransitionTests {
  @Test("a jump that is absorbed is not seen at once, and is gone after some seconds")
  func absorbed() {
    var transition = HeadingTransition()
    let params = HeadingTransitionParameters()
    func shown(_ heading: Double) -> Double {
      // The attitude of a level board with this heading.
      let attitude = transition.applied(
        to: Quaternion(rotationVector: Vector3(0, 0, -heading)))
      let ahead = attitude.rotate(Vector3(0, 1, 0))
      return atan2(ahead.x, ahead.y)
    }
    #expect(abs(shown(0.3) - 0.3) < 1e-12)
    // The filter's own heading jumps from 0.3 to 0.8.
    transition.absorb(turn: -0.5)
    #expect(abs(shown(0.8) - 0.3) < 1e-12)
    for _ in 0..<100 { transition.decay(0.01, params) }
    // After a time constant, which is a second, 37 hundredths are left.
    #expect(abs(shown(0.8) - 0.8 + 0.5 / 2.7048) < 0.002)
    for _ in 0..<2_000 { transition.decay(0.01, params) }
    #expect(shown(0.8) == 0.8 || abs(shown(0.8) - 0.8) < 1e-9)
    // A correction counts the other way round, and only while the filter settles.
    transition.absorb(correction: 0.2)
    #expect(abs(shown(0.8) - 0.8) < 1e-9)
    transition.settle(params)
    transition.absorb(correction: 0.2)
    #expect(abs(shown(0.8) - 1) < 1e-9)
    for _ in 0..<301 { transition.decay(0.01, params) }
    let left = shown(0.8)
    transition.absorb(correction: 0.2)
    #expect(shown(0.8) == left)
  }

  // Iron that the filter finds turns north by up to half a circle. Of a jump that is passed on with a time constant of a
  // second, a sample of a hundredth of a second sees the hundredth part.
  @Test(
    "while another calibration is taken up, no north that is found makes the heading jump",
    arguments: [15.0, 25, 40], [3, 5] as [UInt64])
  func found(strength: Double, seed: UInt64) {
    func run(isTakenUp: Bool) -> (largest: Double, count: Int) {
      var random = Noise(0xBEE5 &+ seed)
      var board = SimulatedBoard()
      board.bias = random.vector(0.3 * degree)
      let direction = random.vector(1)
      let iron = direction * (strength / direction.length)
      board.attached = { _ in iron }
      let quality = board.quality
      var estimator = AttitudeEstimator()
      estimator.expectedField = ReferenceField(strength: 49, dip: 67 * degree)
      var before: (shown: Double, truth: Double)?
      var (largest, count, next) = (0.0, 0, 6.0)
      let walk = Trajectory.walk(begin: 3, tilt: 25 * degree, phase: 1)
      board.run(walk, seconds: 90, seed: seed, &estimator) { time, truth, e in
        if isTakenUp, time > next, time < 80 {
          next = time + 1
          e.calibrationDidChange(shift: Vector3(0.001, 0, 0), quality: quality)
        }
        guard time > 7, let estimate = e.headingOrNil(at: time) else { return before = nil }
        let now = (estimate.magneticHeading, trueHeading(truth))
        if let before {
          let shown = angleDifference(now.0, before.shown)
          largest = max(largest, abs(shown - angleDifference(now.1, before.truth)))
        }
        before = now
        count += 1
      }
      return (largest / degree, count)
    }
    let (shown, bare) = (run(isTakenUp: true), run(isTakenUp: false))
    print("iron \(strength), seed \(seed): \(shown) instead of \(bare)")
    #expect(shown.largest < 2.5 && shown.count > 5_000)
    #expect(bare.largest > 20, "this one has no jump that could be seen")
  }
}
