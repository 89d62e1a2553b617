// States of a board for the tests of dashboards, databases and home automation.

import LinearAlgebra
import SensorTypes

@testable import OutputProtocols

enum TelemetryStates {
  static let now = Timestamp(seconds: 1_000)

  static func heading(
    _ degrees: Double = 130.9, accuracy: Double? = 2.3, declination: Double? = 3.5,
    reason: NoData? = nil, at time: Timestamp = now
  ) -> HeadingEstimate {
    let radians = Double.pi / 180
    return HeadingEstimate(
      time: time, magneticHeading: degrees * radians, accuracy: accuracy.map { $0 * radians },
      trueHeading: declination.map { (degrees + $0) * radians },
      declination: declination.map { $0 * radians }, reason: reason, field: nil,
      attitude: Quaternion(rotationVector: Vector3(0, 0, -degrees * radians)),
      fieldCheck: FieldCheck(
        measured: FieldShape(strength: 48), isDisturbed: reason != nil, calibration: 1))
  }

  static func fix(at time: Timestamp = now) -> GNSSFix {
    var fix = GNSSFix(received: time, mode: .threeDimensional)
    (fix.latitude, fix.longitude) = (48.123456789, -11.5)
    (fix.horizontalAccuracy, fix.accuracySource) = (1.75, .receiver)
    (fix.ellipsoidalAltitude, fix.verticalAccuracy) = (512.25, 1.5)
    (fix.speed, fix.speedAccuracy) = (2.5, 0.125)
    (fix.course, fix.courseAccuracy) = (271.25, 3)
    (fix.kind, fix.utc) = (.rtkFixed, 1_732_600_000.25)
    return fix
  }

  static var air: AltitudeEstimate {
    AltitudeEstimate(
      time: now, relativeAltitude: -1.5, relativeAccuracy: 0.25, pressure: 101_325.25,
      verticalSpeed: -0.125, temperature: -3.25, humidity: 45.5)
  }

  static var absolute: AbsoluteAltitudeEstimate {
    AbsoluteAltitudeEstimate(
      time: now, altitude: 465.5, accuracy: 2.5, fixTime: now, seaLevelPressure: 102_650,
      seaLevelPressureAccuracy: 120)
  }

  static var motion: MotionEstimate {
    var attitude = MotionAttitude(
      angularRate: Vector3(0, 0, -0.5), free: .identity, steadied: .identity,
      north: Quaternion(rotationVector: Vector3(0, 0, -Double.pi / 2)))
    (attitude.northAccuracy, attitude.tiltAccuracy) = (0.1, 0.02)
    return MotionEstimate(time: now, attitude: attitude)
  }

  static var sky: GNSSSky {
    let systems: [(GNSSSystem, Bool)] = [(.gps, true), (.galileo, true), (.glonass, false)]
    return GNSSSky(
      received: now,
      satellites: systems.enumerated().map { number, system in
        var satellite = GNSSSatellite(system.0, number + 1)
        satellite.isUsed = system.1
        return satellite
      })
  }

  static func state(_ observations: Observation...) -> PublishedState {
    var state = PublishedState()
    for observation in observations { state.take(observation) }
    return state
  }

  /// Everything that a board can know.
  static var full: PublishedState {
    state(
      .heading(heading()), .location(LocationEstimate(fix: fix(), isSimulated: false)),
      .altitude(air), .absoluteAltitude(absolute), .motion(motion), .sky(sky))
  }

  static var sensors: [SensorStatus] {
    var counters = SensorCounters()
    (counters.samples, counters.busErrors, counters.refusals) = (12_345_678_901, 2, .max)
    return [
      SensorStatus(
        index: 0, chip: "LIS3MDL", position: "/dev/i2c-1:0x1e", state: .running, since: now,
        counters: counters),
      SensorStatus(
        index: 1, chip: "odd \"chip\"\\,x=y", position: "/dev/a b\nc", since: .init(seconds: 990)),
    ]
  }

  static let clock: @Sendable (Timestamp) -> ClockReading? = {
    ClockReading(seconds: 1_732_599_000 + $0.seconds, isSet: true)
  }
}

extension SensorStatus {
  init(index: Int, chip: String, position: String, since: Timestamp) {
    self.init(
      index: index, chip: chip, position: position, state: .failed("no \"answer\"\nat all"),
      since: since)
  }
}
