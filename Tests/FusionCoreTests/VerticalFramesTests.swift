@_spi(Tuning) import FusionCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

/// Frames about the vertical, with an estimator beside them whose north can be pulled away.
struct VerticalFramesTests {
  /// A board that lies, then turns about up at `rate`, with a field that points so far from north.
  private struct Rig {
    var estimator = AttitudeEstimator()
    var frames = VerticalFrames()
    var time = 0.0
    /// The body's heading, clockwise.
    var heading = 0.4
    private var count = 0

    mutating func run(_ seconds: Double, rate: Double = 0, north: Double = 0, trusts: Bool = true) {
      let dt = 0.005
      for _ in 0..<Int((seconds / dt).rounded()) {
        time += dt
        heading -= rate * dt
        let now = Timestamp(seconds: time)
        let turn = Vector3(0, 0, rate)
        estimator.update(angularRate: turn, acceleration: Vector3(0, 0, 9.81), at: now)
        frames.update(angularRate: turn, at: now, estimator)
        var isKnown = false
        if case .success(let found) = estimator.heading(at: now) { isKnown = found.accuracy != nil }
        frames.steady(isTrusted: trusts && isKnown, at: now)
        count += 1
        guard count.isMultiple(of: 3) else { continue }
        let angle = heading - north
        estimator.update(
          magneticField: Vector3(-20 * sin(angle), 20 * cos(angle), -44), at: now,
          quality: MagnetometerQuality(
            isCalibrated: true, offsetCovariance: Matrix3(diagonal: Vector3(repeating: 0.01)),
            residual: 0.3))
      }
    }
  }

  private func yaw(_ attitude: Quaternion?) -> Double {
    guard let attitude else { return .nan }
    let y = attitude.rotate(Vector3(0, 1, 0))
    return atan2(-y.x, y.y) * 180 / .pi
  }

  @Test(
    "motion: the free frame begins at zero and turns as the body does, to the left for a positive rate"
  )
  func turns() {
    var rig = Rig()
    rig.run(2)
    #expect(abs(yaw(rig.frames.free)) < 0.05)
    #expect(abs(yaw(rig.frames.steadied)) < 0.1)
    rig.run(2, rate: 0.5)
    #expect(abs(yaw(rig.frames.free) - 180 / .pi) < 0.3)
  }

  @Test(
    "motion: north that moves by thirty degrees moves the free frame not at all, the steadied one slowly"
  )
  func jump() {
    var rig = Rig()
    rig.run(6)
    let before = yaw(rig.frames.free)
    var (last, fastest, freeStep) = (yaw(rig.frames.steadied), 0.0, 0.0)
    var lastFree = before
    for _ in 0..<600 {
      rig.run(0.1, north: 30 * .pi / 180)
      let (steadied, free) = (yaw(rig.frames.steadied), yaw(rig.frames.free))
      fastest = max(fastest, abs(steadied - last) / 0.1)
      freeStep = max(freeStep, abs(free - lastFree))
      (last, lastFree) = (steadied, free)
    }
    #expect(freeStep < 0.05)
    #expect(abs(lastFree - before) < 1.5)
    #expect(fastest < VerticalFramesParameters().fastest * 180 / .pi + 0.5)
  }

  @Test("motion: what is not to be trusted leads nothing anywhere")
  func untrusted() {
    var rig = Rig()
    rig.run(6)
    let before = yaw(rig.frames.steadied) - yaw(rig.frames.free)
    rig.run(20, north: 30 * .pi / 180, trusts: false)
    #expect(abs(yaw(rig.frames.steadied) - yaw(rig.frames.free) - before) < 0.01)
  }

  @Test(
    "motion: a body frame that is another one leaves the attitude of the body's axes where it was")
  func bodyTurn() throws {
    var rig = Rig()
    rig.run(2, rate: 0.2)
    let before = try #require(rig.frames.free)
    let turn = Quaternion(rotationVector: Vector3(0, 0, 0.3))
    rig.frames.bodyDidTurn(by: turn)
    let after = try #require(rig.frames.free)
    let axis = Vector3(0.2, 0.9, 0.1)
    #expect((after.rotate(turn.rotate(axis)) - before.rotate(axis)).length < 1e-12)
  }
}
