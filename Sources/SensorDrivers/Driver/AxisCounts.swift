// Three axes of 16 bits, as most chips give them.

package import LinearAlgebra
package import SensorBus

/// The three outputs of a chip that has them in the order X, Y, Z, two's complement.
package enum AxisCounts {
  /// The counts of the six bytes at `index`, high byte first; throws `.overflow` when one is beyond +-`limit`.
  package static func bigEndian(
    _ block: RegisterBlock, at index: Int = 0, limit: Double
  ) throws(DriverError) -> Vector3 {
    try within(limit) { block.int16BigEndian(index + 2 * $0) }
  }

  /// The counts of the six bytes at `index`, low byte first; throws `.overflow` when one is beyond +-`limit`.
  package static func littleEndian(
    _ block: RegisterBlock, at index: Int = 0, limit: Double
  ) throws(DriverError) -> Vector3 {
    try within(limit) { block.int16LittleEndian(index + 2 * $0) }
  }

  private static func within(
    _ limit: Double, _ count: (_ axis: Int) -> Int16
  ) throws(DriverError) -> Vector3 {
    let counts = Vector3(Double(count(0)), Double(count(1)), Double(count(2)))
    guard abs(counts.x) <= limit, abs(counts.y) <= limit, abs(counts.z) <= limit else {
      throw .overflow
    }
    return counts
  }
}
