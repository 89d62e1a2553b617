// From the output registers of Asahi Kasei's magnetometers to microtesla.

package import LinearAlgebra
package import SensorBus

/// Conversions of the AK8963, AK09916 and AK09918; pure functions of the bytes read.
package enum AKMConversion {
  /// Microtesla a count with 16 bits (AK8963 table 8.3, AK09916 and AK09918 table 11.3).
  package static let sensitivity = 0.15

  /// What the AK8963's counts are multiplied with, from ASAX, ASAY and ASAZ (8.3.11):
  /// (ASA - 128) * 0.5 / 128 + 1, which is 0.5 to 1.498. Throws `.invalidTrim` for all zeros and for all ones.
  package static func adjustment(_ block: RegisterBlock) throws(DriverError) -> Vector3 {
    let bytes = Vector3(Double(block[0]), Double(block[1]), Double(block[2]))
    guard bytes != .zero, bytes != Vector3(repeating: 255) else {
      throw .invalidTrim("AK8963: the sensitivity adjustment is blank")
    }
    return Vector3(repeating: 0.5) + bytes / 256
  }

  /// Magnetic flux density in microtesla, sensor frame (right-handed), from the bytes from HXL to ST2, the last
  /// of `count`.
  ///
  /// Throws `.overflow` when ST2 says so: the magnitudes of the three axes together are 4912 microtesla or
  /// more, and the output is not right. Worked number: 7F F0 is 32752 counts = 4912 microtesla.
  package static func field(
    _ block: RegisterBlock, count: Int, adjustment: Vector3
  ) throws(DriverError) -> Vector3 {
    guard block[count - 1] & AKMRegister.overflow == 0 else { throw .overflow }
    // ST2 alone says what is beyond the range.
    return sensitivity * (try AxisCounts.littleEndian(block, limit: 32_768) * adjustment)
  }
}
