// What acts on a chip.

package import LinearAlgebra
package import SensorTypes

/// The physical world at one chip and one moment, in the chip's own (sensor) frame.
package struct Stimulus: Sendable, Hashable {
  /// Magnetic flux density, microtesla.
  package var magneticField: Vector3
  /// Specific force, m/s^2: at rest 9.81 along the axis that points up.
  package var specificForce: Vector3
  /// Angular rate, rad/s, right-handed.
  package var angularRate: Vector3
  /// Static pressure, pascals.
  package var pressure: Double
  /// Temperature of the chip, degrees Celsius.
  package var temperature: Double
  /// Relative humidity, percent.
  package var humidity: Double

  /// Makes a stimulus; the defaults are a chip at rest in no field, at the standard atmosphere.
  package init(
    magneticField: Vector3 = .zero, specificForce: Vector3 = Vector3(0, 0, 9.80665),
    angularRate: Vector3 = .zero, pressure: Double = 101_325, temperature: Double = 25,
    humidity: Double = 45
  ) {
    self.magneticField = magneticField
    self.specificForce = specificForce
    self.angularRate = angularRate
    self.pressure = pressure
    self.temperature = temperature
    self.humidity = humidity
  }
}

/// Says what acts on a chip at any moment.
package protocol StimulusSource: Sendable {
  /// The stimulus at `time`, in the chip's frame.
  func stimulus(at time: Timestamp) -> Stimulus
}

/// A world that never changes: what a datasheet's test bench is.
package struct ConstantStimulus: StimulusSource {
  /// The stimulus at every moment.
  package var value: Stimulus

  /// Makes a constant world.
  package init(_ value: Stimulus) { self.value = value }

  /// What acts on the chip at that moment, in its own frame.
  package func stimulus(at time: Timestamp) -> Stimulus { value }
}
