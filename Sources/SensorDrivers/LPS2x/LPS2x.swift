// The ST LPS22HB, LPS22HH, LPS25HB and LPS28DFW barometers on I2C (0x5C or 0x5D).

package import SensorBus
package import SensorTypes

/// ST's barometers, which compensate by themselves: continuous, block data update, in the mode of least noise that
/// has the rate, the chip's own low-pass off: whoever estimates altitude filters with knowledge of time.
package struct LPS2x: RegisterChip, Hashable {
  private static let range = AirRange(
    pascals: 26_000...126_000, step: 0.025, degrees: -40...105, degreeStep: 0.01)

  package let chip: LPS2xVariant
  /// Conversions a second, one of the chip's.
  package let outputRate: Double
  private let code: UInt8

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(chip: LPS2xVariant, outputRate: Double) {
    self.chip = chip
    let index = nextRate(chip.outputRates, atLeast: outputRate)
    self.outputRate = chip.outputRates[index]
    code = UInt8(index + 1)
  }

  /// AVG of the LPS28DFW, the most that the rate leaves time for (LPS22DF table 19): 512, 128, 64, 32.
  private var averaging: UInt8 {
    switch outputRate {
    case ...25: 7
    case ...75: 5
    case ...100: 4
    default: 3
    }
  }

  /// What is written, in this order; the rate comes last, because it starts conversions. The pin rises with new
  /// data.
  package var registerImage: [RegisterSetting] {
    switch chip {
    case .lps22hb:
      [
        RegisterSetting(0x11, 0x10), RegisterSetting(0x12, 0x04),
        RegisterSetting(0x10, code << 4 | 0x02),
      ]
    case .lps22hh:
      [
        // LOW_NOISE_EN is for rates below 100 Hz (7.8).
        RegisterSetting(0x11, outputRate < 100 ? 0x12 : 0x10), RegisterSetting(0x12, 0x04),
        RegisterSetting(0x10, code << 4 | 0x02),
      ]
    case .lps25hb:
      [
        // RES_CONF: 512 averages of the pressure, 64 of the temperature; the other bits are reserved.
        RegisterSetting(0x10, 0x0F, mask: 0x0F), RegisterSetting(0x21, 0x00),
        RegisterSetting(0x23, 0x01), RegisterSetting(0x20, 0x84 | code << 4),
      ]
    case .lps28dfw:
      [
        RegisterSetting(0x11, 0x08), RegisterSetting(0x12, 0x01), RegisterSetting(0x13, 0x20),
        RegisterSetting(0x10, code << 3 | averaging),
      ]
    }
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Half a period: the datasheets do not say how long a conversion takes.
  package var latency: Double { 0.5 / outputRate }

  /// Identity, soft reset (10 ms, at most 100 ms), configuration, read-back.
  package var startSteps: [StartStep] {
    [.identify(register: LPS2xRegister.whoAmI, anyOf: [chip.identity])]
      + StartStep.reset(chip == .lps25hb ? 0x21 : 0x11, bit: LPS2xRegister.softReset)
      + [.configure()]
  }

  /// Power down; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(chip == .lps25hb ? 0x20 : 0x10, 0x00)]
  }

  /// The temperature is read first, then the pressure: the block data update of the newer ones works only as long as
  /// the last register read is the high byte of the pressure (LPS22DF 9.7). It is a chip's word alone that needs
  /// holding together: the pressure is compensated, whatever the temperature of the next conversion.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    let flags = try device.get(LPS2xRegister.status)
    guard flags & LPS2xRegister.dataReady == LPS2xRegister.dataReady else { return nil }
    // Only the LPS25HB wants the flag that moves the register on.
    let moving: UInt8 = chip == .lps25hb ? 0x80 : 0x00
    let temperature = try outputs.read(device, LPS2xRegister.temperature | moving, count: 2)
    let pressure = try outputs.read(device, LPS2xRegister.pressure | moving, count: 3)
    guard let temperature, var block = pressure else { return nil }
    (block[3], block[4]) = (temperature[0], temperature[1])
    let reading = try reading(block)
    try outputs.check(block)
    return reading
  }

  /// From three bytes of pressure and two of temperature: pressure in pascals (4096 counts a hectopascal) and
  /// temperature in degrees Celsius: 100 counts a degree, but 480 around 42.5 degrees in the LPS25HB, whose 16 bits
  /// end at -25.8 degrees. Worked numbers (LPS22DF 4.4 and 4.5): 4191629 counts are 1023.3 hPa, 2500 are 25.00 degrees.
  ///
  /// Throws `.overflow` at the ends of the 24 and the 16 bits, and outside 260 to 1260 hPa.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    let raw = block.int16LittleEndian(3)
    guard raw != .min, raw != .max else { throw .overflow }
    let temperature = chip == .lps25hb ? 42.5 + Double(raw) / 480 : Double(raw) / 100
    return try Self.range.reading(
      pressure: Double(block.int24LittleEndian(0)) * 100 / 4096, temperature: temperature)
  }
}

package enum LPS2xVariant: String, Sendable, Hashable, CaseIterable {
  /// Identity 0xB1, which LPS33HW and LPS35HW have too.
  case lps22hb = "LPS22HB"
  /// Identity 0xB3.
  case lps22hh = "LPS22HH"
  /// Identity 0xBD, which an LPS25H has too: the same registers, less averaging.
  case lps25hb = "LPS25HB"
  /// Identity 0xB4, which an LPS22DF has too: the same registers, without the second range, which is not used.
  case lps28dfw = "LPS28DFW"

  var identity: UInt8 {
    switch self {
    case .lps22hb: 0xB1
    case .lps22hh: 0xB3
    case .lps25hb: 0xBD
    case .lps28dfw: 0xB4
    }
  }

  /// Conversions a second; the code is the index plus 1.
  package var outputRates: [Double] {
    switch self {
    case .lps22hb: [1, 10, 25, 50, 75]
    case .lps22hh: [1, 10, 25, 50, 75, 100, 200]
    case .lps25hb: [1, 7, 12.5, 25]
    case .lps28dfw: [1, 4, 10, 25, 50, 75, 100, 200]
    }
  }
}

extension LPS2xVariant {
  /// Bits that are 0 in every state of a chip that answers, I2C_DIS among them.
  fileprivate var traits: [Trait] {
    switch self {
    // CTRL_REG1, CTRL_REG2 and RES_CONF, of which ST's driver says that bits 7:2 must be 0, and that 0x05 is usual.
    case .lps22hb: [.bits(0x80, of: 0x10), .bits(0x0A, of: 0x11), .bits(0xF8, of: 0x1A)]
    // CTRL_REG1 to CTRL_REG3 and FIFO_CTRL.
    case .lps22hh:
      [.bits(0x80, of: 0x10), .bits(0x08, of: 0x11), .bits(0xC0, of: 0x12), .bits(0xF0, of: 0x13)]
    // CTRL_REG2 and CTRL_REG4.
    case .lps25hb: [.bits(0x08, of: 0x21), .bits(0xF0, of: 0x23)]
    // CTRL_REG1 to CTRL_REG3.
    case .lps28dfw: [.bits(0x80, of: 0x10), .bits(0x02, of: 0x11), .bits(0xF4, of: 0x12)]
    }
  }
}

extension ChipDescription {
  /// ST LPS22HB.
  static let lps22hb = lps2x(.lps22hb, "an LPS33HW or LPS35HW answers the same")
  /// ST LPS22HH.
  static let lps22hh = lps2x(.lps22hh, "an LPS22CH or LPS27HHW answers the same")
  /// ST LPS25HB.
  static let lps25hb = lps2x(.lps25hb, "an LPS25H answers the same")
  /// ST LPS28DFW.
  static let lps28dfw = lps2x(.lps28dfw, "an LPS22DF answers the same")

  /// No self-test: none in the register maps.
  private static func lps2x(_ chip: LPS2xVariant, _ lookalike: String) -> ChipDescription {
    ChipDescription(
      chip.rawValue, .barometer, addresses: [0x5C, 0x5D],
      fingerprints: [
        .identity(LPS2xRegister.whoAmI, [chip.identity], .likely, lookalike, chip.traits)
      ]
    ) { LPS2x(chip: chip, outputRate: $0) }
  }
}
