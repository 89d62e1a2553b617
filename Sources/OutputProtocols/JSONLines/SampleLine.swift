// A sample of a chip as a line of JSON.

package import SensorTypes
import TextForms

extension ObservationLines {
  /// Returns the line for a sample as the chip has measured it, in the frame of the chip.
  ///
  /// - Parameter skipped: The number of samples that were left out before it.
  package mutating func line(for reading: SensorReading, skipped: Int = 0) -> String {
    var line = begin("sample", at: reading.sample.time)
    line.set("sensor", reading.sensor)
    switch reading.sample.value {
    case .magneticField(let field): line.set("field", [field.x, field.y, field.z], digits: 5)
    case .acceleration(let force): line.set("force", [force.x, force.y, force.z], digits: 5)
    case .inertial(let rate, let force):
      line.set("rotationRate", [rate.x, rate.y, rate.z], digits: 6)
      line.set("force", [force.x, force.y, force.z], digits: 5)
    case .clippedInertial(let rate, let force, let clipped):
      line.set("rotationRate", [rate.x, rate.y, rate.z], digits: 6)
      line.set("force", [force.x, force.y, force.z], digits: 5)
      Self.write(clipped.angularRate, as: "clippedRotationRate", into: &line)
      Self.write(clipped.acceleration, as: "clippedForce", into: &line)
    case .atmosphere(let pressure, let temperature, let humidity):
      // Kilopascals, as in the lines of altitude.
      line.set("pressure", pressure / 1_000, digits: 6)
      line.set("temperature", temperature, digits: 2)
      line.set("humidity", humidity, digits: 2)
    }
    if skipped > 0 { line.set("skipped", skipped) }
    return line.line
  }

  private static func write(_ axes: ClippedAxes, as name: String, into line: inout JSONLine) {
    guard !axes.isEmpty else { return }
    line.set(
      name, ["x", "y", "z"].enumerated().filter { axes.contains(axis: $0.offset) }.map(\.element))
  }
}
