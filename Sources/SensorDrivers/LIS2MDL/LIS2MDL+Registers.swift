// Registers of the ST LIS2MDL (datasheet DS12144, section 8), LSM303AGR magnetometer (DocID027765, section 8) and
// IIS2MDC (DS12122): one map.

/// The registers that the driver touches.
enum LIS2MDLRegister {
  /// Always 0x40.
  static let whoAmI: UInt8 = 0x4F
  /// COMP_TEMP_EN | REBOOT | SOFT_RST | LP | ODR1:0 | MD1:0; 0x03 (idle) after reset.
  static let configurationA: UInt8 = 0x60
  /// OFF_CANC_ONE_SHOT bit 4, INT_on_DataOFF bit 3, Set_FREQ bit 2, OFF_CANC bit 1, LPF bit 0.
  static let configurationB: UInt8 = 0x61
  /// INT_on_PIN bit 6, I2C_DIS bit 5, BDU bit 4, BLE bit 3, 4WSPI bit 2, Self_test bit 1, DRDY_on_PIN bit 0.
  static let configurationC: UInt8 = 0x62
  /// XIEN, YIEN, ZIEN, 0, 0, IEA, IEL, IEN.
  static let interruptControl: UInt8 = 0x63
  /// Zyxor bit 7 ... Zyxda bit 3.
  static let status: UInt8 = 0x67
  /// X low, X high, Y low, ... Z high.
  static let output: UInt8 = 0x68

  /// In the sub-address. The datasheets say that it has no meaning and that the chip moves on anyway; ST's own
  /// example for I2C sets it, and so it is right in both cases.
  static let autoIncrement: UInt8 = 0x80
  static let identity: UInt8 = 0x40
  /// COMP_TEMP_EN, which must be set.
  static let temperatureCompensation: UInt8 = 0x80
  static let softReset: UInt8 = 0x20
  static let idle: UInt8 = 0x03
  static let offsetCancellation: UInt8 = 0x02
  static let blockUpdate: UInt8 = 0x10
  static let selfTest: UInt8 = 0x02
  static let dataReadyOnPin: UInt8 = 0x01
  static let dataReady: UInt8 = 0x08
}
