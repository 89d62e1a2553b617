// What acts on a chip, and how a real chip's answer differs from it.

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

/// How one three-axis sensor of a chip deviates from its datasheet's ideal:
/// `output = scale * input + bias + biasPerKelvin * (T - 25) + noise`.
public struct AxisImperfections: Sendable, Hashable {
  /// Offset at 25 degrees Celsius, in the sensor's unit (microtesla, m/s^2, rad/s).
  public var bias: Vector3
  /// Change of the offset, unit per kelvin.
  public var biasPerKelvin: Vector3
  /// Gain of each axis; 1 is ideal.
  public var scale: Vector3
  /// Multiplier of the datasheet's noise; 0 switches noise off.
  public var noise: Double

  /// Makes imperfections; the defaults are datasheet noise and nothing else.
  public init(
    bias: Vector3 = .zero, biasPerKelvin: Vector3 = .zero, scale: Vector3 = Vector3(1, 1, 1),
    noise: Double = 1
  ) {
    self.bias = bias
    self.biasPerKelvin = biasPerKelvin
    self.scale = scale
    self.noise = noise
  }

  /// An ideal sensor without noise: what a sweep over the range needs.
  public static let none = AxisImperfections(noise: 0)

  /// The sensor's output before it is digitized; `sigma` is the datasheet's noise per axis.
  func applied(
    to input: Vector3, temperature: Double, sigma: Vector3, random: inout SeededGenerator
  ) -> Vector3 {
    var output = scale * input + bias + biasPerKelvin * (temperature - 25)
    if noise > 0 { output += (noise * sigma) * random.gaussianVector() }
    return output
  }
}

/// How a barometer deviates from its datasheet's ideal.
public struct PressureImperfections: Sendable, Hashable {
  /// Offset of the pressure at 25 degrees Celsius, pascals.
  public var pressureBias: Double
  /// Change of that offset, pascals per kelvin.
  public var pressureBiasPerKelvin: Double
  /// Offset of the temperature, kelvin.
  public var temperatureBias: Double
  /// Multiplier of the datasheet's noise; 0 switches noise off.
  public var noise: Double

  /// Makes imperfections; the defaults are datasheet noise and nothing else.
  public init(
    pressureBias: Double = 0, pressureBiasPerKelvin: Double = 0, temperatureBias: Double = 0,
    noise: Double = 1
  ) {
    self.pressureBias = pressureBias
    self.pressureBiasPerKelvin = pressureBiasPerKelvin
    self.temperatureBias = temperatureBias
    self.noise = noise
  }

  /// An ideal barometer without noise.
  public static let none = PressureImperfections(noise: 0)
}
