/// The covariance of the heading filter's errors, 10 by 10, updated in place.
///
/// Dense: a block of a tenth of a second costs some thousand multiplications, which is nothing. The
/// storage is allocated once; a copy shares it until one of the two is changed.
struct ErrorCovariance: Sendable, Hashable {
  static let size = 10
  private var p: [Double]

  init(deviations: [Double]) {
    precondition(deviations.count == Self.size)
    p = [Double](repeating: 0, count: Self.size * Self.size)
    for (index, deviation) in deviations.enumerated() {
      p[index * Self.size + index] = deviation * deviation
    }
  }

  subscript(row: Int, column: Int) -> Double {
    get { p[row * Self.size + column] }
    set { p[row * Self.size + column] = newValue }
  }

  /// `row[target] += factor * row[source]`, and the same for columns: one elementary step of `F P F'`.
  mutating func couple(_ target: Int, _ source: Int, _ factor: Double) {
    let n = Self.size
    for column in 0..<n { p[target * n + column] += factor * p[source * n + column] }
    for row in 0..<n { p[row * n + target] += factor * p[row * n + source] }
  }

  /// Adds process noise to one state.
  mutating func add(_ variance: Double, to state: Int) { p[state * Self.size + state] += variance }

  /// The variance of a linear combination of the first three states.
  func variance(of g: SIMD3<Double>) -> Double {
    var sum = 0.0
    for i in 0..<3 { for j in 0..<3 { sum += g[i] * g[j] * self[i, j] } }
    return sum
  }

  /// Takes one scalar measurement `innovation = H error + noise`: corrects `error` and the covariance.
  ///
  /// - Parameters:
  ///   - h: The row of H.
  ///   - noise: The variance of the measurement, above zero.
  mutating func update(
    h: SIMD16<Double>, innovation: Double, noise: Double, error: inout SIMD16<Double>
  ) {
    let n = Self.size
    var ph = SIMD16<Double>()
    for row in 0..<n {
      var sum = 0.0
      for column in 0..<n { sum += p[row * n + column] * h[column] }
      ph[row] = sum
    }
    let predicted = (h * ph).sum()
    let total = predicted + noise
    guard total > 0, total.isFinite, innovation.isFinite else { return }
    let residual = innovation - (h * error).sum()
    error += ph * (residual / total)
    for row in 0..<n {
      for column in 0...row {
        let value = p[row * n + column] - ph[row] * ph[column] / total
        p[row * n + column] = value
        p[column * n + row] = value
      }
    }
  }
}
