// An MS5611 from an MS5607: the pressure that the one reads is half of what the other does.

import SensorBus

/// Measures once, and asks whether there is such a pressure on earth.
struct MS5611Trial: ChipTrial {
  /// From Everest's summit to the deepest valley with the highest barometer ever, pascals; and where a board can be,
  /// degrees.
  private static let pascals = 30_000.0...110_000
  private static let degrees = -40.0...85
  /// One temperature and one pressure at 4096 samples take up to 9.04 ms each.
  private static let conversionTime = 0.01

  let chip: MS5611.Chip

  /// The one of whose readings is on earth alone is it. Where both are, neither is ruled out: then the one that is
  /// nearer to sea level comes first.
  func verdict<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, wait: (_ seconds: Double) -> Void
  ) throws(BusError) -> TrialVerdict? {
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
    let other: MS5611.Chip = chip == .ms5611 ? .ms5607 : .ms5611
    let (own, its) = (air(raw, trim, chip), air(raw, trim, other))
    let readings =
      "it reads \(shown(own)), as an \(other.rawValue) it would read \(shown(its))"
    switch (isOnEarth(own), isOnEarth(its)) {
    case (true, false): return TrialVerdict(confidence: .likely, evidence: readings)
    case (true, true):
      return TrialVerdict(
        confidence: .likely, evidence: "\(readings): both can be", lean: own.pressure)
    case (false, _):
      return TrialVerdict(
        confidence: .possible, evidence: "\(readings): there is no such pressure on earth")
    }
  }

  private typealias Air = (pressure: Double, temperature: Double)

  private func air(_ raw: [UInt32], _ trim: MS5611Trim, _ chip: MS5611.Chip) -> Air {
    MS5611Conversion.air(pressure: raw[1], temperature: raw[0], trim, chip: chip)
  }

  /// A conversion that was not made reads as zero, which is on no scale.
  private func isOnEarth(_ air: Air) -> Bool {
    Self.pascals.contains(air.pressure) && Self.degrees.contains(air.temperature)
  }

  private func shown(_ air: Air) -> String { "\((air.pressure / 100).rounded()) hPa" }
}
