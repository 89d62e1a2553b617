// From the BMP388's and BMP390's registers to pascals and degrees Celsius.

package import SensorBus

/// The trim of one chip, burnt in at the factory, scaled to floating point (appendix 8.4).
package struct BMP3xxTrim: Sendable, Hashable {
  /// Temperature coefficients: offset in counts, degrees a count, degrees a count squared.
  package var t1: Double, t2: Double, t3: Double
  /// Slope of the pressure, as a polynomial of the temperature.
  package var p1: Double, p2: Double, p3: Double, p4: Double
  /// Offset of the pressure in pascals, likewise.
  package var p5: Double, p6: Double, p7: Double, p8: Double
  /// The pressure's square, of which the second part goes with the temperature, and its cube.
  package var p9: Double, p10: Double, p11: Double

  /// Decodes the 21 bytes 0x31 to 0x45, low bytes first: T1, T2, P5 and P6 are unsigned words, P1, P2 and P9
  /// signed ones, the others signed bytes. Throws `.invalidTrim` for all zeros and for all ones.
  package init(_ block: RegisterBlock) throws(DriverError) {
    guard !block.isBlank(21) else { throw .invalidTrim("BMP3xx: the trim is blank") }
    func byte(_ index: Int) -> Double { Double(Int8(bitPattern: block[index])) }
    t1 = Double(block.uint16LittleEndian(0)) * 256
    t2 = Double(block.uint16LittleEndian(2)) * 0x1p-30
    t3 = byte(4) * 0x1p-48
    p1 = (Double(block.int16LittleEndian(5)) - 16384) * 0x1p-20
    p2 = (Double(block.int16LittleEndian(7)) - 16384) * 0x1p-29
    p3 = byte(9) * 0x1p-32
    p4 = byte(10) * 0x1p-37
    p5 = Double(block.uint16LittleEndian(11)) * 8
    p6 = Double(block.uint16LittleEndian(13)) * 0x1p-6
    p7 = byte(15) * 0x1p-8
    p8 = byte(16) * 0x1p-15
    p9 = Double(block.int16LittleEndian(17)) * 0x1p-48
    p10 = byte(19) * 0x1p-48
    p11 = byte(20) * 0x1p-65
  }
}

/// Conversions of the BMP388 and BMP390; pure functions of the bytes read.
package enum BMP3xxConversion {
  /// Degrees Celsius from the raw 24-bit temperature (8.5), valid from -40 to 85.
  package static func temperature(_ raw: UInt32, _ c: BMP3xxTrim) -> Double {
    let difference = Double(raw) - c.t1
    return difference * (c.t2 + difference * c.t3)
  }

  /// Pascals from the raw 24-bit pressure and the temperature of the same burst (8.6), valid from 30000 to
  /// 125000.
  package static func pressure(_ raw: UInt32, temperature t: Double, _ c: BMP3xxTrim) -> Double {
    let counts = Double(raw)
    let offset = c.p5 + t * (c.p6 + t * (c.p7 + t * c.p8))
    let slope = c.p1 + t * (c.p2 + t * (c.p3 + t * c.p4))
    return offset + counts * (slope + counts * (c.p9 + t * c.p10 + counts * c.p11))
  }
}
