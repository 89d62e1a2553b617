// The Bosch BMM150 magnetometer on I2C (0x10 to 0x13).

package import SensorBus
package import SensorTypes

/// Bosch BMM150, three-axis magnetometer, measuring at its own rate with as many repetitions as that leaves time for;
/// the host compensates with the chip's trim. Figures: BST-BMM150-DS001-01.
package struct BMM150: RegisterChip, Hashable {
  /// The end of the measuring range, microtesla (table 1: Z; X and Y end at 1300, by the trim at some 1500).
  package static let range = 2500.0
  /// The rates that the chip has, Hz, ascending (5.6).
  package static let outputRates: [Double] = [2, 6, 8, 10, 15, 20, 25, 30]
  private static let codes: [UInt8] = [1, 2, 3, 0, 4, 5, 6, 7]

  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  /// Whether it has the repetitions of the "high accuracy" preset, else those of "enhanced regular" (table 3).
  package let isHighAccuracy: Bool
  private let code: UInt8
  private var trim: BMM150Trim?

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(outputRate: Double) {
    let index = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[index]
    code = Self.codes[index]
    isHighAccuracy = self.outputRate <= 20
  }

  /// Repetitions of X and Y, and of Z (table 3). Bosch's driver has 42 of Z for "high accuracy" and 14 for "enhanced
  /// regular": it takes 2n + 1 for Z too, where the datasheet has n + 1.
  var repetitions: (xy: Int, z: Int) { isHighAccuracy ? (47, 83) : (15, 27) }

  /// Seconds of one measurement (4.2.4): at most 49.3 ms.
  var measurementTime: Double {
    145e-6 * Double(repetitions.xy) + 500e-6 * Double(repetitions.z) + 980e-6
  }

  /// What is written, in this order; the mode comes last, because it starts conversions. Data ready goes to its
  /// pin, active high.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(Register.power, Register.awake, mask: 0x01),
      RegisterSetting(Register.repetitionsXY, UInt8((repetitions.xy - 1) / 2)),
      RegisterSetting(Register.repetitionsZ, UInt8(repetitions.z - 1)),
      RegisterSetting(Register.pins, 0x87),
      RegisterSetting(Register.mode, code << 3, mask: 0x3E),
    ]
  }

  /// The name in board files.
  package var name: String { "BMM150" }

  package var latency: Double { measurementTime / 2 }

  /// A chip that sleeps has no identity to show: it is woken first (3 ms). Identity, reset, trim, configuration,
  /// read-back.
  package var startSteps: [StartStep] {
    let wake = RegisterSetting(Register.power, Register.awake)
    return [
      .write([wake]), .wait(seconds: 0.003),
      .await(
        register: Register.power, mask: Register.awake, value: Register.awake, every: 0.001,
        looks: 3, what: "it does not wake"),
      .identify(register: Register.chip, anyOf: [Register.identity]),
      .write([RegisterSetting(Register.power, Register.reset)]), .wait(seconds: 0.003),
      .write([wake]), .wait(seconds: 0.003),
      .read(register: Register.trim, count: 21), .configure(),
    ]
  }

  package mutating func take(
    _ block: RegisterBlock, from register: UInt8
  ) throws(DriverError) {
    trim = try BMM150Trim(block)
  }

  /// Suspend (1 microampere); the configuration is lost.
  package var sleepSettings: [RegisterSetting] { [RegisterSetting(Register.power, 0x00)] }

  /// The field in microtesla, in one burst: data ready lies within the outputs, of which the first holds the others
  /// back until they are read.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard let trim, let block = try outputs.read(device, Register.output, count: 8),
      block[6] & Register.dataReady != 0
    else { return nil }
    let field = try BMM150Conversion.field(block, trim)
    // What a trim makes of a full scale may be far beyond what the chip can measure.
    guard (0..<3).allSatisfy({ abs(field[$0]) <= Self.range }) else { throw .overflow }
    try outputs.check(block)
    return .magneticField(field)
  }

  /// The registers that the driver touches (5.2).
  enum Register {
    static let chip: UInt8 = 0x40
    /// X low, X high, Y, Z, Hall resistance, whose lowest bit is data ready.
    static let output: UInt8 = 0x42
    /// Soft reset bits 7 and 1, power bit 0.
    static let power: UInt8 = 0x4B
    /// Rate in bits 5:3, mode in bits 2:1 (0 normal), self-test bit 0.
    static let mode: UInt8 = 0x4C
    /// Data ready to its pin bit 7, its polarity bit 2; latch and polarity of INT in bits 1:0 as they are at first.
    static let pins: UInt8 = 0x4E
    /// n times 2 and 1 more.
    static let repetitionsXY: UInt8 = 0x51
    /// n and 1 more.
    static let repetitionsZ: UInt8 = 0x52
    /// 21 bytes.
    static let trim: UInt8 = 0x5D

    static let identity: UInt8 = 0x32
    static let awake: UInt8 = 0x01
    static let reset: UInt8 = 0x83
    static let dataReady: UInt8 = 0x01

    /// Whether the power register is that of a chip that shows its identity: bits 6 to 3 are fixed at 0.
    static func isAwake(_ power: UInt8) -> Bool { power & 0x79 == awake }
  }
}

extension ChipDescription {
  /// Bosch BMM150.
  ///
  /// Asleep it reads as zeros but for its power register. At 0x10 there can be a receiver (PA1010D), each read of which
  /// takes a byte of what it has to say.
  static let bmm150 = ChipDescription(
    "BMM150", .magnetometer, addresses: [0x10, 0x11, 0x12, 0x13],
    fingerprints: [
      .identity(
        BMM150.Register.chip, [BMM150.Register.identity], .likely,
        "so do the magnetometers of BMC150 and BMX055",
        [Trait(register: BMM150.Register.power, fits: BMM150.Register.isAwake)]),
      Fingerprint(
        reads: [
          Fingerprint.Read(register: BMM150.Register.chip, count: 1),
          Fingerprint.Read(register: BMM150.Register.power, count: 1),
        ], confidence: .possible
      ) { blocks in
        guard blocks[0][0] == 0, blocks[1][0] == 0 else { return nil }
        return "registers 0x40 and 0x4b are 0x00, as when this chip sleeps"
      },
    ], trial: BMM150Trial(), unasked: [0x10], selfTest: DeflectionTest.bmm150
  ) { BMM150(outputRate: $0) }
}
