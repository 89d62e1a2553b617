// From the BMP180's registers to pascals and degrees Celsius.

package import SensorBus

/// The trim of one chip, burnt in at the factory (BST-BMP180-DS000-09, table 5).
package struct BMP180Trim: Sendable, Hashable {
  /// AC1 to AC3, and AC4 to AC6, which are unsigned.
  package var ac1: Int, ac2: Int, ac3: Int, ac4: Int, ac5: Int, ac6: Int
  /// B1, B2, MC and MD; MB is used by no formula.
  package var b1: Int, b2: Int, mc: Int, md: Int

  /// Decodes the 22 bytes 0xAA to 0xBF, high bytes first. Throws `.invalidTrim` where a word is 0 or 0xFFFF, which
  /// the datasheet rules out (3.4).
  package init(_ block: RegisterBlock) throws(DriverError) {
    for index in 0..<11 where [0, 0xFFFF].contains(block.uint16BigEndian(2 * index)) {
      throw .invalidTrim("BMP180: a word of the trim is blank")
    }
    ac1 = Int(block.int16BigEndian(0))
    ac2 = Int(block.int16BigEndian(2))
    ac3 = Int(block.int16BigEndian(4))
    ac4 = Int(block.uint16BigEndian(6))
    ac5 = Int(block.uint16BigEndian(8))
    ac6 = Int(block.uint16BigEndian(10))
    b1 = Int(block.int16BigEndian(12))
    b2 = Int(block.int16BigEndian(14))
    mc = Int(block.int16BigEndian(18))
    md = Int(block.int16BigEndian(20))
  }
}

/// Conversions of the BMP180; pure functions of what was read, in the datasheet's whole numbers (3.5): each step
/// rounds, some pascals in all, and the example is printed with that.
///
/// The datasheet writes divisions, Bosch's own driver shifts, which round down where a number is negative. Both
/// give the datasheet's example to one pascal; the driver's way is taken, as all others do.
package enum BMP180Conversion {
  /// The temperature in 1/160 degree Celsius, which carries over to `pressure` (B5); `nil` where the formula has no
  /// value.
  package static func fineTemperature(_ raw: Int, _ trim: BMP180Trim) -> Int? {
    let linear = ((raw - trim.ac6) * trim.ac5) >> 15
    guard linear + trim.md != 0 else { return nil }
    return linear + (trim.mc << 11) / (linear + trim.md)
  }

  /// Degrees Celsius in steps of 0.1, valid from -40 to 85. Worked number: 27898 with the datasheet's trim gives
  /// 15.0.
  package static func temperature(fine: Int) -> Double { Double((fine + 8) >> 4) / 10 }

  /// Pascals, valid from 30000 to 110000, of a raw pressure of 16 + `code` bits; `nil` where the formula has no
  /// value, or one that does not fit the 32 bits in which the datasheet has it. Worked number: 23843 at code 0 with the
  /// datasheet's trim gives 69964.
  package static func pressure(_ raw: Int, code: Int, fine: Int, _ trim: BMP180Trim) -> Double? {
    let b6 = fine - 4000
    let square = (b6 * b6) >> 12
    let bend = ((trim.b2 * square) >> 11) + ((trim.ac2 * b6) >> 11)
    let b3 = (((trim.ac1 * 4 + bend) << code) + 2) / 4
    let slope = (((trim.ac3 * b6) >> 13) + ((trim.b1 * square) >> 16) + 2) >> 2
    let b4 = (trim.ac4 * (slope + 32768)) >> 15
    guard b4 != 0 else { return nil }
    let b7 = (raw - b3) * (50_000 >> code)
    let first = b7 < 0x8000_0000 ? b7 * 2 / b4 : b7 / b4 * 2
    // A trim that no factory burns makes it as large as 2^58: its square would not fit the 64 bits here either.
    guard Int32(exactly: first) != nil else { return nil }
    let high = first >> 8
    let last = ((high * high * 3038) >> 16) + ((-7357 * first) >> 16) + 3791
    return Double(first + (last >> 4))
  }
}
