// The Bosch BMM350 magnetometer on I2C (0x14 or 0x15).

package import SensorBus
package import SensorTypes

/// Bosch BMM350, three-axis magnetometer, +-2000 microtesla, in normal mode with the most averaging that the rate allows;
/// the host compensates with the trim in the chip's OTP memory. Figures: BST-BMM350-DS001, and Bosch's driver
/// (BMM350_SensorAPI 3daf377) for the times.
package struct BMM350: FlaggedChip, Hashable {
  /// The rates that the chip has, Hz, ascending; the code is 10 less the index.
  package static let outputRates = [1.5625, 3.125, 6.25, 12.5, 25, 50, 100, 200, 400]

  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  private let rateIndex: Int
  private var words: [UInt16] = []
  private var trim: BMM350Trim?

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(outputRate: Double) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
  }

  /// Every read begins with two bytes that mean nothing.
  package var dummyBytes: Int { 2 }

  /// How many measurements are averaged: 8 up to 50 Hz, 4 at 100, 2 at 200, 1 at 400.
  package var averaging: Int { 1 << Int(averagingCode) }
  private var averagingCode: UInt8 { UInt8(min(3, Self.outputRates.count - 1 - rateIndex)) }

  /// Rate and averaging, axes, and the pin: data ready, latched, active high, driven both ways.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(Register.rate, averagingCode << 4 | UInt8(10 - rateIndex)),
      RegisterSetting(Register.axes, 0x07, mask: 0x07),
      RegisterSetting(Register.interrupt, 0x8F, mask: 0x8F),
    ]
  }

  /// The name in board files.
  package var name: String { "BMM350" }

  /// Half the measurements: 2 ms each, so that they fill four fifths of a period at every rate from 50 Hz on. The
  /// datasheet's own time of one was not at hand.
  package var latency: Double { 0.001 * Double(averaging) }

  /// Identity, suspend, reset, the trim's words one by one, OTP off, magnetic reset, configuration, read-back, and from
  /// suspend to normal mode; with the times of Bosch's driver, and until the chip is not busy any more.
  ///
  /// The reset: the datasheet (5.10.5) wants 0x00 written after 0xB6, and there are chips that do nothing before; Bosch's
  /// driver and ArduPilot's write 0xB6 alone. Here the chip gets the time after each.
  package var startSteps: [StartStep] {
    let reset = [Register.softReset, 0x00].flatMap { value -> [StartStep] in
      [.write([RegisterSetting(Register.command, value)]), .wait(seconds: 0.024)]
    }
    return [
      .read(register: Register.chip, count: 1),
      .identify(register: Register.chip, anyOf: [Register.identity]),
    ] + Self.command(Register.suspend, 0.006) + reset + BMM350Trim.words.flatMap(Self.word)
      + [.write([RegisterSetting(Register.otpCommand, Register.otpOff)])]
      + Self.command(Register.bitReset, 0.014, isNamed: true)
      + Self.command(Register.fluxGuideReset, 0.018, isNamed: true)
      + [.configure()] + Self.command(Register.updateRate, 0.001)
      + Self.command(Register.suspend, 0.006) + Self.command(Register.normal, 0.038)
  }

  /// A command to the power management, and the time that it takes: at most 10 ms more. A magnetic reset is over when the
  /// status names it (bits 7:5), as Bosch's driver asks; else what a magnet has left stays as an offset.
  private static func command(
    _ command: UInt8, _ seconds: Double, isNamed: Bool = false
  ) -> [StartStep] {
    [
      .write([RegisterSetting(Register.power, command)]), .wait(seconds: seconds),
      .await(
        register: Register.powerStatus, mask: isNamed ? 0xE1 : 0x01,
        value: isNamed ? command << 5 : 0, every: 0.001, looks: 11,
        what: isNamed ? "its magnetic reset is not done" : "its power management stays busy"),
    ]
  }

  /// One word of the OTP memory: 300 microseconds, and no error in bits 7:5 of its status.
  private static func word(_ word: UInt8) -> [StartStep] {
    [
      .write([RegisterSetting(Register.otpCommand, Register.otpRead | word)]),
      .wait(seconds: 0.0003),
      .await(
        register: Register.otpStatus, mask: 0xE1, value: 0x01, every: 0.0003, looks: 10,
        what: "its OTP memory cannot be read"),
      .read(register: Register.otpData, count: 2),
    ]
  }

  /// Takes the identity, which begins a start, and then the words of the trim one after the other.
  package mutating func take(
    _ block: RegisterBlock, from register: UInt8
  ) throws(DriverError) {
    guard register == Register.otpData else {
      words = []
      return
    }
    words.append(UInt16(block[0]) << 8 | UInt16(block[1]))
    if words.count == BMM350Trim.words.count { trim = try BMM350Trim(words) }
  }

  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(Register.power, Register.suspend)]
  }

  /// Data ready of INT_STATUS, which reading takes down.
  package var dataReady: (register: UInt8, mask: UInt8) { (Register.status, 0x04) }

  /// Three axes and temperature.
  package var output: (register: UInt8, count: Int) { (Register.output, 12) }

  /// The field in microtesla.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    guard let trim else { throw .invalidTrim("BMM350: not read yet") }
    return .magneticField(try BMM350Conversion.field(block, trim))
  }

  /// The registers that the driver touches.
  enum Register {
    static let chip: UInt8 = 0x00
    /// PMU_CMD_AGGR_SET: averaging in bits 5:4, rate in bits 3:0.
    static let rate: UInt8 = 0x04
    /// PMU_CMD_AXIS_EN.
    static let axes: UInt8 = 0x05
    /// PMU_CMD.
    static let power: UInt8 = 0x06
    /// PMU_CMD_STATUS_0: the newest command in bits 7:5, busy bit 0.
    static let powerStatus: UInt8 = 0x07
    /// INT_CTRL: drdy_data_reg_en bit 7, output bit 3, push-pull bit 2, active high bit 1, latched bit 0.
    static let interrupt: UInt8 = 0x2E
    /// INT_STATUS.
    static let status: UInt8 = 0x30
    static let output: UInt8 = 0x31
    static let otpCommand: UInt8 = 0x50
    /// High byte, low byte.
    static let otpData: UInt8 = 0x52
    static let otpStatus: UInt8 = 0x55
    static let command: UInt8 = 0x7E

    static let identity: UInt8 = 0x33
    static let softReset: UInt8 = 0xB6
    static let otpRead: UInt8 = 0x20
    static let otpOff: UInt8 = 0x80
    static let suspend: UInt8 = 0x00
    static let normal: UInt8 = 0x01
    static let updateRate: UInt8 = 0x02
    static let fluxGuideReset: UInt8 = 0x05
    static let bitReset: UInt8 = 0x07
  }
}

extension ChipDescription {
  /// Bosch BMM350. Its self-test deflects X and Y alone: it is not run.
  static let bmm350 = ChipDescription(
    "BMM350", .magnetometer, addresses: [0x14, 0x15],
    fingerprints: [
      Fingerprint(
        reads: [Fingerprint.Read](
          repeating: .init(register: BMM350.Register.chip, count: 3), count: 2),
        confidence: .certain,
        evidence: { blocks in
          let found = blocks[0][2]
          guard found == BMM350.Register.identity, blocks[1][2] == found else { return nil }
          return "register 0x00, after two bytes that mean nothing, is \(hexadecimal(found))"
        },
        // What came third of another chip comes first where the read begins two further on; of this one nothing does.
        traits: [.not(BMM350.Register.identity, in: BMM350.Register.chip + 2)])
    ]
  ) { BMM350(outputRate: $0) }
}
