// ST's LSM6 family of accelerometers with gyros on I2C (0x6A or 0x6B).

/// An accelerometer with a gyro of ST's LSM6 family, both sampled together, at one rate in high-performance mode, with
/// block data update, gyro data ready on pin INT1.
///
/// Both have the same axes, right-handed; a positive rate is counterclockwise about its axis (LSM6DSL: figure 1, 4.6.1).
package struct LSM6: InertialChip, QueuedChip, Hashable {
  /// The accelerometer's range; the raw value is FS1:0_XL (table 44), which is not in order.
  package enum AccelerationRange: UInt8, MeasuringRange {
    /// +-2 g.
    case g2 = 0b00
    /// +-4 g.
    case g4 = 0b10
    /// +-8 g.
    case g8 = 0b11
    /// +-16 g.
    case g16 = 0b01

    /// g a count (table 2: 0.061, 0.122, 0.244, 0.488 mg).
    package var gPerCount: Double {
      switch self {
      case .g2: 0.061e-3
      case .g4: 0.122e-3
      case .g8: 0.244e-3
      case .g16: 0.488e-3
      }
    }
  }

  /// The gyro's range; the raw value is FS1:0_G (table 46).
  package enum AngularRateRange: UInt8, MeasuringRange {
    /// +-250 degrees a second.
    case dps250 = 0b00
    /// +-500 degrees a second.
    case dps500 = 0b01
    /// +-1000 degrees a second.
    case dps1000 = 0b10
    /// +-2000 degrees a second.
    case dps2000 = 0b11

    /// Degrees a second a count (table 2: 8.75, 17.5, 35, 70 mdps).
    package var degreesPerSecondPerCount: Double {
      switch self {
      case .dps250: 8.75e-3
      case .dps500: 17.5e-3
      case .dps1000: 35e-3
      case .dps2000: 70e-3
      }
    }
  }

  package let chip: LSM6Variant
  /// Ranges and rate, one of the chip's `outputRates`.
  package private(set) var setting: InertialSetting<AccelerationRange, AngularRateRange>

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is. Whether it `gathers` samples in the chip at
  /// rates above 208 Hz, which spares the bus and delays them by up to 10 ms.
  ///
  /// 4 g and 1000 degrees a second unless said otherwise: a hand turns a board at up to 800, and the
  /// gyro's step (35 mdps) is still its own noise at 208 Hz.
  package init(
    _ chip: LSM6Variant, outputRate: Double, accelerationRange: AccelerationRange = .g4,
    angularRateRange: AngularRateRange = .dps1000, gathers: Bool = true
  ) {
    self.chip = chip
    setting = InertialSetting(
      outputRate, of: chip.outputRates, accelerationRange, angularRateRange,
      queuedBytes: chip.queuedBytes, gathers: gathers)
  }

  /// What is written, in this order; the rates come last, because they start conversions. Filters and
  /// power modes stand at their reset values and are written, because a wrong one would go unnoticed. (The first
  /// two can switch off an axis: after a reset all are on.)
  package var registerImage: [RegisterSetting] {
    let rate = UInt8(setting.rateIndex + 1) << 4
    return queueSettings + [
      // BDU and IF_INC; BOOT and SW_RESET clear themselves.
      RegisterSetting(LSM6Register.control3, 0x44),
      RegisterSetting(LSM6Register.control4, 0x00),
      RegisterSetting(LSM6Register.control6, 0x00),
      RegisterSetting(LSM6Register.control7, 0x00),
      RegisterSetting(LSM6Register.control8, 0x00),
      RegisterSetting(LSM6Register.interrupt1, queue == nil ? 0x02 : 0x08),
      RegisterSetting(LSM6Register.control1, rate | setting.accelerationRange.rawValue << 2),
      RegisterSetting(LSM6Register.control2, rate | setting.angularRateRange.rawValue << 2),
    ]
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Conversions a second.
  package var outputRate: Double { setting.outputRate }

  /// The registers of the user (a program that was killed may have left another bank open; it is asked for first, so
  /// that nothing is written where nobody answers), identity, software reset (10 ms, at most 100 ms), configuration,
  /// read-back, and the time in which the gyro's
  /// drive comes up (the first samples after power-on are wrong by many degrees a second). Reading then lets
  /// the data-ready line fall, so that the next conversion makes an edge.
  package var startSteps: [StartStep] {
    [
      .discard(register: LSM6Register.bankAccess, count: 1),
      .write([RegisterSetting(LSM6Register.bankAccess, 0x00)]),
      .identify(register: LSM6Register.whoAmI, anyOf: [chip.identity]),
    ]
      + StartStep.reset(LSM6Register.control3, bit: LSM6Register.softwareReset)
      + [
        .configure(), .wait(seconds: chip.gyroStart),
        queue.map { StartStep.write($0.restart) }
          ?? StartStep.discard(register: LSM6Register.output, count: 12),
      ]
  }

  /// Takes the next wider ranges.
  package mutating func widen() -> Bool { setting.widen() }

  /// Both sensors off; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [
      RegisterSetting(LSM6Register.control1, setting.accelerationRange.rawValue << 2),
      RegisterSetting(LSM6Register.control2, setting.angularRateRange.rawValue << 2),
    ]
  }

  /// Both have something new.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (LSM6Register.status, LSM6Register.dataReady)
  }

  package var output: (register: UInt8, count: Int) { (LSM6Register.output, 12) }

  /// The gyro first, low byte first (LSM6DSOX: 9.28 to 9.33).
  package static let layout = InertialLayout(angularRate: 0, acceleration: 6)

  /// By the ranges (table 2). Worked numbers: at 500 dps the bytes 65 0B are 2917 counts of 17.5 mdps = 51.05 degrees
  /// a second = 0.89097 rad/s; at 4 g 05 20 are 8197 counts of 0.122 mg = 1.000034 g = 9.80698 m/s^2.
  package var scale: InertialScale {
    InertialScale(
      gPerCount: setting.accelerationRange.gPerCount,
      degreesPerSecondPerCount: setting.angularRateRange.degreesPerSecondPerCount)
  }
}

/// Which of the family.
package enum LSM6Variant: String, Sendable, Hashable, CaseIterable {
  /// For industry. An LSM6DSR answers the same.
  case ism330dhcx = "ISM330DHCX"
  /// The first, with an LSM6DS33's identity and registers.
  case lsm6ds3 = "LSM6DS3"
  /// The first without a sensor hub.
  case lsm6ds33 = "LSM6DS33"
  /// An LSM6DSL in the LSM6DS3's place.
  case lsm6ds3trc = "LSM6DS3TR-C"
  /// The second.
  case lsm6dsl = "LSM6DSL"
  /// An LSM6DSOX without its learning core.
  case lsm6dso = "LSM6DSO"
  case lsm6dsox = "LSM6DSOX"

  /// What its WHO_AM_I holds.
  package var identity: UInt8 {
    switch self {
    case .lsm6ds3, .lsm6ds33: 0x69
    case .lsm6ds3trc, .lsm6dsl: 0x6A
    case .ism330dhcx: 0x6B
    case .lsm6dso, .lsm6dsox: 0x6C
    }
  }

  /// The rates that gyro and accelerometer share, Hz (LSM6DSOX: tables 43 and 45); the code is the index + 1. Some of
  /// the datasheets have 416 and 1666. All but the first two have faster ones, which a bus cannot fetch.
  package var outputRates: [Double] { [12.5, 26, 52, 104, 208, 417, 833, 1667] }

  /// What the gyro may say at rest, degrees a second (mechanical characteristics of each datasheet).
  var zeroRateLevel: Double {
    switch self {
    case .lsm6ds3, .lsm6ds33: 10
    case .lsm6ds3trc, .lsm6dsl: 3
    case .ism330dhcx, .lsm6dso, .lsm6dsox: 1
    }
  }

  /// Seconds from power-down to a gyro that is right: at most 70 ms and a few conversions (AN5272; AN5130 for an
  /// LSM6DSM). ST's own examples give the chips before the LSM6DSO 150 ms; so much is waited for those.
  var gyroStart: Double {
    switch self {
    case .ism330dhcx, .lsm6dso, .lsm6dsox: 0.08
    default: 0.15
    }
  }
}

extension ChipDescription {
  /// ST ISM330DHCX.
  static let ism330dhcx = lsm6(
    .ism330dhcx, .likely, "an LSM6DSR or LSM6DSRX answers the same and is used the same")
  /// ST LSM6DS3. Its sensor hub leaves no trace in what it holds at rest.
  static let lsm6ds3 = lsm6(
    .lsm6ds3, .likely, "an LSM6DS33 answers the same and is used the same")
  /// ST LSM6DS33.
  static let lsm6ds33 = lsm6(
    .lsm6ds33, .likely, "an LSM6DS3 answers the same and is used the same")
  /// ST LSM6DS3TR-C.
  static let lsm6ds3trc = lsm6(
    .lsm6ds3trc, .likely, "an LSM6DSL or LSM6DSM answers the same and is used the same")
  /// ST LSM6DSL.
  static let lsm6dsl = lsm6(
    .lsm6dsl, .likely, "an LSM6DS3TR-C or LSM6DSM answers the same and is used the same")
  /// ST LSM6DSO.
  static let lsm6dso = lsm6(
    .lsm6dso, .likely,
    "an LSM6DSOX answers the same and is used the same; an LSM6DSO32 would say half of gravity")
  /// ST LSM6DSOX.
  static let lsm6dsox = lsm6(
    .lsm6dsox, .likely,
    "an LSM6DSO answers the same and is used the same; an LSM6DSO32 would say half of gravity")

  private static func lsm6(
    _ chip: LSM6Variant, _ confidence: ChipIdentification.Confidence, _ note: String
  ) -> ChipDescription {
    ChipDescription(
      chip.rawValue, .inertial, addresses: [0x6A, 0x6B],
      fingerprints: [
        // FUNC_CFG_ACCESS but for FUNC_CFG_EN_B of the LSM6DSL and OIS_CTRL_FROM_UI of the LSM6DSOX: with the other banks
        // open the identity is not to be seen anyway; and bit 0 of CTRL2_G, which is a range of the ISM330DHCX's (FS_4000),
        // where bit 1 of CTRL3_C stands for it. All of them are 0 in the datasheets.
        .identity(
          LSM6Register.whoAmI, [chip.identity], confidence, note,
          [
            .bits(0xDE, of: LSM6Register.bankAccess),
            chip == .ism330dhcx
              ? .bits(0x02, of: LSM6Register.control3) : .bits(0x01, of: LSM6Register.control2),
          ])
      ],
      zeroRateLevel: chip.zeroRateLevel, selfTest: DeflectionTest.lsm6(chip)
    ) { LSM6(chip, outputRate: $0) }
  }
}
