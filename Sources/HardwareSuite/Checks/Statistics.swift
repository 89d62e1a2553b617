// The few numbers that say how a measurement went.

/// Figures of a set of values.
struct Statistics {
  private let sorted: [Double]
  let mean: Double
  /// Standard deviation; 0 for fewer than two values.
  let deviation: Double

  /// `nil` where there is nothing to say.
  init?(_ values: [Double]) {
    guard !values.isEmpty else { return nil }
    sorted = values.sorted()
    let mean = values.reduce(0, +) / Double(values.count)
    self.mean = mean
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    deviation = values.count > 1 ? (squares / Double(values.count - 1)).squareRoot() : 0
  }

  var median: Double { quantile(0.5) }
  var worst: Double { sorted.last ?? 0 }

  /// The value that this share of all does not exceed.
  func quantile(_ share: Double) -> Double {
    let index = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(max(index, 0), sorted.count - 1)]
  }

  /// Noise of a series that may move slowly, and now and then quickly: the deviation of successive
  /// differences by the square root of two, as the median over windows of a second. `nil` for less than nine.
  static func noise(_ values: [Double], rate: Double) -> Double? {
    guard values.count > 8 else { return nil }
    // A second's measurement of a chip that is a little slow is still one.
    let window = min(max(8, Int(rate)), values.count - 1)
    let differences = zip(values, values.dropFirst()).map { $1 - $0 }
    let parts = stride(from: 0, through: differences.count - window, by: window).compactMap {
      start -> Double? in
      let part = differences[start..<start + window]
      let mean = part.reduce(0, +) / Double(window)
      let squares = part.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
      return (squares / Double(2 * (window - 1))).squareRoot()
    }
    return Statistics(parts)?.median
  }
}
