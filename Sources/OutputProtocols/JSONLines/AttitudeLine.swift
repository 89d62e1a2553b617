// The attitude of the board as a line of JSON.

import LinearAlgebra
package import SensorTypes
import TextForms

/// An attitude and what is known of it, from whichever estimate has it.
package struct AttitudeReading: Sendable {
  package var time: Timestamp
  /// Body to earth (ENU with y to magnetic north); `nil` with a `reason`.
  var north: Quaternion?
  /// Body to a frame whose z axis points up and whose y axis points anywhere; `nil` for an attitude without a gyro.
  var free: Quaternion?
  var reason: NoData?
  /// Half the width of the 95 % interval of the heading in radians.
  var accuracy: Double?
  /// The radius of the 95 % circle of the tilt in radians.
  var tiltAccuracy: Double?
  var declination: Double?
  /// The angular rate without the gyro's bias in rad/s, body frame.
  var angularRate: Vector3?

  /// Makes a reading of a motion estimate, or `nil` if it has no attitude.
  package init?(_ motion: MotionEstimate) {
    guard let attitude = motion.attitude else { return nil }
    time = motion.time
    (north, free) = (attitude.north, attitude.steadied)
    (reason, accuracy) = (attitude.northReason, attitude.northAccuracy)
    tiltAccuracy = attitude.tiltAccuracy
    (declination, angularRate) = (attitude.declination, attitude.angularRate)
  }

  /// Makes a reading of a heading, for a board without a gyro.
  package init(_ heading: HeadingEstimate) {
    time = heading.time
    // Before a calibration nobody knows where north is.
    if case .uncalibrated? = heading.reason {
      free = heading.attitude
    } else {
      north = heading.attitude
    }
    (reason, accuracy) = (heading.reason, heading.accuracy)
    declination = heading.declination
  }
}

extension AttitudeReading {
  /// The covariance of small rotations about east, north and up (or the axes of an arbitrary reference), by rows, in rad^2; `nil` if an
  /// accuracy is missing.
  var covariance: [Double]? {
    guard north != nil, let tiltAccuracy, let accuracy else { return nil }
    // The half width of a 95 % interval, and the radius of a 95 % circle, in deviations.
    let (tilt, heading) = (tiltAccuracy / 2.447_746_831, accuracy / 1.959_963_985)
    let (about, up) = (tilt * tilt, heading * heading)
    return [about, 0, 0, 0, about, 0, 0, 0, up]
  }

  /// Makes a reading of a moment at which there is no attitude.
  package init(missing reason: NoData, at time: Timestamp) {
    (self.time, self.reason) = (time, reason)
  }
}

extension ObservationLines {
  /// Returns the line for an attitude.
  ///
  /// - Parameter skipped: The number of attitudes that were left out before it.
  package mutating func line(for reading: AttitudeReading, skipped: Int = 0) -> String {
    var line = begin("attitude", at: reading.time)
    guard let attitude = reading.north ?? reading.free else {
      line.set("reason", reading.reason?.description)
      return line.line
    }
    let degrees = 180 / Double.pi
    line.set("reference", reading.north == nil ? "arbitrary" : "magneticNorth")
    let vector = attitude.vector
    line.set("quaternion", [attitude.w, vector.x, vector.y, vector.z], digits: 7)
    let (right, forward, up) = attitude.matrix.columns
    // About z, then about its own x, then about its own y, each right-handed: CMAttitude's angles.
    line.set("roll", atan2(-right.z, up.z) * degrees, digits: 3)
    line.set("pitch", asin(max(-1, min(1, forward.z))) * degrees, digits: 3)
    line.set("yaw", atan2(-forward.x, forward.y) * degrees, digits: 3)
    if reading.north != nil {
      let heading = atan2(forward.x, forward.y)
      line.set("magneticHeading", Self.printed(heading: heading), digits: 3)
      let trueHeading = reading.declination.map { Self.printed(heading: heading + $0) }
      line.set("trueHeading", trueHeading ?? -1, digits: 3)
      line.set("headingAccuracy", reading.accuracy.map { $0 * degrees } ?? -1, digits: 3)
    }
    line.set("tiltAccuracy", reading.tiltAccuracy.map { $0 * degrees }, digits: 3)
    line.set("covariance", reading.covariance, digits: 9)
    line.set("reason", reading.reason?.description)
    if let rate = reading.angularRate {
      line.set("rotationRate", [rate.x, rate.y, rate.z], digits: 5)
      // Clockwise seen from above, as a heading.
      line.set("rateOfTurn", -attitude.rotate(rate).z * degrees, digits: 3)
    }
    if skipped > 0 { line.set("skipped", skipped) }
    return line.line
  }

  /// Returns a heading in degrees, which three decimals do not round up to a full turn.
  static func printed(heading: Double) -> Double {
    let rest = (heading * 180 / .pi).truncatingRemainder(dividingBy: 360)
    let positive = rest < 0 ? rest + 360 : rest
    return positive >= 359.9995 ? 0 : positive
  }
}
