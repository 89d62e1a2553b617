// From the output registers of ST's LSM6 chips to rad/s and m/s^2.

public import LinearAlgebra
public import SensorBus

/// Conversions of the LSM6 family; pure functions of the bytes read.
public enum LSM6Conversion {
  /// Counts beyond this are an end of the 16 bits, or next to one.
  private static let limit = 32766.0

  /// Angular rate in rad/s, sensor frame, from the gyro's six bytes at `offset` (X, Y, Z, low byte
  /// first, two's complement; LSM6DSOX datasheet 9.28 to 9.30).
  ///
  /// Throws `.overflow` when an axis stands at an end of the 16 bits. Worked number: at 500 dps the
  /// bytes 65 0B are 2917 counts of 17.5 mdps = 51.05 degrees a second = 0.89097 rad/s (table 2).
  public static func angularRate(
    _ block: RegisterBlock, at offset: Int = 0, range: LSM6.AngularRateRange
  ) throws(DriverError) -> Vector3 {
    try AxisCounts.littleEndian(block, at: offset, limit: limit)
      * (range.degreesPerSecondPerCount * .pi / 180)
  }

  /// Specific force in m/s^2, sensor frame, from the accelerometer's six bytes at `offset` (X, Y, Z,
  /// low byte first, two's complement; LSM6DSOX datasheet 9.31 to 9.33).
  ///
  /// Throws `.overflow` when an axis stands at an end of the 16 bits. Worked number: at 4 g the bytes
  /// 05 20 are 8197 counts of 0.122 mg = 1.000034 g = 9.80698 m/s^2 (table 2).
  public static func acceleration(
    _ block: RegisterBlock, at offset: Int = 6, range: LSM6.AccelerationRange
  ) throws(DriverError) -> Vector3 {
    // A constant of its own type: Swift 6.0 mistakes the product for one of two numbers otherwise.
    let scale: Double = range.gPerCount * standardGravity
    return try scale * AxisCounts.littleEndian(block, at: offset, limit: limit)
  }
}
