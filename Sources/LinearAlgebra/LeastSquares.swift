// Linear least squares of a few unknowns, by their normal equations.

/// Gathers equations `row . x = value` one by one and solves for `x` where their squared errors are least.
///
/// The normal equations lose half the digits of the rows: scale the unknowns so that their coefficients
/// are of the same size. Memory does not grow with the number of equations.
public struct LeastSquares: Sendable, Hashable {
  /// How many unknowns there are.
  public let count: Int
  /// How many equations were added.
  public private(set) var equations = 0
  // Upper triangle by rows, and what stands on the right.
  private var normal: [Double]
  private var right: [Double]
  private var square = 0.0

  /// Makes a system without equations for `count` unknowns.
  public init(unknowns count: Int) {
    self.count = max(1, count)
    normal = Array(repeating: 0, count: self.count * self.count)
    right = Array(repeating: 0, count: self.count)
  }

  /// Adds an equation; `row` must hold one coefficient an unknown, else it is not used.
  public mutating func add(_ row: [Double], equals value: Double, weight: Double = 1) {
    guard row.count == count else { return }
    equations += 1
    for i in 0..<count {
      let scaled = weight * row[i]
      right[i] += scaled * value
      for j in i..<count { normal[i * count + j] += scaled * row[j] }
    }
    square += weight * value * value
  }

  /// Says of one unknown what is known without the equations: that it is `value` within `deviation`, in
  /// units of the deviation of an equation of weight 1.
  public mutating func expect(_ index: Int, _ value: Double, deviation: Double) {
    guard (0..<count).contains(index), deviation > 0 else { return }
    let weight = 1 / (deviation * deviation)
    normal[index * count + index] += weight
    right[index] += weight * value
    square += weight * value * value
  }

  /// The unknowns, or `nil` where the equations leave one of them open.
  public func solution() -> LeastSquaresSolution? {
    // Cholesky's factor of the normal matrix, lower triangle by rows.
    var factor = [Double](repeating: 0, count: count * count)
    for i in 0..<count {
      for j in 0...i {
        var sum = normal[j * count + i]
        for k in 0..<j { sum -= factor[i * count + k] * factor[j * count + k] }
        if i == j {
          // What rounding leaves of a pivot is no pivot.
          guard sum.isFinite, sum > normal[i * count + i] * 1e-13, sum > 0 else { return nil }
          factor[i * count + i] = sum.squareRoot()
        } else {
          factor[i * count + j] = sum / factor[j * count + j]
        }
      }
    }
    func solve(_ b: [Double]) -> [Double] {
      var x = b
      for i in 0..<count {
        for k in 0..<i { x[i] -= factor[i * count + k] * x[k] }
        x[i] /= factor[i * count + i]
      }
      for i in (0..<count).reversed() {
        for k in stride(from: i + 1, to: count, by: 1) { x[i] -= factor[k * count + i] * x[k] }
        x[i] /= factor[i * count + i]
      }
      return x
    }
    let x = solve(right)
    guard x.allSatisfy(\.isFinite) else { return nil }
    let covariance = (0..<count).map { index in
      var unit = [Double](repeating: 0, count: count)
      unit[index] = 1
      return solve(unit)
    }
    var error = square
    for i in 0..<count { error -= x[i] * right[i] }
    return LeastSquaresSolution(x: x, covariance: covariance, squaredError: max(0, error))
  }
}

/// What the equations come to.
public struct LeastSquaresSolution: Sendable, Hashable {
  /// The unknowns.
  public var x: [Double]
  /// The inverse of the normal matrix, by rows: times the variance of one equation of weight 1 it is the
  /// covariance of the unknowns.
  public var covariance: [[Double]]
  /// The weighted sum of the squared errors that are left.
  public var squaredError: Double
}
