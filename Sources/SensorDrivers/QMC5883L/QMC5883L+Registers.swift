// Registers of the QST QMC5883L (datasheet 1.0, February 2016, section 9).

/// The registers that the driver touches. The sub-address moves on by itself, without a flag.
enum QMC5883LRegister {
  /// X low, X high, Y low, ... Z high. From the first one read to the last the chip holds all of them.
  static let output: UInt8 = 0x00
  /// DOR bit 2, OVL bit 1, DRDY bit 0; DRDY goes down when any of the data is read.
  static let status: UInt8 = 0x06
  /// OSR1:0 | RNG1:0 | ODR1:0 | MODE1:0.
  static let control1: UInt8 = 0x09
  /// SOFT_RST bit 7, ROL_PNT bit 6, INT_ENB bit 0: 0 *enables* the pin.
  static let control2: UInt8 = 0x0A
  /// Period of the set and reset pulses; 0x01 is what the datasheet wants (9.2.5).
  static let setResetPeriod: UInt8 = 0x0B
  /// 0xFF (9.2.6).
  static let chipID: UInt8 = 0x0D

  static let identity: UInt8 = 0xFF
  /// One board of many.
  static let copy: UInt8 = 0xE8
  static let dataReady: UInt8 = 0x01
  static let softReset: UInt8 = 0x80
  static let continuous: UInt8 = 0x01
  static let standby: UInt8 = 0x00
}
