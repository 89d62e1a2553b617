// The QST QMC5883L magnetometer on I2C (0x0D).

package import LinearAlgebra
package import SensorBus
package import SensorTypes

/// QST QMC5883L, three-axis magnetometer, sold as "HMC5883L" on most GY-271 boards: continuous, 512 samples a
/// conversion, which is the least noise, at every rate (datasheet 7.1 has that at 200 Hz).
package struct QMC5883L: FlaggedChip, Hashable {
  /// The measuring range; the raw value is RNG.
  package enum Range: UInt8, MeasuringRange {
    /// +-200 microtesla.
    case gauss2 = 0
    /// +-800 microtesla.
    case gauss8 = 1

    /// The end of the range in gauss.
    package var gauss: Double { self == .gauss2 ? 2 : 8 }

    /// Counts a gauss (table 2).
    package var countsPerGauss: Double { self == .gauss2 ? 12_000 : 3_000 }
  }

  /// The rates that the chip has, Hz (table 18).
  package static let outputRates: [Double] = [10, 50, 100, 200]

  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  package private(set) var range: Range
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  ///
  /// +-8 gauss unless said otherwise: its step is a sixth of the noise (2 milligauss, table 2).
  package init(outputRate: Double, range: Range = .gauss8) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
    self.range = range
  }

  /// What is written, in this order; the mode comes last, because it starts conversions. SOFT_RST clears itself.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(QMC5883LRegister.setResetPeriod, 0x01),
      RegisterSetting(QMC5883LRegister.control2, 0x00, mask: 0x41),
      RegisterSetting(
        QMC5883LRegister.control1,
        range.rawValue << 4 | UInt8(rateIndex) << 2 | QMC5883LRegister.continuous),
    ]
  }

  /// The name in board files.
  package var name: String { "QMC5883L" }

  /// Half a conversion. The datasheet does not say how long one takes: no longer than the period of the fastest
  /// rate, which has all the 512 samples too.
  package var latency: Double { 0.5 / 200 }

  /// Identity, soft reset (ready after 350 microseconds, table 7), configuration, read-back. One board of many
  /// gives 0xE8 for its identity; what gives another is driven where the board file vouches for it. The outputs are read
  /// before: ArduPilot and PX4 have met chips whose identity cannot be relied on until then.
  package var startSteps: [StartStep] {
    [
      .discard(register: QMC5883LRegister.output, count: 6),
      .identify(
        register: QMC5883LRegister.chipID,
        anyOf: [QMC5883LRegister.identity, QMC5883LRegister.copy]),
      .write([RegisterSetting(QMC5883LRegister.control2, QMC5883LRegister.softReset)]),
      .wait(seconds: 0.002), .configure(),
    ]
  }

  /// Takes the next wider range.
  package mutating func widen() -> Bool { range.widen() }

  /// Standby; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(QMC5883LRegister.control1, QMC5883LRegister.standby)]
  }

  /// DRDY.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (QMC5883LRegister.status, QMC5883LRegister.dataReady)
  }

  /// Three axes; all six bytes, because only the last lets the next conversion in.
  package var output: (register: UInt8, count: Int) { (QMC5883LRegister.output, 6) }

  /// The field in microtesla.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    .magneticField(try Self.field(block, range: range))
  }

  /// Magnetic flux density in microtesla, sensor frame (right-handed as the chip gives it), from the six output
  /// bytes (9.2.1).
  ///
  /// Valid over +-`range.gauss`; throws `.overflow` beyond. Worked number: at 8 gauss the bytes B8 0B are 3000
  /// counts = 1 gauss = 100 microtesla (table 2).
  package static func field(
    _ block: RegisterBlock, range: Range
  ) throws(DriverError) -> Vector3 {
    try AxisCounts.littleEndian(block, limit: range.gauss * range.countsPerGauss)
      * (100 / range.countsPerGauss)
  }
}

extension ChipDescription {
  /// QST QMC5883L. No self-test: the datasheet (1.0) knows none. The identity is 0xFF, which is also what a
  /// register that is not there reads as, so the bits that must be 0 count too; the data are not touched.
  static let qmc5883l = ChipDescription(
    "QMC5883L", .magnetometer, addresses: [0x0D],
    fingerprints: [
      told(.likely, "") { $0 == QMC5883LRegister.identity },
      told(.possible, ", as in some copies") { $0 == QMC5883LRegister.copy },
      told(
        .possible,
        ", neither 0xff nor 0xe8: if it is one all the same, say `identity: unchecked` in its entry of the "
          + "board file, without which it is not started"
      ) { _ in true },
    ]
  ) { QMC5883L(outputRate: $0) }

  private static func told(
    _ confidence: ChipIdentification.Confidence, _ note: String,
    identity: @escaping @Sendable (UInt8) -> Bool
  ) -> Fingerprint {
    Fingerprint(
      reads: [Fingerprint.Read(register: QMC5883LRegister.control1, count: 5)],
      confidence: confidence
    ) { blocks in
      let registers = blocks[0]
      guard registers[0] & 0x22 == 0, registers[1] & 0x3E == 0, identity(registers[4]) else {
        return nil
      }
      return "registers 0x09 and 0x0a hold what this chip's can hold, and 0x0d is "
        + "\(hexadecimal(registers[4]))\(note)"
    }
  }
}
