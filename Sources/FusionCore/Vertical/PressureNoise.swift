/// The noise of pressure samples, as they themselves show it.
///
/// Chips differ by a factor of ten (BMP180 3 to 6 Pa, BMP390 below 0.1), oversampling by as much, and wind adds its own.
/// Of three samples in a row the middle one's distance from the others' mean holds no height and no climb; white noise
/// is spread in it by the root of three halves.
struct PressureNoise: Sendable, Hashable, Codable {
  private var before: Double?
  private var twoBefore: Double?
  private var count = 0.0
  private var square = 0.0
  /// The variance that the samples up to here were taken with at the most.
  private var believed = 0.0

  /// Begins with the first sample of a run.
  mutating func begin(_ p: PressureNoiseParameters) { believed = p.unknown }

  /// Variance that a sample shows to have, `dt` seconds after the one before, Pa^2; 0 where samples are too far apart
  /// to show it.
  func variance(after dt: Double, _ p: PressureNoiseParameters) -> Double {
    dt > p.longestInterval ? 0 : isKnown(p) ? square : p.unknown
  }

  /// Whether enough samples were seen.
  func isKnown(_ p: PressureNoiseParameters) -> Bool { count >= p.leastCount }

  /// Variance by which all samples of the run exceed `least`, as far as that is known, Pa^2.
  func excess(over least: Double, _ p: PressureNoiseParameters) -> Double {
    isKnown(p) ? max(0, square - least) : 0
  }

  /// Takes a pressure in pascals, `dt` seconds after the one before. Returns by what factor the variance of the samples
  /// up to here was underestimated, where that shows in the first ones.
  mutating func take(
    _ pressure: Double, _ dt: Double, _ p: PressureNoiseParameters
  ) -> Double? {
    guard dt > 0, dt <= p.longestInterval else {
      interrupt()
      return nil
    }
    defer { (before, twoBefore) = (pressure, before) }
    guard let before, let twoBefore else { return nil }
    let left = before - (pressure + twoBefore) / 2
    let limit = isKnown(p) ? p.outlier * max(square, p.least) : .infinity
    count = min(count + 1, p.memory)
    square += (min(left * left / 1.5, limit) - square) / count
    guard isKnown(p), count < p.memory, square > believed else { return nil }
    defer { believed = square }
    return square / believed
  }

  /// What comes next does not go on from what came before.
  mutating func interrupt() { (before, twoBefore) = (nil, nil) }
}
