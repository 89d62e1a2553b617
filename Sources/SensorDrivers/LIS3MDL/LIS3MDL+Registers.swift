// Registers and configuration of the ST LIS3MDL (datasheet DocID024204 rev. 6, section 7).

/// The registers that the driver touches.
enum LIS3MDLRegister {
  /// Always 0x3D (7.1).
  static let whoAmI: UInt8 = 0x0F
  /// TEMP_EN | OM1:0 | DO2:0 | FAST_ODR | ST.
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

/// How a LIS3MDL is to measure: in the operating mode of least noise that has the rate, on all axes alike,
/// continuous, block data update, little endian.
public struct LIS3MDLConfiguration: Sendable, Hashable {
  /// The measuring range.
  public enum Range: UInt8, Sendable, Hashable, CaseIterable {
    /// +-400 microtesla.
    case gauss4 = 0
    /// +-800 microtesla.
    case gauss8 = 1
    /// +-1200 microtesla.
    case gauss12 = 2
    /// +-1600 microtesla.
    case gauss16 = 3

    /// Counts a gauss (datasheet table 3: 6842, 3421, 2281, 1711).
    public var countsPerGauss: Double {
      switch self {
      case .gauss4: 6842
      case .gauss8: 3421
      case .gauss12: 2281
      case .gauss16: 1711
      }
    }

    /// The end of the range in gauss.
    public var gauss: Double { Double(rawValue + 1) * 4 }
  }

  /// The rates that the driver uses, Hz (7.2, tables 20 to 22): those of ultra-high performance, the last of
  /// them with FAST_ODR, then what FAST_ODR gives in high performance, medium performance and low power.
  public static let outputRates = [0.625, 1.25, 2.5, 5, 10, 20, 40, 80, 155, 300, 560, 1000]
  /// The first that needs FAST_ODR.
  private static let firstFast = 8

  /// Conversions a second, one of `outputRates`.
  public let outputRate: Double
  /// The measuring range.
  public let range: Range
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  public init(outputRate: Double, range: Range = .gauss4) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
    self.range = range
  }

  /// How long one conversion takes, seconds: with FAST_ODR they follow one another without a pause, and in
  /// ultra-high performance one takes as long at every rate.
  public var conversionTime: Double { 1 / max(outputRate, Self.outputRates[Self.firstFast]) }

  /// What is written, in this order; the operating mode comes last, because it starts conversions.
  public var registerImage: [RegisterSetting] {
    let steps = rateIndex - Self.firstFast
    // OM and OMZ: 3 is ultra-high performance, 0 low power.
    let mode = UInt8(3 - max(0, steps))
    // With FAST_ODR DO is ignored.
    let rate: UInt8 = steps >= 0 ? 0x02 : UInt8(rateIndex) << 2
    return [
      RegisterSetting(LIS3MDLRegister.control1, mode << 5 | rate),
      RegisterSetting(LIS3MDLRegister.control2, range.rawValue << 5),
      RegisterSetting(LIS3MDLRegister.control4, mode << 2),
      RegisterSetting(LIS3MDLRegister.control5, 0x40),
      RegisterSetting(LIS3MDLRegister.control3, 0x00),
    ]
  }
}
