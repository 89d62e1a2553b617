public import SensorTypes

/// One sample of one chip as it came: sensor frame, not calibrated.
public struct SensorReading: Sendable, Hashable {
  /// The chip, by its place in the board file, from 0.
  public var sensor: Int
  /// What it measured and when.
  public var sample: Sample<Reading>
  /// The kernel's timestamp of the edge that announced it; `nil` for a chip that was polled.
  public var edge: Timestamp?
  /// The conversions a second that the chip is set to.
  public var outputRate: Double

  /// Makes a reading.
  public init(sensor: Int, sample: Sample<Reading>, edge: Timestamp?, outputRate: Double) {
    self.sensor = sensor
    self.sample = sample
    self.edge = edge
    self.outputRate = outputRate
  }
}
