// From the BMM350's registers to microtesla.

package import LinearAlgebra
package import SensorBus

/// The trim of one chip, from the words of its OTP memory.
///
/// The datasheet leaves this to Bosch's driver (BMM350_SensorAPI 3daf377). Its older versions, and what was derived from
/// them (PX4, Zephyr), add 0.01 to the gain of Y and take 0.0001 from Z's change of gain; the newest does not, and
/// neither does this.
package struct BMM350Trim: Sendable, Hashable {
  /// The words that are used, in the order in which they are taken.
  static let words: [UInt8] = [
    0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x18,
  ]

  /// Microtesla, and microtesla a kelvin.
  package let offset: Vector3, offsetPerKelvin: Vector3
  /// Gain, and its change a kelvin.
  package let gain: Vector3, gainPerKelvin: Vector3
  /// Degrees; gain; and the temperature of the trim in degrees Celsius.
  package let temperatureOffset: Double, temperatureGain: Double, temperature: Double
  /// How much of Y is in X, of X in Y, of X in Z and of Y in Z.
  package let yInX: Double, xInY: Double, xInZ: Double, yInZ: Double

  /// Decodes the words 0x0D to 0x16 and 0x18. Throws `.invalidTrim` unless they are eleven and neither all zeros nor all
  /// ones.
  package init(_ words: [UInt16]) throws(DriverError) {
    guard words.count == Self.words.count, words.contains(where: { $0 != 0 }),
      words.contains(where: { $0 != 0xFFFF })
    else { throw .invalidTrim("BMM350: the OTP memory is blank") }
    func low(_ word: Int) -> Double { Double(Int8(truncatingIfNeeded: words[word])) }
    func high(_ word: Int) -> Double { Double(Int8(truncatingIfNeeded: words[word] >> 8)) }
    func signed12(_ value: UInt16) -> Double { Double(Int16(bitPattern: value << 4) >> 4) }
    temperatureOffset = low(0) / 5
    temperatureGain = 1 + high(0) / 512
    offset = Vector3(
      signed12(words[1] & 0x0FFF), signed12(words[1] >> 4 & 0x0F00 | words[2] & 0xFF),
      signed12(words[2] & 0x0F00 | words[3] & 0xFF))
    gain = Vector3(1 + high(3) / 256, 1 + low(4) / 256, 1 + high(4) / 256)
    offsetPerKelvin = Vector3(low(5), low(6), low(7)) / 32
    gainPerKelvin = Vector3(high(5), high(6), high(7)) / 16384
    (yInX, xInY) = (low(8) / 800, high(8) / 800)
    (xInZ, yInZ) = (low(9) / 800, high(9) / 800)
    temperature = Double(Int16(bitPattern: words[10])) / 512 + 23
  }
}

/// Conversions of the BMM350; pure functions of the bytes read.
package enum BMM350Conversion {
  /// Microtesla a count of X and Y, and of Z, before the trim: sensitivities of 14.55 and 9, gains of 19.46 and 31, and
  /// what all axes have.
  package static let scale: Vector3 = {
    let xy = 1_000_000 / 1_048_576 / (14.55 * 19.46 * common)
    let z = 1_000_000 / 1_048_576 / (9.0 * 31 * common)
    return Vector3(xy, xy, z)
  }()
  /// The converter's gain and that of its table.
  private static let common = 0.714_607_238_769_531 / 1.5
  /// Degrees a count of the temperature.
  private static let degrees = 1 / (0.00204 * common * 1_048_576)
  /// The end of the measuring range, microtesla, and what rounding may put beyond it.
  private static let limit = 2000.5

  /// Magnetic flux density in microtesla, sensor frame, from the twelve bytes 0x31 to 0x3C: X, Y, Z and temperature with
  /// three bytes each, low byte first. Throws `.overflow` beyond 2000, where nothing is specified.
  package static func field(
    _ block: RegisterBlock, _ trim: BMM350Trim
  ) throws(DriverError) -> Vector3 {
    let raw = Vector3(counts(block, 0), counts(block, 3), counts(block, 6))
    // Bosch's driver adds the 25.49 where the output is below zero, by which the temperature would jump by 51 degrees at
    // -25.5, and with it the field by what the trim gives for them. No thermometer does; it is taken away everywhere.
    let temperature =
      trim.temperatureGain * (counts(block, 9) * degrees - 25.49) + trim.temperatureOffset
    let kelvin = temperature - trim.temperature
    var axes = raw * scale * trim.gain + trim.offset + trim.offsetPerKelvin * kelvin
    for axis in 0..<3 { axes[axis] /= 1 + trim.gainPerKelvin[axis] * kelvin }
    let own = 1 - trim.yInX * trim.xInY
    let x = (axes.x - trim.yInX * axes.y) / own
    let y = (axes.y - trim.xInY * axes.x) / own
    let z = axes.z - trim.xInZ * x - trim.yInZ * y
    guard abs(x) <= limit, abs(y) <= limit, abs(z) <= limit else { throw .overflow }
    return Vector3(x, y, z)
  }

  private static func counts(_ block: RegisterBlock, _ offset: Int) -> Double {
    let high = UInt32(block[offset + 2]) << 24 | UInt32(block[offset + 1]) << 16
    return Double(Int32(bitPattern: high | UInt32(block[offset]) << 8) >> 8)
  }
}
