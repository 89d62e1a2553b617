// Registers of the accelerometer half of the ST LSM303DLHC (datasheet DocID018771 rev. 2, section 7). The halves
// have nothing in common but the package: two addresses, two chips. The other is an HMC5883L's core: HMC5883/.

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
