// What the twins' tests share: a world on a bench and times to write it down with.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

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

/// 0.5, -1 and 1.5 g, and so many degrees a second.
func turning(_ degrees: Vector3) -> ConstantStimulus {
  bench(
    force: 9.80665 * Vector3(0.5, -1, 1.5), rate: Double.pi / 180 * degrees)
}

/// Three counts are so many units of so many counts each.
func expectCounts(
  _ found: some Sequence<Int>, _ units: Vector3, _ countsPerUnit: Double,
  _ location: SourceLocation = #_sourceLocation
) {
  let counts = (0..<3).map { Int((units[$0] * countsPerUnit).rounded()) }
  #expect(Array(found) == counts, sourceLocation: location)
}

/// The first conversion is complete `delay` seconds and a period after `ms(0)` where a delay is given, and each next
/// one a period later.
func expectRate(
  _ hertz: Double, _ chip: inout some ChipTwin, delay: Double? = nil,
  _ location: SourceLocation = #_sourceLocation
) throws {
  let first = try #require(chip.nextDataReady(after: ms(0)), sourceLocation: location)
  if let delay {
    #expect(
      abs(first.seconds(since: ms(0)) - delay - 1 / hertz) < 1e-6, sourceLocation: location)
  }
  chip.advance(to: first)
  let second = try #require(chip.nextDataReady(after: first), sourceLocation: location)
  #expect(abs(second.seconds(since: first) - 1 / hertz) < 1e-6, sourceLocation: location)
}

/// Numbers of a burst, high byte first.
func bigEndian(_ bytes: [UInt8]) -> [Int] {
  (0..<bytes.count / 2).map { int16(low: bytes[2 * $0 + 1], high: bytes[2 * $0]) }
}

/// Numbers of a burst, low byte first.
func littleEndian(_ bytes: [UInt8]) -> [Int] {
  (0..<bytes.count / 2).map { int16(low: bytes[2 * $0], high: bytes[2 * $0 + 1]) }
}

extension ChipTwin {
  /// The same chip, under power since `ms(-1000)`.
  func powered() -> Self {
    var twin = self
    twin.powerOn(at: ms(-1000))
    return twin
  }
}
