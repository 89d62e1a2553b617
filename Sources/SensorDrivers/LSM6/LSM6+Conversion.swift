// From the LSM6DSOX's output registers to rad/s and m/s^2.

public import LinearAlgebra
public import SensorBus

/// Conversions of the LSM6DSOX; pure functions of the bytes read.
public enum LSM6DSOXConversion {
  /// Angular rate in rad/s, sensor frame, from the gyro's six bytes at `offset` (X, Y, Z, low byte
  /// first, two's complement; datasheet 9.28 to 9.30).
  ///
  /// Throws `.overflow` when an axis stands at an end of the 16 bits. Worked number: at 500 dps the
  /// bytes 65 0B are 2917 counts of 17.5 mdps = 51.05 degrees a second = 0.89097 rad/s (table 2).
  public static func angularRate(
    _ block: RegisterBlock, at offset: Int = 0,
    range: LSM6DSOX.AngularRateRange
  ) throws(DriverError) -> Vector3 {
    try counts(block, offset) * (range.degreesPerSecondPerCount * .pi / 180)
  }

  /// Specific force in m/s^2, sensor frame, from the accelerometer's six bytes at `offset` (X, Y, Z,
  /// low byte first, two's complement; datasheet 9.31 to 9.33).
  ///
  /// Throws `.overflow` when an axis stands at an end of the 16 bits. Worked number: at 4 g the bytes
  /// 05 20 are 8197 counts of 0.122 mg = 1.000034 g = 9.80698 m/s^2 (table 2).
  public static func acceleration(
    _ block: RegisterBlock, at offset: Int = 6,
    range: LSM6DSOX.AccelerationRange
  ) throws(DriverError) -> Vector3 {
    // A constant of its own type: Swift 6.0 mistakes the product for one of two numbers otherwise.
    let scale: Double = range.gPerCount * standardGravity
    return try scale * counts(block, offset)
  }

  private static func counts(
    _ block: RegisterBlock, _ offset: Int
  ) throws(DriverError) -> Vector3 {
    let x = block.int16LittleEndian(offset)
    let y = block.int16LittleEndian(offset + 2)
    let z = block.int16LittleEndian(offset + 4)
    let valid: ClosedRange<Int16> = -32767...32766
    guard valid.contains(x), valid.contains(y), valid.contains(z) else { throw .overflow }
    return Vector3(Double(x), Double(y), Double(z))
  }
}
