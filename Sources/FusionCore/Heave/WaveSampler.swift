// Samples at any rate and at irregular times become four samples a second.

import LinearAlgebra
import SensorTypes

/// Means over eighths of a second, low-passed and halved to 4 Hz.
///
/// A mean is the integral of the straight lines between the samples: irregular times do no harm, and what shakes at
/// multiples of 8 Hz is averaged away. Lanes: vertical acceleration in m/s^2, roll and pitch in radians.
struct WaveSampler: Sendable, Hashable, Codable {
  /// Nanoseconds of one mean.
  static let interval: Int64 = 125_000_000

  /// The time and the value of the newest sample.
  private(set) var time: Timestamp?
  private(set) var value = SIMD4<Double>.zero
  /// The end of the mean that is being taken, its integral so far, and those before it.
  private var end = Timestamp(nanoseconds: 0)
  private var integral = SIMD4<Double>.zero
  private var first = SIMD4<Double>.zero
  private var second = SIMD4<Double>.zero
  private var third = SIMD4<Double>.zero
  /// Means that were taken, up to 4, and whether their number is odd.
  private var count = 0
  private var isOdd = false

  /// The share of an amplitude that is left at `frequency` in Hz.
  static func response(_ frequency: Double) -> Double {
    let x = Double.pi * frequency / 8
    guard x > 0 else { return 1 }
    let c = cos(x)
    return sin(x) / x * c * c * c
  }

  /// Whether it has the shape that the code relies on: a saved state comes from a file.
  var isSound: Bool {
    guard let time else { return true }
    let rest = end.nanoseconds &- time.nanoseconds
    return time.nanoseconds.magnitude < 1 << 62 && rest > 0 && rest <= Self.interval
      && (value + integral + first + second + third).sum().isFinite
  }

  /// Begins at a sample.
  mutating func begin(_ value: SIMD4<Double>, at time: Timestamp) {
    self = WaveSampler()
    self.time = time
    self.value = value
    end = Timestamp(nanoseconds: time.nanoseconds &+ Self.interval)
  }

  /// Moves towards a sample that is later than the one before: returns each sample at 4 Hz on the way, then `nil`.
  mutating func next(_ new: SIMD4<Double>, at now: Timestamp) -> SIMD4<Double>? {
    guard let begun = time else {
      begin(new, at: now)
      return nil
    }
    var last = begun
    while now >= end {
      let dt = end.seconds(since: last)
      let whole = now.seconds(since: last)
      let reached = whole > 0 ? value + (new - value) * (dt / whole) : new
      integral += 0.5 * dt * (value + reached)
      (value, last, time) = (reached, end, end)
      let mean = integral / (Double(Self.interval) * 1e-9)
      integral = .zero
      end = Timestamp(nanoseconds: end.nanoseconds &+ Self.interval)
      if let sample = push(mean) { return sample }
    }
    integral += 0.5 * now.seconds(since: last) * (value + new)
    value = new
    time = now
    return nil
  }

  private mutating func push(_ mean: SIMD4<Double>) -> SIMD4<Double>? {
    count = min(4, count + 1)
    let older = first + 3 * (second + third) + mean
    first = second
    second = third
    third = mean
    isOdd.toggle()
    return count == 4 && !isOdd ? 0.125 * older : nil
  }
}
