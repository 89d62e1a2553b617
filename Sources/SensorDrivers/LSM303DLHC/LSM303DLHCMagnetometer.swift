// The magnetometer half of the ST LSM303DLHC on I2C (0x1E).

public import SensorBus
public import SensorTypes

/// The magnetometer of an ST LSM303DLHC, measuring continuously. It has no reset and no block data update; the
/// chip itself holds its output registers (LOCK) from the first byte read to the last.
public struct LSM303DLHCMagnetometer: FlaggedChip, Hashable {
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

  /// The name in board files.
  public var name: String { "LSM303DLHC-M" }

  /// Half a conversion, which takes no longer than the period of the fastest rate.
  public var latency: Double { 0.5 / 220 }

  /// Identity (`H43`), configuration, read-back: the chip needs no time.
  public var startSteps: [StartStep] {
    [
      .identifyAll(
        register: LSM303DLHCMagnetometerRegister.identificationA, [0x48, 0x34, 0x33]),
      .configure(),
    ]
  }

  /// Sleep mode; registers are kept.
  public var sleepSettings: [RegisterSetting] {
    [
      RegisterSetting(
        LSM303DLHCMagnetometerRegister.mode, LSM303DLHCMagnetometerRegister.sleep)
    ]
  }

  /// DRDY.
  public var dataReady: (register: UInt8, mask: UInt8) {
    (LSM303DLHCMagnetometerRegister.status, LSM303DLHCMagnetometerRegister.dataReady)
  }

  /// Three axes.
  public var output: (register: UInt8, count: Int) { (LSM303DLHCMagnetometerRegister.output, 6) }

  /// The field in microtesla.
  public func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    .magneticField(try LSM303DLHCConversion.field(block, range: range))
  }
}

extension ChipDescription {
  /// The magnetometer of an ST LSM303DLHC. No self-test: the datasheet (DocID018771 rev. 2) knows none; the
  /// bits in which an HMC5883L (MS1:0 of its first register) has its own must be 0.
  static let lsm303dlhcMagnetometer = ChipDescription(
    "LSM303DLHC-M", .magnetometer, addresses: [0x1E],
    fingerprints: [
      Fingerprint(
        reads: [
          Fingerprint.Read(
            register: LSM303DLHCMagnetometerRegister.identificationA, count: 3)
        ], confidence: .likely
      ) { blocks in
        let letters = blocks[0]
        guard letters[0] == 0x48, letters[1] == 0x34, letters[2] == 0x33 else { return nil }
        return
          "registers 0x0a to 0x0c are 48 34 33; an HMC5883L answers the same, with another scale on Z"
      }
    ]
  ) { LSM303DLHCMagnetometer(outputRate: $0) }
}
