// TDK InvenSense's ICM20948 on I2C (0x68 or 0x69), its inertial half.

import SensorBus
import SensorTypes

/// TDK InvenSense ICM20948: accelerometer and gyro in low-noise mode, sampled together, data ready as a pulse of 50
/// microseconds on pin INT1. Its AK09916 is behind its bypass, which `start` opens (see `MPU`).
///
/// The axes of both are those of the datasheet's figure of the axes: right-handed. The AK09916 has others (Y and Z the other
/// way), so that its entry in a board file has a mount of its own.
///
/// What it measures, and how fast, is set in bank 2. Bank 0 is the one that is selected while it runs: what is
/// re-read endlessly lies there, and a chip that has lost its supply is asleep and shows it there.
package struct ICM20948: InertialChip, QueuedChip, Hashable {
  /// What 1125 Hz are divided by.
  private static let divisors = [225, 125, 100, 50, 45, 25, 20, 15, 10, 9, 5, 4, 3, 2, 1]

  /// The rates that gyro and accelerometer share, Hz.
  package static let outputRates = divisors.map { 1125 / Double($0) }

  /// The filters from code 1 on: 3 dB bandwidth of the accelerometer and of the gyro in Hz (ACCEL_CONFIG and
  /// GYRO_CONFIG_1).
  private static let filters: [(linear: Double, angular: Double)] = [
    (246, 151.8), (111.4, 119.5), (50.4, 51.2), (23.9, 23.9), (11.5, 11.6), (5.7, 5.7),
  ]

  package private(set) var setting: InvenSense.Setting
  /// The index of the filter.
  private let filter: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is, and the widest filter that passes no
  /// more than half of it. 4 g and 1000 degrees a second unless said otherwise, as in an MPU9250.
  package init(
    outputRate: Double, accelerationRange: AccelerationRange = .g4,
    angularRateRange: InvenSense.AngularRateRange = .dps1000, gathers: Bool = true
  ) {
    setting = InertialSetting(
      outputRate, of: Self.outputRates, accelerationRange, angularRateRange, gathers: gathers)
    filter = widestFilter(Self.filters.map(\.linear), at: setting.outputRate)
  }

  /// What the divider register holds: one less than the divisor.
  private var divider: UInt8 { UInt8(Self.divisors[setting.rateIndex] - 1) }

  /// FIFO_COUNT is of bytes, of which the datasheet allows 512 (owners have counted 4096); FIFO_R_W has samples in the order
  /// of the registers. The register map has no threshold for INT1.
  package var queue: ChipQueue? {
    guard setting.batch > 1 else { return nil }
    return InvenSense.queue(
      batch: setting.batch, count: ICM20948Register.queueCount, capacity: 512,
      data: ICM20948Register.queueData,
      restart: [
        RegisterSetting(ICM20948Register.queueReset, 0x1F),
        RegisterSetting(ICM20948Register.queueReset, 0x00),
      ])
  }

  private var queueSettings: [RegisterSetting] {
    setting.batch == 1
      ? []
      : [
        RegisterSetting(ICM20948Register.queueMode, 0x00),
        // Accelerometer and the gyro's axes.
        RegisterSetting(ICM20948Register.queued, 0x1E),
      ]
  }

  /// What is re-read while it runs: bank 0, awake, both sensors on, no master of its own, bypass, data ready.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(ICM20948Register.bank, 0x00),
      RegisterSetting(ICM20948Register.power1, MPURegister.clock),
      RegisterSetting(ICM20948Register.power2, 0x00),
      RegisterSetting(
        ICM20948Register.userControl, batch == 1 ? 0x00 : MPURegister.queueEnabled),
      RegisterSetting(ICM20948Register.interruptPin, MPURegister.bypass),
      RegisterSetting(
        ICM20948Register.interruptEnable1, batch == 1 ? MPURegister.dataReady : 0x00),
    ] + queueSettings
  }

  /// Ranges, filters and rates.
  private var measurement: [RegisterSetting] {
    let code = UInt8(filter + 1) << 3 | 0x01
    return [
      RegisterSetting(ICM20948Bank2.gyroscope, code | setting.angularRateRange.index << 1),
      RegisterSetting(ICM20948Bank2.accelerometer, code | setting.accelerationRange.index << 1),
      RegisterSetting(ICM20948Bank2.align, 0x01),
      RegisterSetting(ICM20948Bank2.gyroscopeDivider, divider),
      RegisterSetting(ICM20948Bank2.accelerometerDividerHigh, 0x00),
      RegisterSetting(ICM20948Bank2.accelerometerDivider, divider),
    ]
  }

  /// The name in board files.
  package var name: String { "ICM20948" }

  /// Conversions a second, one of `outputRates`.
  package var outputRate: Double { setting.outputRate }

  /// The gyro's filter delay. The datasheet names none: it is taken as in an MPU9250, where 1.9 ms and a filter of
  /// first order, 1 / (2 pi times the bandwidth), make all that its register map lists.
  package var latency: Double { 0.0019 + 1 / (2 * .pi * Self.filters[filter].angular) }

  /// Bank 0 (the one that an interrupted start left may be another; it is asked for first, so that nothing is written
  /// where nobody answers), identity, reset, bank 2, bank 0, and 80 ms in which the gyro's drive comes up (from sleep
  /// 35 ms, table 1).
  package var startSteps: [StartStep] {
    let identity: [StartStep] = [
      .discard(register: ICM20948Register.bank, count: 1),
      .write([RegisterSetting(ICM20948Register.bank, 0x00)]),
      .identify(register: ICM20948Register.whoAmI, anyOf: [ICM20948Register.identity]),
    ]
    let configuration: [StartStep] = [
      .write([
        RegisterSetting(ICM20948Register.power1, MPURegister.clock),
        RegisterSetting(ICM20948Register.bank, ICM20948Register.bank2),
      ]),
      .keep(measurement), .write([RegisterSetting(ICM20948Register.bank, 0x00)]),
      .configure(), .wait(seconds: 0.08),
    ]
    let reset = StartStep.reset(ICM20948Register.power1, bit: MPURegister.reset, after: 0.1)
    return identity + reset + configuration + queueSteps
  }

  /// Takes the next wider ranges.
  package mutating func widen() -> Bool { setting.widen() }

  /// Asleep; registers, and the bypass, are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(ICM20948Register.power1, MPURegister.sleep | MPURegister.clock)]
  }

  /// Raw data ready; reading it takes it down.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (ICM20948Register.interruptStatus1, MPURegister.dataReady)
  }

  /// Six axes; a burst is of one sample.
  package var output: (register: UInt8, count: Int) { (ICM20948Register.output, 12) }

  /// The accelerometer first, high byte first.
  package static let layout = InvenSense.layout(angularRate: 6)

  package var scale: InertialScale {
    InvenSense.scale(setting.accelerationRange, setting.angularRateRange)
  }
}

extension ChipDescription {
  /// TDK InvenSense ICM20948, its inertial half.
  static let icm20948 = ChipDescription(
    "ICM20948", .inertial, addresses: [0x68, 0x69],
    fingerprints: [
      .apartFromMPU(
        ICM20948Register.whoAmI, [ICM20948Register.identity],
        "its AK09916 is behind its bypass, which is closed until it was started",
        // Bank 0, where alone the identity is; reserved bits of LP_CONFIG, PWR_MGMT_1 and PWR_MGMT_2.
        [
          .bits(0x30, of: ICM20948Register.bank), .bits(0x8F, of: ICM20948Register.lowPower),
          .bits(0x10, of: ICM20948Register.power1), .bits(0xC0, of: ICM20948Register.power2),
        ])
    ], partner: "AK09916", partnerMount: .turnedInICM20948,
    // In bank 0, which the chip is in at first and where every start leaves it.
    bypass: RegisterSetting(
      ICM20948Register.interruptPin, MPURegister.bypass, mask: MPURegister.bypass),
    zeroRateLevel: 5, selfTest: DeflectionTest.icm20948
  ) { ICM20948(outputRate: $0) }
}

extension Mount {
  /// DS-000189, "Orientation of axes": the magnetometer's Y and Z point the other way.
  fileprivate static let turnedInICM20948 = Mount(x: .plusX, y: .minusY, z: .minusZ) ?? .aligned
}
