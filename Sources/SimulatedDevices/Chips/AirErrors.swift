// What a barometer converts: the air at its hole with the chip's errors and noise.

import SensorTypes

extension TwinCore {
  /// Pascals and degrees Celsius at that moment; the noise is in the same units, root mean square.
  func air(
    at nanoseconds: Int64, pressureNoise: Double, temperatureNoise: Double, stream: UInt64,
    _ done: Conversions
  ) -> (pressure: Double, temperature: Double) {
    let world = stimulus(at: nanoseconds)
    let flaws = errors.pressure
    var pressure =
      world.pressure + flaws.pressureBias
      + flaws.pressureBiasPerKelvin * (world.temperature - 25)
    var temperature = world.temperature + flaws.temperatureBias
    if flaws.noise > 0 {
      var random = random(stream: stream, done)
      pressure += flaws.noise * pressureNoise * random.gaussian()
      temperature += flaws.noise * temperatureNoise * random.gaussian()
    }
    return (pressure, temperature)
  }
}

/// Stores the lower bytes of a number, low byte first.
func storeLittleEndian(_ value: Int64, bytes: Int, at register: Int, in registers: inout [UInt8]) {
  for index in 0..<bytes {
    registers[register + index] = UInt8(truncatingIfNeeded: value >> Int64(8 * index))
  }
}

/// Stores the lower bytes of a number, high byte first.
func storeBigEndian(_ value: Int64, bytes: Int, at register: Int, in registers: inout [UInt8]) {
  for index in 0..<bytes {
    registers[register + index] = UInt8(truncatingIfNeeded: value >> Int64(8 * (bytes - 1 - index)))
  }
}
