// Attitudes as JSON lines, against turns that are known.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

struct AttitudeLineTests {
  private static func turn(_ degrees: Double, about axis: Vector3) -> Quaternion {
    Quaternion(rotationVector: axis * (degrees * .pi / 180))
  }

  private static func object(_ reading: AttitudeReading) throws -> [String: Any] {
    var lines = ObservationLines { _ in nil }
    let data = Data(lines.line(for: reading).utf8)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  private static func motion(
    _ attitude: Quaternion, rate: Vector3 = .zero, hasNorth: Bool = true, tilt: Double? = nil
  ) throws -> AttitudeReading {
    var motion = MotionAttitude(
      angularRate: rate, free: .identity, steadied: attitude, north: hasNorth ? attitude : nil,
      northReason: hasNorth ? nil : .uncalibrated, declination: hasNorth ? 0.05 : nil)
    (motion.northAccuracy, motion.tiltAccuracy) = (0.1, tilt)
    return try #require(
      AttitudeReading(MotionEstimate(time: Timestamp(seconds: 5), attitude: motion)))
  }

  @Test(
    "the angles are those of the turns that led there",
    arguments: [(0.0, 0.0, 0.0), (90, 0, 0), (359, 20, -30), (200, -45, 170), (10, 80, 5)])
  func angles(heading: Double, pitch: Double, roll: Double) throws {
    // Clockwise about the vertical, then the front up, then the right side down.
    let attitude =
      Self.turn(-heading, about: Vector3(0, 0, 1)) * Self.turn(pitch, about: Vector3(1, 0, 0))
      * Self.turn(roll, about: Vector3(0, 1, 0))
    let line = try Self.object(Self.motion(attitude))
    func number(_ key: String) -> Double { line[key] as? Double ?? .nan }
    #expect(abs(number("magneticHeading") - heading) < 0.001)
    #expect(abs(number("pitch") - pitch) < 0.001)
    #expect(abs(number("roll") - roll) < 0.001)
    let yaw = heading > 180 ? 360 - heading : -heading
    #expect(abs(number("yaw") - yaw) < 0.001)
    let sum = (heading + 0.05 * 180 / .pi).truncatingRemainder(dividingBy: 360)
    #expect(abs(number("trueHeading") - sum) < 0.001)
    #expect(abs(number("headingAccuracy") - 0.1 * 180 / .pi) < 0.001)
    #expect(line["reference"] as? String == "magneticNorth")
  }

  @Test("a turn to the right is a positive rate of turn, whichever side is up")
  func rateOfTurn() throws {
    let right = Vector3(0, 0, -0.5)
    #expect(
      try Self.object(Self.motion(.identity, rate: right))["rateOfTurn"] as? Double == 28.648)
    let overhead = Self.turn(180, about: Vector3(0, 1, 0))
    #expect(
      try Self.object(Self.motion(overhead, rate: right))["rateOfTurn"] as? Double == -28.648)
  }

  @Test("the covariance is that of a 95 % circle and a 95 % interval")
  func covariance() throws {
    let line = try Self.object(Self.motion(.identity, tilt: 0.02))
    let numbers = try #require(line["covariance"] as? [Double])
    // Of a normal distribution 95 % lie within 1.96 deviations; of one in two directions 1 - exp(-r^2 / 2) within r.
    let (tilt, heading) = (0.02 * 0.02 / (-2 * log(0.05)), 0.1 * 0.1 / (1.959964 * 1.959964))
    let expected = [tilt, 0, 0, 0, tilt, 0, 0, 0, heading]
    for (number, expected) in zip(numbers, expected) { #expect(abs(number - expected) < 1e-8) }
    #expect(numbers.count == 9 && line["tiltAccuracy"] as? Double == 1.146)
    // Half of it is no covariance.
    #expect(try Self.object(Self.motion(.identity))["covariance"] == nil)
    let free = try Self.object(Self.motion(.identity, hasNorth: false, tilt: 0.02))
    #expect(free["covariance"] == nil && free["tiltAccuracy"] as? Double == 1.146)
  }

  @Test("without north there is an arbitrary reference, and the reason")
  func withoutNorth() throws {
    let line = try Self.object(Self.motion(.identity, hasNorth: false))
    #expect(line["reference"] as? String == "arbitrary" && line["roll"] as? Double == 0)
    #expect(line["magneticHeading"] == nil && line["trueHeading"] == nil)
    #expect(line["reason"] as? String == NoData.uncalibrated.description)
  }

  @Test("a heading that rounds up to a full turn is zero")
  func fullTurn() throws {
    let line = try Self.object(Self.motion(Self.turn(0.0003, about: Vector3(0, 0, 1))))
    #expect(line["magneticHeading"] as? Double == 0)
  }

  @Test("a board without a gyro has the attitude of its heading, and no rate")
  func withoutGyro() throws {
    let heading = HeadingEstimate(
      time: Timestamp(seconds: 1), magneticHeading: .pi / 2, accuracy: nil,
      reason: .tiltUnknown, field: nil, attitude: Self.turn(-90, about: Vector3(0, 0, 1)))
    let line = try Self.object(AttitudeReading(heading))
    #expect(line["magneticHeading"] as? Double == 90 && line["headingAccuracy"] as? Double == -1)
    #expect(line["rateOfTurn"] == nil && line["rotationRate"] == nil)
  }

  @Test("before a calibration nobody knows where north is")
  func uncalibrated() throws {
    let heading = HeadingEstimate(
      time: Timestamp(seconds: 1), magneticHeading: .pi / 2, accuracy: nil,
      reason: .uncalibrated, field: nil, attitude: Self.turn(-90, about: Vector3(0, 0, 1)))
    let line = try Self.object(AttitudeReading(heading))
    #expect(line["reference"] as? String == "arbitrary" && line["magneticHeading"] == nil)
    #expect(line["yaw"] as? Double == -90 && line["reason"] != nil)
  }

  @Test("a moment without an attitude has a reason and no angle")
  func missing() throws {
    let line = try Self.object(
      AttitudeReading(missing: .sensorLost("a wire"), at: Timestamp(seconds: 1)))
    #expect(line["reason"] as? String == "sensor lost: a wire" && line["roll"] == nil)
  }
}
