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
  /// The variance that the samples up to here were taken with at the most.
  private var believed = unknown

  /// What is thought of samples that come fast, before they have shown their noise, Pa^2. Chosen: 2 Pa
  /// lie between the chips; more costs a quiet chip its first second.
  private static let unknown = 4.0

  /// Variance that a sample shows to have, `dt` seconds after the one before, Pa^2; 0 where samples are too far apart
  /// to show it.
  func variance(after dt: Double) -> Double {
    dt > Self.longest ? 0 : isKnown ? square : Self.unknown
  }

  /// Whether enough samples were seen.
  var isKnown: Bool { count >= Self.least }

  /// Variance by which all samples of the run exceed `least`, as far as that is known, Pa^2.
  func excess(over least: Double) -> Double { isKnown ? max(0, square - least) : 0 }

  /// Takes a pressure in pascals, `dt` seconds after the one before. Returns by what factor the variance of the samples
  /// up to here was underestimated, where that shows in the first ones.
  mutating func take(_ pressure: Double, _ dt: Double) -> Double? {
    guard dt > 0, dt <= Self.longest else {
      interrupt()
      return nil
    }
    defer { (before, twoBefore) = (pressure, before) }
    guard let before, let twoBefore else { return nil }
    let left = before - (pressure + twoBefore) / 2
    // Values that repeat must not make the noise nothing for good.
    let limit = isKnown ? Self.most * max(square, 0.01) : .infinity
    count = min(count + 1, Self.memory)
    square += (min(left * left / 1.5, limit) - square) / count
    guard isKnown, count < Self.memory, square > believed else { return nil }
    defer { believed = square }
    return square / believed
  }

  /// What comes next does not go on from what came before.
  mutating func interrupt() { (before, twoBefore) = (nil, nil) }
}
