// Three axes of 16 bits, as most chips give them.

public import LinearAlgebra
public import SensorBus

/// The three outputs of a chip that has them in the order X, Y, Z, two's complement, low byte first.
public enum AxisCounts {
  /// The counts of the six bytes at `index`; throws `.overflow` when one is beyond +-`limit`.
  public static func littleEndian(
    _ block: RegisterBlock, at index: Int = 0, limit: Double
  ) throws(DriverError) -> Vector3 {
    let counts = Vector3(
      Double(block.int16LittleEndian(index)), Double(block.int16LittleEndian(index + 2)),
      Double(block.int16LittleEndian(index + 4)))
    guard abs(counts.x) <= limit, abs(counts.y) <= limit, abs(counts.z) <= limit else {
      throw .overflow
    }
    return counts
  }
}
