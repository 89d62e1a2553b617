// The ST LIS3MDL magnetometer on I2C (0x1C or 0x1E), and its relative inside an LSM9DS1.

package import SensorBus
package import SensorTypes

/// ST LIS3MDL, three-axis magnetometer, or the one inside an LSM9DS1: in the operating mode of least noise that has
/// the rate, on all axes alike, continuous, block data update, little endian.
///
/// The magnetometer inside an LSM9DS1 has the same identity, registers and rates and a scale of its own. Its X axis
/// points against that chip's accelerometer, whose driver turns it: both halves have the same mount.
package struct LIS3MDL: FlaggedChip, Hashable {
  package enum Range: UInt8, MeasuringRange {
    /// +-400 microtesla.
    case gauss4 = 0
    /// +-800 microtesla.
    case gauss8 = 1
    /// +-1200 microtesla.
    case gauss12 = 2
    /// +-1600 microtesla.
    case gauss16 = 3

    /// Counts a gauss of a LIS3MDL (datasheet table 3: 6842, 3421, 2281, 1711).
    package var countsPerGauss: Double {
      switch self {
      case .gauss4: 6842
      case .gauss8: 3421
      case .gauss12: 2281
      case .gauss16: 1711
      }
    }

    /// The end of the range in gauss.
    package var gauss: Double { Double(rawValue + 1) * 4 }
  }

  /// The rates that the driver uses, Hz (7.2, tables 20 to 22): those of ultra-high performance, the last of
  /// them with FAST_ODR, then what FAST_ODR gives in high performance, medium performance and low power.
  package static let outputRates = [0.625, 1.25, 2.5, 5, 10, 20, 40, 80, 155, 300, 560, 1000]
  /// The first that needs FAST_ODR.
  private static let firstFast = 8

  /// Which chip it is.
  package let model: LIS3MDLVariant
  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  package private(set) var range: Range
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(_ model: LIS3MDLVariant = .lis3mdl, outputRate: Double, range: Range = .gauss4) {
    self.model = model
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
    self.range = range
  }

  /// How long one conversion takes, seconds: with FAST_ODR they follow one another without a pause, and in
  /// ultra-high performance one takes as long at every rate.
  package var averagingTime: Double { 1 / max(outputRate, Self.outputRates[Self.firstFast]) }

  /// What is written, in this order; the operating mode comes last, because it starts conversions.
  package var registerImage: [RegisterSetting] {
    let steps = rateIndex - Self.firstFast
    // OM and OMZ: 3 is ultra-high performance, 0 low power.
    let mode = UInt8(3 - max(0, steps))
    // With FAST_ODR DO is ignored.
    let rate: UInt8 = steps >= 0 ? 0x02 : UInt8(rateIndex) << 2
    return [
      RegisterSetting(LIS3MDLRegister.control1, model.temperatureBit | mode << 5 | rate),
      RegisterSetting(LIS3MDLRegister.control2, range.rawValue << 5),
      RegisterSetting(LIS3MDLRegister.control4, mode << 2),
      RegisterSetting(LIS3MDLRegister.control5, 0x40),
      RegisterSetting(LIS3MDLRegister.control3, 0x00),
    ]
  }

  /// The name in board files.
  package var name: String { model.rawValue }

  package var latency: Double { averagingTime / 2 }

  /// Identity, soft reset (10 ms, at most 100 ms), configuration, read-back.
  package var startSteps: [StartStep] {
    [.identify(register: LIS3MDLRegister.whoAmI, anyOf: [LIS3MDLRegister.identity])]
      + StartStep.reset(LIS3MDLRegister.control2, bit: LIS3MDLRegister.softReset)
      + [.configure()]
  }

  /// Takes the next wider range.
  package mutating func widen() -> Bool { range.widen() }

  /// Power down (1 microampere); registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(LIS3MDLRegister.control3, LIS3MDLRegister.powerDown)]
  }

  /// ZYXDA.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (LIS3MDLRegister.status, LIS3MDLRegister.dataReady)
  }

  package var output: (register: UInt8, count: Int) {
    (LIS3MDLRegister.output | LIS3MDLRegister.autoIncrement, 6)
  }

  /// The field in microtesla.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    .magneticField(try LIS3MDLConversion.field(block, model, range: range))
  }
}

/// Which chip it is.
package enum LIS3MDLVariant: String, Sendable, Hashable, CaseIterable {
  /// The chip of its own.
  case lis3mdl = "LIS3MDL"
  /// The magnetometer of an ST LSM9DS1 (Sense HAT, Navio2).
  case lsm9ds1 = "LSM9DS1-M"

  /// Counts a gauss (LIS3MDL: table 3: 6842, 3421, 2281, 1711; LSM9DS1, DocID025715 rev. 3, table 3: 0.14,
  /// 0.29, 0.43 and 0.58 milligauss a count).
  package func countsPerGauss(_ range: LIS3MDL.Range) -> Double {
    switch self {
    case .lis3mdl: range.countsPerGauss
    case .lsm9ds1:
      switch range {
      case .gauss4: 1000 / 0.14
      case .gauss8: 1000 / 0.29
      case .gauss12: 1000 / 0.43
      case .gauss16: 1000 / 0.58
      }
    }
  }

  /// Bit 7 of the first control register: the temperature sensor of a LIS3MDL, which is not wanted, and the
  /// temperature compensation of an LSM9DS1.
  var temperatureBit: UInt8 { self == .lis3mdl ? 0x00 : 0x80 }
}

extension ChipDescription {
  /// ST LIS3MDL.
  static let lis3mdl = lis3mdl(
    .lis3mdl, .likely, "an LSM9DS1's magnetometer answers the same")
  /// The magnetometer of an ST LSM9DS1.
  ///
  /// Nothing tells it from a LIS3MDL: its datasheet has another reset value for INT_CFG (0x08, not 0xE8), but
  /// chips hold the LIS3MDL's. What tells is the other half, at 0x6A or 0x6B with 0x68 in its 0x0F.
  static let lsm9ds1Magnetometer = lis3mdl(
    .lsm9ds1, .likely, partner: "LSM9DS1-AG",
    "a LIS3MDL answers the same; an LSM9DS1's other half is at 0x6a or 0x6b and has 0x68 in 0x0f")

  private static func lis3mdl(
    _ model: LIS3MDLVariant, _ confidence: ChipIdentification.Confidence,
    partner: String? = nil, _ note: String
  ) -> ChipDescription {
    ChipDescription(
      model.rawValue, .magnetometer, addresses: [0x1C, 0x1E],
      fingerprints: [
        // "Must be set to 0 for the correct operation": CTRL_REG2 to CTRL_REG5 of both datasheets.
        .identity(
          LIS3MDLRegister.whoAmI, [LIS3MDLRegister.identity], confidence, note,
          [
            .bits(0x93, of: LIS3MDLRegister.control2), .bits(0xD8, of: LIS3MDLRegister.control3),
            .bits(0xF1, of: LIS3MDLRegister.control4), .bits(0x3F, of: LIS3MDLRegister.control5),
          ])
      ], partner: partner, selfTest: DeflectionTest.lis3mdl(model)
    ) { LIS3MDL(model, outputRate: $0) }
  }
}
