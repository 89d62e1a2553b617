/// The noise of pressure samples, as they themselves show it.
///
/// Chips differ by a factor of ten (BMP180 3 to 6 Pa, BMP390 below 0.1), oversampling by as much, and wind adds its own.
/// Of three samples in a row the middle one's distance from the others' mean holds no height and no climb; white noise
/// is spread in it by the root of three halves.
struct PressureNoise: Sendable, Hashable, Codable {
  /// Samples further apart show movement, seconds.
  private static let longest = 0.12
  /// How many samples are needed, and how many are remembered.
  private static let least = 8.0
  private static let memory = 60.0
  /// One that stands out further (a door, a wrong sample) counts as this many times the variance.
  private static let most = 9.0

  private var before: Double?
  private var twoBefore: Double?
  private var count = 0.0
  private var square = 0.0

  /// Variance of a sample, Pa^2; 0 while too few were seen.
  var variance: Double { count >= Self.least ? square : 0 }

  /// Whether samples come often enough to show it, and too few have come.
  var isUnknown: Bool { before != nil && count < Self.least }

  /// Takes a pressure in pascals, `dt` seconds after the one before.
  mutating func take(_ pressure: Double, _ dt: Double) {
    guard dt > 0, dt <= Self.longest else { return interrupt() }
    defer { (before, twoBefore) = (pressure, before) }
    guard let before, let twoBefore else { return }
    let left = before - (pressure + twoBefore) / 2
    let limit = count >= Self.least ? Self.most * square : .infinity
    count = min(count + 1, Self.memory)
    square += (min(left * left / 1.5, limit) - square) / count
  }

  /// What comes next does not go on from what came before.
  mutating func interrupt() { (before, twoBefore) = (nil, nil) }
}
