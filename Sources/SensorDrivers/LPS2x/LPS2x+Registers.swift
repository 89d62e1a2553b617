// Registers of ST's LPS22HB (DocID027083 rev 6), LPS22HH (DocID030890), LPS25HB (DocID027112 rev 4) and LPS28DFW (the
// LPS22DF's, DS13316 rev 3, with a second range): the outputs and the status lie alike, the control registers do not.

/// The registers that all four have at the same place.
enum LPS2xRegister {
  static let whoAmI: UInt8 = 0x0F
  /// Bits 1 and 0: pressure and temperature are new (which is which differs).
  static let status: UInt8 = 0x27
  /// Three bytes, low first.
  static let pressure: UInt8 = 0x28
  /// Two bytes, low first.
  static let temperature: UInt8 = 0x2B

  static let dataReady: UInt8 = 0x03
  /// SWRESET, in the second control register of each.
  static let softReset: UInt8 = 0x04
}
