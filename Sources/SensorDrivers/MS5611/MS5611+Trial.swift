// An MS5611 from an MS5607: the pressure that the one reads is half of what the other does.

import SensorBus

/// Measures once, and asks whether there is such a pressure on earth, or at an altitude that is known.
///
/// What cannot be told: where the altitude is not known, an MS5607 below 4300 m from an MS5611 above 5500 m, and an MS5611
/// above 4300 m from an MS5607 as deep below. The PROMs do not tell: both datasheets' coefficients have the same scale but
/// for the factor that is in question, and chips from the shop the same sizes.
///
/// Where the PROM is one of seven words too, an MS5637, MS5837-02BA or MS8607 is much the likelier: those have an MS5607's
/// formula but for its second order (MS5637-02BA03, figures 8 and 9), so that nothing tells it from an MS5607, and one
/// that is taken for an MS5611 reads half its pressure, 60000 Pa at the most.
struct MS5611Trial: ChipTrial {
  /// From Everest's summit to the deepest valley with the highest barometer ever, pascals; and where a board can be,
  /// degrees.
  private static let pascals = 30_000.0...110_000
  private static let degrees = -40.0...85
  /// What weather (870 to 1085 hPa at the sea) and an altitude that is some hundred meters off make of the standard
  /// atmosphere; twice as much is far outside.
  private static let weather = 0.8...1.25
  /// The half of what the next generation measures (MS5637-02BA03, 10 to 1200 mbar extended).
  private static let halfRange = 60_000.0
  /// One temperature and one pressure at 4096 samples take up to 9.04 ms each.
  private static let conversionTime = 0.01

  let chip: MS5611Variant

  /// The one of whose readings is on earth, or at that altitude, alone is it. Where both are, neither is ruled out: then
  /// the one that is nearer to sea level comes first.
  func verdict<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, usualPressure: Double?, wait: (_ seconds: Double) -> Void
  ) throws(BusError) -> TrialResult? {
    var trim = MS5611Trim(.zero)
    for index in 0..<8 {
      let word = try device.burst(MS5611.Command.readPROM + 2 * UInt8(index), count: 2)
      trim.words[index] = word.uint16BigEndian(0)
    }
    var raw: [UInt32] = []
    for command in [MS5611.Command.convertTemperature, MS5611.Command.convertPressure] {
      try device.write(command + 8, from: UnsafeRawBufferPointer(start: nil, count: 0))
      wait(Self.conversionTime)
      raw.append(try device.burst(MS5611.Command.readADC, count: 3).uint24BigEndian(0))
    }
    // "If the ADC read command is repeated, it will give 0": another chip has registers there.
    guard try device.burst(MS5611.Command.readADC, count: 3).uint24BigEndian(0) == 0 else {
      return nil
    }
    let counts = (pressure: raw[1], temperature: raw[0])
    let (own, its) = (Self.air(counts, trim, chip), Self.air(counts, trim, chip.other))
    let readings =
      "it reads \(Self.shown(own)), as an \(chip.other.rawValue) it would read \(Self.shown(its))"
    let isShared = trim.isOfSevenWords
    if isShared, chip == .ms5607 {
      return TrialResult(
        confidence: .possible,
        evidence: "\(readings), as an \(MS5611Trim.sevenWords) something near the first")
    }
    if let usual = usualPressure {
      let (isOwn, isOther) = (
        Self.weather.contains(own.pressure / usual), Self.weather.contains(its.pressure / usual)
      )
      if isOwn || isOther {
        return TrialResult(
          confidence: isOwn ? .likely : .possible,
          evidence: "\(readings): some \((usual / 100).rounded()) hPa there are at this altitude")
      }
    }
    if isShared, own.pressure <= Self.halfRange {
      return TrialResult(
        confidence: .possible,
        evidence: "\(readings), and so it would as an \(MS5611Trim.sevenWords)")
    }
    switch (Self.isOnEarth(own), Self.isOnEarth(its)) {
    case (true, false): return TrialResult(confidence: .likely, evidence: readings)
    case (true, true):
      return TrialResult(
        confidence: .likely, evidence: "\(readings): both can be", lean: own.pressure,
        doubt: own.pressure < its.pressure ? "\(readings): both can be" : nil)
    case (false, _):
      return TrialResult(
        confidence: .possible, evidence: "\(readings): there is no such pressure on earth")
    }
  }

  /// What is wrong where a chip reads more than there is on earth and the other would not, or what one with a PROM of
  /// seven words can read; `nil` for nothing.
  static func other(
    than chip: MS5611Variant, _ raw: (pressure: UInt32, temperature: UInt32), _ trim: MS5611Trim
  ) -> String? {
    let (own, its) = (air(raw, trim, chip), air(raw, trim, chip.other))
    if trim.isOfSevenWords, chip == .ms5607 || own.pressure <= halfRange {
      let pascals = chip == .ms5607 ? own : its
      return
        "this is no \(chip.rawValue) but an \(MS5611Trim.sevenWords), by its PROM of seven words: it reads "
        + "\(shown(own)), as one of those some \(shown(pascals))"
    }
    guard own.pressure > pascals.upperBound, isOnEarth(its) else { return nil }
    return
      "this is no \(chip.rawValue) but an \(chip.other.rawValue): it reads \(shown(own)), which is not on earth, "
      + "as an \(chip.other.rawValue) \(shown(its))"
  }

  private typealias Air = (pressure: Double, temperature: Double)

  private static func air(
    _ raw: (pressure: UInt32, temperature: UInt32), _ trim: MS5611Trim, _ chip: MS5611Variant
  ) -> Air {
    MS5611Conversion.air(
      pressure: raw.pressure, temperature: raw.temperature, trim, chip: chip)
  }

  /// A conversion that was not made reads as zero, which is on no scale.
  private static func isOnEarth(_ air: Air) -> Bool {
    pascals.contains(air.pressure) && degrees.contains(air.temperature)
  }

  private static func shown(_ air: Air) -> String { "\((air.pressure / 100).rounded()) hPa" }
}

extension MS5611Variant {
  /// The one that answers the same.
  var other: Self { self == .ms5611 ? .ms5607 : .ms5611 }
}
