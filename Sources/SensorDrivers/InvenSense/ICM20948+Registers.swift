// Registers of the TDK InvenSense ICM-20948 (DS-000189 rev. 1.3, sections 7, 8 and 10).

/// The registers that the driver touches; those of bank 2 have an own list.
enum ICM20948Register {
  /// USER_BANK1:0 in bits 5 and 4; the same in every bank.
  static let bank: UInt8 = 0x7F

  /// Always 0xEA.
  static let whoAmI: UInt8 = 0x00
  /// DMP_EN | FIFO_EN | I2C_MST_EN | I2C_IF_DIS | ...
  static let userControl: UInt8 = 0x03
  /// LP_CONFIG: I2C_MST_CYCLE, ACCEL_CYCLE, GYRO_CYCLE in bits 6:4.
  static let lowPower: UInt8 = 0x05
  /// DEVICE_RESET | SLEEP | LP_EN | 0 | TEMP_DIS | CLKSEL2:0.
  static let power1: UInt8 = 0x06
  /// DISABLE_ACCEL2:0 | DISABLE_GYRO2:0.
  static let power2: UInt8 = 0x07
  /// Bit 1: BYPASS_EN.
  static let interruptPin: UInt8 = 0x0F
  /// Bit 0: RAW_DATA_0_RDY_EN.
  static let interruptEnable1: UInt8 = 0x11
  /// Bit 0: RAW_DATA_0_RDY_INT.
  static let interruptStatus1: UInt8 = 0x1A
  /// ACCEL | GYRO_Z | GYRO_Y | GYRO_X | TEMP: what is queued (FIFO_EN_2).
  static let queued: UInt8 = 0x67
  /// FIFO_RESET4:0.
  static let queueReset: UInt8 = 0x68
  /// FIFO_MODE4:0: 0, the oldest gives way.
  static let queueMode: UInt8 = 0x69
  /// FIFO_COUNTH and L: bytes.
  static let queueCount: UInt8 = 0x70
  static let queueData: UInt8 = 0x72
  /// Accelerometer X high, X low, ... Z low; gyro X high ... Z low.
  static let output: UInt8 = 0x2D

  static let identity: UInt8 = 0xEA
  static let bank2: UInt8 = 0x20
}

/// The registers of bank 2.
enum ICM20948Bank2 {
  static let gyroscopeDivider: UInt8 = 0x00
  /// GYRO_DLPFCFG2:0 | GYRO_FS_SEL1:0 | GYRO_FCHOICE.
  static let gyroscope: UInt8 = 0x01
  /// Bit 0: the two sensors begin their samples together.
  static let align: UInt8 = 0x09
  /// The divider's upper four bits.
  static let accelerometerDividerHigh: UInt8 = 0x10
  static let accelerometerDivider: UInt8 = 0x11
  /// ACCEL_DLPFCFG2:0 | ACCEL_FS_SEL1:0 | ACCEL_FCHOICE.
  static let accelerometer: UInt8 = 0x14
}
