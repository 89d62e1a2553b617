// ST's LIS3DH on I2C (0x18 or 0x19), and the accelerometer of an LSM303DLHC (0x19), which is the same core.

import LinearAlgebra
package import SensorBus
package import SensorTypes

/// An ST LIS3DH or the accelerometer of an LSM303DLHC: high resolution (12 bits), block data update, data ready on pin INT1.
///
/// Tables: the LSM303DLHC's (DocID018771 rev. 2); the LIS3DH's (DocID17530 rev. 2) hold the same. The axes are those of the
/// figure of the pins: right-handed.
package struct LIS3DH: FlaggedChip, Hashable {
  /// The measuring range; the raw value is FS1:0 (table 27).
  package enum Range: UInt8, MeasuringRange {
    /// +-2 g.
    case g2 = 0
    /// +-4 g.
    case g4 = 1
    /// +-8 g.
    case g8 = 2
    /// +-16 g.
    case g16 = 3

    /// g a count of the 12-bit value (table 3: 1, 2, 4, 12 mg).
    package var gPerCount: Double {
      switch self {
      case .g2: 0.001
      case .g4: 0.002
      case .g8: 0.004
      case .g16: 0.012
      }
    }
  }

  /// The rates that the chip has with 12 bits, Hz (table 20).
  package static let outputRates: [Double] = [1, 10, 25, 50, 100, 200, 400, 1344]
  private static let codes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 9]

  package let chip: LIS3DHVariant
  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  package private(set) var range: Range
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(_ chip: LIS3DHVariant, outputRate: Double, range: Range = .g4) {
    self.chip = chip
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
    self.range = range
  }

  /// What is written, in this order; the rate comes last, because it starts conversions. There is no reset, so that what
  /// another program has left counts: a pin that is inverted (CTRL_REG6), and of a LIS3DH the sleep of 10 Hz and 8 bits that
  /// it falls into while nothing moves (Act_THS).
  package var registerImage: [RegisterSetting] {
    let sleepsByItself =
      chip == .lis3dh ? [RegisterSetting(LIS3DHRegister.activityThreshold, 0x00)] : []
    return sleepsByItself + [
      RegisterSetting(LIS3DHRegister.control6, 0x00),
      RegisterSetting(LIS3DHRegister.control2, 0x00),
      RegisterSetting(LIS3DHRegister.control3, 0x10),
      RegisterSetting(
        LIS3DHRegister.control4, 0x80 | range.rawValue << 4 | 0x08),
      // BOOT clears itself.
      RegisterSetting(LIS3DHRegister.control5, 0x00, mask: 0x7F),
      RegisterSetting(
        LIS3DHRegister.control1, Self.codes[rateIndex] << 4 | 0x07),
    ]
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Half a period: the chip filters over about one.
  package var latency: Double { 0.5 / outputRate }

  /// More than the noise of a chip at rest can make, which is less than a 12-bit step: 220 micro-g a root hertz (table 3)
  /// over a bandwidth of a ninth of the rate (LIS3DH, table 10), so that every 4.5 outputs one is independent. With each axis
  /// in the middle of a step, where noise shows least, one such output in a thousand million ends so many alike. Where
  /// that takes more than ten minutes, standing still proves nothing: at 4 g that is 1.6 s at 100 Hz, 11 s at 50 Hz, 3
  /// minutes at 25 Hz, and never below.
  package var alikeLimit: Int {
    let stepsOfNoise = 220e-6 * (outputRate / 9).squareRoot() / range.gPerCount
    let isSame = erf(0.5 / (stepsOfNoise * 2.0.squareRoot()))
    guard isSame < 1 else { return .max }
    let outputs = (4.5 * log(1e-9) / (3 * log(isSame))).rounded(.up)
    return outputs <= 600 * outputRate ? max(50, Int(outputs)) : .max
  }

  /// Identity, where there is one; configuration and read-back, which are it where there is none; then one period and
  /// the 1 ms of the LSM303DLHC's turn-on time (table 3), or the seven periods in which a LIS3DH gets to 12 bits (table
  /// 11). What has been converted by then is fetched and dropped: the next is worth reading. And as it has no reset,
  /// an axis that another driver's broken burst held back is let go by that.
  package var startSteps: [StartStep] {
    let isLone = chip == .lis3dh
    return
      (isLone
      ? [.identify(register: LIS3DHRegister.whoAmI, anyOf: [LIS3DHRegister.identity])] : [])
      + [
        .configure(identifies: !isLone), .wait(seconds: (isLone ? 7 : 1) / outputRate + 0.001),
        .discard(register: output.register, count: output.count),
      ]
  }

  /// Takes the next wider range.
  package mutating func widen() -> Bool { range.widen() }

  /// Power down; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(LIS3DHRegister.control1, 0x07)]
  }

  /// ZYXDA.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (LIS3DHRegister.status, LIS3DHRegister.dataReady)
  }

  package var output: (register: UInt8, count: Int) {
    (LIS3DHRegister.output | LIS3DHRegister.autoIncrement, 6)
  }

  /// The specific force in m/s^2.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    .acceleration(try LIS3DHConversion.acceleration(block, range: range))
  }
}

/// Which of the two; the raw value is the name in board files.
package enum LIS3DHVariant: String, Sendable, Hashable, CaseIterable {
  /// By itself, with an identity.
  case lis3dh = "LIS3DH"
  /// Beside a magnetometer. No identity register is documented: that it takes its whole configuration and gives it back
  /// is its identity.
  case lsm303dlhc = "LSM303DLHC-A"
}

extension ChipDescription {
  /// The highest bit of INT1_THS and INT1_DURATION is 0 in both datasheets; so it is in INT2's of an LSM303DLHC.
  private static let interruptTraits: [Trait] = [
    .bits(0x80, of: LIS3DHRegister.threshold1), .bits(0x80, of: LIS3DHRegister.duration1),
  ]
  /// ST LIS3DH.
  static let lis3dh = ChipDescription(
    "LIS3DH", .accelerometer, addresses: [0x18, 0x19],
    fingerprints: [
      // Bits 5 to 0 of TEMP_CFG_REG are 0, in an LSM303AGR's TEMP_CFG_REG_A too.
      .identity(
        LIS3DHRegister.whoAmI, [LIS3DHRegister.identity], .likely,
        "a LIS2DH12, or the accelerometer of an LSM303AGR or LSM303DLHC, answers the same",
        [.bits(0x3F, of: LIS3DHRegister.temperature)] + interruptTraits)
    ], selfTest: DeflectionTest.lis3dh
  ) { LIS3DH(.lis3dh, outputRate: $0) }
  /// The accelerometer of an ST LSM303DLHC. It has no documented identity: chips from the shop hold 0x33 in
  /// 0x0F, as their relatives do; failing that, bits that must be 0 and axes that are on by default. No
  /// self-test: the datasheet (DocID018771 rev. 2) knows none; the bit in which an LSM303DLH has its own
  /// (CTRL_REG4_A ST) must be 0.
  static let lsm303dlhcAccelerometer = ChipDescription(
    "LSM303DLHC-A", .accelerometer, addresses: [0x19],
    fingerprints: [
      .identity(
        LIS3DHRegister.whoAmI, [LIS3DHRegister.identity], .likely,
        "a LIS3DH or LSM303AGR answers the same; this one has a magnetometer at 0x1e",
        interruptTraits + [
          .bits(0x06, of: LIS3DHRegister.control4), .bits(0x80, of: LIS3DHRegister.threshold2),
          .bits(0x80, of: LIS3DHRegister.duration2),
        ]),
      Fingerprint(
        reads: [
          Fingerprint.Read(
            register: LIS3DHRegister.control1
              | LIS3DHRegister.autoIncrement, count: 6)
        ], confidence: .possible
      ) { blocks in
        let control = blocks[0]
        guard control[0] & 0x07 == 0x07, control[3] & 0x06 == 0, control[4] & 0x30 == 0,
          control[5] & 0x05 == 0
        else { return nil }
        return "no identity register, but registers 0x20 to 0x25 hold what this chip's can hold"
      },
    ], partner: "LSM303DLHC-M"
  ) { LIS3DH(.lsm303dlhc, outputRate: $0) }
}
