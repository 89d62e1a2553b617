// Observations as messages for robots: axes, north, covariances, and the words for what is not known.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

struct MCAPLogTests {
  private static let degree = Double.pi / 180

  private static func turn(_ degrees: Double, about axis: Vector3) -> Quaternion {
    Quaternion(rotationVector: axis * (degrees * degree))
  }

  /// The messages of an observation, by topic, in the order in which they were written.
  private static func messages(
    _ observations: [Observation], showsPosition: Bool = true,
    clock: (Timestamp) -> ClockReading? = TelemetryStates.clock
  ) -> [(topic: RobotMessages.Topic, data: [UInt8])] {
    var log = MCAPLog(program: "test", audience: .foxglove, showsPosition: showsPosition)
    _ = log.takeOutput()
    for observation in observations { log.take(observation, clock: clock) }
    log.flush()
    let bytes = log.takeOutput()
    // A chunk without compression: 9 bytes of record, 28 of times, size and checksum, 4 of an empty text, 8 of length.
    var place = 9 + 28 + 4 + 8
    var messages: [(RobotMessages.Topic, [UInt8])] = []
    while place + 31 <= bytes.count, bytes[place] == MCAPOperation.message.rawValue {
      let length = Int(bytes[place + 1]) | Int(bytes[place + 2]) << 8
      let topic = RobotMessages.Topic.allCases[Int(bytes[place + 9])]
      messages.append((topic, Array(bytes[place + 31..<place + 9 + length])))
      place += 9 + length
    }
    return messages
  }

  /// The number at a place behind the encapsulation header.
  private static func double(_ data: [UInt8], _ place: Int) -> Double {
    Double(bitPattern: (0..<8).reduce(0) { $0 | UInt64(data[4 + place + $1]) << UInt64(8 * $1) })
  }

  private static func motion(
    heading: Double, declination: Double? = 0, accuracy: Double? = 0.1, tilt: Double? = 0.02
  ) -> MotionEstimate {
    var attitude = MotionAttitude(
      angularRate: Vector3(0.1, 0.2, 0.3), free: .identity, steadied: .identity,
      north: turn(-heading, about: Vector3(0, 0, 1)), declination: declination,
      field: Vector3(1, 2, -45), fieldTrust: .high)
    (attitude.northAccuracy, attitude.tiltAccuracy) = (accuracy, tilt)
    return MotionEstimate(
      time: TelemetryStates.now,
      force: Sample(time: TelemetryStates.now, value: Vector3(1, 2, 9.75)), attitude: attitude)
  }

  // Behind a header of 8 bytes of time, 4 of length and "imu_link" with its zero: 21, so numbers begin at 24.
  private static let first = 24

  @Test("a robot that looks east has a yaw of zero, and turns to the left are positive")
  func east() throws {
    for (heading, declination, yaw) in [
      (90.0, 0.0, 0.0), (0, 0, 90), (350, 10, 90), (180, 0, -90), (80, 10, 0),
    ] {
      let turned = try #require(
        RobotMessages.orientation(
          Self.turn(-heading, about: Vector3(0, 0, 1)), declination: declination * Self.degree))
      let forward = turned.rotate(Vector3(1, 0, 0))
      #expect(abs(atan2(forward.y, forward.x) / Self.degree - yaw) < 1e-9, "\(heading)")
      #expect(turned.rotate(Vector3(0, 0, 1)).z > 0.999_999)
    }
  }

  @Test("a bow that is up is up in the robot's axes, and its right side stays right")
  func tilt() throws {
    // Heading north, the bow 20 degrees up: forward is north and up, left is west.
    let turned = try #require(
      RobotMessages.orientation(Self.turn(20, about: Vector3(1, 0, 0)), declination: 0))
    let (forward, left) = (turned.rotate(Vector3(1, 0, 0)), turned.rotate(Vector3(0, 1, 0)))
    #expect(abs(forward.y - cos(20 * Self.degree)) < 1e-12)
    #expect(abs(forward.z - sin(20 * Self.degree)) < 1e-12)
    #expect(abs(left.x + 1) < 1e-12)
  }

  @Test("an estimate of motion becomes Imu and MagneticField")
  func motion() throws {
    let messages = Self.messages([.motion(Self.motion(heading: 90))])
    #expect(messages.map(\.topic) == [.imu, .field])
    let imu = try #require(messages.first).data
    let numbers = (0..<37).map { Self.double(imu, Self.first + 8 * $0) }
    // East: no rotation. The covariance is that of a 95 % circle and a 95 % interval.
    let expected = [0.0, 0, 0, 1]
    for (number, expected) in zip(numbers, expected) { #expect(abs(number - expected) < 1e-12) }
    let (level, up) = (0.02 * 0.02 / (-2 * log(0.05)), 0.1 * 0.1 / (1.959964 * 1.959964))
    for (number, expected) in zip(numbers[4...], [level, 0, 0, 0, level, 0, 0, 0, up]) {
      #expect(abs(number - expected) < 1e-9)
    }
    // x forward is the body's y, y left is its -x. No covariance of rates and forces is known.
    #expect(Array(numbers[13..<16]) == [0.2, -0.1, 0.3])
    #expect(Array(numbers[16..<25]) == [Double](repeating: 0, count: 9))
    #expect(Array(numbers[25..<28]) == [2, -1, 9.75])
    let field = messages[1].data
    for (place, value) in [2e-6, -1e-6, -45e-6].enumerated() {
      #expect(abs(Self.double(field, Self.first + 8 * place) - value) < 1e-15)
    }
  }

  @Test("without a trusted true north the orientation is absent: -1, and no number")
  func absent() {
    let cases = [
      Self.motion(heading: 90, declination: nil), Self.motion(heading: 90, accuracy: nil),
      Self.motion(heading: 90, tilt: nil), MotionEstimate(time: TelemetryStates.now),
    ]
    for motion in cases {
      let imu = Self.messages([.motion(motion)])[0].data
      #expect((0..<4).allSatisfy { Self.double(imu, Self.first + 8 * $0).isNaN })
      #expect(Self.double(imu, Self.first + 32) == -1)
    }
    let nothing = Self.messages([.motion(MotionEstimate(time: TelemetryStates.now))])
    #expect(nothing.count == 1)
    #expect(Self.double(nothing[0].data, Self.first + 8 * 13).isNaN)
    #expect(Self.double(nothing[0].data, Self.first + 8 * 16) == -1)
    #expect(Self.double(nothing[0].data, Self.first + 8 * 28) == -1)
    // Without leave the orientation would tell of the declination.
    let withheld = Self.messages([.motion(Self.motion(heading: 90))], showsPosition: false)
    #expect(Self.double(withheld[0].data, Self.first + 32) == -1)
  }

  @Test("an orientation of the filter is withheld while there is no heading that is to be trusted")
  func lost() {
    let motion = Observation.motion(Self.motion(heading: 90))
    let lost = Self.messages([
      .headingUnavailable(.sensorLost("no answer"), at: TelemetryStates.now), motion,
      .heading(TelemetryStates.heading()), motion,
    ]).filter { $0.topic == .imu }
    #expect(lost.count == 2)
    #expect(lost.map { Self.double($0.data, Self.first + 32) == -1 } == [true, false])
  }

  // Header with "gnss_link" is 22 bytes, the status at 22, the service at 24, numbers from 32.
  @Test("a fix becomes NavSatFix and LocationFix with its variances")
  func fix() throws {
    let messages = Self.messages([
      .sky(TelemetryStates.sky),
      .location(LocationEstimate(fix: TelemetryStates.fix(), isSimulated: false)),
    ])
    #expect(messages.map(\.topic) == [.fix, .location])
    let fix = messages[0].data
    #expect(fix[4 + 22] == 2 && fix[4 + 24] == 1 | 8)
    #expect(Self.double(fix, 32) == 48.123456789 && Self.double(fix, 40) == -11.5)
    #expect(Self.double(fix, 48) == 512.25)
    // Of a normal distribution in two directions 68 % lie within r = sigma * sqrt(-2 ln 0.32).
    let level = 1.75 * 1.75 / (-2 * log(0.32))
    #expect(abs(Self.double(fix, 56) - level) < 1e-6 && abs(Self.double(fix, 88) - level) < 1e-6)
    #expect(abs(Self.double(fix, 120) - 2.25) < 1e-12 && fix.last == 2)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(messages[1].data)) as? [String: Any])
    #expect(json["latitude"] as? Double == 48.123456789 && json["altitude"] as? Double == 512.25)
    #expect((json["position_covariance"] as? [Double])?.count == 9)
    #expect(json["position_covariance_type"] as? Int == 2)
    let time = json["timestamp"] as? [String: Int]
    #expect(time == ["sec": 1_732_600_000, "nsec": 250_000_000])
  }

  @Test("what is lost, carried or not vouched for is no fix")
  func noFix() {
    var invalid = TelemetryStates.fix()
    invalid.isValid = false
    let carried = DeadReckonedPosition(fixTime: TelemetryStates.now, isTurnMeasured: true)
    let cases: [(Observation, Bool)] = [
      (.locationUnavailable(.noFix, at: TelemetryStates.now), false),
      (.location(LocationEstimate(fix: invalid, isSimulated: false)), false),
      (
        .location(
          LocationEstimate(fix: TelemetryStates.fix(), isSimulated: false, carried: carried)), true
      ),
    ]
    for (observation, hasPlace) in cases {
      let messages = Self.messages([observation])
      let fix = messages[0].data
      #expect(messages[0].topic == .fix && fix[4 + 22] == 0xFF)
      #expect(Self.double(fix, 32).isNaN != hasPlace)
      #expect(!messages.contains { $0.topic == .location })
    }
  }

  @Test("without leave there is no position, and reasons do not tell of the place")
  func withheld() {
    let messages = Self.messages(
      [
        .location(LocationEstimate(fix: TelemetryStates.fix(), isSimulated: false)),
        .locationUnavailable(.noFix, at: TelemetryStates.now),
        .headingUnavailable(
          .magneticInterference("60 uT", compared: "60 uT, not 48"), at: TelemetryStates.now),
      ], showsPosition: false)
    #expect(messages.map(\.topic) == [.log, .magneticHeading, .log])
    #expect(!String(decoding: messages[2].data, as: UTF8.self).contains("48"))
  }

  // Header with "base_link" is 22 bytes, so numbers begin at 24.
  @Test("a heading becomes Azimuth: 0 is east, to the left positive")
  func heading() {
    for (heading, azimuth) in [(90.0, 0.0), (0, 90), (270, 180), (180, -90), (45, 45), (359, 91)] {
      let messages = Self.messages([.heading(TelemetryStates.heading(heading))])
      #expect(messages.map(\.topic) == [.magneticHeading, .trueHeading])
      let data = messages[0].data
      let difference = Self.double(data, Self.first) / Self.degree - azimuth
      #expect(abs(difference.remainder(dividingBy: 360)) < 1e-9, "\(heading)")
      let sigma = 2.3 * Self.degree / 1.959964
      #expect(abs(Self.double(data, Self.first + 8) - sigma * sigma) < 1e-9)
      // Radians, 0 is east, magnetic; then true by 3.5 degrees.
      #expect(Array(data.suffix(3)) == [0, 0, 0] && messages[1].data.last == 1)
      let turn = Self.double(messages[1].data, Self.first) - Self.double(data, Self.first)
      #expect(abs((turn + 3.5 * Self.degree).remainder(dividingBy: 2 * .pi)) < 1e-9)
    }
  }

  @Test("a heading that is not to be trusted is NaN, with its reason once")
  func headingLost() {
    let heading = TelemetryStates.heading(accuracy: nil, reason: .uncalibrated)
    let messages = Self.messages(
      [
        .heading(heading), .heading(heading),
        .headingUnavailable(.sensorLost("a wire"), at: TelemetryStates.now),
      ], showsPosition: false)
    #expect(
      messages.map(\.topic)
        == [.magneticHeading, .log, .magneticHeading, .magneticHeading, .log])
    for message in messages where message.topic == .magneticHeading {
      #expect(Self.double(message.data, Self.first).isNaN)
      #expect(Self.double(message.data, Self.first + 8).isNaN)
    }
  }

  @Test("an accuracy that is not known is no covariance, and a height that is not known no number")
  func unknown() {
    var fix = TelemetryStates.fix()
    (fix.horizontalAccuracy, fix.ellipsoidalAltitude, fix.kind) = (nil, nil, nil)
    let messages = Self.messages([.location(LocationEstimate(fix: fix, isSimulated: false))])
    #expect(Self.double(messages[0].data, 48).isNaN && Self.double(messages[0].data, 56) == 0)
    #expect(messages[0].data.last == 0)
    let json = String(decoding: messages[1].data, as: UTF8.self)
    #expect(!json.contains("altitude") && !json.contains("position_covariance\""))
    #expect(json.contains("\"position_covariance_type\":0"))
  }

  @Test("a position without a height has its radius")
  func level() throws {
    var fix = TelemetryStates.fix()
    (fix.ellipsoidalAltitude, fix.altitude, fix.horizontalAccuracy) = (nil, nil, 3)
    let messages = Self.messages([.location(LocationEstimate(fix: fix, isSimulated: false))])
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(messages[1].data)) as? [String: Any])
    let covariance = try #require(json["position_covariance"] as? [Double])
    #expect(abs(covariance[0] - 3.949) < 0.01 && covariance[8] == 1e8)
    #expect(json["position_covariance_type"] as? Int == 1 && json["altitude"] == nil)
  }

  @Test("a file for robots has the profile ros2, and no message that is not of ROS")
  func robots() {
    var log = MCAPLog(program: "test", showsPosition: true)
    let location = LocationEstimate(fix: TelemetryStates.fix(), isSimulated: false)
    log.take(.location(location), clock: TelemetryStates.clock)
    log.take(.locationUnavailable(.noFix, at: TelemetryStates.now), clock: TelemetryStates.clock)
    log.finish()
    let bytes = log.takeOutput()
    #expect(bytes[17..<25].elementsEqual([4, 0, 0, 0] + Array("ros2".utf8)))
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("rcl_interfaces/msg/Log") && text.contains("no location: no fix"))
    #expect(!text.contains("foxglove") && !text.contains("json"))
  }

  @Test("a clock that is not set gives a stamp of zero")
  func clock() {
    let messages = Self.messages([.altitude(TelemetryStates.air)]) {
      ClockReading(seconds: $0.seconds, isSet: false)
    }
    #expect(messages.map(\.topic) == [.pressure, .temperature, .humidity])
    #expect(messages.allSatisfy { $0.data[4..<12].allSatisfy { $0 == 0 } })
    #expect(Self.double(messages[0].data, Self.first) == 101_325.25)
    #expect(Self.double(messages[2].data, Self.first) == 0.455)
  }
}
