// Registers of the ST LIS3DH (DocID17530 rev. 2, section 8) and of the accelerometer half of the LSM303DLHC (DocID018771
// rev. 2, section 7). The latter's other half has nothing in common with it but the package: HMC5883/.

/// The registers that the driver touches.
enum LIS3DHRegister {
  /// Always 0x33; in an LSM303DLHC it is not documented.
  static let whoAmI: UInt8 = 0x0F
  /// TEMP_CFG_REG: ADC_EN bit 7, TEMP_EN bit 6.
  static let temperature: UInt8 = 0x1F
  /// ODR3:0 | LPen | Zen Yen Xen.
  static let control1: UInt8 = 0x20
  static let control2: UInt8 = 0x21
  /// Interrupt pin 1; bit 4 is data ready.
  static let control3: UInt8 = 0x22
  /// BDU | BLE | FS1:0 | HR | ST1:0 | SIM; an LSM303DLHC has no ST.
  static let control4: UInt8 = 0x23
  /// BOOT bit 7, FIFO_EN bit 6.
  static let control5: UInt8 = 0x24
  /// Interrupt pin 2; bit 1 inverts both pins.
  static let control6: UInt8 = 0x25
  /// Act_THS of a LIS3DH and its kind: above 0 it sleeps while nothing moves.
  static let activityThreshold: UInt8 = 0x3E
  /// INT1_THS, INT1_DURATION, and those of the second interrupt: seven bits each.
  static let threshold1: UInt8 = 0x32
  static let duration1: UInt8 = 0x33
  static let threshold2: UInt8 = 0x36
  static let duration2: UInt8 = 0x37
  /// ZYXOR bit 7 ... ZYXDA bit 3.
  static let status: UInt8 = 0x27
  /// X low, X high, Y low, ... Z high; 12 bits, left-justified.
  static let output: UInt8 = 0x28

  /// Set in the sub-address, it makes the chip move on from register to register (5.1.2).
  static let autoIncrement: UInt8 = 0x80
  static let identity: UInt8 = 0x33
  static let dataReady: UInt8 = 0x08
}
