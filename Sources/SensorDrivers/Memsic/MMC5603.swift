// The Memsic MMC5603NJ magnetometer on I2C (0x30).

package import SensorBus
package import SensorTypes

/// Memsic MMC5603NJ, three-axis magnetometer, 20 bits over +-30 gauss, measuring continuously; for every output the chip
/// measures after a SET and after a RESET (Auto_SR_en), which removes the offset of its bridges.
///
/// Sign: after a SET the chip outputs +H + offset, after a RESET -H + offset, and the field is half of their difference
/// ("Using SET and RESET to remove bridge offset"). Memsic's own driver converts what it reads with Auto_SR_en and after a
/// single SET in the same way, so the chip computes the difference in that order and Auto_SR_en gives +H. Drivers that
/// send SET and then RESET and read single measurements (Linux's mmc5633, Adafruit's) therefore get -H and the offset, and
/// this one is unaffected. No real chip has confirmed this.
///
/// Nothing that is written can be read back: a chip that lost its configuration falls silent. Its axes are assumed to be
/// right-handed, as ArduPilot's driver has them; the datasheet's figure of the axes was not at hand, and published drivers
/// contradict each other (the axes of an MMC5983MA are left-handed). With an accelerometer `calibrate mount` finds a
/// mirror image too. Figures: MMC5603NJ datasheet rev. B.
package struct MMC5603: MemsicChip, Hashable {
  /// The rates that the driver uses, Hz; the chip has every whole number up to 255.
  package static let outputRates: [Double] = [1, 2, 5, 10, 20, 25, 50, 75, 100, 150, 200, 255]
  /// Milliseconds of one of the two measurements that an output is made of, by the code of the bandwidth (Internal
  /// Control 1).
  static let measurementTimes = [6.6, 3.5, 2.0, 1.2]

  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  /// The code of the bandwidth, 0 (6.6 ms, least noise) to 3.
  package let bandwidth: UInt8
  private var seen = MemsicOutputs()

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is, and the longest measurement of which
  /// two leave three eighths of the time: the flag of data that are ready is up only while nothing is measured.
  package init(outputRate: Double) {
    let rate = Self.outputRates[nextRate(Self.outputRates, atLeast: outputRate)]
    self.outputRate = rate
    bandwidth = UInt8(Self.measurementTimes.firstIndex { 2 * $0 * rate <= 625 } ?? 3)
  }

  /// The name in board files.
  package var name: String { "MMC5603" }

  /// It has no pin for it.
  package var raisesPin: Bool { false }

  /// Half the two measurements.
  package var latency: Double { Self.measurementTimes[Int(bandwidth)] / 1000 }

  /// Identity, reset (20 ms), rate, bandwidth, the period that follows from them, and continuous measurement last.
  package var startSteps: [StartStep] {
    [
      .identify(register: Register.product, anyOf: [Register.identity]),
      .write([RegisterSetting(Register.control1, Register.softReset)]), .wait(seconds: 0.02),
      .write([
        RegisterSetting(Register.rate, UInt8(outputRate)),
        RegisterSetting(Register.control1, bandwidth),
        RegisterSetting(Register.control0, Register.periodAndSetReset),
        RegisterSetting(Register.control2, Register.continuous),
      ]),
    ]
  }

  /// No continuous measurement; registers are kept.
  package var sleepSettings: [RegisterSetting] { [RegisterSetting(Register.control2, 0x00)] }

  /// The newest field in microtesla.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard try device.get(Register.status) & Register.done != 0 else { return nil }
    guard let block = try outputs.read(device, Register.output, count: 9) else { return nil }
    let field = try MemsicConversion.field20(block)
    guard try seen.isNew(block, &outputs) else { return nil }
    return .magneticField(field)
  }

  /// The registers that the driver touches.
  private enum Register {
    /// Bits 19:12 and 11:4 of X, Y, Z, then three bytes with bits 3:0 in their high half.
    static let output: UInt8 = 0x00
    /// Status 1: Meas_t_done bit 7, Meas_m_done bit 6. (Zephyr has the two the other way round.)
    static let status: UInt8 = 0x18
    static let rate: UInt8 = 0x1A
    /// Cmm_freq_en bit 7, Auto_SR_en bit 5, Do_Reset, Do_Set, Take_meas_T and Take_meas_M below.
    static let control0: UInt8 = 0x1B
    /// SW_reset bit 7, BW in bits 1:0.
    static let control1: UInt8 = 0x1C
    /// hpower bit 7, Cmm_en bit 4.
    static let control2: UInt8 = 0x1D
    static let product: UInt8 = 0x39

    static let identity: UInt8 = 0x10
    static let done: UInt8 = 0x40
    static let softReset: UInt8 = 0x80
    static let periodAndSetReset: UInt8 = 0xA0
    static let continuous: UInt8 = 0x10
  }
}

extension ChipDescription {
  /// Memsic MMC5603NJ. Its self-test gives one bit, and no figure that could be reported: it is not run.
  static let mmc5603 = ChipDescription(
    "MMC5603", .magnetometer, addresses: [0x30],
    fingerprints: [
      // OTP_read_done of Status 1 stays up; and no more than 7.5 of its 30 gauss.
      .identity(
        0x39, [0x10], .likely, "an MMC5633 answers the same",
        [.bits(0x10, of: 0x18, are: 0x10)] + [0, 2, 4].map { .output($0, in: 0x60...0x9F) }),
      // As Adafruit and ESPHome have met them.
      Fingerprint(
        reads: [.init(register: 0x39, count: 1), .init(register: 0x18, count: 1)],
        confidence: .possible
      ) { blocks in
        guard blocks[0][0] == 0x00, blocks[1][0] & 0x10 != 0 else { return nil }
        return
          "register 0x39 is 0x00, as of some of them: if it is one, say `identity: unchecked` in its entry of the "
          + "board file, without which it is not started"
      },
    ],
    unconfirmed: Unconfirmed(
      what:
        "the sign of its output follows the datasheet and has not been confirmed on a real chip",
      check:
        "point the board at a known heading: if the reading is 180 degrees out, reverse all three "
        + "signs of its 'mount' in the board file and report it")
  ) { MMC5603(outputRate: $0) }
}
