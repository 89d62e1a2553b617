// From the humidity registers of the BME280 to percent (BST-BME280-DS002 rev. 1.6).

package import SensorBus

/// The humidity trim of one BME280, burnt in at the factory (table 16).
package struct BME280HumidityTrim: Sendable, Hashable {
  /// dig_H1 to dig_H6.
  private var h1: Double, h2: Double, h3: Double, h4: Double, h5: Double, h6: Double

  /// Decodes dig_H1, at 0xA1, and the seven bytes from 0xE1. `nil` if they are blank: dig_H2 scales every value.
  package init?(h1: UInt8, _ block: RegisterBlock) {
    guard block.uint16LittleEndian(0) != 0, !block.isBlank(7) else { return nil }
    // 12 bits each: the byte in the middle is shared.
    func signed(_ high: UInt8, _ low: UInt8) -> Double {
      Double(Int16(Int8(bitPattern: high)) << 4 | Int16(low & 0x0F))
    }
    self.h1 = Double(h1)
    h2 = Double(block.int16LittleEndian(0))
    h3 = Double(block[2])
    h4 = signed(block[3], block[4])
    h5 = signed(block[5], block[4] >> 4)
    h6 = Double(Int8(bitPattern: block[6]))
  }

  /// Relative humidity in percent, 0 to 100, from the raw 16-bit value and the fine temperature of the *same* burst (4.2.3, appendix 8.1). 0x8000,
  /// which the register holds after a reset, can be a measured value.
  ///
  /// Worked number: 35181 at 26.7460 degrees with dig_H = 75, 338, 0, 370, 60, 30 gives 59.2 (a real chip; tests of
  /// github.com/elixir-sensors/bmp280).
  package func humidity(_ raw: UInt16, fine: Double) -> Double {
    let warmth = fine - 76_800
    let linear = Double(raw) - (h4 * 64 + h5 / 16_384 * warmth)
    let slope = 1 + h3 / 67_108_864 * warmth
    let scale = h2 / 65_536 * (1 + h6 / 67_108_864 * warmth * slope)
    let value = linear * scale
    return min(max(0, value * (1 - h1 * value / 524_288)), 100)
  }
}
