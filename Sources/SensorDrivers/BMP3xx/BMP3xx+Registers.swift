// Registers of the Bosch BMP388 (datasheet BST-BMP388-DS001) and BMP390 (BST-BMP390-DS002), which differ in
// identity and noise.

/// The registers that the driver touches (section 4.2, table 25).
enum BMP3xxRegister {
  static let identity: UInt8 = 0x00
  /// fatal_err bit 0, cmd_err bit 1, conf_err bit 2; cleared by reading.
  static let error: UInt8 = 0x02
  /// drdy_temp bit 6, drdy_press bit 5, cmd_rdy bit 4.
  static let status: UInt8 = 0x03
  /// Pressure (three bytes, low first), then temperature (three bytes).
  static let output: UInt8 = 0x04
  /// drdy_en bit 6, int_latch bit 2, int_level bit 1 (high), int_od bit 0.
  static let interruptControl: UInt8 = 0x19
  /// mode in bits 5:4, temp_en bit 1, press_en bit 0.
  static let powerControl: UInt8 = 0x1B
  /// osr_t in bits 5:3, osr_p in bits 2:0.
  static let oversampling: UInt8 = 0x1C
  /// odr_sel in bits 4:0: 200 Hz, halved by each step.
  static let rate: UInt8 = 0x1D
  /// iir_filter in bits 3:1.
  static let filter: UInt8 = 0x1F
  /// 21 bytes of trim, 0x31 to 0x45 (3.11.1, table 24).
  static let trim: UInt8 = 0x31
  /// 0xB6 is a soft reset.
  static let command: UInt8 = 0x7E

  static let softReset: UInt8 = 0xB6
  static let commandReady: UInt8 = 0x10
  /// drdy_temp and drdy_press.
  static let dataReady: UInt8 = 0x60
}
