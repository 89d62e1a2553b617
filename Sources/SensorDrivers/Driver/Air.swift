// What the barometers' conversions have in common: wide registers, and the range that is specified.

import SensorBus
import SensorTypes

extension RegisterBlock {
  /// Bytes `index` (low) to `index + 2` (high) as an unsigned number.
  func uint24LittleEndian(_ index: Int) -> UInt32 {
    UInt32(self[index]) | UInt32(self[index + 1]) << 8 | UInt32(self[index + 2]) << 16
  }

  /// Bytes `index` (low) to `index + 2` (high) as a signed number.
  func int24LittleEndian(_ index: Int) -> Int32 {
    Int32(bitPattern: uint24LittleEndian(index) << 8) >> 8
  }

  /// Bytes `index` (high) to `index + 2` (low) as an unsigned number.
  func uint24BigEndian(_ index: Int) -> UInt32 {
    UInt32(self[index]) << 16 | UInt32(self[index + 1]) << 8 | UInt32(self[index + 2])
  }

  /// Bytes `index` (high) and `index + 1` (low) as an unsigned number.
  func uint16BigEndian(_ index: Int) -> UInt16 { UInt16(bitPattern: int16BigEndian(index)) }

  /// Whether the first `count` bytes are all zero or all ones: what a chip without trim looks like.
  func isBlank(_ count: Int) -> Bool {
    [0x00, 0xFF].contains(self[0]) && (1..<count).allSatisfy { self[$0] == self[0] }
  }
}

/// The pressures (pascals) and temperatures (degrees Celsius) for which a barometer is specified.
struct AirRange: Sendable {
  private let pressures: ClosedRange<Double>
  private let temperatures: ClosedRange<Double>

  /// The ends belong to the range, and a chip rounds them outwards by up to half a step: one of its coarsest
  /// steps is allowed.
  init(
    pascals: ClosedRange<Double>, step: Double, degrees: ClosedRange<Double>,
    degreeStep: Double
  ) {
    pressures = pascals.lowerBound - step...pascals.upperBound + step
    temperatures = degrees.lowerBound - degreeStep...degrees.upperBound + degreeStep
  }

  /// What was measured; throws `.overflow` where nothing is specified, and for what is no number.
  func reading(pressure: Double, temperature: Double) throws(DriverError) -> Reading {
    guard pressures.contains(pressure), temperatures.contains(temperature) else {
      throw .overflow
    }
    return .atmosphere(pressure: pressure, temperature: temperature)
  }
}
