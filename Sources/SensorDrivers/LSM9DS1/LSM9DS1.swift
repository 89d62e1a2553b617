// The accelerometer and gyro of the ST LSM9DS1 on I2C (0x6B or 0x6A). Its magnetometer is a LIS3MDL's core: LIS3MDL/.

package import SensorBus
package import SensorTypes

/// The accelerometer and gyro of an ST LSM9DS1: both sampled at the gyro's rate, block data update, gyro data ready on
/// pin INT1_A/G. Figures: DocID025715 rev. 3.
///
/// Both have the same axes, and those are left-handed (figure 1; each turn counts by the right hand about its own
/// arrow). X is turned, as RTIMULib's and PX4's drivers turn an axis of both: what comes out is the right-handed frame of
/// the magnetometer in the same package, so that both halves have one mount.
package struct LSM9DS1: QueuedChip, Hashable {
  /// The accelerometer's range: FS1:0_XL has the codes of the LSM6 family.
  package typealias AccelerationRange = LSM6.AccelerationRange

  /// g a count (table 3: 0.061, 0.122, 0.244, 0.732 mg: the widest is coarser than in the LSM6 family).
  package static func gPerCount(_ range: AccelerationRange) -> Double {
    range == .g16 ? 0.732e-3 : range.gPerCount
  }

  /// The gyro's range; the raw value is FS_G1:0, of which 10 is not there.
  package enum AngularRateRange: UInt8, MeasuringRange {
    /// +-245 degrees a second.
    case dps245 = 0b00
    /// +-500 degrees a second.
    case dps500 = 0b01
    /// +-2000 degrees a second.
    case dps2000 = 0b11

    /// Degrees a second a count (table 3: 8.75, 17.5, 70 mdps).
    package var degreesPerSecondPerCount: Double {
      switch self {
      case .dps245: 8.75e-3
      case .dps500: 17.5e-3
      case .dps2000: 70e-3
      }
    }
  }

  /// The registers that the driver touches (sections 6 and 7).
  enum Register {
    /// What drives pin INT1_A/G; bit 1 is gyro data ready, bit 3 the queue's threshold.
    static let interrupt1: UInt8 = 0x0C
    static let whoAmI: UInt8 = 0x0F
    /// ODR_G2:0 | FS_G1:0 | 0 | BW_G1:0.
    static let control1: UInt8 = 0x10
    /// Which filters the gyro's outputs have passed.
    static let control2: UInt8 = 0x11
    /// LP_mode bit 7, HP_EN bit 6.
    static let control3: UInt8 = 0x12
    /// Signs and order of the gyro's axes.
    static let orientation: UInt8 = 0x13
    /// TDA bit 2, GDA bit 1, XLDA bit 0.
    static let status: UInt8 = 0x17
    /// Gyro X low ... Z high.
    static let angular: UInt8 = 0x18
    /// CTRL_REG4: the gyro's axes in bits 5:3, LIR_XL1 bit 1, 4D_XL1 bit 0.
    static let control4: UInt8 = 0x1E
    /// ODR_XL2:0 | FS1:0_XL | BW_SCAL_ODR | BW_XL1:0.
    static let control6: UInt8 = 0x20
    /// BOOT | BDU | H_LACTIVE | PP_OD | SIM | IF_ADD_INC | BLE | SW_RESET.
    static let control8: UInt8 = 0x22
    /// Sleep, FIFO_EN bit 1 and data-ready mask.
    static let control9: UInt8 = 0x23
    /// Self-test: ST_G bit 2, ST_XL bit 0.
    static let control10: UInt8 = 0x24
    /// Accelerometer X low ... Z high.
    static let linear: UInt8 = 0x28
    /// FMODE2:0 | FTH4:0.
    static let queueControl: UInt8 = 0x2E
    /// FTH | OVRN | FSS5:0.
    static let queueStatus: UInt8 = 0x2F

    static let identity: UInt8 = 0x68
    static let softwareReset: UInt8 = 0x01
    static let linearReady: UInt8 = 0x01
    static let angularReady: UInt8 = 0x02
  }

  /// The rates that gyro and accelerometer have together, Hz (table 46, "ODR_G"); the code is the index + 1.
  package static let outputRates = [14.9, 59.5, 119, 238, 476, 952]

  /// Ranges and rate, one of `outputRates`.
  package private(set) var setting: InertialSetting<AccelerationRange, AngularRateRange>

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  ///
  /// 4 g and 2000 degrees a second unless said otherwise: a hand turns a board at up to 800, and there is nothing
  /// between 500 and 2000.
  package init(
    outputRate: Double, accelerationRange: AccelerationRange = .g4,
    angularRateRange: AngularRateRange = .dps2000, gathers: Bool = true
  ) {
    setting = InertialSetting(
      outputRate, of: Self.outputRates, accelerationRange, angularRateRange, gathers: gathers)
  }

  /// In continuous mode: FIFO_SRC holds how many of 32 slots are full. They are read at the output registers, through which
  /// a burst goes from the gyro's to the accelerometer's and round again (3.2, 3.5.3).
  package var queue: ChipQueue? {
    guard setting.batch > 1 else { return nil }
    return ChipQueue(
      form: .samples, batch: setting.batch, status: Register.queueStatus, statusForm: .oneByte,
      level: 0x3F, overrun: 0x40, unit: 12, output: Register.angular, sample: 12,
      // Bypass mode empties it.
      restart: [
        RegisterSetting(Register.queueControl, 0x00),
        RegisterSetting(Register.queueControl, 0xC0 | UInt8(setting.batch)),
      ])
  }

  /// What is written, in this order; the gyro's rate comes last, because it starts conversions and is the
  /// accelerometer's, too.
  package var registerImage: [RegisterSetting] {
    let rate = UInt8(setting.rateIndex + 1) << 5
    let mode =
      setting.batch == 1
      ? [] : [RegisterSetting(Register.queueControl, 0xC0 | UInt8(setting.batch))]
    return [
      // BDU and IF_ADD_INC; BOOT and SW_RESET clear themselves.
      RegisterSetting(Register.control8, 0x44),
      RegisterSetting(Register.control2, 0x00),
      RegisterSetting(Register.control3, 0x00),
      RegisterSetting(Register.orientation, 0x00),
      RegisterSetting(Register.control9, setting.batch == 1 ? 0x00 : 0x02),
      RegisterSetting(Register.interrupt1, setting.batch == 1 ? 0x02 : 0x08),
    ] + mode + [
      RegisterSetting(Register.control6, rate | setting.accelerationRange.rawValue << 3),
      RegisterSetting(Register.control1, rate | setting.angularRateRange.rawValue << 3),
    ]
  }

  /// The name in board files.
  package var name: String { "LSM9DS1-AG" }

  /// Conversions a second.
  package var outputRate: Double { setting.outputRate }

  /// Half a period: the filters pass about half the rate.
  package var latency: Double { 0.5 / outputRate }

  /// Identity, software reset (20 ms in ST's example), configuration, read-back, and 0.3 s for the gyro: the datasheet
  /// names no time, its forerunner's (L3GD20) 250 ms. Reading then lets the data-ready line fall.
  package var startSteps: [StartStep] {
    [.identify(register: Register.whoAmI, anyOf: [Register.identity])]
      + StartStep.reset(Register.control8, bit: Register.softwareReset)
      + [
        .wait(seconds: 0.01), .configure(), .wait(seconds: 0.3),
      ]
      + (queue.map { [.write($0.restart)] } ?? [
        .discard(register: Register.angular, count: 6),
        .discard(register: Register.linear, count: 6),
      ])
  }

  /// Takes the next wider ranges.
  package mutating func widen() -> Bool { setting.widen() }

  /// Both sensors off; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [
      RegisterSetting(Register.control1, setting.angularRateRange.rawValue << 3),
      RegisterSetting(Register.control6, setting.accelerationRange.rawValue << 3),
    ]
  }

  /// Both have something new.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (Register.status, Register.linearReady | Register.angularReady)
  }

  /// The gyro's: the accelerometer's are a burst of their own.
  package var output: (register: UInt8, count: Int) { (Register.angular, 6) }

  /// Angular rate in rad/s and specific force in m/s^2, in two bursts: their registers do not adjoin. What a broken
  /// one left behind in either is fetched and dropped.
  package func pollOutputs<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard try isReady(device) || outputs.isBroken else { return nil }
    let angular = try outputs.read(device, output.register, count: output.count)
    let linear = try outputs.read(device, Register.linear, count: 6)
    guard var both = angular, let linear else { return nil }
    for index in 0..<6 { both[index + 6] = linear[index] }
    let reading = try reading(both)
    try outputs.check(both)
    return reading
  }

  /// Angular rate and specific force, from the gyro's six bytes and then the accelerometer's (low byte first). Worked
  /// numbers (table 3): 1000 counts at 2000 dps are 70 degrees a second, at 16 g 0.732 g = 7.17847 m/s^2;
  /// along X -70 and -7.17847.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    try InertialScale(
      gPerCount: Self.gPerCount(setting.accelerationRange),
      degreesPerSecondPerCount: setting.angularRateRange.degreesPerSecondPerCount
    ).reading(block, InertialLayout(angularRate: 0, acceleration: 6, isXTurned: true))
  }
}

extension ChipDescription {
  /// The accelerometer and gyro of an ST LSM9DS1.
  static let lsm9ds1Inertial = ChipDescription(
    "LSM9DS1-AG", .inertial, addresses: [0x6B, 0x6A],
    fingerprints: [
      // Bits that are 0 in the register map: of CTRL_REG2_G, CTRL_REG4 and CTRL_REG10.
      .identity(
        LSM9DS1.Register.whoAmI, [LSM9DS1.Register.identity], .certain,
        "the other half, a LIS3MDL's core, is at 0x1c or 0x1e",
        [
          .bits(0xF0, of: LSM9DS1.Register.control2), .bits(0xC4, of: LSM9DS1.Register.control4),
          .bits(0xFA, of: LSM9DS1.Register.control10),
        ])
    ], zeroRateLevel: 30, selfTest: DeflectionTest.lsm9ds1
  ) { LSM9DS1(outputRate: $0) }
}
