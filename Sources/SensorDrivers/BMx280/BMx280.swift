// The Bosch BMP280 and BME280 barometers on I2C (0x76 or 0x77).

package import SensorBus
package import SensorTypes

/// Bosch BMP280 or BME280. Neither has a data-ready flag or pin: in normal mode a conversion is new if its 40 bits of pressure and temperature
/// differ from the last one's, as the noise of the chip makes them do.
package struct BMx280: RegisterChip, Hashable {
  package let chip: BMx280Variant
  /// Who starts a conversion.
  package let mode: BMx280Mode
  /// Conversions a second by the typical times of the datasheet; in forced mode the most there can be.
  package let outputRate: Double
  /// How often pressure is measured for one output: 1, 2, 4, 8 or 16.
  package let pressureOversampling: Int
  /// How often temperature is measured for one output: 1 or 2.
  package let temperatureOversampling: Int
  /// The coefficient of the chip's IIR filter: 1 (off), 2, 4, 8 or 16.
  package let filterCoefficient: Int
  /// The share of a rate that is enough: with humidity the strongest oversampling gives 24.7 Hz, where 25 are usual.
  private static let rateTolerance = 0.98
  private let standbyCode: UInt8
  private var trim: BMx280Trim?
  /// dig_H1, which lies beside the other trim.
  private var firstHumidityTrim: UInt8 = 0
  private var humidityTrim: BME280HumidityTrim?
  private var last = RegisterBlock()

  /// Picks the strongest oversampling with which the chip reaches `outputRate` (Hz) but for 2 %, and then the
  /// longest standby time; the fastest there is (167 Hz, a BME280 118) where none does.
  ///
  /// Above 30 Hz, where oversampling has to give way, the chip's own filter makes up for the noise at
  /// about the same bandwidth; below it is off, because whoever estimates altitude filters with
  /// knowledge of time.
  package init(chip: BMx280Variant, outputRate wanted: Double, mode: BMx280Mode = .normal) {
    self.chip = chip
    self.mode = mode
    var choice = (pressure: 1, temperature: 1, code: 0, rate: Self.rate(chip, 1, 1, standby: 0.5))
    let standby = mode == .normal ? chip.standby : [0]
    search: for pressure in [16, 8, 4, 2, 1] {
      // BMP280 table 4: x2 for temperature only with x16 for pressure.
      let temperature = pressure == 16 ? 2 : 1
      let slowestFirst = standby.indices.sorted { standby[$0] > standby[$1] }
      for code in slowestFirst {
        let rate = Self.rate(chip, pressure, temperature, standby: standby[code])
        if rate >= Self.rateTolerance * wanted {
          choice = (pressure, temperature, code, rate)
          break search
        }
      }
    }
    pressureOversampling = choice.pressure
    temperatureOversampling = choice.temperature
    standbyCode = UInt8(choice.code)
    outputRate = choice.rate
    filterCoefficient =
      switch choice.rate {
      case ..<30: 1
      case ..<60: 2
      case ..<120: 4
      default: 8
      }
  }

  /// Conversions a second with typical times: 1 ms, 2 ms for each measurement of temperature, pressure and humidity, 0.5 ms for pressure and
  /// again for humidity (BME280 9.1), then the standby time. x16, x2, 0.5 ms: 26.3 Hz for a BMP280 (table 7).
  private static func rate(
    _ chip: BMx280Variant, _ pressure: Int, _ temperature: Int, standby: Double
  ) -> Double {
    1000
      / (1.5 + 2 * Double(temperature) + 2 * Double(pressure) + 1000 * chip.humidityTime + standby)
  }

  /// The value of `controlMeasurement`, which in forced mode starts a conversion.
  var controlMeasurement: UInt8 {
    let pressure = UInt8(pressureOversampling.trailingZeroBitCount + 1)
    let temperature = UInt8(temperatureOversampling.trailingZeroBitCount + 1)
    return temperature << 5 | pressure << 2 | mode.rawValue
  }

  /// What is written, in this order: `config` may be ignored once the chip runs, so the mode comes
  /// last. In forced mode the chip itself puts the mode bits back, so they are not compared.
  package var registerImage: [RegisterSetting] {
    let filter = UInt8(filterCoefficient.trailingZeroBitCount)
    var image = [
      RegisterSetting(BMx280Register.config, standbyCode << 5 | filter << 2, mask: 0xFD),
      RegisterSetting(
        BMx280Register.controlMeasurement, controlMeasurement, mask: mode == .normal ? 0xFF : 0xFC),
    ]
    if chip == .bme280 {
      image.insert(RegisterSetting(BMx280Register.controlHumidity, 0x01, mask: 0x07), at: 0)
    }
    return image
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Neither has a pin for it.
  package var raisesPin: Bool { false }

  /// Half the pressure measurement, which comes after that of temperature, the measurement of humidity, and the delay of the chip's filter, a
  /// coefficient c of which lags c - 1 conversions.
  package var latency: Double {
    let measurement = 0.0005 + 0.002 * Double(pressureOversampling)
    return measurement / 2 + chip.humidityTime + Double(filterCoefficient - 1) / outputRate
  }

  /// In normal mode equal data can be one conversion looked at often, as a scheduler without a
  /// data-ready line does at up to ten times the rate: 50 looks are five conversions then.
  package var alikeLimit: Int { mode == .forced ? Int(min(50, max(3, 1.5 * outputRate))) : 50 }

  /// Identity, reset (2 ms), until the trim is in its registers (at most 20 ms), trim, configuration,
  /// read-back.
  package var startSteps: [StartStep] {
    let trim: [StartStep] =
      chip == .bme280
      ? [
        .read(register: BMx280Register.trim, count: 26),
        .read(register: BMx280Register.humidityTrim, count: 7),
      ] : [.read(register: BMx280Register.trim, count: 24)]
    return [
      .identify(register: BMx280Register.identity, anyOf: chip.identities),
      .write([RegisterSetting(BMx280Register.reset, BMx280Register.resetCommand)]),
      .wait(seconds: 0.002),
      .await(
        register: BMx280Register.status, mask: BMx280Register.updating, value: 0, every: 0.002,
        looks: 10, what: "copying of the trim does not end"),
    ] + trim + [.configure()]
  }

  package mutating func take(
    _ block: RegisterBlock, from register: UInt8
  ) throws(DriverError) {
    guard register == BMx280Register.trim else {
      humidityTrim = BME280HumidityTrim(h1: firstHumidityTrim, block)
      return
    }
    trim = try BMx280Trim(block)
    firstHumidityTrim = block[25]
    last = RegisterBlock()
  }

  /// Sleep mode; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(BMx280Register.controlMeasurement, controlMeasurement & 0xFC)]
  }

  /// Pressure in pascals, temperature in degrees Celsius and from a BME280 relative humidity in percent, of one conversion, in one burst from
  /// the status to the last data byte, which the chip holds together (shadowing, BMP280 3.10).
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard let trim else { return nil }
    // The burst passes the control register, which was written and is not zero while the chip measures.
    let block = try device.getNonzero(BMx280Register.status, count: chip == .bme280 ? 12 : 10)
    if mode == .forced {
      guard block[0] & BMx280Register.measuring == 0 else { return nil }
      try device.put(BMx280Register.controlMeasurement, controlMeasurement)
    }
    // Only the data decide whether it is new: the status flickers, the rest is configuration.
    var data = RegisterBlock()
    for index in 0..<6 { data[index] = block[index + 4] }
    let value = try BMx280Conversion.atmosphere(data, at: 0, trim)
    try outputs.check(data)
    // Where the data may stand still nothing tells an old conversion from a new one: each look counts.
    guard let value, data != last || outputs.takesAlike else { return nil }
    last = data
    let humidity = humidityTrim?.humidity(block.uint16BigEndian(10), fine: 5120 * value.temperature)
    return .atmosphere(
      pressure: value.pressure, temperature: value.temperature, humidity: humidity)
  }
}

/// Who starts a conversion.
package enum BMx280Mode: UInt8, Sendable, Hashable {
  /// `poll` does, after it has read the one before: every reading is a new one, and the chip sleeps
  /// in between. The rate is that of the calls.
  case forced = 0b01
  /// The chip does, at its own pace.
  case normal = 0b11
}

/// Which of the two.
package enum BMx280Variant: String, Sendable, Hashable, CaseIterable {
  /// Pressure and temperature; identity 0x58, early samples 0x56 and 0x57.
  case bmp280 = "BMP280"
  /// Pressure, temperature and humidity; identity 0x60.
  case bme280 = "BME280"

  /// The typical time of a measurement of humidity in seconds (BME280 9.1).
  var humidityTime: Double { self == .bme280 ? 0.0025 : 0 }

  /// Its identities, that of a chip from the shop first.
  var identities: [UInt8] { self == .bmp280 ? [0x58, 0x56, 0x57] : [0x60] }

  /// Standby times in milliseconds by their code (BMP280 table 11, BME280 table 27: codes 6 and 7
  /// differ by a factor of 200).
  var standby: [Double] {
    self == .bmp280
      ? [0.5, 62.5, 125, 250, 500, 1000, 2000, 4000] : [0.5, 62.5, 125, 250, 500, 1000, 10, 20]
  }
}

extension ChipDescription {
  /// Bosch BMP280.
  static let bmp280 = bmx280(.bmp280)
  /// Bosch BME280.
  static let bme280 = bmx280(.bme280)

  /// No self-test: none in the register maps (BST-BMP280-DS001 rev. 1.23, 4.2; BST-BME280-DS002 rev. 1.6, 5.3).
  /// Bosch's driver once held the trim values against limits and withdrew that as not valid.
  private static func bmx280(_ chip: BMx280Variant) -> ChipDescription {
    ChipDescription(
      chip.rawValue, .barometer, addresses: [0x76, 0x77],
      fingerprints: [
        // Both outputs end with bit 4 of their last byte; "the readout value" of the reset register "is always 0x00"
        // (BMP280 4.3).
        .identity(
          BMx280Register.identity, chip.identities, .certain, nil,
          [
            .bits(0xFF, of: BMx280Register.reset), .bits(0x0F, of: BMx280Register.status + 6),
            .bits(0x0F, of: BMx280Register.status + 9),
          ])
      ]
    ) { BMx280(chip: chip, outputRate: $0) }
  }
}
