// Registers of the ST LIS3MDL (datasheet DocID024204 rev. 6, section 7) and of the magnetometer of the LSM9DS1
// (DocID025715 rev. 3, section 8).

/// The registers that the driver touches.
enum LIS3MDLRegister {
  /// Always 0x3D (7.1).
  static let whoAmI: UInt8 = 0x0F
  /// TEMP_EN (LSM9DS1: TEMP_COMP) | OM1:0 | DO2:0 | FAST_ODR | ST.
  static let control1: UInt8 = 0x20
  /// FS1:0 in bits 6:5, REBOOT bit 3, SOFT_RST bit 2.
  static let control2: UInt8 = 0x21
  /// LP bit 5, SIM bit 2, MD1:0; 0x03 (power down) after reset.
  static let control3: UInt8 = 0x22
  /// OMZ1:0 in bits 3:2, BLE bit 1.
  static let control4: UInt8 = 0x23
  /// FAST_READ bit 7, BDU bit 6.
  static let control5: UInt8 = 0x24
  /// ZYXOR bit 7 ... ZYXDA bit 3. ZYXOR says that a sample was overwritten unread, not that the field
  /// is out of range; what is read is the newest all the same, so it is no error.
  static let status: UInt8 = 0x27
  /// X low, X high, Y low, ... Z high.
  static let output: UInt8 = 0x28

  /// Set in the sub-address, it makes the chip move on from register to register (5.1.1).
  static let autoIncrement: UInt8 = 0x80
  static let identity: UInt8 = 0x3D
  static let softReset: UInt8 = 0x04
  static let powerDown: UInt8 = 0x03
  static let dataReady: UInt8 = 0x08
  /// ST of CTRL_REG1.
  static let selfTest: UInt8 = 0x01
}
