// Registers of ST's LSM6 family (LSM6DSOX: datasheet DS12814 rev. 4, sections 8 and 9); those used here lie alike in all.

/// The registers that the driver touches.
enum LSM6Register {
  /// FUNC_CFG_ACCESS bit 7, SHUB_REG_ACCESS bit 6; FUNC_CFG_EN_B of the LSM6DSL bit 5.
  static let bankAccess: UInt8 = 0x01
  /// WTM7:0, in words of 7 bytes; the older chips have it at 0x06, in words of 2.
  static let queueControl1: UInt8 = 0x07
  static let queueControl2: UInt8 = 0x08
  /// BDR_GY3:0 | BDR_XL3:0.
  static let queueControl3: UInt8 = 0x09
  /// ... | FIFO_MODE2:0.
  static let queueControl4: UInt8 = 0x0A
  static let olderQueueControl1: UInt8 = 0x06
  static let olderQueueControl2: UInt8 = 0x07
  /// DEC_FIFO_GYRO2:0 | DEC_FIFO_XL2:0.
  static let olderQueueControl3: UInt8 = 0x08
  /// ODR_FIFO3:0 in bits 6:3 | FIFO_MODE2:0, of the older chips.
  static let queueControl5: UInt8 = 0x0A
  /// FIFO_STATUS1 and 2.
  static let queueStatus: UInt8 = 0x3A
  /// FIFO_DATA_OUT_L and _H of the older chips.
  static let plainQueue: UInt8 = 0x3E
  /// FIFO_DATA_OUT_TAG, then six bytes.
  static let taggedQueue: UInt8 = 0x78

  /// What drives pin INT1; bit 1 is gyro data ready, bit 3 the queue's threshold.
  static let interrupt1: UInt8 = 0x0D
  /// Differs from chip to chip, but not from each to each.
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

  static let softwareReset: UInt8 = 0x01
  /// Gyro and accelerometer both have something new.
  static let dataReady: UInt8 = 0x03
  static let linearReady: UInt8 = 0x01
  static let angularReady: UInt8 = 0x02
}
