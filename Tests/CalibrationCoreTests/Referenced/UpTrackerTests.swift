import LinearAlgebra
import SensorTypes
import Testing

@testable import CalibrationCore

/// Up on a board whose accelerometer is pushed about.
struct UpTrackerTests {
  /// Up after a second of rest and a moment of another force, a pause later.
  private func carried(pause: Double, rate: Vector3? = .zero) -> Vector3? {
    var tracker = UpTracker()
    for k in 0...50 {
      _ = tracker.take(
        force: Vector3(0, 0, 9.8), rate: .zero, at: Timestamp(seconds: 10 + 0.02 * Double(k)))
    }
    return tracker.take(
      force: Vector3(9.8, 0, 0), rate: rate, at: Timestamp(seconds: 11 + pause))
  }

  @Test(
    "up is carried over a pause of less than half a second, and taken from the force after a longer one",
    arguments: [(0.02, true), (0.24, true), (0.3, true), (0.49, true), (0.5, false), (0.7, false)])
  func pauses(pause: Double, isCarried: Bool) throws {
    let up = try #require(carried(pause: pause))
    #expect((up.z > 0.7) == isCarried, "\(up)")
    if !isCarried { #expect(up == Vector3(1, 0, 0)) }
  }

  @Test("without a rate there is nothing to carry it with, and time that goes back begins again")
  func starts() {
    #expect(carried(pause: 0.02, rate: nil) == Vector3(1, 0, 0))
    #expect(carried(pause: 0.02, rate: Vector3(.nan, 0, 0)) == Vector3(1, 0, 0))
    #expect(carried(pause: -0.5) == Vector3(1, 0, 0))
  }

  @Test("it turns with the gyro: a quarter turn about the right axis brings up to forward")
  func turns() throws {
    var tracker = UpTracker()
    _ = tracker.take(force: Vector3(0, 0, 9.8), rate: nil, at: Timestamp(seconds: 0))
    var up = Vector3.zero
    for k in 1...1_000 {
      // Half of it is the gyro's own error.
      tracker.bias = Vector3(.pi / 2, 0, 0)
      let next = tracker.take(
        force: nil, rate: Vector3(.pi, 0, 0), at: Timestamp(seconds: 0.001 * Double(k)))
      up = try #require(next)
    }
    #expect((up - Vector3(0, 1, 0)).length < 0.01, "\(up)")
  }
}
