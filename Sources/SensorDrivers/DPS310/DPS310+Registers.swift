// Registers of the Infineon DPS310 (datasheet rev. 1.2, sections 7 and 8); those of DPS368, SPL06 and SPA06 lie alike.

/// The registers that the driver touches.
enum DPS310Register {
  /// Pressure (three bytes, high first), then temperature (three bytes).
  static let output: UInt8 = 0x00
  /// PM_RATE in bits 6:4, PM_PRC in bits 3:0.
  static let pressureConfiguration: UInt8 = 0x06
  /// TMP_EXT bit 7, TMP_RATE in bits 6:4, TMP_PRC in bits 2:0.
  static let temperatureConfiguration: UInt8 = 0x07
  /// COEF_RDY | SENSOR_RDY | TMP_RDY | PRS_RDY | 0 | MEAS_CTRL2:0.
  static let measurement: UInt8 = 0x08
  /// INT_HL | INT_FIFO | INT_TMP | INT_PRS | T_SHIFT | P_SHIFT | FIFO_EN | SPI_MODE.
  static let configuration: UInt8 = 0x09
  /// 0x09 is a soft reset.
  static let reset: UInt8 = 0x0C
  /// Revision 1, product 0: 0x10.
  static let identity: UInt8 = 0x0D
  /// 18 bytes of coefficients, 0x10 to 0x21; 21 in the SPA06.
  static let coefficients: UInt8 = 0x10
  /// Bit 7: the coefficients belong to the temperature sensor in the pressure cell (1) or in the
  /// ASIC (0); the same one has to be measured.
  static let coefficientSource: UInt8 = 0x28

  static let product: UInt8 = 0x10
  static let softReset: UInt8 = 0x09
  /// COEF_RDY and SENSOR_RDY.
  static let started: UInt8 = 0xC0
  /// TMP_RDY and PRS_RDY.
  static let dataReady: UInt8 = 0x30

  /// Some chips read about 60 degrees at room temperature until an undocumented setting of the ASIC is
  /// mended; this is the manufacturer's published sequence, harmless to the others.
  static let temperatureMend = [
    RegisterSetting(0x0E, 0xA5), RegisterSetting(0x0F, 0x96), RegisterSetting(0x62, 0x02),
    RegisterSetting(0x0E, 0x00), RegisterSetting(0x0F, 0x00),
  ]
}
