// The words of the motion services: what a client sets, and what it is told.

package import SensorTypes

/// The frame that an attitude is measured against. Z points up in all of them.
package enum MotionFrame: String, Hashable, Codable, Sendable, CaseIterable {
  /// X lay to the right of the body when the first client started; nothing but the gyro holds it, and it drifts.
  case arbitrary
  /// The same, led back by the magnetometer.
  case arbitraryCorrected
  /// X points to magnetic north.
  case magneticNorth
  /// X points to true north.
  case trueNorth

  /// Whether a magnetometer has a part in it.
  package var usesField: Bool { self != .arbitrary }
}

/// What a client has set of the motion services.
package struct MotionSettings: Hashable, Codable, Sendable {
  /// Seconds between two accelerations; zero, negative or NaN delivers every one that is measured.
  package var accelerometerInterval: Double
  /// The same of angular rates.
  package var gyroInterval: Double
  /// The same of fields.
  package var magnetometerInterval: Double
  /// The same of attitudes.
  package var deviceInterval: Double
  /// What attitudes are measured against.
  package var frame: MotionFrame

  /// Makes settings: every sample, no north.
  package init(
    accelerometerInterval: Double = 0, gyroInterval: Double = 0, magnetometerInterval: Double = 0,
    deviceInterval: Double = 0, frame: MotionFrame = .arbitrary
  ) {
    self.accelerometerInterval = accelerometerInterval
    self.gyroInterval = gyroInterval
    self.magnetometerInterval = magnetometerInterval
    self.deviceInterval = deviceInterval
    self.frame = frame
  }
}

/// One sample of one chip as a client gets it, in the body frame.
package struct MotionSample: Hashable, Codable, Sendable {
  /// When it was true.
  package var time: Timestamp
  /// The value; its unit stands at each use.
  package var value: SIMD3<Double>

  package init(time: Timestamp, value: SIMD3<Double>) {
    self.time = time
    self.value = value
  }
}

/// Attitude and what belongs to it, as a client gets them.
package struct DeviceMotionReport: Hashable, Codable, Sendable {
  /// When it was true.
  package var time: Timestamp
  /// The frame that was asked for.
  package var frame: MotionFrame
  /// The rotation from the body to `frame`: a unit quaternion's scalar part.
  package var scalar: Double
  package var vector: SIMD3<Double>
  /// Angular rate without the gyro's bias, rad/s, body frame.
  package var angularRate: SIMD3<Double>
  /// Specific force as measured, m/s^2, body frame: at rest it points up.
  package var force: SIMD3<Double>
  /// The direction of up in the body frame, of length one.
  package var up: SIMD3<Double>
  /// The field without the board's iron, microtesla, body frame; `nil` where none is measured, or `frame` does not use
  /// it.
  package var field: SIMD3<Double>?
  /// How far `field` can be trusted.
  package var fieldTrust: FieldTrust
  /// The body's y axis clockwise from the north of `frame`, degrees, 0 up to 360; `nil` in a frame without north.
  package var heading: Double?
  /// Half the width of the 95 % interval about magnetic north, degrees; `nil` in a frame without north, and where it is
  /// disturbed.
  package var headingAccuracy: Double?
}

/// What a client of the motion services is told.
package enum MotionEvent: Hashable, Codable, Sendable {
  /// Specific force, m/s^2: at rest it points up.
  case force(MotionSample)
  /// Angular rate, the gyro's bias included, rad/s.
  case angularRate(MotionSample)
  /// The field, the board's iron included, microtesla.
  case field(MotionSample)
  /// Attitude and what belongs to it.
  case device(DeviceMotionReport)
}

/// A height above the sea as a client gets it.
package struct AbsoluteAltitudeReport: Hashable, Codable, Sendable {
  /// When it was true.
  package var time: Timestamp
  /// Metres above mean sea level.
  package var altitude: Double
  /// One sigma of it, metres.
  package var accuracy: Double

  /// The report of an estimate, or `nil` where it holds no height.
  package init?(_ estimate: AbsoluteAltitudeEstimate) {
    guard estimate.altitude.isFinite, estimate.accuracy.isFinite, estimate.accuracy >= 0 else {
      return nil
    }
    (time, altitude, accuracy) = (estimate.time, estimate.altitude, estimate.accuracy)
  }
}
