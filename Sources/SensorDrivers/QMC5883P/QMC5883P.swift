// The QST QMC5883P magnetometer on I2C (0x2C), and the QMC6310 (0x1C or 0x3C).

package import LinearAlgebra
package import SensorBus
package import SensorTypes

/// QST QMC5883P or QMC6310, three-axis magnetometers with one register map, one scale and one set of rates
/// (QMC5883P: 13-52-19 rev. A; QMC6310: rev. A): normal mode, set and reset before every conversion, eight
/// samples a conversion.
package struct QMC5883P: FlaggedChip, Hashable {
  /// The measuring range; the raw value is RNG1:0.
  package enum Range: UInt8, MeasuringRange {
    /// +-200 microtesla.
    case gauss2 = 3
    /// +-800 microtesla.
    case gauss8 = 2
    /// +-1200 microtesla.
    case gauss12 = 1
    /// +-3000 microtesla.
    case gauss30 = 0

    /// Counts a gauss (table 2).
    package var countsPerGauss: Double {
      switch self {
      case .gauss30: 1_000
      case .gauss12: 2_500
      case .gauss8: 3_750
      case .gauss2: 15_000
      }
    }
  }

  /// The rates that the chips have in normal mode, Hz (QMC5883P: table 17).
  package static let outputRates: [Double] = [10, 50, 100, 200]
  /// Beyond it the chip raises OVFL, in every range (QMC5883P: 9.2.2).
  private static let largestCount = 30_000.0

  /// Which chip it is.
  package let model: QMC5883PVariant
  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  package private(set) var range: Range
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  ///
  /// +-8 gauss unless said otherwise: its step is a seventh of the noise (2 milligauss, table 2).
  package init(_ model: QMC5883PVariant = .qmc5883p, outputRate: Double, range: Range = .gauss8) {
    self.model = model
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
    self.range = range
  }

  /// What is written, in this order; the mode comes last, because it starts conversions. OSR1 is 8, the least
  /// noise. OSR2, which would be 8 in the datasheet's example, is 1: that filter's delay is nowhere said.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(QMC5883PRegister.control2, range.rawValue << 2, mask: 0xCF),
      RegisterSetting(
        QMC5883PRegister.control1, UInt8(rateIndex) << 2 | QMC5883PRegister.normal),
    ]
  }

  /// The name in board files.
  package var name: String { model.rawValue }

  /// Neither has a pin for it.
  package var raisesPin: Bool { false }

  /// Half a conversion. The datasheets do not say how long one takes; in continuous mode 1500 follow one another
  /// in a second, and at 200 Hz no more than 5 ms are there. The longer is taken.
  package var latency: Double { 0.5 / 200 }

  /// Identity, soft reset (ready after 250 microseconds, table 7), signs of the axes, configuration, read-back.
  ///
  /// That the reset bit clears itself is not said (QMC6310: table 16), and published drivers clear it: SensorLib's of the
  /// QMC6310, Linux's of the QMC6308. So it is done here before the signs, which nothing reads back, are written.
  ///
  /// Register 0x29 takes 0x06: so it stands in both datasheets (7.1). ArduPilot's driver has it the other way
  /// round (0x06 <- 0x29), which writes to a data register and does nothing. Both leave a right-handed frame.
  package var startSteps: [StartStep] {
    [
      .identify(register: QMC5883PRegister.chipID, anyOf: [QMC5883PRegister.identity]),
      .write([RegisterSetting(QMC5883PRegister.control2, QMC5883PRegister.softReset)]),
      .wait(seconds: 0.002),
      .write([
        RegisterSetting(QMC5883PRegister.control2, 0),
        RegisterSetting(QMC5883PRegister.axisSign, QMC5883PRegister.usualSigns),
      ]),
      .configure(),
    ]
  }

  /// Takes the next wider range.
  package mutating func widen() -> Bool { range.widen() }

  /// Suspend mode; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(QMC5883PRegister.control1, QMC5883PRegister.suspend)]
  }

  /// DRDY.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (QMC5883PRegister.status, QMC5883PRegister.dataReady)
  }

  package var output: (register: UInt8, count: Int) { (QMC5883PRegister.output, 6) }

  /// The field in microtesla.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    .magneticField(try Self.field(block, range: range))
  }

  /// Magnetic flux density in microtesla, sensor frame, from the six output bytes (QMC5883P: 9.2.1).
  ///
  /// Valid over the range, which is 30000 counts in each; throws `.overflow` beyond. Worked number: at 8 gauss
  /// the bytes A6 0E are 3750 counts = 1 gauss = 100 microtesla (table 2).
  package static func field(
    _ block: RegisterBlock, range: Range
  ) throws(DriverError) -> Vector3 {
    try AxisCounts.littleEndian(block, limit: largestCount) * (100 / range.countsPerGauss)
  }
}

/// Which chip it is.
package enum QMC5883PVariant: String, Sendable, Hashable, CaseIterable {
  /// The one on newer GY-271 boards and "GPS and compass" pucks.
  case qmc5883p = "QMC5883P"
  /// Its smaller relative: U at 0x1C, N at 0x3C.
  case qmc6310 = "QMC6310"
}

extension ChipDescription {
  /// QST QMC5883P.
  static let qmc5883p = qmc5883p(
    .qmc5883p, addresses: [0x2C], "a QMC6308 answers the same and is driven the same")
  /// QST QMC6310: U at 0x1C, N at 0x3C (5.4).
  static let qmc6310 = qmc5883p(
    .qmc6310, addresses: [0x1C, 0x3C], "QST's magnetometers differ by their address")

  /// No self-test: the chips have one (7.3), but no datasheet says what it must bring about.
  private static func qmc5883p(
    _ model: QMC5883PVariant, addresses: [UInt8], _ note: String
  ) -> ChipDescription {
    ChipDescription(
      model.rawValue, .magnetometer, addresses: addresses,
      fingerprints: [
        // Bits 5 and 4 of control register 2 are none, and it is not in its reset: a digital potentiometer at 0x2c (AD5245) has 0x80
        // everywhere.
        .identity(
          QMC5883PRegister.chipID, [QMC5883PRegister.identity], .likely, note,
          [.bits(0xB0, of: QMC5883PRegister.control2)])
      ]
    ) { QMC5883P(model, outputRate: $0) }
  }
}
