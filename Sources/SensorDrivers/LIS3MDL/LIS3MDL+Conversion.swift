// From the LIS3MDL's output registers to microtesla.

public import LinearAlgebra
public import SensorBus

/// Conversions of the LIS3MDL; pure functions of the bytes read.
public enum LIS3MDLConversion {
  /// Magnetic flux density in microtesla, sensor frame, from the six output bytes (X, Y, Z, low byte
  /// first, two's complement; datasheet 7.8 to 7.10).
  ///
  /// Valid over +-`range.gauss`; throws `.overflow` beyond, where neither scale nor linearity is
  /// specified. Worked number: at 4 gauss the bytes BA 1A are 6842 counts = 1 gauss = 100 microtesla
  /// (table 3).
  public static func field(
    _ block: RegisterBlock, range: LIS3MDL.Range
  ) throws(DriverError) -> Vector3 {
    let counts = Vector3(
      Double(block.int16LittleEndian(0)), Double(block.int16LittleEndian(2)),
      Double(block.int16LittleEndian(4)))
    let limit = range.gauss * range.countsPerGauss
    guard abs(counts.x) <= limit, abs(counts.y) <= limit, abs(counts.z) <= limit else {
      throw .overflow
    }
    return counts * (100 / range.countsPerGauss)
  }
}
