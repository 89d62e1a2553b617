// Bosch BMP280 and BME280 (datasheets BST-BMP280-DS001 and BST-BME280-DS002).

/// The twin of a BMP280, or of a BME280 with its humidity channel, over I2C.
package struct BMP280Twin: ResettingTwin, PairWriting {
  /// Which of the two.
  package enum Variant: Sendable, Hashable {
    /// Pressure and temperature, identity 0x58.
    case bmp280
    /// Pressure, temperature and humidity, identity 0x60.
    case bme280
  }

  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0xD0
  /// What it stands on.
  package var core: TwinCore

  private let variant: Variant
  private let trim: BoschTrim

  private var registers = [UInt8](repeating: 0, count: 256)
  /// ctrl_hum as it acts: it is taken over by the next write to ctrl_meas.
  private var humidityOversampling: UInt8 = 0
  private var filteredPressure: Double?
  private var filteredTemperature: Double?
  private var trimLoaded: Int64 = 0

  /// Makes a BMP280 that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(.bmp280, core) }

  /// Makes either chip, not powered yet: call `powerOn`.
  package init(_ variant: Variant, _ core: TwinCore, trim: BoschTrim = .datasheetExample) {
    self.variant = variant
    self.core = core
    self.trim = trim
  }

  /// Seconds from power to the first answer.
  ///
  /// Start-up time, table 2: 2 ms until the first communication.
  package let startUpTime = 0.002

  /// Registers take their reset values.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0xD0] = variant == .bmp280 ? 0x58 : 0x60
    // Data registers of a skipped measurement, section 4.3.6.
    registers[0xF7] = 0x80
    registers[0xFA] = 0x80
    if variant == .bme280 { registers[0xFD] = 0x80 }
    trim.store(into: &registers, hasHumidity: variant == .bme280)
    humidityOversampling = 0
    filteredPressure = nil
    filteredTemperature = nil
    core.schedule.stop()
    // The trim values are copied from non-volatile memory within the start-up time (im_update).
    trimLoaded = core.now &+ 2_000_000
  }

  /// The register that follows in the same transfer.
  ///
  /// Section 5.2.2: a read always moves on; a write does not.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 { register &+ 1 }

  private var isUpdating: Bool { core.now < trimLoaded }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x88...0xA1, 0xE1...0xE7: return isUpdating ? 0 : registers[Int(register)]
    case 0xE0: return 0
    case 0xF3:
      let began = core.schedule.next &- Int64(measurementTime * 1e9)
      let measuring = !core.schedule.isIdle && core.now >= began
      return (measuring ? 0x08 : 0) | (isUpdating ? 0x01 : 0)
    default: return registers[Int(register)]
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0xE0: if value == 0xB6 { reset() }
    case 0xF2: if variant == .bme280 { registers[0xF2] = value & 0x07 }
    case 0xF4:
      registers[0xF4] = value
      humidityOversampling = registers[0xF2]
      restart()
    case 0xF5:
      // Section 4.3.5: writes in normal mode may be ignored, so this chip ignores them.
      guard registers[0xF4] & 0x03 != 0x03 else { return }
      registers[0xF5] = value & 0xFD
      filteredPressure = nil
      filteredTemperature = nil
    default: break
    }
  }

  /// How many samples an oversampling code averages (osrs_t, osrs_p): 0 means skipped.
  private static func samples(_ code: UInt8) -> Int {
    code == 0 ? 0 : 1 << Int(min(code, 5) - 1)
  }

  private var temperatureSamples: Int { Self.samples(registers[0xF4] >> 5) }
  private var pressureSamples: Int { Self.samples(registers[0xF4] >> 2 & 7) }
  private var humiditySamples: Int { Self.samples(humidityOversampling) }

  /// Typical measurement time, seconds (BMP280 section 3.8.1, BME280 section 9.1).
  private var measurementTime: Double {
    var milliseconds = 1 + 2 * Double(temperatureSamples)
    if pressureSamples > 0 { milliseconds += 2 * Double(pressureSamples) + 0.5 }
    if humiditySamples > 0 { milliseconds += 2 * Double(humiditySamples) + 0.5 }
    return milliseconds * 1e-3
  }

  /// Pause of normal mode, seconds; the two chips differ in the last two codes.
  private var standby: Double {
    switch registers[0xF5] >> 5 {
    case 0: 0.0005
    case 1: 0.0625
    case 2: 0.125
    case 3: 0.25
    case 4: 0.5
    case 5: 1
    case 6: variant == .bmp280 ? 2 : 0.01
    default: variant == .bmp280 ? 4 : 0.02
    }
  }

  private mutating func restart() {
    let scale = core.period(1)
    switch registers[0xF4] & 0x03 {
    case 0: core.schedule.stop()
    case 3:
      let period = (measurementTime + standby) * scale
      core.schedule.start(at: core.now, firstAfter: measurementTime * scale, every: period)
    default: core.schedule.single(at: core.now, duration: measurementTime * scale)
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if registers[0xF4] & 0x03 != 0x03 { registers[0xF4] &= 0xFC }
    guard !tampering.isFrozen else { return }
    // The filter remembers: of a long pause the last conversions are enough (15/16 to the 96th: 0.2 %).
    let filtered = registers[0xF5] >> 2 & 7 != 0
    let again = filtered ? min(done.count, 96) : 1
    for back in (0..<again).reversed() {
      convert(at: done.last &- Int64(back) &* core.schedule.period, index: done.index &- back)
    }
  }

  private mutating func convert(at time: Int64, index: UInt64) {
    // The pressure is converted last (temperature, pressure, humidity).
    let pressureTime = Double(2 * pressureSamples + 1) * 1e6
    let humidityTime = humiditySamples > 0 ? Double(2 * humiditySamples) * 1e6 : 0
    let stimulus = core.stimulus(at: time &- Int64(pressureTime / 2 + humidityTime))
    let imperfections = core.errors.pressure
    var random = SeededGenerator(seed: core.seed, stream: 6, index: index)
    let trueTemperature = stimulus.temperature + imperfections.temperatureBias
    var fine = trueTemperature * 5120
    if temperatureSamples == 0 {
      store20(0x80000, at: 0xFA)
    } else {
      // "Noise": 0.005 degrees at one sample.
      let noise = imperfections.noise * 0.005 / Double(temperatureSamples).squareRoot()
      let raw = trim.rawTemperature(
        celsius: trueTemperature + (noise > 0 ? noise * random.gaussian() : 0))
      let filtered = filter(raw, &filteredTemperature)
      let counts = quantized(filtered, samples: temperatureSamples)
      store20(counts, at: 0xFA)
      fine = trim.fineTemperature(raw: Double(counts))
    }
    if pressureSamples == 0 {
      store20(0x80000, at: 0xF7)
    } else {
      let noise = imperfections.noise * Self.pressureNoise(pressureSamples)
      let pressure =
        stimulus.pressure + imperfections.pressureBias
        + imperfections.pressureBiasPerKelvin * (stimulus.temperature - 25)
        + (noise > 0 ? noise * random.gaussian() : 0)
      let raw = trim.rawPressure(pascals: pressure, fineTemperature: fine)
      store20(quantized(filter(raw, &filteredPressure), samples: pressureSamples), at: 0xF7)
    }
    guard variant == .bme280 else { return }
    var humidity: UInt16 = 0x8000
    if humiditySamples > 0 {
      humidity = UInt16(
        trim.rawHumidity(percent: stimulus.humidity, fineTemperature: fine).rounded())
    }
    registers[0xFD] = UInt8(humidity >> 8)
    registers[0xFE] = UInt8(humidity & 0xFF)
  }

  /// Root mean square noise, pascals, by oversampling with the filter off ("Noise").
  private static func pressureNoise(_ samples: Int) -> Double {
    switch samples {
    case 1: 3.3
    case 2: 2.6
    case 4: 2.1
    case 8: 1.6
    default: 1.3
    }
  }

  /// The chip's own low-pass, section 3.3.3; the first value passes as it is.
  private func filter(_ raw: Double, _ state: inout Double?) -> Double {
    let code = registers[0xF5] >> 2 & 7
    guard code != 0 else { return raw }
    let coefficient = Double(1 << min(code, 4))
    let next = state.map { ($0 * (coefficient - 1) + raw) / coefficient } ?? raw
    state = next
    return next
  }

  /// 16 bits for one sample and one more for each doubling; 20 with the filter on (section 3.3.1).
  private func quantized(_ raw: Double, samples: Int) -> UInt32 {
    var step: Double = 1
    if registers[0xF5] >> 2 & 7 == 0 { step = 16 / Double(min(samples, 16)) }
    let counts = (raw / step).rounded() * step
    return UInt32(max(0, min(1_048_576 - step, counts)))
  }

  private mutating func store20(_ counts: UInt32, at register: Int) {
    registers[register] = UInt8(truncatingIfNeeded: counts >> 12)
    registers[register + 1] = UInt8(truncatingIfNeeded: counts >> 4)
    registers[register + 2] = UInt8(truncatingIfNeeded: counts << 4)
  }

  /// There is no interrupt pin.
  package var nextRise: Int64 { .max }
}

extension TwinDescription {
  static let bmp280 = bosch("BMP280", .bmp280)
  static let bme280 = bosch("BME280", .bme280)

  /// Absolute 100 Pa; typically 1.5 Pa a kelvin, of which a third is taken (the figure is for 25 to 65 degrees,
  /// the board stays below).
  private static func bosch(_ name: String, _ variant: BMP280Twin.Variant) -> TwinDescription {
    TwinDescription(name, make: { BMP280Twin(variant, $0) }) { random, _ in
      .barometer(bias: 100, perKelvin: 0.5, temperature: 0.5, clock: 0.01, &random)
    }
  }
}
