// A board whose every value is known, for the tests of binary protocols.

import LinearAlgebra
import SensorTypes

@testable import OutputProtocols

enum VesselState {
  static let now = Timestamp(seconds: 5_000)
  /// 2026-11-29, 10:11:12.5 UTC.
  static let utc = 1_795_947_072.5

  /// Body to earth: first the roll about the forward axis, then the pitch, then the heading.
  static func attitude(heading: Double, pitch: Double, roll: Double) -> Quaternion {
    Quaternion(rotationVector: Vector3(0, 0, -heading))
      * Quaternion(rotationVector: Vector3(pitch, 0, 0))
      * Quaternion(rotationVector: Vector3(0, roll, 0))
  }

  static func heading(
    _ magnetic: Double, accuracy: Double? = 0.05, declination: Double? = -0.0524,
    reason: NoData? = nil, time: Timestamp = now
  ) -> Observation {
    .heading(
      HeadingEstimate(
        time: time, magneticHeading: magnetic, accuracy: accuracy,
        trueHeading: declination.map { magnetic + $0 }, declination: declination, reason: reason,
        field: nil, attitude: attitude(heading: magnetic, pitch: 0.1, roll: -0.25)))
  }

  /// An attitude by the filter that turns at a rate to starboard, rad/s.
  static func motion(heading: Double, rate: Double, time: Timestamp = now) -> Observation {
    let attitude = attitude(heading: heading, pitch: 0.1, roll: -0.25)
    var motion = MotionAttitude(
      angularRate: attitude.conjugate.rotate(Vector3(0, 0, -rate)), free: attitude,
      steadied: attitude, north: attitude, declination: -0.0524)
    (motion.northAccuracy, motion.tiltAccuracy) = (0.05, 0.02)
    return .motion(MotionEstimate(time: time, attitude: motion))
  }

  static func fix(_ change: (inout GNSSFix) -> Void = { _ in }) -> GNSSFix {
    var fix = GNSSFix(received: now, mode: .threeDimensional)
    fix.pulseTime = now
    fix.utc = utc
    fix.kind = .rtkFixed
    fix.corrections = FixCorrections(age: 1.5, station: 1_042)
    (fix.latitude, fix.longitude) = (53.1801465, -5.4284511)
    (fix.altitude, fix.ellipsoidalAltitude) = (15.55, 61.25)
    (fix.horizontalAccuracy, fix.verticalAccuracy) = (0.02, 0.04)
    fix.accuracySource = .receiver
    (fix.speed, fix.speedAccuracy) = (3.18, 0.1)
    (fix.course, fix.courseAccuracy) = (271.5, 2)
    fix.verticalSpeed = -0.25
    (fix.hdop, fix.vdop, fix.pdop, fix.satellitesUsed) = (0.7, 1.1, 1.3, 17)
    change(&fix)
    return fix
  }

  static func location(
    isCarried: Bool = false, _ change: (inout GNSSFix) -> Void = { _ in }
  ) -> Observation {
    .location(
      LocationEstimate(
        fix: fix(change), isSimulated: false,
        carried: isCarried
          ? DeadReckonedPosition(fixTime: now.advanced(bySeconds: -20), isTurnMeasured: true) : nil)
    )
  }

  static func satellite(
    _ system: GNSSSystem, _ number: Int, _ elevation: Double? = nil, _ azimuth: Double? = nil,
    _ strength: Double? = nil, isUsed: Bool? = nil
  ) -> GNSSSatellite {
    var satellite = GNSSSatellite(system, number)
    (satellite.elevation, satellite.azimuth) = (elevation, azimuth)
    (satellite.carrierToNoise, satellite.isUsed) = (strength, isUsed)
    return satellite
  }

  static func sky(_ satellites: [GNSSSatellite]) -> Observation {
    .sky(GNSSSky(received: now, satellites: satellites))
  }

  static let air = Observation.altitude(
    AltitudeEstimate(
      time: now, relativeAltitude: 0, relativeAccuracy: 0.1, pressure: 101_325.3,
      temperature: 21.5, humidity: 55.5))

  static func state(_ observations: Observation...) -> PublishedState {
    var state = PublishedState()
    for observation in observations { state.take(observation) }
    return state
  }

  static func hex(_ bytes: [UInt8]?) -> String {
    guard let bytes else { return "none" }
    return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
