// gpsd's ATT and IMU, against turns that are known.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

struct GPSDAttitudeTests {
  private static func turn(_ degrees: Double, about axis: Vector3) -> Quaternion {
    Quaternion(rotationVector: axis * (degrees * .pi / 180))
  }

  /// Clockwise about the vertical, then the front up, then the right side down.
  private static func attitude(_ heading: Double, _ pitch: Double, _ roll: Double) -> Quaternion {
    turn(-heading, about: Vector3(0, 0, 1)) * turn(pitch, about: Vector3(1, 0, 0))
      * turn(roll, about: Vector3(0, 1, 0))
  }

  private static func heading(
    accuracy: Double? = 0.05, reason: NoData? = nil, trueHeading: Double? = 1.4,
    check: FieldCheck? = FieldCheck(measured: FieldShape(strength: 50, dip: 1.2)),
    field: Vector3? = Vector3(10, 20, -45)
  ) -> HeadingEstimate {
    HeadingEstimate(
      time: GPSDBoard.at(0), magneticHeading: 1, accuracy: accuracy, trueHeading: trueHeading,
      declination: trueHeading.map { $0 - 1 }, reason: reason, field: field,
      attitude: attitude(1 * 180 / .pi, 10, -20), fieldCheck: check)
  }

  private static func object(_ observations: [Observation], after seconds: Double = 0.1) throws
    -> [String: Any]
  {
    var state = PublishedState()
    for observation in observations { state.take(observation) }
    return try GPSDBoard.object(
      GPSDBoard.reports().attitude(state, at: GPSDBoard.at(seconds)).bytes)
  }

  @Test("a heading is true in `heading`, magnetic in `mheading`, and has its bar")
  func trusted() throws {
    let line = try Self.object([.heading(Self.heading())])
    // 1.4 and 1 radians.
    #expect(line["heading"] as? Double == 80.214 && line["mheading"] as? Double == 57.296)
    #expect(line["yaw"] as? Double == 80.214 && line["mag_st"] as? String == "N")
    #expect(line["headingAccuracy"] as? Double == 2.865 && line["headingReason"] == nil)
    #expect(line["device"] as? String == GPSDBoard.compass)
    #expect(line["time"] as? String == "2019-04-22T21:19:27.000Z")
    #expect(line["dip"] as? Double == 68.755)
  }

  @Test("without a declination there is no true heading")
  func withoutDeclination() throws {
    let line = try Self.object([.heading(Self.heading(trueHeading: nil))])
    #expect(line["heading"] == nil && line["yaw"] == nil)
    #expect(line["mheading"] as? Double == 57.296)
  }

  @Test(
    "a heading that is not to be trusted is none, and the letter says why",
    arguments: [
      (NoData.uncalibrated, nil, "C"), (.magneticInterference("iron"), 60.0, "L"),
      (.magneticInterference("iron"), 40.0, "P"), (.magneticInterference("iron"), nil, "P"),
      (.tiltUnknown, 50.0, nil),
    ] as [(NoData, Double?, String?)])
  func untrusted(reason: NoData, expected: Double?, letter: String?) throws {
    let check = FieldCheck(
      measured: FieldShape(strength: 50, dip: 1.2),
      expected: expected.map { FieldShape(strength: $0) })
    let line = try Self.object([
      .heading(Self.heading(accuracy: nil, reason: reason, check: check))
    ])
    for key in ["heading", "mheading", "yaw", "headingAccuracy"] {
      #expect(line[key] == nil, "\(key)")
    }
    #expect(line["mag_st"] as? String == letter)
    #expect(line["headingReason"] as? String == reason.description)
    // The board's iron is in the field of a chip without a record.
    #expect((line["mag_x"] == nil) == (reason == .uncalibrated))
  }

  @Test(
    "a heading of the gyro in a disturbed field is a warning", arguments: [(40.0, "O"), (60, "M")])
  func carried(expected: Double, letter: String) throws {
    let check = FieldCheck(
      measured: FieldShape(strength: 50), expected: FieldShape(strength: expected),
      isDisturbed: true)
    let line = try Self.object([
      .heading(Self.heading(reason: .magneticInterference("iron"), check: check))
    ])
    #expect(line["mag_st"] as? String == letter && line["heading"] as? Double == 80.214)
  }

  @Test("a heading that no magnetometer has a part in says nothing of one")
  func withoutMagnetometer() throws {
    let line = try Self.object([.heading(Self.heading(check: nil, field: nil))])
    #expect(line["heading"] != nil && line["mag_st"] == nil && line["mag_x"] == nil)
  }

  @Test("a heading that was taken back, or is old, is none")
  func lost() throws {
    let taken = try Self.object([
      .heading(Self.heading()), .headingUnavailable(.uncalibrated, at: GPSDBoard.at(0.05)),
    ])
    #expect(taken["heading"] == nil && taken["mag_st"] as? String == "C")
    let old = try Self.object([.heading(Self.heading())], after: 2.5)
    #expect(Set(old.keys) == ["class", "device", "headingReason"])
  }

  @Test("what a reason says of the place is not told")
  func reasons() throws {
    let reason = NoData.magneticInterference("50 µT\n", compared: "50 µT where 57 are expected")
    let line = try Self.object([.headingUnavailable(reason, at: GPSDBoard.at(0))])
    // Printable ASCII: two bytes of a letter beyond, and a newline.
    #expect(line["headingReason"] as? String == "50 ??T?")
  }

  @Test(
    "the bow up is a positive pitch, the right side down a positive roll",
    arguments: [(10.0, -20.0), (-45, 170), (80, 5)])
  func angles(pitch: Double, roll: Double) throws {
    var attitude = MotionAttitude(
      angularRate: Vector3(0.1, 0.2, 0.3), free: .identity,
      steadied: Self.attitude(30, pitch, roll))
    attitude.tiltAccuracy = 0.02
    let motion = MotionEstimate(time: GPSDBoard.at(0), attitude: attitude)
    let line = try Self.object([.motion(motion)])
    #expect(abs((line["pitch"] as? Double ?? .nan) - pitch) < 0.001)
    #expect(abs((line["roll"] as? Double ?? .nan) - roll) < 0.001)
    #expect(line["pitch_st"] as? String == "N" && line["roll_st"] as? String == "N")
    // North is not known: no heading, and no yaw of an arbitrary frame.
    #expect(line["heading"] == nil && line["yaw"] == nil && line["mheading"] == nil)
    // Forward, to the right, down: degrees a second.
    #expect(line["gyro_x"] as? Double == 11.45916 && line["gyro_y"] as? Double == 5.72958)
    #expect(line["gyro_z"] as? Double == -17.18873)
  }

  @Test("a turn to the right is a positive rate, in degrees a minute")
  func rateOfTurn() throws {
    let attitude = MotionAttitude(
      angularRate: Vector3(0, 0, -0.1), free: .identity, steadied: .identity)
    let line = try Self.object([.motion(MotionEstimate(time: GPSDBoard.at(0), attitude: attitude))])
    #expect(line["rot"] as? Double == 343.775 && line["gyro_z"] as? Double == 5.72958)
    #expect(line["pitch_st"] == nil)
  }

  @Test("IMU has the samples as they are, and none of a chip that is silent")
  func inertial() throws {
    let motion = MotionEstimate(
      time: GPSDBoard.at(0),
      force: Sample(time: GPSDBoard.at(0), value: Vector3(1, 2, 9.8)),
      angularRate: Sample(time: GPSDBoard.at(-3), value: Vector3(1, 1, 1)),
      field: Sample(time: GPSDBoard.at(0), value: Vector3(.nan, 0, 0)))
    let reports = GPSDBoard.reports()
    let report = try #require(
      reports.inertial(GPSDBoard.state(.motion(motion)), at: GPSDBoard.at(0.1)))
    let line = try GPSDBoard.object(report.bytes)
    #expect(line["class"] as? String == "IMU" && report.kind == .inertial)
    #expect(line["acc_x"] as? Double == 2 && line["acc_y"] as? Double == 1)
    #expect(line["acc_z"] as? Double == -9.8 && line["gyro_x"] == nil && line["mag_x"] == nil)
    #expect(reports.inertial(PublishedState(), at: GPSDBoard.at(0)) == nil)
  }
}
