// Registers of the Bosch BMP280 (datasheet BST-BMP280-DS001 rev. 1.23) and BME280
// (BST-BME280-DS002 rev. 1.6), which differ in identity, humidity and two standby times.

/// The registers that the driver touches (BMP280 section 4).
enum BMx280Register {
  /// 24 bytes of trim, 0x88 to 0x9F (3.11.2).
  static let trim: UInt8 = 0x88
  /// BME280 only: seven bytes, 0xE1 to 0xE7; dig_H1 is at 0xA1 (4.2.2).
  static let humidityTrim: UInt8 = 0xE1
  static let identity: UInt8 = 0xD0
  /// Writing 0xB6 is a power-on reset.
  static let reset: UInt8 = 0xE0
  /// BME280 only: osrs_h in bits 2:0; taken over by the next write of `controlMeasurement`.
  static let controlHumidity: UInt8 = 0xF2
  /// measuring bit 3, im_update bit 0.
  static let status: UInt8 = 0xF3
  /// osrs_t | osrs_p | mode.
  static let controlMeasurement: UInt8 = 0xF4
  /// t_sb | filter | 0 | spi3w_en.
  static let config: UInt8 = 0xF5

  static let resetCommand: UInt8 = 0xB6
  static let updating: UInt8 = 0x01
  static let measuring: UInt8 = 0x08
}
