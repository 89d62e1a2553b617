// The covariance of the attitude filter's errors: 11 x 11 on the stack, rows of 16 lanes.

/// One row, or one vector of errors: lanes 0 to 10 are used, the rest stay zero.
typealias ErrorVector = SIMD16<Double>

/// Where each error stands in an `ErrorVector`.
enum ErrorIndex {
  /// Attitude in the earth frame, `R_true = exp([phi]x) R`, radians: 0, 1, 2.
  static let attitude = 0
  /// Gyro bias in the body frame, rad/s: 3, 4, 5.
  static let bias = 3
  /// Horizontal velocity in the earth frame, m/s: 6, 7.
  static let velocity = 6
  /// The earth's field, horizontal and up, microtesla: 8, 9.
  static let field = 8
  /// The magnetometer's lag behind the gyro, seconds: 10.
  static let lag = 10
  /// How many there are.
  static let count = 11
}

/// A symmetric 11 x 11 matrix, updated in place. A tuple, because Swift 6.0 has no fixed-size
/// array that stays off the heap.
struct ErrorCovariance: Sendable {
  private var rows:
    (
      ErrorVector, ErrorVector, ErrorVector, ErrorVector, ErrorVector, ErrorVector, ErrorVector,
      ErrorVector, ErrorVector, ErrorVector, ErrorVector
    )

  init() {
    let zero = ErrorVector.zero
    rows = (zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero)
  }

  /// Lends the rows; the layout of a tuple of one type is that of an array.
  private mutating func withRows<R>(_ body: (UnsafeMutablePointer<ErrorVector>) -> R) -> R {
    withUnsafeMutablePointer(to: &rows) {
      body(UnsafeMutableRawPointer($0).assumingMemoryBound(to: ErrorVector.self))
    }
  }

  private func withRows<R>(_ body: (UnsafePointer<ErrorVector>) -> R) -> R {
    withUnsafePointer(to: rows) {
      body(UnsafeRawPointer($0).assumingMemoryBound(to: ErrorVector.self))
    }
  }

  /// One entry; `row` and `column` from 0 to 10.
  subscript(row: Int, column: Int) -> Double {
    precondition(row >= 0 && row < ErrorIndex.count)
    return withRows { (rows: UnsafePointer<ErrorVector>) in rows[row][column] }
  }

  /// Makes one error independent of all others, with the given variance.
  mutating func decouple(_ index: Int, variance: Double) {
    precondition(index >= 0 && index < ErrorIndex.count)
    withRows { (rows: UnsafeMutablePointer<ErrorVector>) in
      rows[index] = .zero
      for row in 0..<ErrorIndex.count { rows[row][index] = 0 }
      rows[index][index] = variance
    }
  }

  /// Adds `variance` to one error.
  mutating func add(_ variance: Double, to index: Int) {
    precondition(index >= 0 && index < ErrorIndex.count)
    withRows { (rows: UnsafeMutablePointer<ErrorVector>) in rows[index][index] += variance }
  }

  /// `P <- F P F' + diag(noise)` over one block.
  ///
  /// `F` is the identity but for `phi -= A b`, `v_x += f phi_y` and `v_y -= f phi_x`, where phi
  /// within the block is the mean of before and after.
  /// - Parameters:
  ///   - rotation: The rows of `A`, the sum of the rotation matrices times their time, seconds.
  ///   - force: Vertical specific force times the block's length, m/s.
  mutating func propagate(
    rotation: (x: SIMD3<Double>, y: SIMD3<Double>, z: SIMD3<Double>), force: Double,
    noise: ErrorVector
  ) {
    withRows { (p: UnsafeMutablePointer<ErrorVector>) in
      let (a, b, c) = rotation
      let half = force / 2
      let (oldX, oldY) = (p[0], p[1])
      p[0] -= a.x * p[3] + a.y * p[4] + a.z * p[5]
      p[1] -= b.x * p[3] + b.y * p[4] + b.z * p[5]
      p[2] -= c.x * p[3] + c.y * p[4] + c.z * p[5]
      p[6] += half * (oldY + p[1])
      p[7] -= half * (oldX + p[0])
      for row in 0..<ErrorIndex.count {
        let r = p[row]
        let x = r[0] - (a.x * r[3] + a.y * r[4] + a.z * r[5])
        let y = r[1] - (b.x * r[3] + b.y * r[4] + b.z * r[5])
        p[row][0] = x
        p[row][1] = y
        p[row][2] = r[2] - (c.x * r[3] + c.y * r[4] + c.z * r[5])
        p[row][6] = r[6] + half * (r[1] + y)
        p[row][7] = r[7] - half * (r[0] + x)
      }
      // Rounding makes the two halves differ; left alone the difference would grow.
      for row in 1..<ErrorIndex.count {
        for column in 0..<row {
          let mean = (p[row][column] + p[column][row]) / 2
          p[row][column] = mean
          p[column][row] = mean
        }
      }
      for row in 0..<ErrorIndex.count { p[row][row] += noise[row] }
    }
  }

  /// `P h`.
  func times(_ h: ErrorVector) -> ErrorVector {
    withRows { (rows: UnsafePointer<ErrorVector>) in
      var sum = ErrorVector.zero
      for row in 0..<ErrorIndex.count where h[row] != 0 { sum += h[row] * rows[row] }
      return sum
    }
  }

  /// Takes one scalar measurement `value = h x + noise` into `P` and the errors `x`.
  mutating func update(
    _ x: inout ErrorVector, h: ErrorVector, value: Double, variance: Double
  ) {
    let ph = times(h)
    let spread = (h * ph).sum() + variance
    guard spread > 0, spread.isFinite else { return }
    let gain = ph / spread
    x += gain * (value - (h * x).sum())
    withRows { (rows: UnsafeMutablePointer<ErrorVector>) in
      for row in 0..<ErrorIndex.count { rows[row] -= gain[row] * ph }
    }
  }

  /// Whether every variance is finite and not negative.
  var isSound: Bool {
    withRows { (rows: UnsafePointer<ErrorVector>) in
      for row in 0..<ErrorIndex.count {
        let variance = rows[row][row]
        guard variance >= 0, variance.isFinite else { return false }
      }
      return true
    }
  }
}

extension ErrorCovariance: Equatable {
  static func == (a: ErrorCovariance, b: ErrorCovariance) -> Bool {
    a.withRows { (left: UnsafePointer<ErrorVector>) in
      b.withRows { (right: UnsafePointer<ErrorVector>) in
        for row in 0..<ErrorIndex.count where left[row] != right[row] { return false }
        return true
      }
    }
  }
}

extension ErrorCovariance: Codable {
  init(from decoder: any Decoder) throws {
    self.init()
    var values = try decoder.unkeyedContainer()
    for row in 0..<ErrorIndex.count {
      for column in 0..<ErrorIndex.count {
        let value = try values.decode(Double.self)
        withRows { (rows: UnsafeMutablePointer<ErrorVector>) in rows[row][column] = value }
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    for row in 0..<ErrorIndex.count {
      for column in 0..<ErrorIndex.count { try values.encode(self[row, column]) }
    }
  }
}
