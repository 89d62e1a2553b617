// Bosch's BMI160 on I2C (0x68 or 0x69).

import SensorBus

/// Registers of the BMI160 (BST-BMI160-DS000 rev. 0.8, 2.11).
enum BMI160Register {
  /// Always 0xD1.
  static let chip: UInt8 = 0x00
  /// acc_pmu_status bits 5:4, gyr_pmu_status bits 3:2; 01 is normal.
  static let powerStatus: UInt8 = 0x03
  /// Gyro X low ... Z high, then at once accelerometer X low ... Z high.
  static let output: UInt8 = 0x0C
  /// drdy_acc bit 7, drdy_gyr bit 6, gyr_self_test_ok bit 1.
  static let status: UInt8 = 0x1B
  /// fifo_byte_counter, low byte first: eleven bits.
  static let queueCount: UInt8 = 0x22
  static let queueData: UInt8 = 0x24
  /// acc_us | acc_bwp2:0 | acc_odr3:0.
  static let accelerometer: UInt8 = 0x40
  static let accelerometerRange: UInt8 = 0x41
  /// gyr_bwp1:0 in bits 5:4 | gyr_odr3:0.
  static let gyroscope: UInt8 = 0x42
  static let gyroscopeRange: UInt8 = 0x43
  /// acc_fifo_filt_data bit 7 | acc_fifo_downs2:0 | gyr_fifo_filt_data bit 3 | gyr_fifo_downs2:0.
  static let queueSources: UInt8 = 0x45
  /// fifo_water_mark, in words of four bytes.
  static let queueThreshold: UInt8 = 0x46
  /// fifo_gyr_en bit 7, fifo_acc_en bit 6, fifo_mag_en bit 5, fifo_header_en bit 4.
  static let queued: UInt8 = 0x47
  /// int_fwm_en bit 6, int_drdy_en bit 4.
  static let interruptEnable1: UInt8 = 0x51
  /// int1_output_en bit 3, int1_od bit 2, int1_lvl bit 1, int1_edge_crtl bit 0.
  static let interruptOutput: UInt8 = 0x53
  static let interruptLatch: UInt8 = 0x54
  /// int1_drdy bit 7, int1_fwm bit 6.
  static let interruptMap1: UInt8 = 0x56
  /// gyr_self_test_start bit 4 | acc_self_test_amp bit 3 | acc_self_test_sign bit 2 | acc_self_test_enable1:0.
  static let selfTest: UInt8 = 0x6D
  static let command: UInt8 = 0x7E

  static let identity: UInt8 = 0xD1
  static let softReset: UInt8 = 0xB6
  static let flush: UInt8 = 0xB0
}

/// Bosch BMI160: accelerometer and gyro in normal mode, sampled together, data ready on pin INT1.
///
/// The axes of both are those of the datasheet's figure of the axes: right-handed.
package struct BMI160: InertialChip, QueuedChip, Hashable {
  /// The gyro's range; the raw value is gyr_range.
  package enum AngularRateRange: UInt8, MeasuringRange {
    /// +-125 degrees a second.
    case dps125 = 4
    /// +-250 degrees a second.
    case dps250 = 3
    /// +-500 degrees a second.
    case dps500 = 2
    /// +-1000 degrees a second.
    case dps1000 = 1
    /// +-2000 degrees a second.
    case dps2000 = 0

    /// Counts that a degree a second is (table 3).
    var countsPerDegree: Double {
      switch self {
      case .dps2000: 16.4
      case .dps1000: 32.8
      case .dps500: 65.6
      case .dps250: 131.2
      case .dps125: 262.4
      }
    }
  }

  /// acc_range of 2, 4, 8 and 16 g.
  private static let rangeCodes: [UInt8] = [0b0011, 0b0101, 0b1000, 0b1100]

  /// The rates that gyro and accelerometer share, Hz; the code is the index + 6.
  package static let outputRates: [Double] = [25, 50, 100, 200, 400, 800, 1600]

  /// Ranges and rate, one of `outputRates`.
  package private(set) var setting: InertialSetting<AccelerationRange, AngularRateRange>

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  ///
  /// 4 g and 1000 degrees a second unless said otherwise: a hand turns a board at up to 800, and the gyro's step (30
  /// millidegrees a second) is below its own noise at 200 Hz.
  package init(
    outputRate: Double, accelerationRange: AccelerationRange = .g4,
    angularRateRange: AngularRateRange = .dps1000, gathers: Bool = true
  ) {
    setting = InertialSetting(
      outputRate, of: Self.outputRates, accelerationRange, angularRateRange, gathers: gathers)
  }

  /// Without headers: both sensors have one rate, so that each frame is of twelve bytes, the gyro first. A skipped frame is
  /// told by headers only; here by a count of all the whole frames that fit into 1024 bytes (2.5.1).
  package var queue: ChipQueue? {
    guard setting.batch > 1 else { return nil }
    return ChipQueue(
      form: .samples, batch: setting.batch, status: BMI160Register.queueCount, level: 0x07FF,
      capacity: 1020, unit: 1, output: BMI160Register.queueData, sample: 12,
      restart: [RegisterSetting(BMI160Register.command, BMI160Register.flush)])
  }

  private var queueSettings: [RegisterSetting] {
    setting.batch == 1
      ? []
      : [
        // Filtered, none left out.
        RegisterSetting(BMI160Register.queueSources, 0x88),
        RegisterSetting(BMI160Register.queueThreshold, UInt8(3 * setting.batch)),
        RegisterSetting(BMI160Register.queued, 0xC0),
      ]
  }

  /// What is written, in this order, to a chip that is awake: normal bandwidth; data ready on INT1, push-pull, high, not
  /// latched.
  package var registerImage: [RegisterSetting] {
    let code = UInt8(setting.rateIndex + 6)
    return [
      RegisterSetting(BMI160Register.accelerometer, 0x20 | code),
      RegisterSetting(
        BMI160Register.accelerometerRange, Self.rangeCodes[Int(setting.accelerationRange.index)]),
      RegisterSetting(BMI160Register.gyroscope, 0x20 | code),
      RegisterSetting(BMI160Register.gyroscopeRange, setting.angularRateRange.rawValue),
      RegisterSetting(BMI160Register.interruptLatch, 0x00),
      RegisterSetting(BMI160Register.interruptMap1, setting.batch == 1 ? 0x80 : 0x40),
      RegisterSetting(BMI160Register.interruptEnable1, setting.batch == 1 ? 0x10 : 0x40),
      RegisterSetting(BMI160Register.interruptOutput, 0x0A),
    ] + queueSettings
  }

  /// Conversions a second.
  package var outputRate: Double { setting.outputRate }

  /// The name in board files.
  package var name: String { "BMI160" }

  /// Identity, reset, both sensors to normal mode one after the other (3.8 and 80 ms, table 1), then configuration: while
  /// the chip is suspended 450 microseconds must pass between two writes, which no bus keeps by itself. What was
  /// converted with other settings is read and dropped.
  package var startSteps: [StartStep] {
    [
      .identify(register: BMI160Register.chip, anyOf: [BMI160Register.identity]),
      .write([RegisterSetting(BMI160Register.command, BMI160Register.softReset)]),
      .wait(seconds: 0.02),
      .write([RegisterSetting(BMI160Register.command, 0x11)]), .wait(seconds: 0.01),
      .write([RegisterSetting(BMI160Register.command, 0x15)]), .wait(seconds: 0.08),
      .await(
        register: BMI160Register.powerStatus, mask: 0x3C, value: 0x14, every: 0.01, looks: 10,
        what: "its sensors do not wake up"),
      .configure(), .wait(seconds: 2 / outputRate),
      queue.map { .write($0.restart) } ?? .discard(register: BMI160Register.output, count: 12),
    ]
  }

  /// Takes the next wider ranges.
  package mutating func widen() -> Bool { setting.widen() }

  /// Both sensors suspended; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(BMI160Register.command, 0x10), RegisterSetting(BMI160Register.command, 0x14)]
  }

  /// Both have something new; reading it takes the bits down.
  package var dataReady: (register: UInt8, mask: UInt8) { (BMI160Register.status, 0xC0) }

  /// Six axes; the host's read locks a sample.
  package var output: (register: UInt8, count: Int) { (BMI160Register.output, 12) }

  /// The gyro first, low byte first.
  package static let layout = InertialLayout(angularRate: 0, acceleration: 6)

  package var scale: InertialScale {
    InertialScale(
      gPerCount: setting.accelerationRange.gPerCount,
      countsPerDegree: setting.angularRateRange.countsPerDegree)
  }
}

extension ChipDescription {
  /// Bosch BMI160.
  static let bmi160 = ChipDescription(
    "BMI160", .inertial, addresses: [0x68, 0x69],
    fingerprints: [.bmi160],
    // Chosen. The datasheet's 3, which its twin has, hold after a compensation of the chip's own that the driver leaves alone.
    zeroRateLevel: 10, selfTest: DeflectionTest.bmi160
  ) { BMI160(outputRate: $0) }
}

extension Fingerprint {
  /// Its identity, and ranges that it can have (ACC_RANGE, GYR_CONF and GYR_RANGE, 2.11); of an MPU6500 whose trim is the
  /// identity these are temperature and rate. Reserved bits of PMU_STATUS; and a DS1307 with 64 bytes that is stopped at 51
  /// seconds has those at 0x40 again, where they would be an undersampling that is reserved.
  fileprivate static let bmi160: Fingerprint = {
    var fingerprint = Fingerprint(
      reads: BMI160Register.identifying + [.init(register: MPURegister.whoAmI, count: 1)],
      confidence: .certain
    ) { blocks in
      guard BMI160Register.fits(blocks[..<2]) else { return nil }
      return "register 0x00 is 0xd1, and 0x41 to 0x43 are ranges that it has"
    }
    fingerprint.isShared = { MPUVariant.answers.contains($0[2][0]) }
    fingerprint.traits = [
      .bits(0xC0, of: BMI160Register.powerStatus),
      .not(BMI160Register.identity, in: BMI160Register.accelerometer),
    ]
    return fingerprint
  }()
}

extension BMI160Register {
  static let identifying: [Fingerprint.Read] = [
    .init(register: chip, count: 1), .init(register: accelerometerRange, count: 3),
  ]

  /// Whether these two blocks can be a BMI160's.
  static func fits(_ blocks: ArraySlice<RegisterBlock>) -> Bool {
    guard let first = blocks.first, let ranges = blocks.last else { return false }
    return first[0] == identity && [3, 5, 8, 12].contains(ranges[0]) && ranges[1] & 0xC0 == 0
      && ranges[2] <= 4
  }
}
