// What acts on a chip.

public import LinearAlgebra
public import SensorTypes

/// The physical world at one chip and one moment, in the chip's own (sensor) frame.
public struct Stimulus: Sendable, Hashable {
  /// Magnetic flux density, microtesla.
  public var magneticField: Vector3
  /// Specific force, m/s^2: at rest 9.81 along the axis that points up.
  public var specificForce: Vector3
  /// Angular rate, rad/s, right-handed.
  public var angularRate: Vector3
  /// Static pressure, pascals.
  public var pressure: Double
  /// Temperature of the chip, degrees Celsius.
  public var temperature: Double
  /// Relative humidity, percent.
  public var humidity: Double

  /// Makes a stimulus; the defaults are a chip at rest in no field, at the standard atmosphere.
  public init(
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
public protocol StimulusSource: Sendable {
  /// The stimulus at `time`, in the chip's frame.
  func stimulus(at time: Timestamp) -> Stimulus
}

/// A world that never changes: what a datasheet's test bench is.
public struct ConstantStimulus: StimulusSource {
  /// The stimulus at every moment.
  public var value: Stimulus

  /// Makes a constant world.
  public init(_ value: Stimulus) { self.value = value }

  /// What acts on the chip at that moment, in its own frame.
  public func stimulus(at time: Timestamp) -> Stimulus { value }
}
