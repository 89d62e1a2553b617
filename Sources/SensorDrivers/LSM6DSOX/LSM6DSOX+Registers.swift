// Registers and configuration of the ST LSM6DSOX (datasheet DS12814 rev. 4, sections 8 and 9).

/// The registers that the driver touches.
enum LSM6DSOXRegister {
  /// What drives pin INT1; bit 1 is gyro data ready.
  static let interrupt1: UInt8 = 0x0D
  /// Always 0x6C.
  static let whoAmI: UInt8 = 0x0F
  /// ODR_XL3:0 | FS1:0_XL | LPF2_XL_EN | 0.
  static let control1: UInt8 = 0x10
  /// ODR_G3:0 | FS1:0_G | FS_125 | 0.
  static let control2: UInt8 = 0x11
  /// BOOT | BDU | H_LACTIVE | PP_OD | SIM | IF_INC | 0 | SW_RESET.
  static let control3: UInt8 = 0x12
  static let control4: UInt8 = 0x13
  /// XL_ULP_EN | ROUNDING1:0 | ROUNDING_STATUS | ST1:0_G | ST1:0_XL.
  static let control5: UInt8 = 0x14
  static let control6: UInt8 = 0x15
  static let control7: UInt8 = 0x16
  static let control8: UInt8 = 0x17
  /// TDA bit 2, GDA bit 1, XLDA bit 0.
  static let status: UInt8 = 0x1E
  /// Gyro X low ... Z high, then at once accelerometer X low ... Z high (0x28 to 0x2D).
  static let output: UInt8 = 0x22
  /// Accelerometer X low ... Z high.
  static let linearOutput: UInt8 = 0x28

  static let identity: UInt8 = 0x6C
  static let softwareReset: UInt8 = 0x01
  /// Gyro and accelerometer both have something new.
  static let dataReady: UInt8 = 0x03
  static let linearReady: UInt8 = 0x01
  static let angularReady: UInt8 = 0x02
}

/// How an LSM6DSOX is to measure: gyro and accelerometer at one rate in high-performance mode, block
/// data update, gyro data ready on pin INT1 (both are sampled together).
public struct LSM6DSOXConfiguration: Sendable, Hashable {
  /// The accelerometer's range; the raw value is FS1:0_XL (table 44), which is not in order.
  public enum AccelerationRange: UInt8, Sendable, Hashable, CaseIterable {
    /// +-2 g.
    case g2 = 0b00
    /// +-4 g.
    case g4 = 0b10
    /// +-8 g.
    case g8 = 0b11
    /// +-16 g.
    case g16 = 0b01

    /// g a count (table 2: 0.061, 0.122, 0.244, 0.488 mg).
    public var gPerCount: Double {
      switch self {
      case .g2: 0.061e-3
      case .g4: 0.122e-3
      case .g8: 0.244e-3
      case .g16: 0.488e-3
      }
    }
  }

  /// The gyro's range; the raw value is FS1:0_G (table 46).
  public enum AngularRateRange: UInt8, Sendable, Hashable, CaseIterable {
    /// +-250 degrees a second.
    case dps250 = 0b00
    /// +-500 degrees a second.
    case dps500 = 0b01
    /// +-1000 degrees a second.
    case dps1000 = 0b10
    /// +-2000 degrees a second.
    case dps2000 = 0b11

    /// Degrees a second a count (table 2: 8.75, 17.5, 35, 70 mdps).
    public var degreesPerSecondPerCount: Double {
      switch self {
      case .dps250: 8.75e-3
      case .dps500: 17.5e-3
      case .dps1000: 35e-3
      case .dps2000: 70e-3
      }
    }
  }

  /// The rates that gyro and accelerometer share, Hz (tables 43 and 45); the code is the index + 1.
  public static let outputRates = [12.5, 26, 52, 104, 208, 417, 833, 1667, 3333, 6667]

  /// Conversions a second, one of `outputRates`.
  public let outputRate: Double
  /// The accelerometer's range.
  public let accelerationRange: AccelerationRange
  /// The gyro's range.
  public let angularRateRange: AngularRateRange
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  ///
  /// 4 g and 1000 degrees a second unless said otherwise: a hand turns a board at up to 800, and the
  /// gyro's step (35 mdps) is still its own noise at 208 Hz.
  public init(
    outputRate: Double, accelerationRange: AccelerationRange = .g4,
    angularRateRange: AngularRateRange = .dps1000
  ) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
    self.accelerationRange = accelerationRange
    self.angularRateRange = angularRateRange
  }

  /// What is written, in this order; the rates come last, because they start conversions. Filters and
  /// power modes stand at their reset values and are written, because a wrong one would go unnoticed.
  public var registerImage: [RegisterSetting] {
    let rate = UInt8(rateIndex + 1) << 4
    return [
      // BDU and IF_INC; BOOT and SW_RESET clear themselves.
      RegisterSetting(LSM6DSOXRegister.control3, 0x44),
      RegisterSetting(LSM6DSOXRegister.control4, 0x00),
      RegisterSetting(LSM6DSOXRegister.control6, 0x00),
      RegisterSetting(LSM6DSOXRegister.control7, 0x00),
      RegisterSetting(LSM6DSOXRegister.control8, 0x00),
      RegisterSetting(LSM6DSOXRegister.interrupt1, 0x02),
      RegisterSetting(LSM6DSOXRegister.control1, rate | accelerationRange.rawValue << 2),
      RegisterSetting(LSM6DSOXRegister.control2, rate | angularRateRange.rawValue << 2),
    ]
  }
}
