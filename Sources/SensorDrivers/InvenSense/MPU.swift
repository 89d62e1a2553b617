// InvenSense's MPU6050, MPU6500 and MPU9250 on I2C (0x68 or 0x69).

package import SensorBus
package import SensorTypes

/// InvenSense MPU6050, MPU6500 or MPU9250: accelerometer and gyro sampled together, data ready as a pulse of 50
/// microseconds on pin INT.
///
/// The axes of both are those of the figure "orientation of axes of sensitivity": right-handed. The AK8963 of an
/// MPU9250 has others (X and Y exchanged, Z the other way), so that its entry in a board file has a mount of
/// its own.
///
/// An MPU9250 is an MPU6500 and an AK8963 in one package, the latter at the former's own bus; an MPU6050 often has a
/// magnetometer at its pins XDA and XCL (GY-87: HMC5883L). `start` closes the bypass to them for 0.1 s, because it
/// resets the chip, and opens it for good.
package struct MPU: InertialChip, QueuedChip, Hashable {
  /// What 1 kHz is divided by: every whole rate and the powers of two that most ask for.
  private static let divisors = [250, 200, 125, 100, 50, 40, 25, 20, 10, 8, 5, 4, 2, 1]

  /// The rates that gyro and accelerometer share, Hz.
  package static let outputRates = divisors.map { 1000 / Double($0) }

  /// Which chip it is.
  package let chip: MPUVariant
  package private(set) var setting: InvenSense.Setting
  /// The index of the filter.
  private let filter: Int
  /// Bytes that the queue holds: 1024 in an MPU6050, 512 in the others, and in what is not known to be one.
  private var queued = 512
  /// Whether what is written into the bit of its bypass must be read back.
  private var hasBypass = true

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is, and the widest filter that passes
  /// no more than half of it.
  ///
  /// 4 g and 1000 degrees a second unless said otherwise: a hand turns a board at up to 800, and the gyro's step
  /// (30 millidegrees a second) is below its own noise at 200 Hz.
  package init(
    chip: MPUVariant, outputRate: Double, accelerationRange: AccelerationRange = .g4,
    angularRateRange: InvenSense.AngularRateRange = .dps1000, gathers: Bool = true
  ) {
    self.chip = chip
    setting = InertialSetting(
      outputRate, of: Self.outputRates, accelerationRange, angularRateRange, gathers: gathers)
    filter = widestFilter(chip.filters.map(\.bandwidth), at: setting.outputRate)
  }

  /// What the divider register holds: one less than the divisor.
  private var divider: UInt8 { UInt8(Self.divisors[setting.rateIndex] - 1) }

  /// FIFO_COUNT is of bytes, FIFO_R_W of samples in the order of the registers. No bit says so alone, but a count that is
  /// the whole of it (registers 114 to 116).
  package var queue: ChipQueue? {
    guard setting.batch > 1 else { return nil }
    return InvenSense.queue(
      batch: setting.batch, count: MPURegister.queueCount, capacity: queued,
      data: MPURegister.queueData,
      restart: [0x00, MPURegister.queueReset, MPURegister.queueEnabled].map {
        RegisterSetting(MPURegister.userControl, $0)
      })
  }

  private var queueSettings: [RegisterSetting] {
    setting.batch == 1
      ? []
      : [
        // The gyro's axes and the accelerometer.
        RegisterSetting(MPURegister.queued, 0x78),
        RegisterSetting(MPURegister.userControl, MPURegister.queueEnabled),
      ]
  }

  /// What is written, in this order. Awake comes first: it is not said that a sleeping chip takes the rest.
  package var registerImage: [RegisterSetting] {
    let configuration = UInt8(filter + 1)
    return [
      RegisterSetting(MPURegister.power, MPURegister.clock),
      RegisterSetting(MPURegister.filter, configuration),
      RegisterSetting(MPURegister.gyroscope, setting.angularRateRange.index << 3),
      RegisterSetting(MPURegister.accelerometer, setting.accelerationRange.index << 3),
    ]
      + (chip == .mpu6050
        ? [] : [RegisterSetting(MPURegister.accelerometerFilter, configuration)])
      + [
        RegisterSetting(MPURegister.divider, divider),
        RegisterSetting(
          MPURegister.interruptPin, MPURegister.bypass, mask: hasBypass ? 0xFF : ~MPURegister.bypass
        ),
        // The pin has no threshold of the queue's.
        RegisterSetting(MPURegister.interruptEnable, batch == 1 ? MPURegister.dataReady : 0x00),
      ] + queueSettings
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Conversions a second, one of `outputRates`.
  package var outputRate: Double { setting.outputRate }

  package var latency: Double { chip.filters[filter].delay }

  /// Identity, reset (registers are there 100 ms later at the latest), the chip's own bus left to the host,
  /// configuration, read-back, and 80 ms in which the gyro's drive comes up (from sleep 35 ms; Linux waits 70).
  package var startSteps: [StartStep] {
    var identity: [StartStep] = [
      .identify(register: MPURegister.whoAmI, anyOf: chip.identities + chip.copies)
    ]
    if chip == .mpu6050 { identity.append(.read(register: MPURegister.whoAmI, count: 1)) }
    let configuration: [StartStep] = [
      .write([RegisterSetting(MPURegister.userControl, 0x00)]),
      .configure(), .wait(seconds: 0.08),
    ]
    let reset = StartStep.reset(MPURegister.power, bit: MPURegister.reset, after: 0.1)
    return identity + reset + configuration + queueSteps
  }

  /// Whether it is a real MPU6050: its queue is the longer one, and it has a bypass. A copy may be an ICM20689, which has
  /// no bus of its own (Linux, inv_mpu_i2c.c), so that nothing says that the bit of a bypass stays.
  package mutating func take(_ block: RegisterBlock, from register: UInt8) throws(DriverError) {
    hasBypass = chip.identities.contains(block[0])
    queued = hasBypass ? 1024 : 512
  }

  /// Takes the next wider ranges.
  package mutating func widen() -> Bool { setting.widen() }

  /// Asleep; registers, and the bypass, are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(MPURegister.power, MPURegister.sleep | MPURegister.clock)]
  }

  package var dataReady: (register: UInt8, mask: UInt8) {
    (MPURegister.interruptStatus, MPURegister.dataReady)
  }

  /// The status with the two settings before it: an MPU6500 or MPU9250 is awake after power-on, and would go on
  /// with other ranges after a dip in its supply. Then these are zeros.
  package func isReady<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(DriverError) -> Bool {
    let flags = try device.get(MPURegister.interruptPin, count: 4)
    let pin = hasBypass ? flags[0] : flags[0] | MPURegister.bypass
    return pin == MPURegister.bypass && flags[1] == MPURegister.dataReady
      && flags[3] & dataReady.mask == dataReady.mask
  }

  /// Six axes with the temperature between them; a burst is of one sample.
  package var output: (register: UInt8, count: Int) { (MPURegister.output, 14) }

  /// The accelerometer first, high byte first, and the temperature between them.
  package static let layout = InvenSense.layout(angularRate: 8)

  /// In the queue there is no temperature.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    try scale.reading(block, batch == 1 ? Self.layout : InvenSense.queuedLayout)
  }

  package var scale: InertialScale {
    InvenSense.scale(setting.accelerationRange, setting.angularRateRange)
  }
}

/// Which chip it is; the raw value is its name in board files.
package enum MPUVariant: String, Sendable, Hashable, CaseIterable {
  /// The oldest: one filter for both sensors.
  case mpu6050 = "MPU6050"
  /// With a filter for each.
  case mpu6500 = "MPU6500"
  /// An MPU6500 with an AK8963.
  case mpu9250 = "MPU9250"

  /// What WHO_AM_I may hold. MPU6000 and MPU9150 hold what an MPU6050 does, an MPU6515 0x74, an MPU9255 0x73
  /// (as Linux's inv_mpu6050 has them), and are used the same.
  var identities: [UInt8] {
    switch self {
    case .mpu6050: [0x68]
    case .mpu6500: [0x70, 0x74]
    case .mpu9250: [0x71, 0x73]
    }
  }

  /// What WHO_AM_I holds in much of what is sold as one: 0x98 is an ICM20689's.
  var copies: [UInt8] { self == .mpu6050 ? [0x98, 0x72] : [] }

  /// What the gyro may say at rest, degrees a second (zero-rate output, section 6.1 or 3.1 of the specifications).
  var zeroRateLevel: Double { self == .mpu6050 ? 20 : 5 }

  /// The filters from DLPF_CFG 1 on: bandwidth in Hz, of the wider sensor where they differ, and the gyro's delay
  /// in seconds (RM-MPU-6000A table of register 26; RM-MPU-6500A and RM-MPU-9250A 4.5).
  ///
  /// The accelerometer's delay is as long in an MPU6050. Of the others' RM-MPU-9250A says 1 ms less, RM-MPU-6500A
  /// twice as much for a filter of the same name: the gyro's is taken, which all agree upon.
  var filters: [(bandwidth: Double, delay: Double)] {
    switch self {
    case .mpu6050:
      [(188, 1.9e-3), (98, 2.8e-3), (44, 4.8e-3), (21, 8.3e-3), (10, 13.4e-3), (5, 18.6e-3)]
    case .mpu6500, .mpu9250:
      [(184, 2.9e-3), (92, 3.9e-3), (41, 5.9e-3), (20, 9.9e-3), (10, 17.85e-3), (5, 33.48e-3)]
    }
  }
}

extension Mount {
  /// PS-MPU-9250A-01, "Orientation of axes": the magnetometer's X and Y are exchanged, its Z points the other way.
  fileprivate static let turnedInMPU9250 = Mount(x: .plusY, y: .plusX, z: .minusZ) ?? .aligned
}

extension ChipDescription {
  /// InvenSense MPU6050. What its copies have in common with it is what the driver uses: registers, ranges and counts a
  /// unit. If they are MPU6500s or ICM20689s within, their queue is the shorter one, and their accelerometer has a
  /// filter of its own, which stays as it is after a reset: 218 Hz. Where their self-test has its trim is not known: it is
  /// Bits that are none in the register map: of CONFIG, I2C_MST_DELAY_CTRL and GYRO_CONFIG, and of FIFO_COUNTH, where no
  /// queue is so long.
  private static func traits(gyroscope: UInt8, queue: UInt8) -> [Trait] {
    [
      .bits(0x80, of: MPURegister.filter), .bits(0x60, of: MPURegister.auxiliaryDelay),
      .bits(gyroscope, of: MPURegister.gyroscope), .bits(queue, of: MPURegister.queueCount),
    ]
  }
  static let mpu6050 = mpu(
    .mpu6050,
    [
      .mpu(
        [0x68], .certain,
        "an MPU6000 and an MPU9150 answer the same and are used the same",
        traits(gyroscope: 0x07, queue: 0xF8)),
      .mpu(
        [0x98], .likely,
        "boards sold as MPU6050 often hold that, and an ICM20689 does: `chip: MPU6050` drives both, in the same "
          + "scales",
        [.bits(0x80, of: MPURegister.filter), .bits(0xE0, of: MPURegister.queueCount)]),
      .mpu(
        [0x72], .possible,
        "some copies of an MPU6050 hold that: `chip: MPU6050` drives them, in its scales", []),
    ])
  /// InvenSense MPU6500; many a board sold as MPU9250 or MPU6050 has one.
  static let mpu6500 = mpu(
    .mpu6500,
    [
      .mpu(
        MPUVariant.mpu6500.identities, .certain,
        "boards sold as MPU9250 or MPU6050 often have one: there is no magnetometer in it",
        traits(gyroscope: 0x04, queue: 0xE0))
    ])
  /// InvenSense MPU9250, its inertial half.
  static let mpu9250 = mpu(
    .mpu9250,
    [
      .mpu(
        MPUVariant.mpu9250.identities, .certain,
        "its AK8963 is behind its bypass, which is closed until it was started",
        traits(gyroscope: 0x04, queue: 0xE0))
    ], partner: "AK8963", partnerMount: .turnedInMPU9250)

  private static func mpu(
    _ chip: MPUVariant, _ fingerprints: [Fingerprint], partner: String? = nil,
    partnerMount: Mount = .aligned
  ) -> ChipDescription {
    ChipDescription(
      chip.rawValue, .inertial, addresses: [0x68, 0x69], fingerprints: fingerprints,
      partner: partner, partnerMount: partnerMount,
      bypass: RegisterSetting(
        MPURegister.interruptPin, MPURegister.bypass, mask: MPURegister.bypass),
      zeroRateLevel: chip.zeroRateLevel, selfTest: DeflectionTest.mpu(chip)
    ) { MPU(chip: chip, outputRate: $0) }
  }
}
