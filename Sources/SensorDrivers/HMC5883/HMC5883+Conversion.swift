// From the output registers of an HMC5883L and its kin to microtesla.

package import LinearAlgebra
package import SensorBus

/// Conversions of the HMC5883L and of the LSM303DLHC's magnetometer; pure functions of the bytes read.
package enum HMC5883Conversion {
  /// The counts of X, Y and Z from the six bytes at `index`, which come in the order X, Z, Y, high byte first
  /// (HMC5883L: "Data Output" registers; LSM303DLHC: 7.2.4 to 7.2.6).
  ///
  /// Throws `.overflow` outside of -2048 to 2047, which includes the -4096 that the chip itself gives for an
  /// axis that saturated.
  package static func counts(_ block: RegisterBlock, at index: Int) throws(DriverError) -> Vector3 {
    let x = block.int16BigEndian(index)
    let z = block.int16BigEndian(index + 2)
    let y = block.int16BigEndian(index + 4)
    let valid: ClosedRange<Int16> = -2048...2047
    guard valid.contains(x), valid.contains(y), valid.contains(z) else { throw .overflow }
    return Vector3(Double(x), Double(y), Double(z))
  }

  /// Magnetic flux density in microtesla, sensor frame (right-handed as the chip gives it), from the six bytes
  /// at `index`.
  ///
  /// Worked numbers: an HMC5883L at 1.3 gauss, bytes 04 42 on X: 1090 counts = 1 gauss = 100 microtesla
  /// (table 9). An LSM303DLHC at 1.3 gauss, 03 D4 on Z: 980 counts = the same (table 75).
  package static func field(
    _ block: RegisterBlock, at index: Int = 0, _ model: HMC5883Variant, range: HMC5883.Range
  ) throws(DriverError) -> Vector3 {
    let counts = try counts(block, at: index)
    let scale = model.countsPerGauss(range)
    return Vector3(
      counts.x * (100 / scale.xy), counts.y * (100 / scale.xy), counts.z * (100 / scale.z))
  }
}
