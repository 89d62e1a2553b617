public import LinearAlgebra

/// What one conversion of a chip says, in the *sensor* frame, in physical units, before calibration.
public enum Reading: Sendable, Hashable, Codable {
  /// Magnetic flux density in microtesla.
  case magneticField(Vector3)
  /// Specific force in m/s^2: a chip at rest reads +9.81 on the axis that points up.
  case acceleration(Vector3)
  /// Angular rate in rad/s, right-handed, and specific force in m/s^2, sampled together.
  case inertial(angularRate: Vector3, acceleration: Vector3)
  /// Angular rate in rad/s and specific force in m/s^2, sampled together, while some axes stood at an end of their range:
  /// on these axes the true value lies beyond the one given.
  case clippedInertial(angularRate: Vector3, acceleration: Vector3, clipped: InertialClipping)
  /// Static pressure in pascals, the chip's temperature in degrees Celsius, and the relative humidity at this temperature in percent where
  /// the chip measures it, of one conversion.
  case atmosphere(pressure: Double, temperature: Double, humidity: Double? = nil)
}

/// A value and when it was true.
public struct Sample<Value: Sendable>: Sendable {
  /// The middle of the interval over which the chip averaged, on the monotonic clock.
  public var time: Timestamp
  /// The measured value.
  public var value: Value

  /// Makes a sample.
  @inlinable public init(time: Timestamp, value: Value) {
    self.time = time
    self.value = value
  }
}

extension Sample: Equatable where Value: Equatable {}
extension Sample: Hashable where Value: Hashable {}
extension Sample: Codable where Value: Codable {}
