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
  mutating func update(chip new: Double) {
    guard new.isFinite, new > -60, new < 120 else { return }
    if firstTemperature == nil { firstTemperature = new }
    temperature = new
  }

  /// Makes a pressure altitude the zero and settles how thick the air is.
  mutating func begin(at standard: Double, _ params: RelativeAltitudeParameters) {
    reference = standard
    let standardAir = 288.15 - 0.0065 * standard
    if let air = params.airTemperature, air.isFinite, air > -90, air < 70 {
      scale = (air + 273.15) / standardAir
      scaleDeviation = params.airTemperatureDeviation / standardAir
    } else if let chip = firstTemperature {
      // The standard atmosphere's 16 K and the chip's 12 K, weighed by their variances.
      let air = 0.36 * standardAir + 0.64 * (chip - 8 + 273.15)
      scale = min(1.2, max(0.8, air / standardAir))
      scaleDeviation = 12 / standardAir
    } else {
      scaleDeviation = 16 / standardAir
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
