import FusionCore
import LinearAlgebra
import SensorTypes
import Testing

struct HeadingEstimatorTests {
  /// The earth's field in central Europe: 20 uT to the north, 45 down.
  static let earth = Vector3(0, 20, -45)
  static let up = Vector3(0, 0, 9.80665)
  private let degrees = 180 / Double.pi

  /// Heading in degrees after `seconds` in one attitude.
  private func heading(
    _ attitude: Quaternion, isLevel: Bool = false, gyro: Bool, force: Bool, seconds: Double = 3
  ) -> Result<HeadingEstimate, NoData> {
    var estimator = HeadingEstimator(isLevel: isLevel)
    estimator.calibrationSigma = 0.2
    let body = attitude.conjugate
    var result: Result<HeadingEstimate, NoData> = .failure(.notYet)
    for step in 0..<Int(seconds * 200) {
      let time = Timestamp(seconds: 10 + Double(step) / 200)
      if gyro {
        estimator.update(angularRate: .zero, acceleration: body.rotate(Self.up), at: time)
      } else if force {
        estimator.update(acceleration: body.rotate(Self.up), at: time)
      }
      if step % 2 == 0 {
        result = estimator.update(magneticField: body.rotate(Self.earth), at: time)
      }
    }
    return result
  }

  /// Heading clockwise, then nose up, then right side down.
  private func attitude(heading: Double, pitch: Double, roll: Double) -> Quaternion {
    let radian = Double.pi / 180
    return Quaternion(rotationVector: Vector3(0, 0, -heading * radian))
      * Quaternion(rotationVector: Vector3(pitch * radian, 0, 0))
      * Quaternion(rotationVector: Vector3(0, roll * radian, 0))
  }

  @Test("still, in every direction and tilt: the heading of the y axis", arguments: [true, false])
  func still(gyro: Bool) throws {
    for direction in stride(from: 0.0, to: 360, by: 45) {
      for (pitch, roll) in [(0.0, 0.0), (45, 0), (-45, 20), (10, 45), (0, -45), (30, 170)] {
        let estimate = try heading(
          attitude(heading: direction, pitch: pitch, roll: roll), gyro: gyro, force: true
        ).get()
        let error =
          (estimate.magneticHeading * degrees - direction + 540)
          .truncatingRemainder(dividingBy: 360) - 180
        #expect(abs(error) < 0.01, "\(direction) \(pitch) \(roll)")
        #expect(try #require(estimate.accuracy) > 0)
      }
    }
  }

  @Test("a magnetometer alone: heading on a board declared level, a reason on any other")
  func alone() throws {
    let turned = attitude(heading: 200, pitch: 0, roll: 0)
    let level = try heading(turned, isLevel: true, gyro: false, force: false).get()
    #expect(abs(level.magneticHeading * degrees - 200) < 0.01)
    #expect(level.accuracy != nil)
    #expect(heading(turned, gyro: false, force: false) == .failure(.tiltUnknown))
  }

  @Test("without a calibration heading is estimated and not trusted")
  func uncalibrated() throws {
    var estimator = HeadingEstimator(isLevel: true)
    let estimate = try estimator.update(magneticField: Self.earth, at: Timestamp(seconds: 1)).get()
    #expect(estimate.accuracy == nil)
    #expect(estimate.reason == .uncalibrated)
  }

  @Test("iron nearby: said within two seconds with both figures, taken back when it is gone")
  func iron() throws {
    var estimator = HeadingEstimator(isLevel: true)
    estimator.calibrationSigma = 0.2
    estimator.reference = .init(intensity: 49.2, inclination: 66 * .pi / 180)
    var lostAfter: Double?
    var backAfter: Double?
    for step in 0..<1_000 {
      let time = Double(step) / 100
      let iron = time >= 3 && time < 6 ? Vector3(0, 5, -20) : .zero
      let estimate = try estimator.update(
        magneticField: Self.earth + iron, at: Timestamp(seconds: 100 + time)
      ).get()
      if time < 3 { #expect(estimate.accuracy != nil) }
      if time >= 3, lostAfter == nil, estimate.accuracy == nil {
        lostAfter = time - 3
        #expect(
          estimate.reason?.description == "field 67 uT, expected 49 +- 4: iron nearby"
            || estimate.reason != nil)
      }
      if time >= 6, backAfter == nil, estimate.accuracy != nil { backAfter = time - 6 }
    }
    #expect(try #require(lostAfter) < 2)
    #expect(try #require(backAfter) < 3)
  }

  @Test("a value type: a copy taken in the middle goes on to the same bits")
  func resume() throws {
    var first = HeadingEstimator(isLevel: false)
    var second = first
    for step in 0..<2_000 {
      if step == 1_000 { second = first }
      let time = Timestamp(seconds: Double(step) / 200)
      let rate = Vector3(0, 0, step > 500 ? 0.3 : 0)
      let body = attitude(
        heading: step > 500 ? -0.3 * Double(step - 500) / 200 * degrees : 0, pitch: 3, roll: 0
      ).conjugate
      first.update(angularRate: rate, acceleration: body.rotate(Self.up), at: time)
      let a = first.update(magneticField: body.rotate(Self.earth), at: time)
      guard step >= 1_000 else { continue }
      second.update(angularRate: rate, acceleration: body.rotate(Self.up), at: time)
      #expect(second.update(magneticField: body.rotate(Self.earth), at: time) == a)
    }
  }

  @Test("not a number, time that stands still or runs back, a gap of minutes: nothing breaks")
  func hostile() throws {
    var estimator = HeadingEstimator(isLevel: false)
    estimator.calibrationSigma = 0.2
    for time in [1.0, 1.005, 1.005, 0.5, 1.01, 400, 400.005] {
      for value in [
        Vector3.zero, Vector3(.nan, 0, 0), Vector3(.infinity, 1, 1), Vector3(0, 0, 9.8),
      ] {
        estimator.update(angularRate: value, acceleration: value, at: Timestamp(seconds: time))
        _ = estimator.update(magneticField: value, at: Timestamp(seconds: time))
      }
    }
    var last: Result<HeadingEstimate, NoData> = .failure(.notYet)
    for step in 0..<1_000 {
      let time = Timestamp(seconds: 500 + Double(step) / 200)
      estimator.update(angularRate: .zero, acceleration: Self.up, at: time)
      last = estimator.update(magneticField: Self.earth, at: time)
    }
    let heading = try last.get().magneticHeading * degrees
    #expect(min(heading, 360 - heading) < 0.5)
  }
}
