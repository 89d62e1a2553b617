// The Honeywell HMC5883L magnetometer on I2C (0x1E), and the same core inside an ST LSM303DLHC.

package import SensorBus
package import SensorTypes

/// Honeywell HMC5883L, or the magnetometer of an ST LSM303DLHC, measuring continuously. Neither has a reset or a
/// block data update; the chip itself holds its outputs (LOCK) from the first byte read to the last.
///
/// No samples are averaged in the chip: the mean of a few conversions of 12 bits often stands still on a
/// table, and standing still is how a loss is noticed.
package struct HMC5883: RegisterChip, Hashable {
  /// The measuring range; the raw value is GN2:0.
  package enum Range: UInt8, MeasuringRange {
    /// +-88 microtesla; HMC5883L only.
    case gauss0p88 = 0
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
  }

  /// Which chip it is.
  package let model: HMC5883Variant
  /// Conversions a second, one of the model's `outputRates`.
  package let outputRate: Double
  /// The measuring range, one of the model's `ranges`.
  package private(set) var range: Range
  private let rateIndex: Int
  private var last = RegisterBlock()

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is; the model's usual range for
  /// `nil` and for one that it does not have.
  package init(_ model: HMC5883Variant, outputRate: Double, range: Range? = nil) {
    self.model = model
    let rates = model.outputRates
    rateIndex = nextRate(rates, atLeast: outputRate)
    self.outputRate = rates[rateIndex]
    self.range = range.flatMap { model.ranges.contains($0) ? $0 : nil } ?? model.usualRange
  }

  /// What is written, in this order. Only bits that the datasheets assign are compared. The mode is not among
  /// them: reading it alone locks the outputs, and every poll reads it.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(HMC5883Register.configurationA, UInt8(rateIndex) << 2, mask: 0x9F),
      RegisterSetting(HMC5883Register.configurationB, range.rawValue << 5, mask: 0xE0),
    ]
  }

  /// The name in board files.
  package var name: String { model.rawValue }

  /// Half a conversion: of 6 ms in an HMC5883L (specifications, "Measurement period"); of no longer than the
  /// period of the fastest rate in an LSM303DLHC.
  package var latency: Double { model == .hmc5883l ? 0.003 : 0.5 / 220 }

  /// A scheduler without a data-ready line looks at one conversion up to ten times while two conversions
  /// happen to be alike: 50 looks are five conversions then.
  package var alikeLimit: Int { 50 }

  /// Identity (`H43`), configuration, read-back; two single conversions of 6 ms each, because the first after a
  /// change of the gain still has the old one (HMC5883L, "Configuration Register B"); then continuously.
  package var startSteps: [StartStep] {
    let single = [RegisterSetting(HMC5883Register.mode, HMC5883Register.single)]
    return [
      .identifyAll(register: HMC5883Register.identificationA, HMC5883Register.identity),
      .configure(), .write(single), .wait(seconds: 0.01), .write(single), .wait(seconds: 0.01),
      .write([RegisterSetting(HMC5883Register.mode, HMC5883Register.continuous)]),
    ]
  }

  /// Takes the next wider range of the model's.
  package mutating func widen() -> Bool { range.widen(among: model.ranges) }

  /// Idle mode; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(HMC5883Register.mode, HMC5883Register.idle)]
  }

  /// The field in microtesla of the newest conversion.
  ///
  /// The mode comes with the data: a chip that lost its supply makes one conversion by itself, with a gain that
  /// is not the one configured. And as reading does not clear RDY, only other data are new data, or those that
  /// the line tells of: on a table one conversion in a hundred is like the one before.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard try device.get(HMC5883Register.status) & HMC5883Register.dataReady != 0,
      let block = try outputs.read(device, HMC5883Register.mode, count: 7),
      block[0] & HMC5883Register.modeMask == HMC5883Register.continuous
    else { return nil }
    let field = try HMC5883Conversion.field(block, at: 1, model, range: range)
    try outputs.check(block)
    guard block != last || outputs.takesAlike else { return nil }
    last = block
    return .magneticField(field)
  }
}

/// Which chip it is. They answer alike.
package enum HMC5883Variant: String, Sendable, Hashable, CaseIterable {
  /// Honeywell HMC5883L (GY-271, GY-273 and the older "GPS and compass" pucks).
  case hmc5883l = "HMC5883L"
  /// ST LSM303DLHC: another scale, and Z has one of its own.
  case lsm303dlhc = "LSM303DLHC-M"

  /// The rates that the chip has, Hz (HMC5883L: table 5; LSM303DLHC: table 72).
  package var outputRates: [Double] {
    let common: [Double] = [0.75, 1.5, 3, 7.5, 15, 30, 75]
    return self == .lsm303dlhc ? common + [220] : common
  }

  /// The ranges that the chip has, the narrowest first.
  package var ranges: [HMC5883.Range] {
    self == .hmc5883l ? HMC5883.Range.allCases : HMC5883.Range.allCases.filter { $0 != .gauss0p88 }
  }

  /// The widest range of an HMC5883L in which a step is smaller than its noise (2 milligauss), so that no
  /// resolution is lost. Of an LSM303DLHC +-1.9 gauss: chips whose own offset eats half of +-1.3 are common.
  package var usualRange: HMC5883.Range { self == .hmc5883l ? .gauss2p5 : .gauss1p9 }

  /// Counts a gauss along X and Y, and along Z (HMC5883L: table 9; LSM303DLHC: table 75).
  package func countsPerGauss(_ range: HMC5883.Range) -> (xy: Double, z: Double) {
    let gain = Int(range.rawValue)
    switch self {
    case .hmc5883l:
      let counts = Self.honeywell[gain]
      return (counts, counts)
    case .lsm303dlhc: return Self.st[gain]
    }
  }

  private static let honeywell: [Double] = [1370, 1090, 820, 660, 440, 390, 330, 230]
  /// The first is not defined; it is what the chip does when told nothing.
  private static let st: [(xy: Double, z: Double)] = [
    (1100, 980), (1100, 980), (855, 760), (670, 600), (450, 400), (400, 355), (330, 295),
    (230, 205),
  ]
}

extension ChipDescription {
  /// Honeywell HMC5883L.
  static let hmc5883l = hmc5883(
    .hmc5883l, selfTest: HMC5883SelfTest(),
    "an LSM303DLHC answers the same, with another scale; that one has an accelerometer at 0x19")
  /// The magnetometer of an ST LSM303DLHC. No self-test: the datasheet (DocID018771 rev. 2) knows none; the
  /// bits in which an HMC5883L (MS1:0 of its first register) has its own must be 0.
  static let lsm303dlhcMagnetometer = hmc5883(
    .lsm303dlhc, partner: "LSM303DLHC-A", selfTest: nil,
    "an HMC5883L answers the same, with another scale on Z")

  private static func hmc5883(
    _ model: HMC5883Variant, partner: String? = nil, selfTest: (any SelfTesting)?, _ note: String
  ) -> ChipDescription {
    ChipDescription(
      model.rawValue, .magnetometer, addresses: [0x1E],
      fingerprints: [
        Fingerprint(
          reads: [Fingerprint.Read(register: HMC5883Register.identificationA, count: 3)],
          confidence: .likely
        ) { blocks in
          guard HMC5883Register.identity.enumerated().allSatisfy({ blocks[0][$0] == $1 })
          else { return nil }
          return "registers 0x0a to 0x0c are 48 34 33; \(note)"
        }
      ], trial: HMC5883Trial(model: model), partner: partner, selfTest: selfTest
    ) { HMC5883(model, outputRate: $0) }
  }
}
