// Registers of the iSentek IST8310 (datasheet version 1.2, register map; CNTL3 from PX4's driver, see there).

/// The registers that the driver touches. The sub-address moves on by itself, without a flag.
enum IST8310Register {
  /// Always 0x10.
  static let whoAmI: UInt8 = 0x00
  /// DOR bit 1, DRDY bit 0; DRDY goes down when the data are read.
  static let status1: UInt8 = 0x02
  /// X low, X high, Y low, ... Z high.
  static let output: UInt8 = 0x03
  /// Mode: 0 standby, 1 a single measurement, after which it is standby again.
  static let control1: UInt8 = 0x0A
  /// DREN bit 3, DRP bit 2, SRST bit 0.
  static let control2: UInt8 = 0x0B
  /// 16 bits instead of 14 for Z, Y and X in bits 6, 5 and 4.
  static let control3: UInt8 = 0x0D
  /// Averages of Y in bits 5:3, of X and Z in bits 2:0; 4 is 16 times.
  static let average: UInt8 = 0x41
  /// Pulse duration in bits 7:6; 3 is "normal, please use this setting".
  static let pulse: UInt8 = 0x42

  static let identity: UInt8 = 0x10
  static let dataReady: UInt8 = 0x01
  static let softReset: UInt8 = 0x01
  static let single: UInt8 = 0x01
  static let standby: UInt8 = 0x00
}
