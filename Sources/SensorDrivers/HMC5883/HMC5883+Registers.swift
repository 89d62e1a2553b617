// Registers of the Honeywell HMC5883L (form 900405 rev. E, "Registers") and of the magnetometer of the ST
// LSM303DLHC (DocID018771 rev. 2, 7.2): one core, one map.

/// The registers that the driver touches. The sub-address moves on by itself, without a flag.
enum HMC5883Register {
  /// MA1:0 in bits 6:5 (HMC5883L; 0 elsewhere), DO2:0 in bits 4:2, MS1:0 (HMC5883L; 0 elsewhere).
  static let configurationA: UInt8 = 0x00
  /// GN2:0 in bits 7:5.
  static let configurationB: UInt8 = 0x01
  /// MD1:0: 0 continuous, 1 single, 2 and 3 idle. Reading it locks the outputs of an HMC5883L until all six
  /// bytes were read, so it is only ever read together with them.
  static let mode: UInt8 = 0x02
  /// X high, X low, **Z** high, Z low, **Y** high, Y low; they follow the mode.
  static let output: UInt8 = 0x03
  /// LOCK bit 1, RDY bit 0. RDY stays up until the next conversion is written; reading does not clear it.
  static let status: UInt8 = 0x09
  /// The letters `H43` in three registers.
  static let identificationA: UInt8 = 0x0A

  static let identity: [UInt8] = [0x48, 0x34, 0x33]
  static let dataReady: UInt8 = 0x01
  static let modeMask: UInt8 = 0x03
  static let continuous: UInt8 = 0x00
  static let single: UInt8 = 0x01
  static let idle: UInt8 = 0x03
}
