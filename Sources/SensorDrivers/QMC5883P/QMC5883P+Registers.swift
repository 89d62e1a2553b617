// Registers of the QST QMC5883P (document 13-52-19 rev. A, section 9) and QMC6310 (rev. A, section 9): one map.

/// The registers that the driver touches. The sub-address moves on by itself, without a flag.
enum QMC5883PRegister {
  /// 0x80 (QMC5883P: 9.2.1; the QMC6310's datasheet leaves it out, the chips have it).
  static let chipID: UInt8 = 0x00
  /// X low, X high, Y low, ... Z high.
  static let output: UInt8 = 0x01
  /// OVFL bit 1, DRDY bit 0; both go down when this register is read.
  static let status: UInt8 = 0x09
  /// OSR2 1:0 | OSR1 1:0 | ODR1:0 | MODE1:0.
  static let control1: UInt8 = 0x0A
  /// SOFT_RST bit 7, SELF_TEST bit 6, RNG1:0 in bits 3:2, SET/RESET MODE1:0.
  static let control2: UInt8 = 0x0B
  /// The sign of each axis. Not in the register map, but the first line of every example (7.1 to 7.3).
  static let axisSign: UInt8 = 0x29

  static let identity: UInt8 = 0x80
  static let dataReady: UInt8 = 0x01
  static let softReset: UInt8 = 0x80
  static let normal: UInt8 = 0x01
  static let suspend: UInt8 = 0x00
  static let usualSigns: UInt8 = 0x06
}
