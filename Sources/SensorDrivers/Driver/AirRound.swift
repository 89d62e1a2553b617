// Temperature and pressure in turn, for a chip that converts what it is told to.

import SensorBus

/// Where the round of temperature and pressure stands.
struct AirRound: Sendable, Hashable {
  /// What a conversion is of.
  enum Quantity: Sendable, Hashable {
    case temperature, pressure
  }

  /// What the chip was told to convert; `nil` when that is not known.
  private(set) var pending: Quantity?
  /// The newest of the temperature, as it was read.
  private(set) var temperature = RegisterBlock()

  /// The chip was told to convert the temperature.
  mutating func begin() { pending = .temperature }

  /// Takes what was pending: until `told` nothing is, whatever fails in between.
  mutating func finish() -> Quantity? {
    defer { pending = nil }
    return pending
  }

  /// The conversion is going on.
  mutating func resume(_ quantity: Quantity?) { pending = quantity }

  /// What comes after `finished`, if there was a result; the temperature otherwise: the round begins again.
  static func next(after finished: Quantity?, isMade: Bool) -> Quantity {
    isMade && finished == .temperature ? .pressure : .temperature
  }

  /// The chip was told to convert `next`. Whether `block`, the result of `finished`, is a pressure whose temperature is
  /// there.
  mutating func told(
    _ next: Quantity, after finished: Quantity?, isMade: Bool, _ block: RegisterBlock
  ) -> Bool {
    pending = next
    guard isMade, finished == .temperature else { return isMade && finished == .pressure }
    temperature = block
    return false
  }
}
