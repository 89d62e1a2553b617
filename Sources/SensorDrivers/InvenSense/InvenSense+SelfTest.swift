// The self-test of InvenSense's chips: the change of the outputs as a share of what the maker measured.

import LinearAlgebra
import SensorBus

extension DeflectionTest {
  /// InvenSense MPU6050, MPU6500 or MPU9250: XA_ST to ZG_ST let electrostatic forces move the masses of the accelerometer,
  /// then of the gyro.
  ///
  /// The changes are held against the factory's trim, whose codes are in the chip: in an MPU6050 (RM-MPU-6000A-00
  /// rev. 4.2, 4.1, at +-8 g and +-250 degrees a second) within 14 % of it; in the others (AN-MPU-9250A-03, at +-2 g and +-250)
  /// half of it to half as much again. That note has no upper end for the gyro: the accelerometer's is taken. It
  /// averages 200 samples at 1 kHz, here five at 200 Hz behind the same filter are. About 0.6 s.
  static func mpu(_ chip: MPUVariant) -> DeflectionTest {
    let isOlder = chip == .mpu6050
    // 200 Hz behind the filter of 92 to 98 Hz.
    let timing =
      [RegisterSetting(MPURegister.filter, 0x02), RegisterSetting(MPURegister.divider, 0x04)]
      + (isOlder ? [] : [RegisterSetting(MPURegister.accelerometerFilter, 0x02)])
    // AFS_SEL: 8 g or 2 g.
    let linearRange: UInt8 = isOlder ? 0x10 : 0x00
    func output(_ register: UInt8) -> Output {
      Output(
        statusRegister: MPURegister.interruptStatus, ready: MPURegister.dataReady,
        register: register, rate: 200, largestCount: InertialScale.largestCount, isBigEndian: true)
    }
    let trim: [DeflectionStep] =
      isOlder
      ? [.trim(register: 0x0D, count: 4)]
      : [.trim(register: 0x00, count: 3), .trim(register: 0x0D, count: 3)]
    let percent: ClosedRange<Double> = isOlder ? 86...114 : 50...150
    let linear = DeflectionLimits(quantity: .acceleration, percent: percent) {
      isOlder ? InvenSense.olderLinearTrim($0) : InvenSense.trim($0, at: 3)
    }
    let angular = DeflectionLimits(quantity: .angularRate, percent: percent) {
      isOlder ? InvenSense.olderAngularTrim($0) : InvenSense.trim($0, at: 0)
    }
    let configuration =
      [RegisterSetting(MPURegister.power, MPURegister.clock)] + timing + [
        RegisterSetting(MPURegister.interruptEnable, MPURegister.dataReady),
        RegisterSetting(MPURegister.gyroscope, 0x00),
        RegisterSetting(MPURegister.accelerometer, linearRange),
      ]
    var steps: [DeflectionStep] = [
      .identifyAny(register: MPURegister.whoAmI, values: chip.identities),
      .reset(register: MPURegister.power, bit: MPURegister.reset, pause: 0.1),
      .write(configuration, settle: 0.1),
    ]
    steps += trim
    steps += deflection(
      of: output(MPURegister.output), by: MPURegister.accelerometer, 0xE0 | linearRange,
      back: linearRange, linear)
    steps += deflection(
      of: output(MPURegister.angularOutput), by: MPURegister.gyroscope, 0xE0, back: 0x00, angular)
    let asleep = RegisterSetting(MPURegister.power, MPURegister.sleep | MPURegister.clock)
    steps += [.check(timing), .write([asleep], settle: 0)]
    return DeflectionTest(chip: chip.rawValue, steps: steps)
  }

  /// TDK InvenSense ICM20948: as the MPU9250, by AX_ST_EN_REG and XGYRO_CTEN in bank 2; the trim is in bank 1. Its datasheet
  /// sends to the maker's software for the limits, which are those of the MPU9250's note.
  static let icm20948: DeflectionTest = {
    func bank(_ number: UInt8) -> DeflectionStep {
      .write([RegisterSetting(ICM20948Register.bank, number << 4)], settle: 0)
    }
    func output(_ register: UInt8) -> Output {
      Output(
        statusRegister: ICM20948Register.interruptStatus1, ready: MPURegister.dataReady,
        register: register, rate: 225, largestCount: InertialScale.largestCount, isBigEndian: true)
    }
    func limits(_ quantity: TestedQuantity, at index: Int) -> DeflectionLimits {
      DeflectionLimits(quantity: quantity, percent: 50...150) { InvenSense.trim($0, at: index) }
    }
    func actuate(_ register: UInt8, _ bits: UInt8) -> [DeflectionStep] {
      [
        bank(2), .write([RegisterSetting(register, bits)], settle: 0),
        .write([RegisterSetting(ICM20948Register.bank, 0x00)], settle: 0.05),
      ]
    }
    let measurement = [
      // 225 Hz behind the filters of 119.5 and 111.4 Hz; 250 degrees a second, 2 g.
      RegisterSetting(ICM20948Bank2.gyroscopeDivider, 0x04),
      RegisterSetting(ICM20948Bank2.gyroscope, 0x11),
      RegisterSetting(ICM20948Bank2.accelerometerDivider, 0x04),
      RegisterSetting(ICM20948Bank2.accelerometer, 0x11),
    ]
    let (linear, angular) = (output(ICM20948Register.output), output(0x33))
    var steps: [DeflectionStep] = [
      bank(0), .identify(register: ICM20948Register.whoAmI, value: ICM20948Register.identity),
      .reset(register: ICM20948Register.power1, bit: MPURegister.reset, pause: 0.1),
      .write([RegisterSetting(ICM20948Register.power1, MPURegister.clock)], settle: 0), bank(1),
      .trim(register: 0x02, count: 3), .trim(register: 0x0E, count: 3), bank(2),
      .write(measurement, settle: 0),
      .write([RegisterSetting(ICM20948Register.bank, 0x00)], settle: 0.1), .rest(linear),
    ]
    steps += actuate(0x15, 0x1C) + [.deflected(linear, limits(.acceleration, at: 3))]
    steps += actuate(0x15, 0x00) + [.rest(angular)]
    steps += actuate(0x02, 0x38) + [.deflected(angular, limits(.angularRate, at: 0))]
    steps += actuate(0x02, 0x00)
    let asleep = RegisterSetting(ICM20948Register.power1, MPURegister.sleep | MPURegister.clock)
    steps += [
      .check([RegisterSetting(ICM20948Register.power1, MPURegister.clock)]),
      .write([asleep], settle: 0),
    ]
    return DeflectionTest(chip: "ICM20948", steps: steps)
  }()

  /// At rest, deflected by writing a value, and back.
  private static func deflection(
    of output: Output, by register: UInt8, _ value: UInt8, back: UInt8, _ limits: DeflectionLimits
  ) -> [DeflectionStep] {
    [
      .rest(output), .write([RegisterSetting(register, value)], settle: 0.05),
      .deflected(output, limits), .write([RegisterSetting(register, back)], settle: 0.05),
    ]
  }
}

extension InvenSense {
  /// Counts that the three codes at `index` stand for, at +-2 g or +-250 degrees a second: 2620 * 1.01^(code - 1).
  static func trim(_ codes: RegisterBlock, at index: Int) -> Vector3 {
    Vector3(
      growth(2620, 1.01, codes[index]), growth(2620, 1.01, codes[index + 1]),
      growth(2620, 1.01, codes[index + 2]))
  }

  /// Counts of an MPU6050's accelerometer at +-8 g, from registers 13 to 16: 0.34 g to 0.92 g in 30 steps, each of
  /// (0.92 / 0.34)^(1 / 30).
  static func olderLinearTrim(_ codes: RegisterBlock) -> Vector3 {
    func counts(_ axis: Int) -> Double {
      let code = (codes[axis] >> 3 & 0x1C) | (codes[3] >> UInt8(4 - 2 * axis) & 0x03)
      return growth(4096 * 0.34, 1.033_737_562, code)
    }
    return Vector3(counts(0), counts(1), counts(2))
  }

  /// Counts of an MPU6050's gyro at +-250 degrees a second: from 25 degrees a second on, Y the other way.
  static func olderAngularTrim(_ codes: RegisterBlock) -> Vector3 {
    func counts(_ axis: Int) -> Double { growth(25 * 131, 1.046, codes[axis] & 0x1F) }
    return Vector3(counts(0), -counts(1), counts(2))
  }

  /// `first` for code 1, `factor` times as much for each next; 0, which is no code, gives 0.
  private static func growth(_ first: Double, _ factor: Double, _ code: UInt8) -> Double {
    guard code > 0 else { return 0 }
    return (1..<code).reduce(first) { value, _ in value * factor }
  }
}
