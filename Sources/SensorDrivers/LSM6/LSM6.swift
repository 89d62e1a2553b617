// The ST LSM6DSOX accelerometer and gyro on I2C (0x6A or 0x6B).

public import SensorBus
public import SensorTypes

/// ST LSM6DSOX: accelerometer and gyro sampled together, at one rate in high-performance mode, block data
/// update, gyro data ready on pin INT1. An LSM6DSO answers with the same identity and has the same registers
/// here.
public struct LSM6DSOX: FlaggedChip, Hashable {
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

  /// The name in board files.
  public var name: String { "LSM6DSOX" }

  /// Half a period: at full bandwidth (half the rate) each output is the mean of one.
  public var latency: Double { 0.5 / outputRate }

  /// Identity, software reset (10 ms, at most 100 ms), configuration, read-back, and 80 ms in which the gyro's
  /// drive comes up (the first samples after power-on are wrong by many degrees a second). Reading then lets
  /// the data-ready line fall, so that the next conversion makes an edge.
  public var startSteps: [StartStep] {
    [.identify(register: LSM6DSOXRegister.whoAmI, anyOf: [LSM6DSOXRegister.identity])]
      + StartStep.reset(LSM6DSOXRegister.control3, bit: LSM6DSOXRegister.softwareReset)
      + [
        .configure(), .wait(seconds: 0.08),
        .discard(register: LSM6DSOXRegister.output, count: 12),
      ]
  }

  /// Both sensors off; registers are kept.
  public var sleepSettings: [RegisterSetting] {
    [
      RegisterSetting(LSM6DSOXRegister.control1, accelerationRange.rawValue << 2),
      RegisterSetting(LSM6DSOXRegister.control2, angularRateRange.rawValue << 2),
    ]
  }

  /// Both have something new.
  public var dataReady: (register: UInt8, mask: UInt8) {
    (LSM6DSOXRegister.status, LSM6DSOXRegister.dataReady)
  }

  /// Six axes.
  public var output: (register: UInt8, count: Int) { (LSM6DSOXRegister.output, 12) }

  /// Angular rate in rad/s and specific force in m/s^2 of one moment.
  public func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    .inertial(
      angularRate: try LSM6DSOXConversion.angularRate(block, range: angularRateRange),
      acceleration: try LSM6DSOXConversion.acceleration(block, range: accelerationRange))
  }
}

extension ChipDescription {
  /// ST LSM6DSOX.
  static let lsm6dsox = ChipDescription(
    "LSM6DSOX", .inertial, addresses: [0x6A, 0x6B],
    fingerprints: [
      .identity(
        LSM6DSOXRegister.whoAmI, [LSM6DSOXRegister.identity], .certain,
        "an LSM6DSO answers the same and is used the same")
    ], selfTest: DeflectionTest.lsm6dsox
  ) { LSM6DSOX(outputRate: $0) }
}
