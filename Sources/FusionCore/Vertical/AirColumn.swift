// From pressure to metres: the zero, the thickness of the air's layers, and the warmth of the chip.

/// The air between the first sample and here, and how warm the chip in it has become.
struct AirColumn: Sendable, Hashable, Codable {
  /// Pressure altitude of the first sample, m.
  private var reference = 0.0
  /// Actual over standard thickness of a layer of air, and one sigma of that.
  private var scale = 1.0
  private(set) var scaleDeviation = 0.0
  private var firstTemperature: Double?
  private var temperature: Double?

  /// How much warmer the chip is than at the first sample, kelvin.
  var rise: Double {
    guard let first = firstTemperature, let now = temperature else { return 0 }
    return now - first
  }

  /// Takes the chip's temperature, degrees Celsius; drops what no chip has.
  mutating func update(chip new: Double, _ p: AirParameters) {
    guard new.isFinite, new > p.coldestChip, new < p.warmestChip else { return }
    if firstTemperature == nil { firstTemperature = new }
    temperature = new
  }

  /// Makes a pressure altitude the zero and settles how thick the air is.
  mutating func begin(at standard: Double, _ params: RelativeAltitudeParameters) {
    reference = standard
    let p = params.air
    let standardAir = 288.15 - 0.0065 * standard
    if let air = params.airTemperature, air.isFinite, air > p.coldest, air < p.warmest {
      scale = (air + 273.15) / standardAir
      scaleDeviation = params.airTemperatureDeviation / standardAir
    } else if let chip = firstTemperature {
      let air = p.standardWeight * standardAir + p.chipWeight * (chip - p.chipExcess + 273.15)
      scale = min(p.largestScale, max(p.leastScale, air / standardAir))
      scaleDeviation = p.chipDeviation / standardAir
    } else {
      scaleDeviation = p.standardDeviation / standardAir
    }
  }

  /// Metres above the zero of a pressure altitude.
  func height(ofPressureAltitude standard: Double) -> Double { scale * (standard - reference) }

  /// The pressure altitude of `height` metres above the zero.
  func pressureAltitude(of height: Double) -> Double { reference + height / scale }

  /// `dh/dp` at a pressure altitude, metres per pascal, positive.
  func metresPerPascal(at standard: Double) -> Double {
    let temperature = 288.15 - 0.0065 * standard
    return scale * 287.05287 * temperature
      / (9.80665 * StandardAtmosphere.pressure(altitude: standard))
  }
}
