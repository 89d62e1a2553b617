/// One sample of one chip as it came: sensor frame, not calibrated.
package struct SensorReading: Sendable, Hashable, Codable {
  /// The chip, by its place in the board file, from 0.
  package var sensor: Int
  /// What it measured and when.
  package var sample: Sample<Reading>
  /// The kernel's timestamp of the edge that announced it; `nil` for a chip that was polled.
  package var edge: Timestamp?
  /// The conversions a second that the chip is set to.
  package var outputRate: Double

  package init(sensor: Int, sample: Sample<Reading>, edge: Timestamp?, outputRate: Double) {
    self.sensor = sensor
    self.sample = sample
    self.edge = edge
    self.outputRate = outputRate
  }
}
