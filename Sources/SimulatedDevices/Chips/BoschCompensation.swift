// Bosch's compensation formulas forwards (as the datasheet prints them) and backwards (by bisection).

/// The trim values of a BMP280 or BME280 and the formulas that use them.
///
/// The forward formulas are the double precision ones of the BMP280 datasheet (BST-BMP280-DS001,
/// section 8.1) and of the BME280 datasheet (BST-BME280-DS002, section 8.1).
package struct BoschTrim: Sendable, Hashable {
  /// dig_T1.
  package var t1: UInt16
  /// dig_T2 and dig_T3.
  package var t2: Int16, t3: Int16
  /// dig_P1.
  package var p1: UInt16
  /// dig_P2 to dig_P9.
  package var p2: Int16, p3: Int16, p4: Int16, p5: Int16, p6: Int16, p7: Int16, p8: Int16
  /// dig_P9.
  package var p9: Int16
  /// dig_H1 and dig_H3, BME280 only.
  package var h1: UInt8 = 75, h3: UInt8 = 0
  /// dig_H2, dig_H4 and dig_H5 (12 bits each), BME280 only.
  package var h2: Int16 = 370, h4: Int16 = 313, h5: Int16 = 50
  /// dig_H6, BME280 only.
  package var h6: Int8 = 30

  /// The example of the BMP280 datasheet, section 3.12: with adc_T 519888 and adc_P 415148 it gives
  /// 25.08 degrees and 100653.27 Pa. The humidity trim is that of an ordinary chip.
  package static let datasheetExample = BoschTrim(
    t1: 27504, t2: 26435, t3: -1000, p1: 36477, p2: -10685, p3: 3024, p4: 2855, p5: 140, p6: -7,
    p7: 15500, p8: -14600, p9: 6000)

  /// Fine temperature, 1/5120 degree, of a raw temperature (20 bits).
  package func fineTemperature(raw: Double) -> Double {
    let a = (raw / 16384 - Double(t1) / 1024) * Double(t2)
    let b = raw / 131_072 - Double(t1) / 8192
    return a + b * b * Double(t3)
  }

  /// Temperature, degrees Celsius, of a raw temperature (20 bits).
  package func temperature(raw: Double) -> Double { fineTemperature(raw: raw) / 5120 }

  /// Pressure, pascals, of a raw pressure (20 bits) at a fine temperature.
  package func pressure(raw: Double, fineTemperature: Double) -> Double {
    let v = fineTemperature / 2 - 64000
    let offset = (v * v * Double(p6) / 32768 + v * Double(p5) * 2) / 4 + Double(p4) * 65536
    let bend = (Double(p3) * v * v / 524_288 + Double(p2) * v) / 524_288
    let gain = (1 + bend / 32768) * Double(p1)
    guard gain != 0 else { return 0 }
    let p = (1_048_576 - raw - offset / 4096) * 6250 / gain
    return p + (Double(p9) * p * p / 2_147_483_648 + p * Double(p8) / 32768 + Double(p7)) / 16
  }

  /// Relative humidity, percent, of a raw humidity (16 bits) at a fine temperature.
  package func humidity(raw: Double, fineTemperature: Double) -> Double {
    let v = fineTemperature - 76800
    let wet = 1 + Double(h3) / 67_108_864 * v
    let gain = Double(h2) / 65536 * (1 + Double(h6) / 67_108_864 * v * wet)
    let h = (raw - (Double(h4) * 64 + Double(h5) / 16384 * v)) * gain
    return max(0, min(100, h * (1 - Double(h1) * h / 524_288)))
  }

  /// The raw temperature (0 to 1048575, not rounded) that compensates to `celsius`.
  package func rawTemperature(celsius: Double) -> Double {
    bisection(from: 0, to: 1_048_575) { temperature(raw: $0) < celsius }
  }

  /// The raw pressure (0 to 1048575, not rounded) that compensates to `pascals`.
  package func rawPressure(pascals: Double, fineTemperature: Double) -> Double {
    // Pressure falls as the raw value grows.
    bisection(from: 0, to: 1_048_575) {
      pressure(raw: $0, fineTemperature: fineTemperature) > pascals
    }
  }

  /// The raw humidity (0 to 65535, not rounded) that compensates to `percent`.
  package func rawHumidity(percent: Double, fineTemperature: Double) -> Double {
    bisection(from: 0, to: 65535) { humidity(raw: $0, fineTemperature: fineTemperature) < percent }
  }

  /// The trim registers 0x88 to 0xA1 and, for the BME280, 0xE1 to 0xE7.
  func store(into registers: inout [UInt8], hasHumidity: Bool) {
    let words: [UInt16] = [
      t1, UInt16(bitPattern: t2), UInt16(bitPattern: t3), p1, UInt16(bitPattern: p2),
      UInt16(bitPattern: p3), UInt16(bitPattern: p4), UInt16(bitPattern: p5),
      UInt16(bitPattern: p6), UInt16(bitPattern: p7), UInt16(bitPattern: p8),
      UInt16(bitPattern: p9),
    ]
    for (index, word) in words.enumerated() {
      registers[0x88 + 2 * index] = UInt8(truncatingIfNeeded: word)
      registers[0x89 + 2 * index] = UInt8(truncatingIfNeeded: word >> 8)
    }
    guard hasHumidity else { return }
    registers[0xA1] = h1
    registers[0xE1] = UInt8(truncatingIfNeeded: h2)
    registers[0xE2] = UInt8(truncatingIfNeeded: h2 >> 8)
    registers[0xE3] = h3
    registers[0xE4] = UInt8(truncatingIfNeeded: h4 >> 4)
    registers[0xE5] = UInt8(truncatingIfNeeded: h4 & 0x0F) | UInt8(truncatingIfNeeded: h5 << 4)
    registers[0xE6] = UInt8(truncatingIfNeeded: h5 >> 4)
    registers[0xE7] = UInt8(bitPattern: h6)
  }
}

/// The point between `low` and `high` up to which `isBelow` holds; an end of the interval if it holds
/// everywhere or nowhere. 48 halvings leave less than 1e-7 of a count.
func bisection(from low: Double, to high: Double, _ isBelow: (Double) -> Bool) -> Double {
  var (low, high) = (low, high)
  for _ in 0..<48 {
    let middle = (low + high) / 2
    if isBelow(middle) { low = middle } else { high = middle }
  }
  return (low + high) / 2
}
