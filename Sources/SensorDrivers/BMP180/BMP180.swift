// The Bosch BMP180 barometer (and the BMP085 before it) on I2C (0x77).

package import SensorBus
package import SensorTypes

/// Bosch BMP180: one temperature and one pressure conversion in turn, each told by the driver, at the strongest
/// oversampling that the rate leaves time for.
package struct BMP180: RegisterChip, Hashable {
  /// The registers that the driver touches (section 4, figure 6).
  enum Register {
    /// 22 bytes of trim, 0xAA to 0xBF.
    static let trim: UInt8 = 0xAA
    static let identity: UInt8 = 0xD0
    /// 0xB6 is a soft reset.
    static let reset: UInt8 = 0xE0
    /// oss in bits 7:6, sco bit 5, what to convert in bits 4:0; the result follows two further on, 16 to 19 bits
    /// left-justified in three bytes, high byte first.
    static let control: UInt8 = 0xF4

    /// out_xlsb: bits 7:3.
    static let lastByte: UInt8 = 0xF8

    static let product: UInt8 = 0x55
    static let softReset: UInt8 = 0xB6
    static let convertTemperature: UInt8 = 0x2E
    static let convertPressure: UInt8 = 0x34
    /// sco: a conversion is going on.
    static let converting: UInt8 = 0x20
  }

  /// Seconds of a conversion at the most (tables 1 and 3): temperature, and pressure by its oversampling.
  private static let temperatureTime = 0.004_5
  private static let pressureTimes = [0.004_5, 0.007_5, 0.013_5, 0.025_5]
  /// The slowest that is asked for.
  private static let slowest = 1.0
  private static let range = AirRange(
    pascals: 30_000...110_000, step: 3, degrees: -40...85, degreeStep: 0.1)

  /// Readings a second: two conversions each.
  package let outputRate: Double
  /// The code of the pressure oversampling: 0 (1 sample) to 3 (8).
  package let oversamplingCode: Int
  private var trim: BMP180Trim?
  private var round = AirRound()

  /// Converts `outputRate` times a second (at least once), as fast as the chip can (111 Hz) at the most.
  package init(outputRate wanted: Double) {
    oversamplingCode =
      Self.pressureTimes.lastIndex { ($0 + Self.temperatureTime) * wanted <= 1 } ?? 0
    let fastest = 1 / (Self.pressureTimes[oversamplingCode] + Self.temperatureTime)
    outputRate = wanted <= fastest ? max(Self.slowest, wanted) : fastest
  }

  /// The chip keeps nothing that a conversion is not told anew.
  package var registerImage: [RegisterSetting] { [] }

  /// It sleeps whenever it does not convert.
  package var sleepSettings: [RegisterSetting] { [] }

  /// The name in board files.
  package var name: String { "BMP180" }

  /// Half the pressure conversion, of which typically two thirds of the longest time are used.
  package var latency: Double { Self.pressureTimes[oversamplingCode] / 3 }

  /// A conversion takes no longer than this; a slower rate leaves a pause after that of the temperature.
  package var conversionTime: Double? {
    let pressure = Self.pressureTimes[oversamplingCode]
    return round.pending == .pressure ? pressure : 1 / outputRate - pressure
  }

  /// Identity, reset (10 ms), trim, and the first conversion.
  package var startSteps: [StartStep] {
    [
      .identify(register: Register.identity, anyOf: [Register.product]),
      .write([RegisterSetting(Register.reset, Register.softReset)]), .wait(seconds: 0.01),
      .read(register: Register.trim, count: 22),
      .write([RegisterSetting(Register.control, Register.convertTemperature)]),
      .wait(seconds: Self.temperatureTime),
    ]
  }

  package mutating func take(_ block: RegisterBlock, from register: UInt8) throws(DriverError) {
    trim = try BMP180Trim(block)
    round.begin()
  }

  /// Takes the conversion that the chip was told to make, once it is there, tells it the next one, and gives a
  /// reading with every pressure. The value after a reset is no result: the round begins again.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard let trim else { return nil }
    let finished = round.finish()
    var block = try device.getNonzero(Register.control, count: 5)
    if finished != nil, block[0] & Register.converting != 0 {
      round.resume(finished)
      return nil
    }
    let raw = block.uint24BigEndian(2)
    let isMade = finished != nil && raw != 0x80_0000
    let next = AirRound.next(after: finished, isMade: isMade)
    let pressure = Register.convertPressure | UInt8(oversamplingCode) << 6
    try device.put(
      Register.control, next == .pressure ? pressure : Register.convertTemperature)
    guard round.told(next, after: finished, isMade: isMade, block) else { return nil }
    let temperature = round.temperature
    guard
      let fine = BMP180Conversion.fineTemperature(Int(temperature.uint16BigEndian(2)), trim),
      let pascals = BMP180Conversion.pressure(
        Int(raw) >> (8 - oversamplingCode), code: oversamplingCode, fine: fine, trim)
    else { throw .overflow }
    let reading = try Self.range.reading(
      pressure: pascals, temperature: BMP180Conversion.temperature(fine: fine))
    // The control register is no output.
    (block[0], block[1]) = (temperature[2], temperature[3])
    try outputs.check(block)
    return reading
  }
}

extension ChipDescription {
  /// Bosch BMP180. No self-test: none in the register map.
  static let bmp180 = ChipDescription(
    "BMP180", .barometer, addresses: [0x77],
    fingerprints: [
      .identity(
        BMP180.Register.identity, [BMP180.Register.product], .certain,
        "a BMP085 answers and works the same",
        // The result ends with bit 3 of its last byte (figure 6); what can be converted is even.
        [.bits(0x07, of: BMP180.Register.lastByte), .bits(0x01, of: BMP180.Register.control)])
    ]
  ) { BMP180(outputRate: $0) }
}
