// How a real chip's answer differs from its datasheet's ideal.

package import LinearAlgebra

/// How one three-axis sensor of a chip deviates from its datasheet's ideal:
/// `output = scale * input + bias + biasPerKelvin * (T - 25) + noise`.
package struct AxisImperfections: Sendable, Hashable {
  /// Offset at 25 degrees Celsius, in the sensor's unit (microtesla, m/s^2, rad/s).
  package var bias: Vector3
  /// Change of the offset, unit per kelvin.
  package var biasPerKelvin: Vector3
  /// Gain of each axis; 1 is ideal.
  package var scale: Vector3
  /// Multiplier of the datasheet's noise; 0 switches noise off.
  package var noise: Double

  /// Makes imperfections; the defaults are datasheet noise and nothing else.
  package init(
    bias: Vector3 = .zero, biasPerKelvin: Vector3 = .zero, scale: Vector3 = Vector3(1, 1, 1),
    noise: Double = 1
  ) {
    self.bias = bias
    self.biasPerKelvin = biasPerKelvin
    self.scale = scale
    self.noise = noise
  }

  /// An ideal sensor without noise: what a sweep over the range needs.
  package static let none = AxisImperfections(noise: 0)

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
package struct PressureImperfections: Sendable, Hashable {
  /// Offset of the pressure at 25 degrees Celsius, pascals.
  package var pressureBias: Double
  /// Change of that offset, pascals per kelvin.
  package var pressureBiasPerKelvin: Double
  /// Offset of the temperature, kelvin.
  package var temperatureBias: Double
  /// Multiplier of the datasheet's noise; 0 switches noise off.
  package var noise: Double

  /// Makes imperfections; the defaults are datasheet noise and nothing else.
  package init(
    pressureBias: Double = 0, pressureBiasPerKelvin: Double = 0, temperatureBias: Double = 0,
    noise: Double = 1
  ) {
    self.pressureBias = pressureBias
    self.pressureBiasPerKelvin = pressureBiasPerKelvin
    self.temperatureBias = temperatureBias
    self.noise = noise
  }

  /// An ideal barometer without noise.
  package static let none = PressureImperfections(noise: 0)
}

/// How one chip differs from its datasheet's ideal.
package struct ChipErrors: Sendable, Hashable {
  /// Of a chip's three axes: field or force.
  package var axes: AxisImperfections
  /// Of its gyro, where it has one besides.
  package var gyroscope: AxisImperfections
  package var pressure: PressureImperfections
  /// Relative error of the oscillator, 0.02 for 2 % fast.
  package var rateError: Double

  /// Makes errors; the defaults are datasheet noise and nothing else.
  package init(
    axes: AxisImperfections = .init(), gyroscope: AxisImperfections = .init(),
    pressure: PressureImperfections = .init(), rateError: Double = 0
  ) {
    self.axes = axes
    self.gyroscope = gyroscope
    self.pressure = pressure
    self.rateError = rateError
  }

  /// An ideal chip without noise: what a sweep over the range needs.
  package static let none = ChipErrors(axes: .none, gyroscope: .none, pressure: .none)
}
