// Registers of Asahi Kasei's AK8963 (MS1356-E-02, 8), AK09916 (015007392-E-02, 11) and AK09918 (016014242-E-00, 11).

/// Where a chip of the family has what all of them have.
struct AKMRegisters: Sendable, Hashable {
  /// ST1: DRDY bit 0, DOR bit 1.
  let status: UInt8
  /// X low, X high, ... Z high, and what lies between them and ST2.
  let output: UInt8
  /// From the first output to ST2, which must be read: until then the chip holds its outputs.
  let outputCount: Int
  /// The register with the mode.
  let mode: UInt8
  /// The register with SRST in bit 0.
  let reset: UInt8

  static let ak8963 = AKMRegisters(
    status: 0x02, output: 0x03, outputCount: 7, mode: 0x0A, reset: 0x0B)
  static let ak099xx = AKMRegisters(
    status: 0x10, output: 0x11, outputCount: 8, mode: 0x31, reset: 0x32)
}

/// What all chips of the family share.
enum AKMRegister {
  /// The maker's, 0x48 in every chip.
  static let company: UInt8 = 0x00
  /// Which chip it is: 0x09 an AK09916, 0x0C an AK09918. The AK8963's holds the maker's own information.
  static let device: UInt8 = 0x01
  /// Three bytes, to be read in fuse ROM access mode only (AK8963).
  static let adjustment: UInt8 = 0x10
  /// ASTC: SELF bit 6 (AK8963).
  static let selfTest: UInt8 = 0x0C

  static let asahiKasei: UInt8 = 0x48
  static let softReset: UInt8 = 0x01
  static let dataReady: UInt8 = 0x01
  /// HOFL of ST2.
  static let overflow: UInt8 = 0x08
  static let powerDown: UInt8 = 0x00
  /// AK8963 alone.
  static let fuseAccess: UInt8 = 0x0F
  /// BIT of the AK8963's CNTL1.
  static let sixteenBits: UInt8 = 0x10
}
