// From the DPS310's registers to pascals and degrees Celsius.

package import SensorBus

/// The coefficients of one chip, burnt in at the factory (datasheet 8.11, table 18).
package struct DPS310Trim: Sendable, Hashable {
  /// Temperature: offset (halves of a degree) and slope; 12 bits each.
  package var c0: Double, c1: Double
  /// Pressure: offset in pascals and slope; 20 bits each.
  package var c00: Double, c10: Double
  /// Pressure: 16 bits each.
  package var c01: Double, c11: Double, c20: Double, c21: Double, c30: Double
  /// Pressure, SPA06 only: 12 bits each; 0 in the others.
  package var c31 = 0.0, c40 = 0.0

  /// Decodes the 18 bytes 0x10 to 0x21, two's complement, high bits first: C0 and C1 share 0x11, C00
  /// and C10 share 0x15; C01 is at 0x18, C11 at 0x1A, C20 at 0x1C, C21 at 0x1E, C30 at 0x20. Throws
  /// `.invalidTrim` for all zeros and for all ones.
  ///
  /// The SPA06 has three bytes more, in which C31 and C40 share 0x23 (so ESPHome's and Betaflight's drivers say with
  /// one voice).
  package init(_ block: RegisterBlock, _ chip: DPS310Variant = .dps310) throws(DriverError) {
    guard !block.isBlank(18) else {
      throw .invalidTrim("\(chip.rawValue): the coefficients are blank")
    }
    c0 = Self.signed(UInt32(block[0]) << 4 | UInt32(block[1]) >> 4, bits: 12)
    c1 = Self.signed(UInt32(block[1] & 0x0F) << 8 | UInt32(block[2]), bits: 12)
    c00 = Self.signed(
      UInt32(block[3]) << 12 | UInt32(block[4]) << 4 | UInt32(block[5]) >> 4, bits: 20)
    c10 = Self.signed(
      UInt32(block[5] & 0x0F) << 16 | UInt32(block[6]) << 8 | UInt32(block[7]), bits: 20)
    c01 = Double(block.int16BigEndian(8))
    c11 = Double(block.int16BigEndian(10))
    c20 = Double(block.int16BigEndian(12))
    c21 = Double(block.int16BigEndian(14))
    c30 = Double(block.int16BigEndian(16))
    guard chip == .spa06 else { return }
    c31 = Self.signed(UInt32(block[18]) << 4 | UInt32(block[19]) >> 4, bits: 12)
    c40 = Self.signed(UInt32(block[19] & 0x0F) << 8 | UInt32(block[20]), bits: 12)
  }

  private static func signed(_ value: UInt32, bits: UInt32) -> Double {
    Double(Int32(bitPattern: value << (32 - bits)) >> (32 - bits))
  }
}

/// Conversions of the DPS310; pure functions of the bytes read.
package enum DPS310Conversion {
  /// The counts that a scaled value of 1 has, by the code of the oversampling, x1 to x128 (4.9.3,
  /// table 9: 524288, 1572864, 3670016, 7864320, 253952, 516096, 1040384, 2088960).
  package static func scaleFactor(precision: Int) -> Double {
    switch precision {
    case 0: 524_288
    case 1: 1_572_864
    case 2: 3_670_016
    case 3: 7_864_320
    case 4: 253_952
    case 5: 516_096
    case 6: 1_040_384
    default: 2_088_960
    }
  }

  /// The signed 24-bit value whose three bytes begin at `offset`, high byte first.
  package static func int24(_ block: RegisterBlock, _ offset: Int) -> Int32 {
    let high = UInt32(block[offset]) << 24
    return Int32(
      bitPattern: high | UInt32(block[offset + 1]) << 16 | UInt32(block[offset + 2]) << 8)
      >> 8
  }

  /// Temperature in degrees Celsius from the scaled raw value (4.9.2): c0 / 2 + c1 t. Valid from -40
  /// to 85. Worked number: c0 = 222, c1 = -297, raw 200498 at single precision (t = 0.382420) gives
  /// -2.5786.
  package static func temperature(scaled t: Double, _ c: DPS310Trim) -> Double {
    c.c0 * 0.5 + c.c1 * t
  }

  /// Pressure in pascals from the scaled raw pressure and temperature of the same burst (4.9.1):
  /// c00 + p (c10 + p (c20 + p c30)) + t c01 + t p (c11 + p c21). Valid from 30000 to 120000. Worked
  /// number: p = -0.25, t = 0.375 with c00 = 79832, c10 = -56308, c20 = -9701, c30 = -1289,
  /// c01 = -2295, c11 = 1444, c21 = 111 gives 92329.43. The SPA06 adds p^4 c40 + t p^3 c31.
  package static func pressure(
    scaled p: Double, temperature t: Double, _ c: DPS310Trim
  ) -> Double {
    let alone = c.c00 + p * (c.c10 + p * (c.c20 + p * (c.c30 + p * c.c40)))
    return alone + t * (c.c01 + p * (c.c11 + p * (c.c21 + p * c.c31)))
  }

  /// Pressure in pascals and temperature in degrees Celsius from the six output bytes, pressure first.
  ///
  /// Throws `.overflow` at the ends of the 24 bits and outside 300 to 1200 hPa or -40 to 85 degrees
  /// (table 3), where nothing is specified. The ends belong to the range, and the chip rounds them
  /// outwards by up to half a count: more than one of the coarsest (0.25 Pa at x16, 0.004 degrees) is
  /// allowed. `precision` is the code of the pressure oversampling; temperature is measured once.
  package static func atmosphere(
    _ block: RegisterBlock, precision: Int, _ coefficients: DPS310Trim
  ) throws(DriverError) -> (pressure: Double, temperature: Double) {
    let rawPressure = int24(block, 0)
    let rawTemperature = int24(block, 3)
    let inside: ClosedRange<Int32> = -0x7F_FFFF...0x7F_FFFE
    guard inside.contains(rawPressure), inside.contains(rawTemperature) else { throw .overflow }
    let p = Double(rawPressure) / scaleFactor(precision: precision)
    let t = Double(rawTemperature) / scaleFactor(precision: 0)
    let pressure = pressure(scaled: p, temperature: t, coefficients)
    let temperature = temperature(scaled: t, coefficients)
    guard (30_000 - 0.5...120_000 + 0.5).contains(pressure),
      (-40 - 0.005...85 + 0.005).contains(temperature)
    else { throw .overflow }
    return (pressure, temperature)
  }
}
