// Ranges of InvenSense's accelerometers and gyros, and the way from their output registers to m/s^2 and rad/s.

public import LinearAlgebra
public import SensorBus
import SensorTypes

/// What the chips of InvenSense (TDK) have in common: ranges, sensitivities, byte order.
public enum InvenSense {
  /// The gyro's range.
  public enum AngularRateRange: Int, Sendable, Hashable, CaseIterable {
    /// +-250 degrees a second.
    case dps250 = 250
    /// +-500 degrees a second.
    case dps500 = 500
    /// +-1000 degrees a second.
    case dps1000 = 1000
    /// +-2000 degrees a second.
    case dps2000 = 2000

    /// Counts that a degree a second is, as all their datasheets round them.
    public var countsPerDegree: Double {
      switch self {
      case .dps250: 131
      case .dps500: 65.5
      case .dps1000: 32.8
      case .dps2000: 16.4
      }
    }

    /// 0 to 3, the smallest range first.
    var index: UInt8 { UInt8((rawValue / 250).trailingZeroBitCount) }
  }

  /// The largest count that is a measurement: both ends of the 16 bits stand for saturation.
  static let largestCount = 32_766.0

  /// Specific force in m/s^2, sensor frame, from the six bytes at `offset` (X, Y, Z, high byte first, two's
  /// complement).
  ///
  /// Throws `.overflow` when an axis stands at an end of the 16 bits. Worked number: at 4 g the bytes 20 00 are
  /// 8192 counts = 1 g = 9.80665 m/s^2.
  public static func acceleration(
    _ block: RegisterBlock, at offset: Int, range: AccelerationRange
  ) throws(DriverError) -> Vector3 {
    let scale: Double = range.gPerCount * standardGravity
    return try scale * AxisCounts.bigEndian(block, at: offset, limit: largestCount)
  }

  /// Angular rate in rad/s, sensor frame, from the six bytes at `offset`, likewise.
  ///
  /// Worked number: at 1000 degrees a second the bytes 0C D0 are 3280 counts = 100 degrees a second.
  public static func angularRate(
    _ block: RegisterBlock, at offset: Int, range: AngularRateRange
  ) throws(DriverError) -> Vector3 {
    let scale: Double = .pi / 180 / range.countsPerDegree
    return try scale * AxisCounts.bigEndian(block, at: offset, limit: largestCount)
  }

  /// Angular rate in rad/s and specific force in m/s^2 of one moment: the accelerometer's six bytes at 0, the gyro's at
  /// `offset`.
  static func reading(
    _ block: RegisterBlock, acceleration: AccelerationRange, angularRate: AngularRateRange,
    at offset: Int = 6
  ) throws(DriverError) -> Reading {
    .inertial(
      angularRate: try self.angularRate(block, at: offset, range: angularRate),
      acceleration: try self.acceleration(block, at: 0, range: acceleration))
  }
}
