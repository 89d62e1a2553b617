// The Bosch BMP581 and BMP585 barometers on I2C (0x47 or 0x46).

package import SensorBus
package import SensorTypes

/// Bosch BMP581 or BMP585 in normal mode, which compensates by itself; the chip's own filter is off: whoever estimates
/// altitude filters with knowledge of time.
package struct BMP58x: FlaggedChip, Hashable {
  /// The registers that the driver touches (BST-BMP581-DS004, section 7).
  enum Register {
    static let identity: UInt8 = 0x01
    /// int_en bit 3, int_od bit 2, int_pol bit 1 (high), int_mode bit 0 (latched).
    static let interruptConfiguration: UInt8 = 0x14
    /// drdy_data_reg_en bit 0.
    static let interruptSource: UInt8 = 0x15
    /// Temperature (three bytes, low first), then pressure (three bytes).
    static let output: UInt8 = 0x1D
    /// drdy_data_reg bit 0, por bit 4; cleared by reading.
    static let interruptStatus: UInt8 = 0x27
    /// status_nvm_rdy bit 1, status_nvm_err bit 2.
    static let status: UInt8 = 0x28
    /// set_iir_p in bits 5:3, set_iir_t in bits 2:0; 0 is off.
    static let filter: UInt8 = 0x31
    /// press_en bit 6, osr_p in bits 5:3, osr_t in bits 2:0.
    static let oversampling: UInt8 = 0x36
    /// deep_dis bit 7, odr in bits 6:2, pwr_mode in bits 1:0.
    static let rate: UInt8 = 0x37
    /// 0xB6 is a soft reset.
    static let command: UInt8 = 0x7E

    static let softReset: UInt8 = 0xB6
  }

  /// The rates that the chip has from 1 Hz on (7.24); the code counts down to 0 at 240 Hz.
  package static let outputRates: [Double] = [
    1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 89.6, 100.2, 110.1, 120, 129.8,
    140, 149.3, 160, 179.2, 199.1, 218.5, 240,
  ]
  /// Microseconds of a pressure conversion by the code of its oversampling, x1 to x128, and of a temperature
  /// conversion with one sample (the figures of Linux's driver, which has them from the datasheet's table 4).
  private static let pressureTimes = [1050.0, 1785, 3045, 5670, 10_920, 21_420, 42_420, 84_420]
  private static let temperatureTime = 1050.0
  private static let range = AirRange(
    pascals: 30_000...125_000, step: 0.016, degrees: -40...85, degreeStep: 0.001)

  package let chip: BMP58xVariant
  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  /// The code of the pressure oversampling: 0 (x1) to 7 (x128).
  package let pressureCode: Int
  private let rateCode: UInt8

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is, and the strongest oversampling for
  /// which a twentieth of the period stays free. (A chip that finds it too strong would take less by itself.)
  package init(chip: BMP58xVariant, outputRate: Double) {
    let index = nextRate(Self.outputRates, atLeast: outputRate)
    let free = 950_000 / Self.outputRates[index]
    pressureCode = Self.pressureTimes.lastIndex { $0 + Self.temperatureTime <= free } ?? 0
    rateCode = UInt8(Self.outputRates.count - 1 - index)
    self.outputRate = Self.outputRates[index]
    self.chip = chip
  }

  /// How often pressure is measured for one output: 1 to 128.
  package var pressureOversampling: Int { 1 << pressureCode }

  /// What is written, in this order; the mode comes last, because it starts conversions. The pin pulses with new data;
  /// from latched to that it changes while it has no source (Bosch's driver: bmp5_configure_interrupt).
  package var registerImage: [RegisterSetting] {
    [
      // The upper half is the strength of the pin.
      RegisterSetting(Register.interruptConfiguration, 0x3A, mask: 0x0F),
      RegisterSetting(Register.interruptSource, 0x01),
      RegisterSetting(Register.filter, 0x00),
      RegisterSetting(Register.oversampling, 0x40 | UInt8(pressureCode) << 3),
      RegisterSetting(Register.rate, 0x81 | rateCode << 2),
    ]
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Half the pressure conversion.
  package var latency: Double { Self.pressureTimes[pressureCode] * 0.5e-6 }

  /// Identity, soft reset (2 ms, at most 20 ms), until the trim is loaded without an error, configuration, read-back. By
  /// 7.36 the reset is not acknowledged on I2C; Linux's driver finds that it is.
  package var startSteps: [StartStep] {
    [
      .identify(register: Register.identity, anyOf: [chip.identity]),
      .resetUnanswered(RegisterSetting(Register.command, Register.softReset)),
      .wait(seconds: 0.002),
      .await(
        register: Register.status, mask: 0x06, value: 0x02, every: 0.002, looks: 10,
        what: "its trim is not loaded, or not without an error"),
      .discard(register: Register.interruptStatus, count: 1),
      .configure(),
    ]
  }

  /// Standby; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(Register.rate, 0x80 | rateCode << 2)]
  }

  /// drdy_data_reg, which is raised as far as it is a source of interrupts.
  package var dataReady: (register: UInt8, mask: UInt8) { (Register.interruptStatus, 0x01) }

  /// Temperature and pressure, which the chip holds together.
  package var output: (register: UInt8, count: Int) { (Register.output, 6) }

  /// Pressure in pascals (64 counts each) and temperature in degrees Celsius (65536 counts each).
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    try Self.range.reading(
      pressure: Double(block.uint24LittleEndian(3)) / 64,
      temperature: Double(block.int24LittleEndian(0)) / 65536)
  }
}

/// Which of the two.
package enum BMP58xVariant: String, Sendable, Hashable, CaseIterable {
  /// Identity 0x50, which a BMP580 has too.
  case bmp581 = "BMP581"
  /// The same in a water-tight package; identity 0x51.
  case bmp585 = "BMP585"

  var identity: UInt8 { self == .bmp581 ? 0x50 : 0x51 }
}

extension ChipDescription {
  /// Bosch BMP581.
  static let bmp581 = bmp58x(.bmp581, "a BMP580 answers and works the same")
  /// Bosch BMP585.
  static let bmp585 = bmp58x(.bmp585, nil)

  /// No self-test: none in the register map.
  private static func bmp58x(_ chip: BMP58xVariant, _ note: String?) -> ChipDescription {
    ChipDescription(
      chip.rawValue, .barometer, addresses: [0x47, 0x46],
      fingerprints: [
        // No error of its memory, of which one that runs may say that it is not ready; and reserved bits of INT_SOURCE,
        // DSP_IIR and OSR_CONFIG.
        .identity(
          BMP58x.Register.identity, [chip.identity], .certain, note,
          [
            .bits(0x04, of: BMP58x.Register.status),
            .bits(0xF0, of: BMP58x.Register.interruptSource),
            .bits(0xC0, of: BMP58x.Register.filter), .bits(0x80, of: BMP58x.Register.oversampling),
          ])
      ]
    ) { BMP58x(chip: chip, outputRate: $0) }
  }
}
