// Three axes of 16 bits, as most chips give them.

package import LinearAlgebra
package import SensorBus
import SensorTypes

/// The three outputs of a chip that has them in the order X, Y, Z, two's complement.
package enum AxisCounts {
  /// The counts of the six bytes at `index`, high byte first.
  package static func bigEndian(_ block: RegisterBlock, at index: Int = 0) -> Vector3 {
    Vector3(
      Double(block.int16BigEndian(index)), Double(block.int16BigEndian(index + 2)),
      Double(block.int16BigEndian(index + 4)))
  }

  /// The counts of the six bytes at `index`, low byte first.
  package static func littleEndian(_ block: RegisterBlock, at index: Int = 0) -> Vector3 {
    Vector3(
      Double(block.int16LittleEndian(index)), Double(block.int16LittleEndian(index + 2)),
      Double(block.int16LittleEndian(index + 4)))
  }

  /// The counts of the six bytes at `index`, high byte first; throws `.overflow` when one is beyond +-`limit`.
  package static func bigEndian(
    _ block: RegisterBlock, at index: Int = 0, limit: Double
  ) throws(DriverError) -> Vector3 {
    try within(limit, bigEndian(block, at: index))
  }

  /// The counts of the six bytes at `index`, low byte first; throws `.overflow` when one is beyond +-`limit`.
  package static func littleEndian(
    _ block: RegisterBlock, at index: Int = 0, limit: Double
  ) throws(DriverError) -> Vector3 {
    try within(limit, littleEndian(block, at: index))
  }

  private static func within(_ limit: Double, _ counts: Vector3) throws(DriverError) -> Vector3 {
    guard ClippedAxes(counts, beyond: limit).isEmpty else { throw .overflow }
    return counts
  }
}
