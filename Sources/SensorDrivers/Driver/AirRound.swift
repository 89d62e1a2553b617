// Temperature and pressure in turn, for a chip that converts what it is told to.

import SensorBus

/// Where the round of temperature and pressure stands.
struct AirRound: Sendable, Hashable {
  /// What the chip was told to convert; `nil` when that is not known.
  private(set) var pending: AirQuantity?
  /// The newest of the temperature, as it was read.
  private(set) var temperature = RegisterBlock()

  /// The chip was told to convert the temperature.
  mutating func begin() { pending = .temperature }

  /// Takes what was pending: until `told` nothing is, whatever fails in between.
  mutating func finish() -> AirQuantity? {
    defer { pending = nil }
    return pending
  }

  /// The conversion is going on.
  mutating func resume(_ quantity: AirQuantity?) { pending = quantity }

  /// What comes after `finished`, if there was a result; the temperature otherwise: the round begins again.
  static func next(after finished: AirQuantity?, isMade: Bool) -> AirQuantity {
    isMade && finished == .temperature ? .pressure : .temperature
  }

  /// The chip was told to convert `next`. Whether `block`, the result of `finished`, is a pressure whose temperature is
  /// there.
  mutating func told(
    _ next: AirQuantity, after finished: AirQuantity?, isMade: Bool, _ block: RegisterBlock
  ) -> Bool {
    pending = next
    guard isMade, finished == .temperature else { return isMade && finished == .pressure }
    temperature = block
    return false
  }
}

/// What a conversion is of.
enum AirQuantity: Sendable, Hashable {
  case temperature, pressure
}
