// Registers and configuration of both halves of the ST LSM303DLHC (datasheet DocID018771 rev. 2,
// section 7). The halves have nothing in common but the package: two addresses, two drivers.

/// The registers of the magnetometer (7.2). Its sub-address moves on by itself, without a flag.
enum LSM303DLHCMagnetometerRegister {
  /// TEMP_EN bit 7, DO2:0 in bits 4:2.
  static let controlA: UInt8 = 0x00
  /// GN2:0 in bits 7:5.
  static let controlB: UInt8 = 0x01
  /// MD1:0; 0x03 (sleep) after reset.
  static let mode: UInt8 = 0x02
  /// X high, X low, **Z** high, Z low, **Y** high, Y low.
  static let output: UInt8 = 0x03
  /// LOCK bit 1, DRDY bit 0.
  static let status: UInt8 = 0x09
  /// The letters `H43` in three registers, those of the HMC5883L whose core it is.
  static let identificationA: UInt8 = 0x0A

  static let dataReady: UInt8 = 0x01
  static let sleep: UInt8 = 0x03
}

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

/// How the magnetometer of an LSM303DLHC is to measure: continuously.
public struct LSM303DLHCMagnetometerConfiguration: Sendable, Hashable {
  /// The measuring range; the raw value is GN2:0 (table 75).
  public enum Range: UInt8, Sendable, Hashable, CaseIterable {
    /// +-130 microtesla.
    case gauss1p3 = 1
    /// +-190 microtesla.
    case gauss1p9 = 2
    /// +-250 microtesla.
    case gauss2p5 = 3
    /// +-400 microtesla.
    case gauss4p0 = 4
    /// +-470 microtesla.
    case gauss4p7 = 5
    /// +-560 microtesla.
    case gauss5p6 = 6
    /// +-810 microtesla.
    case gauss8p1 = 7

    /// Counts a gauss along X and Y (table 75).
    public var countsPerGaussXY: Double {
      switch self {
      case .gauss1p3: 1100
      case .gauss1p9: 855
      case .gauss2p5: 670
      case .gauss4p0: 450
      case .gauss4p7: 400
      case .gauss5p6: 330
      case .gauss8p1: 230
      }
    }

    /// Counts a gauss along Z, which has a sensor of its own (table 75).
    public var countsPerGaussZ: Double {
      switch self {
      case .gauss1p3: 980
      case .gauss1p9: 760
      case .gauss2p5: 600
      case .gauss4p0: 400
      case .gauss4p7: 355
      case .gauss5p6: 295
      case .gauss8p1: 205
      }
    }
  }

  /// The rates that the chip has, Hz (table 72).
  public static let outputRates = [0.75, 1.5, 3, 7.5, 15, 30, 75, 220]

  /// Conversions a second, one of `outputRates`.
  public let outputRate: Double
  /// The measuring range.
  public let range: Range
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  ///
  /// +-1.9 gauss unless said otherwise: the noise (2 mgauss) is the chip's own in every range, and
  /// chips whose own offset eats half of +-1.3 gauss are common.
  public init(outputRate: Double, range: Range = .gauss1p9) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
    self.range = range
  }

  /// What is written, in this order; the mode comes last, because it starts conversions. Only bits
  /// that the datasheet assigns are compared.
  public var registerImage: [RegisterSetting] {
    [
      RegisterSetting(
        LSM303DLHCMagnetometerRegister.controlA, UInt8(rateIndex) << 2, mask: 0x9C),
      RegisterSetting(
        LSM303DLHCMagnetometerRegister.controlB, range.rawValue << 5, mask: 0xE0),
      RegisterSetting(LSM303DLHCMagnetometerRegister.mode, 0x00, mask: 0x03),
    ]
  }
}

/// How the accelerometer of an LSM303DLHC is to measure: high resolution (12 bits), block data update,
/// data ready on pin INT1.
public struct LSM303DLHCAccelerometerConfiguration: Sendable, Hashable {
  /// The measuring range; the raw value is FS1:0 (table 27).
  public enum Range: UInt8, Sendable, Hashable, CaseIterable {
    /// +-2 g.
    case g2 = 0
    /// +-4 g.
    case g4 = 1
    /// +-8 g.
    case g8 = 2
    /// +-16 g.
    case g16 = 3

    /// g a count of the 12-bit value (table 3: 1, 2, 4, 12 mg).
    public var gPerCount: Double {
      switch self {
      case .g2: 0.001
      case .g4: 0.002
      case .g8: 0.004
      case .g16: 0.012
      }
    }
  }

  /// The rates that the chip has with 12 bits, Hz (table 20).
  public static let outputRates: [Double] = [1, 10, 25, 50, 100, 200, 400, 1344]
  private static let codes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 9]

  /// Conversions a second, one of `outputRates`.
  public let outputRate: Double
  /// The measuring range.
  public let range: Range
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  public init(outputRate: Double, range: Range = .g4) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
    self.range = range
  }

  /// What is written, in this order; the rate comes last, because it starts conversions.
  public var registerImage: [RegisterSetting] {
    [
      RegisterSetting(LSM303DLHCAccelerometerRegister.control2, 0x00),
      RegisterSetting(LSM303DLHCAccelerometerRegister.control3, 0x10),
      RegisterSetting(
        LSM303DLHCAccelerometerRegister.control4, 0x80 | range.rawValue << 4 | 0x08),
      // BOOT clears itself.
      RegisterSetting(LSM303DLHCAccelerometerRegister.control5, 0x00, mask: 0x7F),
      RegisterSetting(
        LSM303DLHCAccelerometerRegister.control1, Self.codes[rateIndex] << 4 | 0x07),
    ]
  }
}
