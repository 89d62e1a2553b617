// In what ST's LSM6 chips differ, and what one from the shop may be like.

extension LSM6Twin {
  /// Which of the family.
  package enum Variant: Sendable, Hashable {
    /// LSM6DS3 and LSM6DS33 (DocID026899, DocID027423).
    case first
    /// LSM6DSL and LSM6DS3TR-C (DocID028475).
    case second
    /// LSM6DSO and LSM6DSOX (DS12140, DS12814).
    case third
    /// ISM330DHCX (DS13012).
    case industrial

    var identity: UInt8 {
      switch self {
      case .first: 0x69
      case .second: 0x6A
      case .industrial: 0x6B
      case .third: 0x6C
      }
    }

    /// Seconds from power to the first answer (AN4650, AN5040, AN5272).
    var bootTime: Double {
      switch self {
      case .first: 0.02
      case .second: 0.015
      case .third, .industrial: 0.01
      }
    }

    /// Micro-g and millidegrees a second, per root hertz (mechanical characteristics).
    var noise: (linear: Double, angular: Double) {
      switch self {
      case .first: (90, 7)
      case .second: (80, 4)
      case .third: (70, 3.8)
      case .industrial: (60, 5)
      }
    }

    /// Counts a degree Celsius (temperature sensor characteristics).
    var temperatureScale: Double { self == .first ? 16 : 256 }
  }
}

extension LSM6Twin {
  /// Output data rate by its code, tables 44 and 47, Hz; 0 for power-down. The first chips' gyro ends at 1666 Hz.
  static func rate(_ code: UInt8) -> Double {
    switch code {
    case 1: 12.5
    case 2: 26
    case 3: 52
    case 4: 104
    case 5: 208
    case 6: 417
    case 7: 833
    case 8: 1667
    case 9: 3333
    case 10: 6667
    default: 0
    }
  }

  /// CTRL5_C ST1, ST0 of a sensor: the sign of its self-test; 0 for none, and for the code that the datasheet does not
  /// allow. Negative is 10 of the accelerometer (bits 1:0) and 11 of the gyro (3:2).
  static func selfTestSign(_ bits: UInt8, negative: UInt8) -> Double {
    bits & 3 == 1 ? 1 : bits & 3 == negative ? -1 : 0
  }
}

extension TwinDescription {
  /// Zero-g 10 mg and 0.1 mg a kelvin; zero rate 1 degree a second and 0.005 a kelvin.
  static let ism330dhcx = lsm6(
    "ISM330DHCX", .industrial, zeroG: 0.01, perKelvin: 0.1e-3, zeroRate: 1, ratePerKelvin: 0.005)
  static let lsm6ds3 = first("LSM6DS3")
  static let lsm6ds33 = first("LSM6DS33")
  static let lsm6ds3trc = second("LSM6DS3TR-C")
  static let lsm6dsl = second("LSM6DSL")
  static let lsm6dso = third("LSM6DSO")
  static let lsm6dsox = third("LSM6DSOX")

  /// Zero-g 40 mg and 0.5 mg a kelvin; zero rate 10 degrees a second and 0.05 a kelvin.
  private static func first(_ name: String) -> TwinDescription {
    lsm6(name, .first, zeroG: 0.04, perKelvin: 0.5e-3, zeroRate: 10, ratePerKelvin: 0.05)
  }

  /// Zero-g 40 mg and 0.1 mg a kelvin; zero rate 3 degrees a second and 0.015 a kelvin.
  private static func second(_ name: String) -> TwinDescription {
    lsm6(name, .second, zeroG: 0.04, perKelvin: 0.1e-3, zeroRate: 3, ratePerKelvin: 0.015)
  }

  /// Zero-g 20 mg and 0.1 mg a kelvin; zero rate 1 degree a second and 0.01 a kelvin.
  private static func third(_ name: String) -> TwinDescription {
    lsm6(name, .third, zeroG: 0.02, perKelvin: 0.1e-3, zeroRate: 1, ratePerKelvin: 0.01)
  }

  private static func lsm6(
    _ name: String, _ variant: LSM6Twin.Variant, zeroG: Double, perKelvin: Double,
    zeroRate: Double, ratePerKelvin: Double
  ) -> TwinDescription {
    TwinDescription(name, make: { LSM6Twin($0, variant) }) { random, bias in
      .inertial(
        bias: bias * zeroG, perKelvin: perKelvin, scale: 0.003,
        gyroscope: (zeroRate, ratePerKelvin, 0.005), clock: 0.015, &random)
    }
  }
}
