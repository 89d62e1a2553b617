// Registers of the MPU-6050 (RM-MPU-6000A-00 rev. 4.2), MPU-6500 (RM-MPU-6500A-00 rev. 2.1) and MPU-9250
// (RM-MPU-9250A-00 rev. 1.6).

/// The registers that the driver touches.
enum MPURegister {
  /// The sample rate is 1 kHz divided by this and 1.
  static let divider: UInt8 = 0x19
  /// DLPF_CFG2:0, of the gyro; in an MPU6050 of both.
  static let filter: UInt8 = 0x1A
  /// ST of X, Y, Z | FS_SEL1:0 | 0 | FCHOICE_B1:0.
  static let gyroscope: UInt8 = 0x1B
  /// ST of X, Y, Z | AFS_SEL1:0 | 0 0 0.
  static let accelerometer: UInt8 = 0x1C
  /// ACCEL_FCHOICE_B | A_DLPF_CFG2:0; not in an MPU6050.
  static let accelerometerFilter: UInt8 = 0x1D
  /// TEMP | XG | YG | ZG | ACCEL | ...: what is queued.
  static let queued: UInt8 = 0x23
  /// ACTL | OPEN | LATCH_INT_EN | INT_ANYRD_2CLEAR | ... | BYPASS_EN | 0.
  static let interruptPin: UInt8 = 0x37
  /// Bit 0: data ready.
  static let interruptEnable: UInt8 = 0x38
  /// Bit 0: data ready; reading it takes it down.
  static let interruptStatus: UInt8 = 0x3A
  /// Accelerometer X high, X low, ... Z low; temperature; gyro X high ... Z low.
  static let output: UInt8 = 0x3B
  static let angularOutput: UInt8 = 0x43
  /// DELAY_ES_SHADOW bit 7, I2C_SLV4_DLY_EN to I2C_SLV0_DLY_EN in bits 4:0.
  static let auxiliaryDelay: UInt8 = 0x67
  /// FIFO_EN | I2C_MST_EN | I2C_IF_DIS | ... | FIFO_RESET | ...
  static let userControl: UInt8 = 0x6A
  /// H_RESET | SLEEP | CYCLE | ... | CLKSEL2:0.
  static let power: UInt8 = 0x6B
  /// FIFO_COUNT_H and _L: bytes.
  static let queueCount: UInt8 = 0x72
  static let queueData: UInt8 = 0x74
  static let whoAmI: UInt8 = 0x75

  static let bypass: UInt8 = 0x02
  static let dataReady: UInt8 = 0x01
  static let queueEnabled: UInt8 = 0x40
  static let queueReset: UInt8 = 0x04
  static let reset: UInt8 = 0x80
  static let sleep: UInt8 = 0x40
  /// The gyro's oscillator, once it runs: CLKSEL 1 is "PLL with X axis gyroscope reference" in an MPU6050, "the best
  /// available" in the others.
  static let clock: UInt8 = 0x01
}
