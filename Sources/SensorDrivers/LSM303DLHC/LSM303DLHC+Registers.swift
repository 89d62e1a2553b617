// Registers of both halves of the ST LSM303DLHC (datasheet DocID018771 rev. 2,
// section 7). The halves have nothing in common but the package: two addresses, two chips.

/// The registers of the magnetometer (7.2). Its sub-address moves on by itself, without a flag.
enum LSM303DLHCMagnetometerRegister {
  /// TEMP_EN bit 7, DO2:0 in bits 4:2.
  static let controlA: UInt8 = 0x00
  /// GN2:0 in bits 7:5.
  static let controlB: UInt8 = 0x01
  /// MD1:0; 0x03 (sleep) after reset.
  static let mode: UInt8 = 0x02
  /// X high, X low, **Z** high, Z low, **Y** high, Y low.
  static let output: UInt8 = 0x03
  /// LOCK bit 1, DRDY bit 0.
  static let status: UInt8 = 0x09
  /// The letters `H43` in three registers, those of the HMC5883L whose core it is.
  static let identificationA: UInt8 = 0x0A

  static let dataReady: UInt8 = 0x01
  static let sleep: UInt8 = 0x03
}

/// The registers of the accelerometer (7.1).
enum LSM303DLHCAccelerometerRegister {
  /// ODR3:0 | LPen | Zen Yen Xen.
  static let control1: UInt8 = 0x20
  /// High-pass filter.
  static let control2: UInt8 = 0x21
  /// Interrupt pin 1; bit 4 is data ready.
  static let control3: UInt8 = 0x22
  /// BDU | BLE | FS1:0 | HR | 0 0 | SIM.
  static let control4: UInt8 = 0x23
  /// BOOT bit 7, FIFO_EN bit 6.
  static let control5: UInt8 = 0x24
  /// ZYXOR bit 7 ... ZYXDA bit 3.
  static let status: UInt8 = 0x27
  /// X low, X high, Y low, ... Z high; 12 bits, left-justified.
  static let output: UInt8 = 0x28

  /// Set in the sub-address, it makes the chip move on from register to register (5.1.2).
  static let autoIncrement: UInt8 = 0x80
  static let dataReady: UInt8 = 0x08
}
