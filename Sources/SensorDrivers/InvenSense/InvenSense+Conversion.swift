// Ranges of InvenSense's accelerometers and gyros, and what a count is in them.

/// What the chips of InvenSense (TDK) have in common: ranges, sensitivities, byte order.
package enum InvenSense {
  package enum AngularRateRange: Int, MeasuringRange {
    /// +-250 degrees a second.
    case dps250 = 250
    /// +-500 degrees a second.
    case dps500 = 500
    /// +-1000 degrees a second.
    case dps1000 = 1000
    /// +-2000 degrees a second.
    case dps2000 = 2000

    /// Counts that a degree a second is, as all their datasheets round them.
    package var countsPerDegree: Double {
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

  /// Ranges and rate of a chip that has the rates of both alike.
  package typealias Setting = InertialSetting<AccelerationRange, AngularRateRange>

  /// The accelerometer's six bytes first, the gyro's at an index; high byte first.
  static func layout(angularRate: Int) -> InertialLayout {
    InertialLayout(angularRate: angularRate, acceleration: 0, isBigEndian: true)
  }

  /// Bytes of a sample in the queue of MPU and ICM20948: accelerometer and gyro, as in their registers.
  static let queuedBytes = 12
  static let queuedLayout = layout(angularRate: 6)

  /// The queue of MPU and ICM20948, which have no threshold on their pin.
  static func queue(
    batch: Int, count: UInt8, capacity: Int, data: UInt8, restart: [RegisterSetting]
  ) -> ChipQueue {
    ChipQueue(
      form: .samples, batch: batch, raisesPin: false, status: count, statusForm: .bigEndian,
      level: 0x1FFF, capacity: capacity, unit: 1, output: data, sample: queuedBytes,
      restart: restart)
  }

  /// What counts are in two ranges. Worked numbers: at 4 g 20 00 is 8192 counts = 1 g = 9.80665 m/s^2; at 1000 degrees
  /// a second 0C D0 is 3280 counts = 100 degrees a second.
  static func scale(_ linear: AccelerationRange, _ angular: AngularRateRange) -> InertialScale {
    InertialScale(gPerCount: linear.gPerCount, countsPerDegree: angular.countsPerDegree)
  }
}
