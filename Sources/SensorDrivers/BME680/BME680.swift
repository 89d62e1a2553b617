// The Bosch BME680 (and BME688) as a barometer on I2C (0x76 or 0x77).

package import SensorBus
package import SensorTypes

/// Bosch BME680: pressure, temperature and humidity. The heater of the gas sensor, which warms the pressure cell, stays off. The chip has no mode
/// in which it converts by itself: each conversion is asked for.
package struct BME680: RegisterChip, Hashable {
  /// The registers that the driver touches (BST-BME680-DS001, section 5.2).
  enum Register {
    /// Bit 7 new_data_0, bit 5 measuring; then the index, pressure and temperature (20 bits left-justified in three
    /// bytes each, high byte first), humidity (16 bits, high byte first).
    static let status: UInt8 = 0x1D
    /// heat_off bit 3.
    static let gasHeater: UInt8 = 0x70
    /// run_gas bit 4, nb_conv in bits 3:0.
    static let gasRun: UInt8 = 0x71
    /// osrs_h in bits 2:0.
    static let controlHumidity: UInt8 = 0x72
    /// osrs_t, osrs_p, mode, as in the BME280.
    static let controlMeasurement: UInt8 = 0x74
    /// filter in bits 4:2.
    static let config: UInt8 = 0x75
    /// 23 bytes of trim, 0x8A to 0xA0.
    static let trim: UInt8 = 0x8A
    /// Ten more, 0xE1 to 0xEA: the humidity's eight, and par_t1.
    static let moreTrim: UInt8 = 0xE1
    static let identity: UInt8 = 0xD0
    /// Writing 0xB6 is a power-on reset.
    static let reset: UInt8 = 0xE0

    static let product: UInt8 = 0x61
    static let softReset: UInt8 = 0xB6
    static let newData: UInt8 = 0x80
  }

  /// The slowest that is asked for.
  private static let slowest = 1.0

  /// Readings a second: one conversion each.
  package let outputRate: Double
  /// How often pressure is measured for one output: 1, 2, 4, 8 or 16.
  package let pressureOversampling: Int
  private var trim: BMx280Trim?
  private var trimBytes = RegisterBlock()
  private var humidityTrim: BME680HumidityTrim?
  /// Whether the chip was told to convert, and not read since.
  private var isTold = false

  /// Converts `outputRate` times a second (at least once), at the strongest oversampling that this leaves time for; as
  /// fast as the chip can (81 Hz) at the most.
  package init(outputRate wanted: Double) {
    let oversampling = [16, 8, 4, 2, 1].first { Self.period($0) * wanted <= 1 } ?? 1
    pressureOversampling = oversampling
    let fastest = 1 / Self.period(oversampling)
    outputRate = wanted <= fastest ? max(Self.slowest, wanted) : fastest
  }

  /// As in the BME280: x2 for temperature only with x16 for pressure.
  private static func temperatureOversampling(_ pressure: Int) -> Int { pressure == 16 ? 2 : 1 }

  /// Seconds from one conversion to the next: 1 ms to wake, 1.963 ms a measurement and 9 times 0.477 ms (the figures
  /// of Bosch's driver, which counts the gas sensor's share always), and a tenth more for the chip's clock.
  private static func period(_ pressure: Int) -> Double {
    1.1
      * (0.001 + 0.001_963 * Double(pressure + temperatureOversampling(pressure) + 1)
        + 9 * 0.000_477)
  }

  /// osrs_t, osrs_p and forced mode: written, it starts a conversion.
  private var controlMeasurement: UInt8 {
    let temperature = UInt8(Self.temperatureOversampling(pressureOversampling))
    return temperature << 5 | UInt8(pressureOversampling.trailingZeroBitCount + 1) << 2 | 0x01
  }

  /// What is written, in this order: the first conversion comes last. The chip itself puts the mode back.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(Register.gasHeater, 0x08, mask: 0x08),
      RegisterSetting(Register.gasRun, 0x00, mask: 0x10),
      RegisterSetting(Register.controlHumidity, 0x01, mask: 0x07),
      RegisterSetting(Register.config, 0x00, mask: 0x1C),
      RegisterSetting(Register.controlMeasurement, controlMeasurement, mask: 0xFC),
    ]
  }

  /// The name in board files.
  package var name: String { "BME680" }

  /// Half the pressure measurement, and that of humidity.
  package var latency: Double { 0.001_963 * (Double(pressureOversampling) / 2 + 1) }

  /// A conversion takes no longer than this; a slower rate leaves a pause.
  package var conversionTime: Double? { 1 / outputRate }

  /// Identity, reset (10 ms), trim, configuration with the first conversion, read-back.
  package var startSteps: [StartStep] {
    [
      .identify(register: Register.identity, anyOf: [Register.product]),
      .write([RegisterSetting(Register.reset, Register.softReset)]), .wait(seconds: 0.01),
      .read(register: Register.trim, count: 23), .read(register: Register.moreTrim, count: 10),
      .configure(),
    ]
  }

  /// Takes the trim, which lies in two places.
  package mutating func take(_ block: RegisterBlock, from register: UInt8) throws(DriverError) {
    guard register == Register.moreTrim else {
      trimBytes = block
      return
    }
    trim = try BMx280Trim(bme680: trimBytes, t1: block.uint16LittleEndian(8))
    humidityTrim = BME680HumidityTrim(block)
    isTold = true
  }

  /// It sleeps whenever it does not convert.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(Register.controlMeasurement, controlMeasurement & 0xFC)]
  }

  /// Takes the conversion that the chip was told to make, once it is there, and tells it the next one. What a read that
  /// broke off has left is dropped.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard let trim else { return nil }
    let wasTold = isTold
    isTold = false
    // The result is never zero, not even before the first conversion.
    let block = try device.getNonzero(Register.status, count: 10)
    if wasTold, block[0] & Register.newData == 0 {
      // Still measuring; or without power meanwhile, which the configuration tells.
      isTold = true
      return nil
    }
    try device.put(Register.controlMeasurement, controlMeasurement)
    isTold = true
    guard wasTold else { return nil }
    var data = RegisterBlock()
    for index in 0..<6 { data[index] = block[index + 2] }
    guard let air = try BMx280Conversion.atmosphere(data, at: 0, trim) else { return nil }
    try outputs.check(data)
    let humidity = humidityTrim?.humidity(block.uint16BigEndian(8), fine: 5120 * air.temperature)
    return .atmosphere(pressure: air.pressure, temperature: air.temperature, humidity: humidity)
  }
}

extension BMx280Trim {
  /// The trim of a BME680, from the 23 bytes 0x8A to 0xA0 and par_t1: the BME280's formulas with other scales and a
  /// cubic coefficient (BST-BME680-DS001, 3.3.1 and 3.3.2). Throws `.invalidTrim` when par_t1 or par_p1 is blank.
  package init(bme680 block: RegisterBlock, t1: UInt16) throws(DriverError) {
    for word in [t1, block.uint16LittleEndian(4)] where word == 0 || word == 0xFFFF {
      throw .invalidTrim("BME680: par_t1 or par_p1 is blank")
    }
    func byte(_ index: Int) -> Double { Double(Int8(bitPattern: block[index])) }
    func word(_ index: Int) -> Double { Double(block.int16LittleEndian(index)) }
    self.t1 = Double(t1)
    t2 = word(0)
    t3 = byte(2) * 16
    p1 = Double(block.uint16LittleEndian(4))
    p2 = word(6)
    p3 = byte(8) * 32
    p4 = word(10)
    p5 = word(12)
    p7 = byte(14) * 128
    p6 = byte(15) / 4
    p8 = word(18)
    p9 = word(20)
    p10 = Double(block[22])
  }
}

extension ChipDescription {
  /// Bosch BME680. No self-test of the pressure: the one of Bosch's driver looks at the gas sensor.
  static let bme680 = ChipDescription(
    "BME680", .barometer, addresses: [0x77, 0x76],
    fingerprints: [
      .identity(
        BME680.Register.identity, [BME680.Register.product], .certain,
        "a BME688 answers and measures pressure the same",
        // Pressure and temperature end with bit 4 of their last byte.
        [.bits(0x0F, of: BME680.Register.status + 4), .bits(0x0F, of: BME680.Register.status + 7)])
    ]
  ) { BME680(outputRate: $0) }
}
