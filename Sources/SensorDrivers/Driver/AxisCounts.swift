// Three axes of 16 bits, as most chips give them.

public import LinearAlgebra
public import SensorBus

/// The three outputs of a chip that has them in the order X, Y, Z, two's complement.
public enum AxisCounts {
  /// The counts of the six bytes at `index`, high byte first; throws `.overflow` when one is beyond +-`limit`.
  public static func bigEndian(
    _ block: RegisterBlock, at index: Int = 0, limit: Double
  ) throws(DriverError) -> Vector3 {
    try within(
      Vector3(
        Double(block.int16BigEndian(index)), Double(block.int16BigEndian(index + 2)),
        Double(block.int16BigEndian(index + 4))), limit)
  }

  /// The counts of the six bytes at `index`, low byte first; throws `.overflow` when one is beyond +-`limit`.
  public static func littleEndian(
    _ block: RegisterBlock, at index: Int = 0, limit: Double
  ) throws(DriverError) -> Vector3 {
    try within(
      Vector3(
        Double(block.int16LittleEndian(index)), Double(block.int16LittleEndian(index + 2)),
        Double(block.int16LittleEndian(index + 4))), limit)
  }

  private static func within(
    _ counts: Vector3, _ limit: Double
  ) throws(DriverError) -> Vector3 {
    guard abs(counts.x) <= limit, abs(counts.y) <= limit, abs(counts.z) <= limit else {
      throw .overflow
    }
    return counts
  }
}
