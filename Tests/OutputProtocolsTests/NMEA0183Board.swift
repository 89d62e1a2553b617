// A board whose values are known, for the tests of sentences.

import LinearAlgebra
import SensorTypes

@testable import OutputProtocols

enum NMEA0183Board {
  static let now = Timestamp(seconds: 100)
  /// 2026-11-22T03:04:05.25Z.
  static let clock = ClockReading(seconds: 1_795_316_645.25, isSet: true)
  static let unset = ClockReading(seconds: 1_000, isSet: false)

  static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }

  private static func turn(_ degrees: Double, about axis: Vector3) -> Quaternion {
    Quaternion(rotationVector: axis * radians(degrees))
  }

  /// Clockwise about the vertical, then the front up, then the right side down.
  static func attitude(heading: Double, pitch: Double, roll: Double) -> Quaternion {
    turn(-heading, about: Vector3(0, 0, 1)) * turn(pitch, about: Vector3(1, 0, 0))
      * turn(roll, about: Vector3(0, 1, 0))
  }

  static func heading(
    _ magnetic: Double = 128.3, true trueHeading: Double? = 131.4,
    accuracy: Double? = 0.979_981_992_3,
    reason: NoData? = nil, time: Timestamp = NMEA0183Board.now
  ) -> HeadingEstimate {
    HeadingEstimate(
      time: time, magneticHeading: radians(magnetic), accuracy: accuracy.map(radians),
      trueHeading: trueHeading.map(radians), declination: trueHeading == nil ? nil : radians(3.1),
      reason: reason, field: nil, attitude: attitude(heading: magnetic, pitch: 5, roll: -12.5))
  }

  /// A turn of two degrees a second to port.
  static var motion: MotionEstimate {
    let north = attitude(heading: 128.3, pitch: 5, roll: -12.5)
    var attitude = MotionAttitude(
      angularRate: north.conjugate.rotate(Vector3(0, 0, radians(2))), free: north, steadied: north,
      north: north, declination: radians(3.1))
    // The radius that holds 95 % of a normal distribution in two directions.
    attitude.tiltAccuracy = radians(0.25 * 2.447_746_831)
    return MotionEstimate(time: now, attitude: attitude)
  }

  static var fix: GNSSFix {
    var fix = GNSSFix(received: now, mode: .threeDimensional)
    (fix.utc, fix.timeOfDay) = (1_795_316_645.25, 11_045.25)
    (fix.latitude, fix.longitude) = (-33.123456789, -0.000012345)
    (fix.altitude, fix.ellipsoidalAltitude) = (100.25, 80.5)
    (fix.horizontalAccuracy, fix.verticalAccuracy) = (3.02, 4.5)
    fix.accuracySource = .receiver
    (fix.speed, fix.speedAccuracy, fix.course, fix.courseAccuracy) = (1.5, 0.25, 271.5, 3)
    (fix.verticalSpeed, fix.hdop, fix.vdop, fix.pdop) = (-0.5, 0.9, 1.2, 1.5)
    fix.satellitesUsed = 9
    (fix.kind, fix.corrections) = (.rtkFixed, FixCorrections(age: 1.5, station: 120))
    return fix
  }

  static var sky: GNSSSky {
    var gps = GNSSSatellite(.gps, 3)
    (gps.elevation, gps.azimuth, gps.carrierToNoise, gps.isUsed) = (71.2, 4.6, 45.6, true)
    var sbas = GNSSSatellite(.sbas, 120)
    (sbas.elevation, sbas.isUsed) = (33, true)
    var glonass = GNSSSatellite(.glonass, 1)
    (glonass.elevation, glonass.carrierToNoise, glonass.isUsed) = (-3, 30, true)
    var silent = GNSSSatellite(.gps, 32)
    silent.isUsed = false
    return GNSSSky(received: now, satellites: [gps, glonass, sbas, silent])
  }

  static var air: AltitudeEstimate {
    AltitudeEstimate(
      time: now, relativeAltitude: 0, relativeAccuracy: 0.3, pressure: 99_720, temperature: 17.2,
      humidity: 47.4)
  }

  static func state(_ observations: [Observation]) -> PublishedState {
    var state = PublishedState()
    for observation in observations { state.take(observation) }
    return state
  }

  /// Everything is known.
  static var full: PublishedState {
    state([
      .heading(heading()), .motion(motion),
      .location(LocationEstimate(fix: fix, isSimulated: false)),
      .sky(sky), .altitude(air),
    ])
  }

  static func lines(
    _ sentences: [OutputSentence], of state: PublishedState, at now: Timestamp = NMEA0183Board.now,
    clock: ClockReading = NMEA0183Board.clock, encoder: NMEAEncoder = NMEAEncoder()
  ) -> [String] {
    var (encoder, bytes) = (encoder, [UInt8]())
    encoder.append(sentences, of: state, at: now, clock: clock, to: &bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    precondition(text.isEmpty || text.hasSuffix("\r\n"))
    return text.split(separator: "\r\n").map(String.init)
  }

  /// One sentence without its check sum.
  static func body(
    _ sentence: OutputSentence, of state: PublishedState, at now: Timestamp = NMEA0183Board.now,
    clock: ClockReading = NMEA0183Board.clock, encoder: NMEAEncoder = NMEAEncoder()
  ) -> String {
    lines([sentence], of: state, at: now, clock: clock, encoder: encoder)
      .map { $0.prefix { $0 != "*" } }.joined(separator: "|")
  }
}
