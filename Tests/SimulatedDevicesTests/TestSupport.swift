// What the twins' tests share: a world on a bench and times to write it down with.

import LinearAlgebra
import SensorTypes
import SimulatedDevices

/// A moment, milliseconds from the start of a test.
func ms(_ milliseconds: Double) -> Timestamp {
  Timestamp(nanoseconds: 1_000_000_000 + Int64((milliseconds * 1e6).rounded()))
}

/// A bench with nothing but the given field, force and rate on it.
func bench(
  field: Vector3 = .zero, force: Vector3 = Vector3(0, 0, 9.80665), rate: Vector3 = .zero,
  pressure: Double = 101_325, temperature: Double = 25, humidity: Double = 45
) -> ConstantStimulus {
  ConstantStimulus(
    Stimulus(
      magneticField: field, specificForce: force, angularRate: rate, pressure: pressure,
      temperature: temperature, humidity: humidity))
}

/// A world in which the x component of field, force and rate and the pressure count seconds.
struct Ramp: StimulusSource {
  func stimulus(at time: Timestamp) -> Stimulus {
    let seconds = time.seconds(since: ms(0))
    return Stimulus(
      magneticField: Vector3(seconds * 10, 0, 0), specificForce: Vector3(seconds, 0, 0),
      angularRate: Vector3(seconds, 0, 0), pressure: 100_000 + seconds)
  }
}

func int16(low: UInt8, high: UInt8) -> Int {
  Int(Int16(bitPattern: UInt16(low) | UInt16(high) << 8))
}

extension ChipTwin {
  /// The same chip, under power since `ms(-1000)`.
  func powered() -> Self {
    var twin = self
    twin.powerOn(at: ms(-1000))
    return twin
  }
}
