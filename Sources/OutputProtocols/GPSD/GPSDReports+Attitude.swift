// ATT and IMU.

import LinearAlgebra
package import SensorTypes
import TextForms

extension GPSDReports {
  private static let degrees = 180 / Double.pi
  /// How old a sample may be beside the newest one, seconds: of a chip that is silent the last one stays.
  private static let sampleAge = 2.0
  private static let longestReason = 200

  /// Axes: x forward, y to the right, z down, so that a positive rate about each of them makes roll, pitch and heading grow.
  /// gpsd passes on what each device has and names no axes. Angles are degrees, rates degrees a second, accelerations (specific
  /// forces) m/s^2, as in gpsd 3.27; the field is microtesla, without the board's iron.
  func write(attitude line: inout JSONLine, _ state: PublishedState, at now: Timestamp) {
    let heading = state.heading(at: now)
    let trusted = state.trustedHeading(at: now)
    let reading = state.attitude(at: now)
    let tilt = state.tilt(at: now)
    line.set("class", "ATT")
    line.set("device", instrument)
    line.set("time", time: (trusted?.time ?? reading?.time).flatMap { utc(of: $0) })
    let trueHeading = trusted?.trueNorth.map { Self.direction($0 * Self.degrees, digits: 3) }
    line.set("heading", trueHeading, digits: 3)
    line.set("mag_st", state.magnetometerLetter(at: now))
    line.set(
      "mheading", trusted.map { Self.direction($0.magnetic * Self.degrees, digits: 3) }, digits: 3)
    line.set("pitch", tilt.map { $0.pitch * Self.degrees }, digits: 3)
    if tilt?.accuracy != nil { line.set("pitch_st", "N") }
    // Of the vehicle, against true north: the same as its heading, and missing with it.
    line.set("yaw", trueHeading, digits: 3)
    line.set("roll", tilt.map { $0.roll * Self.degrees }, digits: 3)
    if tilt?.accuracy != nil { line.set("roll_st", "N") }
    // Degrees a minute, as NMEA's ROT.
    line.set("rot", state.rateOfTurn(at: now).map { $0 * Self.degrees * 60 }, digits: 3)
    if let heading, !heading.isUncalibrated {
      line.set("dip", heading.fieldCheck?.measured.dip.map { $0 * Self.degrees }, digits: 3)
      Self.write("mag", heading.field, withLength: true, into: &line)
    }
    let motion = state.motion(at: now)
    let force = motion?.force.flatMap { Self.isFresh($0.time, at: now) ? $0.value : nil }
    Self.write("acc", force, withLength: true, into: &line)
    Self.write("gyro", reading?.angularRate.map { $0 * Self.degrees }, into: &line)
    line.set("headingAccuracy", trusted.map { $0.accuracy * Self.degrees }, digits: 3)
    if let reason = state.headingReason(at: now) {
      let words = reason.withoutPlace.description
      line.set("headingReason", GPSDText.ascii(words.utf8, limit: Self.longestReason))
    }
  }

  /// Returns an IMU: the samples of the chips as they are, with the board's iron and the gyro's bias; `nil` where there are none.
  ///
  /// A class of gpsd 3.27.
  package func inertial(_ state: PublishedState, at now: Timestamp) -> GPSDServerReport? {
    guard let motion = state.motion(at: now) else { return nil }
    func value(_ sample: Sample<Vector3>?) -> Vector3? {
      sample.flatMap { Self.isFresh($0.time, at: now) ? $0.value : nil }
    }
    let (force, rate, field) = (value(motion.force), value(motion.angularRate), value(motion.field))
    guard force != nil || rate != nil || field != nil else { return nil }
    return report(.inertial, of: instrument) {
      $0.set("class", "IMU")
      $0.set("device", instrument)
      $0.set("time", time: utc(of: motion.time))
      $0.set("msg", "LODESTONE")
      Self.write("mag", field, into: &$0)
      Self.write("acc", force, into: &$0)
      Self.write("gyro", rate.map { $0 * Self.degrees }, into: &$0)
    }
  }

  /// A vector of the body frame (x to the right, y forward, z up) in gpsd's keys. One that is not finite is left out whole.
  private static func write(
    _ name: String, _ vector: Vector3?, withLength: Bool = false, into line: inout JSONLine
  ) {
    guard let vector, vector.isFinite else { return }
    if withLength { line.set(name + "_len", vector.length, digits: 3) }
    line.set(name + "_x", vector.y, digits: 5)
    line.set(name + "_y", vector.x, digits: 5)
    line.set(name + "_z", -vector.z, digits: 5)
  }

  private static func isFresh(_ time: Timestamp, at now: Timestamp) -> Bool {
    abs(now.seconds(since: time)) <= sampleAge
  }
}

extension HeadingEstimate {
  fileprivate var isUncalibrated: Bool {
    if case .uncalibrated? = reason { true } else { false }
  }
}

extension PublishedState {
  /// The state of the magnetometer as a letter (gpsd_json(5), "Device flags"); `nil` without a magnetometer, or if its state is not known.
  ///
  /// C: no calibration record. P, L: the field is not the earth's, too strong or too weak, and the heading is not to be trusted.
  /// O, M: the same, and the heading is the gyro's and still to be trusted. N: all is well.
  fileprivate func magnetometerLetter(at now: Timestamp) -> String? {
    let check = heading(at: now)?.fieldCheck
    let isWeak = check.flatMap { check in
      check.expected.map { check.measured.strength < $0.strength }
    }
    if let trusted = trustedHeading(at: now) {
      guard let heading = heading(at: now), heading.field != nil || check != nil else { return nil }
      guard trusted.isCarried || check?.isDisturbed == true else { return "N" }
      return isWeak == true ? "M" : "O"
    }
    switch headingReason(at: now) {
    case .uncalibrated: return "C"
    case .magneticInterference: return isWeak == true ? "L" : "P"
    default: return nil
    }
  }
}
