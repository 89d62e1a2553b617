// From the LIS3MDL's output registers to microtesla.

package import LinearAlgebra
package import SensorBus

/// Conversions of the LIS3MDL; pure functions of the bytes read.
package enum LIS3MDLConversion {
  /// Magnetic flux density in microtesla, sensor frame, from the six output bytes (X, Y, Z, low byte
  /// first, two's complement; datasheet 7.8 to 7.10).
  ///
  /// Valid over +-`range.gauss`; throws `.overflow` beyond, where neither scale nor linearity is
  /// specified. Worked number: at 4 gauss the bytes BA 1A are 6842 counts = 1 gauss = 100 microtesla
  /// (table 3). In an LSM9DS1 E7 1B, 7143 counts of 0.14 milligauss, are that.
  package static func field(
    _ block: RegisterBlock, _ model: LIS3MDLVariant = .lis3mdl, range: LIS3MDL.Range
  ) throws(DriverError) -> Vector3 {
    let countsPerGauss = model.countsPerGauss(range)
    // The end of an LSM9DS1's range is no whole number of counts.
    let limit = (range.gauss * countsPerGauss).rounded(.up)
    return try AxisCounts.littleEndian(block, limit: limit)
      * (100 / countsPerGauss)
  }
}
