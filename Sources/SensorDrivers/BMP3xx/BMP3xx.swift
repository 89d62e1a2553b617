// The Bosch BMP388 and BMP390 barometers on I2C (0x76 or 0x77).

package import SensorBus
package import SensorTypes

/// Bosch BMP388 or BMP390 in normal mode, the chip's own filter off: whoever estimates altitude filters with
/// knowledge of time.
package struct BMP3xx: FlaggedChip, Hashable {
  /// The rates that the chip has, Hz (table 45: 200 Hz halved up to 17 times); below 0.78 Hz nobody asks.
  package static let outputRates = (0...8).reversed().map { 200 / Double(1 << $0) }
  private static let range = AirRange(
    pascals: 30_000...125_000, step: 2.64, degrees: -40...85, degreeStep: 0.005)

  package let chip: BMP3xxVariant
  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  /// The code of the pressure oversampling: 0 (x1) to 5 (x32).
  package let pressureCode: Int
  private let rateCode: UInt8
  private var trim: BMP3xxTrim?

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is, and the strongest oversampling
  /// that it leaves time for.
  package init(chip: BMP3xxVariant, outputRate: Double) {
    self.chip = chip
    let index = nextRate(Self.outputRates, atLeast: outputRate)
    let rate = Self.outputRates[index]
    self.outputRate = rate
    rateCode = UInt8(Self.outputRates.count - 1 - index)
    pressureCode =
      (0...5).last {
        Self.measurementTime(pressure: $0, temperature: Self.temperatureCode($0)) * rate <= 1
      }
      ?? 0
  }

  /// Table 10: x2 for temperature from x16 for pressure on.
  private static func temperatureCode(_ pressure: Int) -> Int { pressure >= 4 ? 1 : 0 }

  /// Seconds of one conversion of both (3.9.2): 234 us, then pressure, then temperature. The datasheet gives the
  /// temperature 163 us to settle, Bosch's driver 313 us: the longer one leaves no choice that is too fast.
  private static func measurementTime(pressure: Int, temperature: Int) -> Double {
    let microseconds = 234 + 392 + 2020 * (1 << pressure) + 313 + 2020 * (1 << temperature)
    return Double(microseconds) * 1e-6
  }

  /// How often pressure is measured for one output: 1 to 32.
  package var pressureOversampling: Int { 1 << pressureCode }

  /// What is written, in this order; the mode comes last, because it starts conversions. The pin rises with new
  /// data.
  package var registerImage: [RegisterSetting] {
    let temperature = UInt8(Self.temperatureCode(pressureCode))
    return [
      RegisterSetting(BMP3xxRegister.interruptControl, 0x42),
      RegisterSetting(BMP3xxRegister.oversampling, temperature << 3 | UInt8(pressureCode)),
      RegisterSetting(BMP3xxRegister.rate, rateCode),
      RegisterSetting(BMP3xxRegister.filter, 0x00),
      RegisterSetting(BMP3xxRegister.powerControl, 0x33),
    ]
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Half the pressure measurement, and that of the temperature, which comes after it.
  package var latency: Double {
    let pressure = 2020e-6 * Double(pressureOversampling)
    return pressure / 2 + Double(313 + 2020 << Self.temperatureCode(pressureCode)) * 1e-6
  }

  /// Identity, soft reset (2 ms, at most 20 ms), trim, configuration, read-back, and no error flag: the chip
  /// refuses an oversampling that its rate leaves no time for.
  package var startSteps: [StartStep] {
    [
      .identify(register: BMP3xxRegister.identity, anyOf: [chip.identity]),
      .write([RegisterSetting(BMP3xxRegister.command, BMP3xxRegister.softReset)]),
      .wait(seconds: 0.002),
      .await(
        register: BMP3xxRegister.status, mask: BMP3xxRegister.commandReady,
        value: BMP3xxRegister.commandReady, every: 0.002, looks: 10, what: "its reset does not end"),
      .read(register: BMP3xxRegister.trim, count: 21),
      .configure(),
      .await(
        register: BMP3xxRegister.error, mask: 0x05, value: 0, every: 0, looks: 1,
        what: "it refuses its configuration"),
    ]
  }

  package mutating func take(_ block: RegisterBlock, from register: UInt8) throws(DriverError) {
    trim = try BMP3xxTrim(block)
  }

  /// Sleep mode; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(BMP3xxRegister.powerControl, 0x03)]
  }

  /// drdy_temp and drdy_press.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (BMP3xxRegister.status, BMP3xxRegister.dataReady)
  }

  /// Pressure, then temperature, which the chip holds together (shadowing, 3.10).
  package var output: (register: UInt8, count: Int) { (BMP3xxRegister.output, 6) }

  /// Pressure in pascals and temperature in degrees Celsius.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    guard let trim else { throw .notReady("\(name): its trim was not read") }
    let temperature = BMP3xxConversion.temperature(block.uint24LittleEndian(3), trim)
    let pressure = BMP3xxConversion.pressure(
      block.uint24LittleEndian(0), temperature: temperature, trim)
    return try Self.range.reading(pressure: pressure, temperature: temperature)
  }
}

/// Which of the two.
package enum BMP3xxVariant: String, Sendable, Hashable, CaseIterable {
  /// Identity 0x50.
  case bmp388 = "BMP388"
  /// Identity 0x60, which is a BME280's in another register.
  case bmp390 = "BMP390"

  var identity: UInt8 { self == .bmp388 ? 0x50 : 0x60 }
}

extension ChipDescription {
  /// Bosch BMP388.
  static let bmp388 = bmp3xx(.bmp388)
  /// Bosch BMP390.
  static let bmp390 = bmp3xx(.bmp390)

  /// No self-test: none in the register map. Bosch's driver compares the trim's check sum and a measurement with
  /// limits of indoor air, which says nothing that a start and a reading do not.
  private static func bmp3xx(_ chip: BMP3xxVariant) -> ChipDescription {
    ChipDescription(
      chip.rawValue, .barometer, addresses: [0x77, 0x76],
      fingerprints: [
        Fingerprint(
          reads: [
            .init(register: BMP3xxRegister.identity, count: 1), .init(register: 0x1A, count: 6),
            .init(register: BMP3xxRegister.identity, count: 1),
          ], confidence: .certain
        ) { blocks in
          // 0x00 is an output of a DPS310, which can be anything: bits that must be 0 (4.3) count too. It is a
          // conversion that nobody fetched of an MS5607, whose other registers are zeros, and gone the second time.
          let (identity, control) = (blocks[0][0], blocks[1])
          guard identity == chip.identity, blocks[2][0] == identity, control[0] & 0xF8 == 0,
            control[1] & 0xCC == 0,
            control[2] & 0xC0 == 0, control[3] & 0xE0 == 0, control[5] & 0xF1 == 0
          else { return nil }
          return "register 0x00 is \(hexadecimal(identity)), and 0x1a to 0x1f hold what they can"
        }
      ]
    ) { BMP3xx(chip: chip, outputRate: $0) }
  }
}
