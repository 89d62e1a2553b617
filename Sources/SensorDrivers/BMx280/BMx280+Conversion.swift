// From the BMP280's and BME280's registers to pascals and degrees Celsius.

package import SensorBus

/// The trim of one chip, burnt in at the factory (BMP280 table 17).
package struct BMx280Trim: Sendable, Hashable {
  /// Temperature coefficients dig_T1 (unsigned), dig_T2, dig_T3.
  package var t1: Double, t2: Double, t3: Double
  /// Pressure coefficients dig_P1 (unsigned), dig_P2, ... dig_P9.
  package var p1: Double, p2: Double, p3: Double, p4: Double, p5: Double, p6: Double, p7: Double
  /// The last two of the pressure coefficients.
  package var p8: Double, p9: Double
  /// The BME680's cubic one; 0 in the others.
  package var p10 = 0.0

  /// Decodes the 24 bytes 0x88 to 0x9F. Throws `.invalidTrim` when they cannot be: without dig_T1 or
  /// dig_P1, or all ones, which is what a chip that does not answer looks like.
  package init(_ block: RegisterBlock) throws(DriverError) {
    let blank = block.uint16LittleEndian(0) == 0xFFFF && block.uint16LittleEndian(6) == 0xFFFF
    guard block.uint16LittleEndian(0) != 0, block.uint16LittleEndian(6) != 0, !blank else {
      throw .invalidTrim("BMx280: dig_T1 or dig_P1 is blank")
    }
    t1 = Double(block.uint16LittleEndian(0))
    t2 = Double(block.int16LittleEndian(2))
    t3 = Double(block.int16LittleEndian(4))
    p1 = Double(block.uint16LittleEndian(6))
    p2 = Double(block.int16LittleEndian(8))
    p3 = Double(block.int16LittleEndian(10))
    p4 = Double(block.int16LittleEndian(12))
    p5 = Double(block.int16LittleEndian(14))
    p6 = Double(block.int16LittleEndian(16))
    p7 = Double(block.int16LittleEndian(18))
    p8 = Double(block.int16LittleEndian(20))
    p9 = Double(block.int16LittleEndian(22))
  }
}

/// Conversions of the BMP280 and BME280; pure functions of the bytes read.
package enum BMx280Conversion {
  /// What both data registers hold after a reset and where a measurement is skipped (BMP280 4.3.6).
  package static let blank: UInt32 = 0x80000

  /// The unsigned 20-bit value whose three bytes begin at `offset` (BMP280 3.9).
  package static func uint20(_ block: RegisterBlock, _ offset: Int) -> UInt32 {
    UInt32(block[offset]) << 12 | UInt32(block[offset + 1]) << 4 | UInt32(block[offset + 2]) >> 4
  }

  /// Fine temperature in 1/5120 degree Celsius, from the raw 20-bit temperature; it carries over to
  /// `pressure` (BMP280 8.1). Not rounded to a whole number, as the datasheet's code does.
  ///
  /// Worked number (BMP280 3.12): 519888 with dig_T = 27504, 26435, -1000 gives 128422.
  package static func fineTemperature(_ raw: UInt32, _ trim: BMx280Trim) -> Double {
    let adc = Double(raw)
    let linear = (adc / 16384 - trim.t1 / 1024) * trim.t2
    let difference = adc / 131072 - trim.t1 / 8192
    return linear + difference * difference * trim.t3
  }

  /// Temperature in degrees Celsius, valid from -40 to 85. Worked number: 128422 gives 25.08.
  package static func temperature(fine: Double) -> Double { fine / 5120 }

  /// Pressure in pascals from the raw 20-bit pressure and the temperature of the *same* burst (BMP280
  /// 8.1). `nil` where the formula has no value. Valid from 30000 to 110000.
  ///
  /// Worked number (BMP280 3.12): 415148 at a fine temperature of 128422 with dig_P = 36477, -10685,
  /// 3024, 2855, 140, -7, 15500, -14600, 6000 gives 100653.27.
  package static func pressure(_ raw: UInt32, fine: Double, _ trim: BMx280Trim) -> Double? {
    let t = fine / 2 - 64000
    let quadratic = t * t * trim.p6 / 32768 + t * trim.p5 * 2
    let offset = quadratic / 4 + trim.p4 * 65536
    let slope = (trim.p3 * t * t / 524288 + trim.p2 * t) / 524288
    let scale = (1 + slope / 32768) * trim.p1
    guard scale != 0 else { return nil }
    let p = (1_048_576 - Double(raw) - offset / 4096) * 6250 / scale
    let bend = trim.p9 * p * p / 2_147_483_648 + p * p * p * trim.p10 * 0x1p-41
    return p + (bend + p * trim.p8 / 32768 + trim.p7) / 16
  }

  /// Pressure in pascals and temperature in degrees Celsius from six bytes at `offset`: pressure
  /// first, then temperature. `nil` while the chip has not converted yet; throws `.overflow` at the
  /// ends of the 20 bits and outside 300 to 1100 hPa or -40 to 85 degrees (BMP280 table 2), where
  /// nothing is specified. The ends belong to the range, and the chip rounds them outwards by up to half
  /// a step: one of its coarsest steps (16 bits: 2.88 Pa, 0.005 degrees) is allowed.
  package static func atmosphere(
    _ block: RegisterBlock, at offset: Int, _ trim: BMx280Trim
  ) throws(DriverError) -> (pressure: Double, temperature: Double)? {
    let rawPressure = uint20(block, offset)
    let rawTemperature = uint20(block, offset + 3)
    // One of them alone can be a measured value.
    if rawPressure == blank, rawTemperature == blank { return nil }
    let inside: ClosedRange<UInt32> = 1...0xFFFFE
    guard inside.contains(rawPressure), inside.contains(rawTemperature) else { throw .overflow }
    let fine = fineTemperature(rawTemperature, trim)
    let temperature = temperature(fine: fine)
    guard let pressure = pressure(rawPressure, fine: fine, trim),
      (30_000 - 2.88...110_000 + 2.88).contains(pressure),
      (-40 - 0.005...85 + 0.005).contains(temperature)
    else { throw .overflow }
    return (pressure, temperature)
  }
}
