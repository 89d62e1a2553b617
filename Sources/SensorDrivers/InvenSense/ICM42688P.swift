// TDK InvenSense's ICM42688P on I2C (0x68 or 0x69).

/// Registers of the ICM-42688-P (DS-000347, register map): those of bank 0, and what of others a self-test reads.
enum ICM42688PRegister {
  /// Bit 0: SOFT_RESET_CONFIG.
  static let device: UInt8 = 0x11
  /// INT1_MODE bit 2, INT1_DRIVE_CIRCUIT bit 1, INT1_POLARITY bit 0.
  static let interruptPin: UInt8 = 0x14
  /// Accelerometer X high, X low, ... Z low; gyro X high ... Z low.
  static let output: UInt8 = 0x1F
  /// DATA_RDY_INT bit 3; reading it takes it down.
  static let interruptStatus: UInt8 = 0x2D
  /// FIFO_MODE1:0 in bits 7 and 6: 01, the oldest gives way.
  static let queueMode: UInt8 = 0x16
  /// FIFO_COUNTH and L: bytes.
  static let queueCount: UInt8 = 0x2E
  static let queueData: UInt8 = 0x30
  /// FIFO_FLUSH bit 1.
  static let pathReset: UInt8 = 0x4B
  /// FIFO_TEMP_EN bit 2, FIFO_GYRO_EN bit 1, FIFO_ACCEL_EN bit 0.
  static let queued: UInt8 = 0x5F
  /// FIFO_WM, the lower eight bits; the upper four are at 0x61.
  static let queueThreshold: UInt8 = 0x60
  static let queueThresholdHigh: UInt8 = 0x61
  /// FIFO_COUNT_ENDIAN bit 5 and SENSOR_DATA_ENDIAN bit 4: high byte first.
  static let interface: UInt8 = 0x4C
  /// TEMP_DIS | IDLE | GYRO_MODE1:0 | ACCEL_MODE1:0.
  static let power: UInt8 = 0x4E
  /// GYRO_FS_SEL2:0 | 0 | GYRO_ODR3:0.
  static let gyroscope: UInt8 = 0x4F
  /// ACCEL_FS_SEL2:0 | 0 | ACCEL_ODR3:0.
  static let accelerometer: UInt8 = 0x50
  /// ACCEL_UI_FILT_BW3:0 | GYRO_UI_FILT_BW3:0.
  static let filters: UInt8 = 0x52
  /// INT_ASYNC_RESET bit 4.
  static let interruptConfiguration1: UInt8 = 0x64
  /// UI_DRDY_INT1_EN bit 3, FIFO_THS_INT1_EN bit 2.
  static let interruptSource0: UInt8 = 0x65
  /// ACCEL_ST_POWER bit 6 | EN of the accelerometer's Z, Y, X | EN of the gyro's Z, Y, X.
  static let selfTest: UInt8 = 0x70
  static let whoAmI: UInt8 = 0x75
  /// BANK_SEL2:0; the same in every bank.
  static let bank: UInt8 = 0x76
  /// X, Y, Z: what a self-test of the gyro gave at the maker's; bank 1.
  static let angularTrim: UInt8 = 0x5F
  /// The accelerometer's; bank 2.
  static let linearTrim: UInt8 = 0x3B

  static let identity: UInt8 = 0x47
  static let dataReady: UInt8 = 0x08
}

/// TDK InvenSense ICM42688P: accelerometer and gyro in low-noise mode, sampled together, data ready as a pulse of 100
/// microseconds on pin INT1.
///
/// The axes of both are those of the datasheet's figure "orientation of axes of sensitivity": right-handed. It has no
/// bus of its own.
package struct ICM42688P: InertialChip, QueuedChip, Hashable {
  /// The rates that gyro and accelerometer share, Hz, and their codes (GYRO_ODR and ACCEL_ODR, which are not in
  /// order).
  private static let rates: [(rate: Double, code: UInt8)] = [
    (12.5, 0x0B), (25, 0x0A), (50, 0x09), (100, 0x08), (200, 0x07), (500, 0x0F), (1000, 0x06),
    (2000, 0x05),
  ]

  /// The rates that gyro and accelerometer share, Hz. The chip has faster ones, which a bus cannot fetch.
  package static let outputRates = rates.map(\.rate)

  /// Ranges and rate, one of `outputRates`.
  package private(set) var setting: InvenSense.Setting

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  ///
  /// 4 g and 1000 degrees a second unless said otherwise: a hand turns a board at up to 800. The gyro's step (30
  /// millidegrees a second) is about its own noise at 200 Hz.
  package init(
    outputRate: Double, accelerationRange: AccelerationRange = .g4,
    angularRateRange: InvenSense.AngularRateRange = .dps1000, gathers: Bool = true
  ) {
    setting = InertialSetting(
      outputRate, of: Self.outputRates, accelerationRange, angularRateRange,
      queuedBytes: Self.packetBytes, gathers: gathers)
  }

  /// Bytes of a packet with both sensors: header, accelerometer, gyro, a byte of temperature, two of time (6.1, packet 3).
  private static let packetBytes = 16

  /// FIFO_COUNT is of bytes, of which 2048 fit.
  package var queue: ChipQueue? {
    guard setting.batch > 1 else { return nil }
    return ChipQueue(
      form: .headed, batch: setting.batch, status: ICM42688PRegister.queueCount,
      statusForm: .bigEndian,
      level: 0xFFFF, capacity: 2048, unit: 1, output: ICM42688PRegister.queueData,
      sample: Self.packetBytes, restart: [RegisterSetting(ICM42688PRegister.pathReset, 0x02)])
  }

  /// The threshold must stand before its interrupt is switched on (FIFO_CONFIG2).
  private var queueSettings: [RegisterSetting] {
    setting.batch == 1
      ? []
      : [
        RegisterSetting(ICM42688PRegister.queueMode, 0x40),
        // And a pulse with each sample from the threshold on (FIFO_WM_GT_TH): one that was missed is not the last.
        RegisterSetting(ICM42688PRegister.queued, 0x27),
        RegisterSetting(
          ICM42688PRegister.queueThreshold, UInt8(setting.batch * Self.packetBytes)),
        RegisterSetting(ICM42688PRegister.queueThresholdHigh, 0x00),
      ]
  }

  /// What is written, in this order; the power comes last, because it starts conversions, and for 200 microseconds after
  /// it nothing may be written (PWR_MGMT0). The codes of the ranges begin with the widest.
  package var registerImage: [RegisterSetting] {
    let code = Self.rates[setting.rateIndex].code
    return queueSettings + [
      // Pulses, push-pull, high.
      RegisterSetting(ICM42688PRegister.interruptPin, 0x03),
      RegisterSetting(ICM42688PRegister.interface, 0x30),
      RegisterSetting(
        ICM42688PRegister.gyroscope, (3 - setting.angularRateRange.index) << 5 | code),
      RegisterSetting(
        ICM42688PRegister.accelerometer, (3 - setting.accelerationRange.index) << 5 | code),
      // Half the rate passes, of both.
      RegisterSetting(ICM42688PRegister.filters, 0x00),
      // With INT_ASYNC_RESET, which is up after a reset, the pins do not work as they should.
      RegisterSetting(ICM42688PRegister.interruptConfiguration1, 0x00),
      RegisterSetting(
        ICM42688PRegister.interruptSource0, setting.batch == 1 ? ICM42688PRegister.dataReady : 0x04),
      RegisterSetting(ICM42688PRegister.power, 0x0F),
    ]
  }

  /// The name in board files.
  package var name: String { "ICM42688P" }

  /// Conversions a second.
  package var outputRate: Double { setting.outputRate }

  /// Bank 0 (an interrupted self-test left another; it is asked for first, so that nothing is written where nobody
  /// answers), identity, reset (1 ms), configuration, read-back, and 80 ms: the gyro needs 30 to come up and must stay on
  /// for 45 (table 1, PWR_MGMT0).
  package var startSteps: [StartStep] {
    [
      .discard(register: ICM42688PRegister.bank, count: 1),
      .write([RegisterSetting(ICM42688PRegister.bank, 0x00)]),
      .identify(register: ICM42688PRegister.whoAmI, anyOf: [ICM42688PRegister.identity]),
    ]
      + StartStep.reset(ICM42688PRegister.device, bit: 0x01)
      + [.configure(), .wait(seconds: 0.08)] + queueSteps
  }

  /// Takes the next wider ranges.
  package mutating func widen() -> Bool { setting.widen() }

  /// Both sensors off; registers are kept.
  package var sleepSettings: [RegisterSetting] { [RegisterSetting(ICM42688PRegister.power, 0x00)] }

  /// Data ready of both.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (ICM42688PRegister.interruptStatus, ICM42688PRegister.dataReady)
  }

  package var output: (register: UInt8, count: Int) { (ICM42688PRegister.output, 12) }

  /// A sensor that has nothing yet gives the lower end of its 16 bits, which is an overflow here.
  package static let layout = InvenSense.layout(angularRate: 6)

  package var scale: InertialScale {
    InvenSense.scale(setting.accelerationRange, setting.angularRateRange)
  }
}

extension ChipDescription {
  /// TDK InvenSense ICM42688P.
  static let icm42688p = ChipDescription(
    "ICM42688P", .inertial, addresses: [0x68, 0x69],
    // Bank 0, where alone the identity is; reserved bits of DEVICE_CONFIG, PWR_MGMT0, GYRO_CONFIG0 and ACCEL_CONFIG0.
    fingerprints: [
      .identity(
        ICM42688PRegister.whoAmI, [ICM42688PRegister.identity], .certain, nil,
        [
          .bits(0x07, of: ICM42688PRegister.bank), .bits(0xEE, of: ICM42688PRegister.device),
          .bits(0xC0, of: ICM42688PRegister.power), .bits(0x10, of: ICM42688PRegister.gyroscope),
          .bits(0x10, of: ICM42688PRegister.accelerometer),
        ])
    ],
    zeroRateLevel: 0.5, selfTest: DeflectionTest.icm42688p
  ) { ICM42688P(outputRate: $0) }
}
