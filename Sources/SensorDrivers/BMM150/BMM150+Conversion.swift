// From the BMM150's registers to microtesla.

package import LinearAlgebra
package import SensorBus

/// The trim values of one chip, burnt in at the factory. The datasheet does not describe them; Bosch's driver does
/// (BMM150_SensorAPI 0dce061), and Linux' bmc150_magn has the same.
package struct BMM150Trim: Sendable, Hashable {
  /// X and Y: offset and gain.
  package var x1: Double, y1: Double, x2: Double, y2: Double
  /// Z: the Hall sensor's and its temperature's.
  package var z1: Double, z2: Double, z3: Double, z4: Double
  /// X and Y with temperature.
  package var xy1: Double, xy2: Double
  /// The Hall resistance at the temperature of the trim.
  package var xyz1: Double

  /// Decodes the 21 bytes 0x5D to 0x71, low byte first. Throws `.invalidTrim` where one that is divided by, or
  /// everything hangs on, is 0, and where all is ones: no chip has that.
  package init(_ block: RegisterBlock) throws(DriverError) {
    x1 = Double(Int8(bitPattern: block[0x00]))
    y1 = Double(Int8(bitPattern: block[0x01]))
    z4 = Double(block.int16LittleEndian(0x05))
    x2 = Double(Int8(bitPattern: block[0x07]))
    y2 = Double(Int8(bitPattern: block[0x08]))
    z2 = Double(block.int16LittleEndian(0x0B))
    z1 = Double(block.uint16LittleEndian(0x0D))
    // 15 bits: Bosch's driver takes the highest away, Linux does not.
    xyz1 = Double(block.uint16LittleEndian(0x0F) & 0x7FFF)
    z3 = Double(block.int16LittleEndian(0x11))
    xy2 = Double(Int8(bitPattern: block[0x13]))
    xy1 = Double(block[0x14])
    guard z1 != 0, z2 != 0, xyz1 != 0, !block.isBlank(21) else {
      throw .invalidTrim("BMM150: the trim is blank")
    }
  }
}

/// Conversions of the BMM150; pure functions of the bytes read.
package enum BMM150Conversion {
  /// Magnetic flux density in microtesla, sensor frame, from the eight bytes 0x42 to 0x49: X and Y with 13 bits, Z
  /// with 15, and the Hall resistance with 14, all of them at the upper end of their two bytes (5.4).
  ///
  /// Throws `.overflow` where the chip puts out the lowest number of an axis, which says so (4.6.6), and for a Hall
  /// resistance of 0. The equations are Bosch's, in which floating point and integers are the same ones.
  package static func field(
    _ block: RegisterBlock, _ trim: BMM150Trim
  ) throws(DriverError) -> Vector3 {
    let x = block.int16LittleEndian(0) >> 3
    let y = block.int16LittleEndian(2) >> 3
    let z = block.int16LittleEndian(4) >> 1
    let resistance = Double(block.uint16LittleEndian(6) >> 2)
    guard x != -4096, y != -4096, z != -16384, resistance != 0 else { throw .overflow }
    let ratio = trim.xyz1 * 16384 / resistance - 16384
    let gain = 256 + trim.xy2 * ratio * ratio / 268_435_456 + trim.xy1 * ratio / 16384
    let hall = trim.z2 + trim.z1 * resistance / 32768
    guard hall != 0 else { throw .overflow }
    return Vector3(
      (Double(x) * gain * (trim.x2 + 160) / 8192 + trim.x1 * 8) / 16,
      (Double(y) * gain * (trim.y2 + 160) / 8192 + trim.y1 * 8) / 16,
      ((Double(z) - trim.z4) * 131_072 - trim.z3 * (resistance - trim.xyz1)) / (hall * 64))
  }
}
