// Infineon's compensation formulas (DPS310 datasheet v1.2) forwards and backwards; Goertek's are the same.

/// The coefficients of a DPS310 and the polynomials that use them (datasheet, "How to calculate compensated values").
package struct DPS310TwinTrim: Sendable, Hashable {
  /// c0 and c1, 12 bits signed.
  package var c0: Int32, c1: Int32
  /// c00 and c10, 20 bits signed.
  package var c00: Int32, c10: Int32
  /// c01, c11, c20, c21 and c30, 16 bits signed.
  package var c01: Int32, c11: Int32, c20: Int32, c21: Int32, c30: Int32
  /// c31 and c40 of the SPA06, 12 bits signed.
  package var c31: Int32 = 0, c40: Int32 = 0

  /// Values of the size that real chips carry; the datasheet prints no example.
  package static let typical = DPS310TwinTrim(
    c0: 209, c1: -259, c00: 81007, c10: -55108, c01: -2792, c11: 1355, c20: -9818, c21: 126,
    c30: -1372)

  /// The same with small values of those that the SPA06 has besides; no chip's were to be had.
  package static let quartic: DPS310TwinTrim = {
    var coefficients = typical
    (coefficients.c31, coefficients.c40) = (-37, 215)
    return coefficients
  }()

  /// Temperature, degrees Celsius, of a scaled raw temperature (raw divided by the scale factor).
  package func temperature(_ scaled: Double) -> Double { Double(c0) * 0.5 + Double(c1) * scaled }

  /// Pressure, pascals, of scaled raw pressure and temperature.
  package func pressure(_ scaled: Double, temperature t: Double) -> Double {
    let (square, cube) = (scaled * scaled, scaled * scaled * scaled)
    let own = Double(c10) * scaled + Double(c20) * square + Double(c30) * cube
    let cross = Double(c01) + Double(c11) * scaled + Double(c21) * square + Double(c31) * cube
    return Double(c00) + own + Double(c40) * square * square + t * cross
  }

  /// The scaled raw temperature that compensates to `celsius`.
  package func scaledTemperature(celsius: Double) -> Double {
    (celsius - Double(c0) * 0.5) / Double(c1)
  }

  /// The scaled raw pressure, -2 to 2, that compensates to `pascals`.
  package func scaledPressure(pascals: Double, temperature t: Double) -> Double {
    // Pressure falls as the raw value grows.
    bisection(from: -2, to: 2) { pressure($0, temperature: t) > pascals }
  }

  /// The coefficient registers 0x10 to 0x21, packed as in the datasheet's "Calibration coefficients".
  func store(into registers: inout [UInt8]) {
    func put(_ value: Int32, at register: Int) {
      registers[register] = UInt8(truncatingIfNeeded: value >> 8)
      registers[register + 1] = UInt8(truncatingIfNeeded: value)
    }
    registers[0x10] = UInt8(truncatingIfNeeded: c0 >> 4)
    registers[0x11] =
      UInt8(truncatingIfNeeded: c0 << 4) & 0xF0 | UInt8(truncatingIfNeeded: c1 >> 8) & 0x0F
    registers[0x12] = UInt8(truncatingIfNeeded: c1)
    put(c00 >> 4, at: 0x13)
    registers[0x15] =
      UInt8(truncatingIfNeeded: c00 << 4) & 0xF0 | UInt8(truncatingIfNeeded: c10 >> 16) & 0x0F
    put(c10, at: 0x16)
    put(c01, at: 0x18)
    put(c11, at: 0x1A)
    put(c20, at: 0x1C)
    put(c21, at: 0x1E)
    put(c30, at: 0x20)
    guard c31 != 0 || c40 != 0 else { return }
    put(c31 << 4 | c40 >> 8 & 0x0F, at: 0x22)
    registers[0x24] = UInt8(truncatingIfNeeded: c40)
  }
}
