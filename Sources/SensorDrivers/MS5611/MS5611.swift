// The TE (Measurement Specialties) MS5611 and MS5607 barometers on I2C (0x77 or 0x76).

package import SensorBus
package import SensorTypes

/// TE MS5611 or MS5607: one temperature and one pressure conversion in turn, at the strongest oversampling that the
/// rate leaves time for. The chip has no registers, only commands: it is told to convert, and cannot be asked
/// whether it has.
///
/// The two cannot be told apart by what they hold, only by what they measure (`MS5611Trial`). An MS5607 that is taken
/// for an MS5611 reads half the pressure, which there is on a mountain: only who knows the altitude can tell. The other
/// way round it is twice as much, more than there is on earth, and the first reading says so. So it does of a PROM that
/// the next generation has too, where what is read is what that one would read at half the pressure (`MS5611Trial`).
package struct MS5611: RegisterChip, Hashable {
  /// The commands (table "Command structure").
  enum Command {
    static let reset: UInt8 = 0x1E
    static let readADC: UInt8 = 0x00
    static let convertPressure: UInt8 = 0x40
    static let convertTemperature: UInt8 = 0x50
    /// Eight words, one every two.
    static let readPROM: UInt8 = 0xA0
  }

  /// Seconds of a conversion by the code of its oversampling, 256 to 4096 ("ADC conversion time"): the longest, and
  /// as it is.
  private static let longest = [0.000_6, 0.001_17, 0.002_28, 0.004_54, 0.009_04]
  private static let typical = [0.000_54, 0.001_06, 0.002_08, 0.004_13, 0.008_22]
  /// The slowest that is asked for.
  private static let slowest = 1.0
  private static let range = AirRange(
    pascals: 1000...120_000, step: 0.1, degrees: -40...85, degreeStep: 0.01)

  package let chip: MS5611Variant
  /// Readings a second: two conversions each.
  package let outputRate: Double
  /// The code of the oversampling: 0 (256) to 4 (4096).
  package let oversamplingCode: Int
  private var trim = MS5611Trim(.zero)
  private var round = AirRound()
  /// Whether a pressure was measured that can be.
  private var isPlausible = false

  /// Converts `outputRate` times a second (at least once), as fast as the chip can (833 Hz) at the most.
  package init(chip: MS5611Variant, outputRate wanted: Double) {
    self.chip = chip
    oversamplingCode = Self.longest.lastIndex { 2 * $0 * wanted <= 1 } ?? 0
    let fastest = 0.5 / Self.longest[oversamplingCode]
    outputRate = wanted <= fastest ? max(Self.slowest, wanted) : fastest
  }

  /// How many samples one conversion averages: 256 to 4096.
  package var oversampling: Int { 256 << oversamplingCode }

  /// The chip keeps nothing.
  package var registerImage: [RegisterSetting] { [] }

  /// It sleeps whenever it does not convert.
  package var sleepSettings: [RegisterSetting] { [] }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Half the pressure conversion.
  package var latency: Double { Self.typical[oversamplingCode] / 2 }

  /// A conversion takes no longer than this; a slower rate leaves a pause.
  package var conversionTime: Double? { 0.5 / outputRate }

  /// Reset (2.8 ms), the PROM word by word, and the first conversion.
  package var startSteps: [StartStep] {
    [.command(Command.reset), .wait(seconds: 0.003)]
      + (0..<8).map { .read(register: Command.readPROM + 2 * UInt8($0), count: 2) }
      + [.command(command(.temperature)), .wait(seconds: Self.longest[oversamplingCode])]
  }

  private func command(_ quantity: AirQuantity) -> UInt8 {
    let first = quantity == .pressure ? Command.convertPressure : Command.convertTemperature
    return first + 2 * UInt8(oversamplingCode)
  }

  /// Takes a word; with the last one the check sum must be right.
  package mutating func take(_ block: RegisterBlock, from register: UInt8) throws(DriverError) {
    let index = Int(register - Command.readPROM) / 2
    trim.words[index] = block.uint16BigEndian(0)
    round.begin()
    isPlausible = false
    guard index == 7, !trim.isValid else { return }
    throw .invalidTrim("\(name): the check sum of its PROM is wrong, or a coefficient is blank")
  }

  /// Takes the conversion that the chip was told to make, tells it the next one, and gives a reading with every
  /// pressure. A conversion that was not made reads as zero: whoever took it away, a transfer that broke off or a
  /// dip in the supply, the round begins again.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    let finished = round.finish()
    var block = try device.get(Command.readADC, count: 3)
    let isMade = finished != nil && block.uint24BigEndian(0) != 0
    let next = AirRound.next(after: finished, isMade: isMade)
    try device.send(command(next))
    guard round.told(next, after: finished, isMade: isMade, block) else { return nil }
    let temperature = round.temperature
    let raw = (pressure: block.uint24BigEndian(0), temperature: temperature.uint24BigEndian(0))
    let air = MS5611Conversion.air(
      pressure: raw.pressure, temperature: raw.temperature, trim, chip: chip)
    // Later it is water, a finger or a pump, and not another chip.
    if !isPlausible, let other = MS5611Trial.other(than: chip, raw, trim) {
      throw .otherChip(other)
    }
    // The end stop of the 24 bits lies beyond every range.
    let reading = try Self.range.reading(pressure: air.pressure, temperature: air.temperature)
    isPlausible = true
    for index in 0..<3 { block[index + 3] = temperature[index] }
    try outputs.check(block)
    return reading
  }
}

/// Which of the two.
package enum MS5611Variant: String, Sendable, Hashable, CaseIterable {
  /// 10 to 1200 mbar, 0.012 mbar at best.
  case ms5611 = "MS5611"
  /// 10 to 1200 mbar, 0.024 mbar at best.
  case ms5607 = "MS5607"

  /// What is taken away from offset and sensitivity below 20 degrees, per hundredth of a degree squared, and
  /// once more below -15 degrees (figure 3).
  var secondOrder:
    (offset: Double, sensitivity: Double, coldOffset: Double, coldSensitivity: Double)
  {
    self == .ms5611 ? (2.5, 1.25, 7, 5.5) : (61.0 / 16, 2, 15, 8)
  }
}

extension ChipDescription {
  /// TE MS5611: by far the commoner of the two.
  static let ms5611 = ms56xx(
    .ms5611, .likely, "an MS5607 answers the same and reads half the pressure")
  /// TE MS5607.
  static let ms5607 = ms56xx(
    .ms5607, .likely, "an MS5611 answers the same and reads twice the pressure")

  /// No self-test: no command for one.
  private static func ms56xx(
    _ chip: MS5611Variant, _ confidence: ChipIdentification.Confidence, _ note: String
  ) -> ChipDescription {
    let reads = (0..<8).map {
      Fingerprint.Read(register: MS5611.Command.readPROM + 2 * UInt8($0), count: 2)
    }
    @Sendable func trim(_ blocks: [RegisterBlock]) -> MS5611Trim {
      var trim = MS5611Trim(.zero)
      for index in 0..<8 { trim.words[index] = blocks[index].uint16BigEndian(0) }
      return trim
    }
    var fingerprint = Fingerprint(reads: reads, confidence: confidence) { blocks in
      let trim = trim(blocks)
      guard trim.isValid else { return nil }
      return "the check sum of the words from 0xa0 on is right (\(trim.checkSum)); \(note)"
        + (trim.isOfSevenWords ? "; they are those of an \(MS5611Trim.sevenWords) too" : "")
    }
    fingerprint.isShared = { trim($0).isOfSevenWords }
    return ChipDescription(
      chip.rawValue, .barometer, addresses: [0x77, 0x76], fingerprints: [fingerprint],
      trial: MS5611Trial(chip: chip)
    ) { MS5611(chip: chip, outputRate: $0) }
  }
}
