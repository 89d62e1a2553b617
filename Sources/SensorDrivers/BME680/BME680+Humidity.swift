// From the humidity registers of the BME680 to percent (BST-BME680-DS001, 3.3.3).

package import SensorBus

/// The humidity trim of one BME680, burnt in at the factory.
package struct BME680HumidityTrim: Sendable, Hashable {
  /// par_h1 to par_h7.
  private var h1: Double, h2: Double, h3: Double, h4: Double, h5: Double, h6: Double, h7: Double

  /// Decodes the eight bytes from 0xE1. `nil` if they are blank: par_h2 scales every value.
  package init?(_ block: RegisterBlock) {
    func byte(_ index: Int) -> Double { Double(Int8(bitPattern: block[index])) }
    // 12 bits each: the byte in the middle is shared.
    h2 = Double(UInt16(block[0]) << 4 | UInt16(block[1] >> 4))
    h1 = Double(UInt16(block[2]) << 4 | UInt16(block[1] & 0x0F))
    guard h2 > 0, !block.isBlank(8) else { return nil }
    h3 = byte(3)
    h4 = byte(4)
    h5 = byte(5)
    h6 = Double(block[6])
    h7 = byte(7)
  }

  /// Relative humidity in percent, 0 to 100, from the raw 16-bit value and the fine temperature of the *same* conversion. 0x8000, which
  /// the register holds after a reset, can be a measured value.
  ///
  /// Worked number: 16820 at 19.3113 degrees with par_h = 717, 1021, 0, 45, 20, 120, -100 gives 25.2 (a real chip; tests of
  /// github.com/elixir-sensors/bmp280).
  package func humidity(_ raw: UInt16, fine: Double) -> Double {
    let celsius = fine / 5120
    let linear = Double(raw) - (h1 * 16 + h3 / 2 * celsius)
    let scale =
      h2 / 262_144 * (1 + h4 / 16_384 * celsius + h5 / 1_048_576 * celsius * celsius)
    let value = linear * scale
    let bend = h6 / 16_384 + h7 / 2_097_152 * celsius
    return min(max(0, value + bend * value * value), 100)
  }
}
