// From the output registers of LIS3DH and LSM303DLHC to m/s^2.

package import LinearAlgebra
package import SensorBus

/// Conversions of LIS3DH and LSM303DLHC; pure functions of the bytes read.
package enum LIS3DHConversion {
  /// Specific force in m/s^2, sensor frame, from the six output bytes (X, Y, Z, low byte first, 12
  /// bits left-justified; LSM303DLHC 7.1.14 to 7.1.16).
  ///
  /// Throws `.overflow` when an axis stands at an end of the 12 bits. Worked number: at 4 g the bytes
  /// 40 1F are 0x1F4 = 500 counts of 2 mg = 1 g = 9.80665 m/s^2 (table 3).
  package static func acceleration(
    _ block: RegisterBlock, range: LIS3DH.Range
  ) throws(DriverError) -> Vector3 {
    // An arithmetic shift keeps the sign.
    let x = block.int16LittleEndian(0) >> 4
    let y = block.int16LittleEndian(2) >> 4
    let z = block.int16LittleEndian(4) >> 4
    let valid: ClosedRange<Int16> = -2047...2046
    guard valid.contains(x), valid.contains(y), valid.contains(z) else { throw .overflow }
    // A constant of its own type: Swift 6.0 mistakes the product for one of two numbers otherwise.
    let scale: Double = range.gPerCount * standardGravity
    return scale * Vector3(Double(x), Double(y), Double(z))
  }
}

/// One g in m/s^2, by definition (3rd CGPM, 1901).
let standardGravity = 9.80665
