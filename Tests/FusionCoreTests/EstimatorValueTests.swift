// An estimator is a value, although its numbers stand behind a reference.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

struct EstimatorValueTests {
  typealias Change = @Sendable (inout AttitudeEstimator) -> Void
  private static let now = Timestamp(seconds: 103.5)
  private static let other = MagnetometerQuality(
    isCalibrated: true, offsetCovariance: .identity, residual: 0.3)

  /// Everything by which an estimator can be changed.
  static let changes: [(String, Change)] = [
    ("rate", { $0.update(angularRate: Vector3(0.1, 0, 0), at: now) }),
    ("force", { $0.update(acceleration: Vector3(0.1, 0, 9.8), at: now) }),
    (
      "rate and force",
      { $0.update(angularRate: .zero, acceleration: Vector3(0, 0, 9.8), at: now) }
    ),
    ("field", { $0.update(magneticField: Vector3(1, 20, -40), at: now, quality: other) }),
    ("velocity", { $0.update(velocity: SIMD2(1, 2), deviation: 0.1, at: now) }),
    ("saturation", { _ = $0.fieldIsBeyondRange(at: now) }),
    ("calibration", { $0.calibrationDidChange(shift: Vector3(5, 0, 0), quality: other) }),
    ("turn", { $0.bodyDidTurn(by: Quaternion(w: 0, x: 0, y: 0, z: 1)) }),
    (
      "expectation",
      { $0.expectedField = MagneticDisturbanceTests.model }
    ),
    ("course", { $0.followsCourse = true }),
  ]

  @Test("what befalls a copy does not befall the original", arguments: changes.indices)
  func copies(_ index: Int) {
    let (name, change) = Self.changes[index]
    var original = AttitudeEstimator()
    SimulatedBoard().run(
      .walk(begin: 1, tilt: 0.4, phase: 1), from: 0, seconds: 3, seed: 4, &original
    ) { _, _, _ in }
    let before = original.state
    var copy = original
    change(&copy)
    #expect(original.state == before, "\(name) changed the original")
    #expect(copy.state != before, "\(name) changed nothing")
    // The original goes on as if there had been no copy.
    var alone = AttitudeEstimator(state: before)
    change(&original)
    change(&alone)
    #expect(original.state == alone.state)
    #expect(original.state == copy.state)
  }

  @Test("a gyro's bias that is told to a copy is the copy's")
  func bias() {
    let original = AttitudeEstimator()
    var copy = original
    copy.expectGyroBias(Vector3(0.01, 0, 0), deviation: 0.001)
    #expect(original.gyroBias == .zero)
    #expect(copy.gyroBias == Vector3(0.01, 0, 0))
  }
}
