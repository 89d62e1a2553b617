// The covariance of the attitude filter's errors: 23 x 23 on the stack.

import LinearAlgebra

/// A symmetric 23 x 23 matrix, updated in place.
///
/// Its methods are mutating even where they only read: a pointer to the rows of a value that may not
/// change costs a copy of four kilobytes.
struct ErrorCovariance: Sendable {
  private typealias Eight = (
    ErrorVector, ErrorVector, ErrorVector, ErrorVector, ErrorVector, ErrorVector, ErrorVector,
    ErrorVector
  )

  private var rows: (Eight, Eight, Eight)

  init() {
    let zero = ErrorVector.zero
    let eight = (zero, zero, zero, zero, zero, zero, zero, zero)
    rows = (eight, eight, eight)
  }

  /// Lends the rows; the layout of a tuple of one type is that of an array.
  @inline(__always)
  private mutating func withRows<R>(_ body: (UnsafeMutablePointer<ErrorVector>) -> R) -> R {
    withUnsafeMutablePointer(to: &rows) {
      body(UnsafeMutableRawPointer($0).assumingMemoryBound(to: ErrorVector.self))
    }
  }

  /// One variance; `index` from 0 to 22.
  mutating func variance(_ index: Int) -> Double {
    precondition(index >= 0 && index < ErrorVector.count)
    return withRows { $0[index][index] }
  }

  /// The part that belongs to three errors that follow each other.
  mutating func block(_ index: Int) -> Matrix3 {
    precondition(index >= 0 && index + 2 < ErrorVector.count)
    return withRows { rows in
      Matrix3(
        columns: rows[index][vector: index], rows[index + 1][vector: index],
        rows[index + 2][vector: index])
    }
  }

  /// Makes one error independent of all others, with the given variance.
  mutating func decouple(_ index: Int, variance: Double) {
    precondition(index >= 0 && index < ErrorVector.count)
    withRows { rows in
      rows[index] = .zero
      for row in 0..<ErrorVector.count { rows[row][index] = 0 }
      rows[index][index] = variance
    }
  }

  /// Adds `variance` to one error.
  mutating func add(_ variance: Double, to index: Int) {
    precondition(index >= 0 && index < ErrorVector.count)
    withRows { $0[index][index] += variance }
  }

  /// Adds a variance to each error.
  mutating func add(_ noise: ErrorVector) {
    withRows { rows in
      for row in 0..<ErrorVector.count { rows[row][row] += noise[row] }
    }
  }

  /// `P <- F P F'`, where `F` is the identity but for the rows of attitude and velocity.
  mutating func propagate(_ f: Transition) {
    let (x, y, z) = (times(f.attitude.0), times(f.attitude.1), times(f.attitude.2))
    let (vx, vy) = (times(f.velocity.0), times(f.velocity.1))
    withRows { rows in
      // Outside the five rows and columns that change, a column of F P F' is that of F P.
      for row in 0..<ErrorVector.count {
        rows[row][0] = x[row]
        rows[row][1] = y[row]
        rows[row][2] = z[row]
        rows[row][6] = vx[row]
        rows[row][7] = vy[row]
      }
      (rows[0], rows[1], rows[2], rows[6], rows[7]) = (x, y, z, vx, vy)
      func meet(_ a: Int, _ b: Int, _ value: Double) {
        rows[a][b] = value
        rows[b][a] = value
      }
      meet(0, 0, x.dot(f.attitude.0))
      meet(1, 0, y.dot(f.attitude.0))
      meet(1, 1, y.dot(f.attitude.1))
      meet(2, 0, z.dot(f.attitude.0))
      meet(2, 1, z.dot(f.attitude.1))
      meet(2, 2, z.dot(f.attitude.2))
      meet(6, 0, vx.dot(f.attitude.0))
      meet(6, 1, vx.dot(f.attitude.1))
      meet(6, 2, vx.dot(f.attitude.2))
      meet(6, 6, vx.dot(f.velocity.0))
      meet(7, 0, vy.dot(f.attitude.0))
      meet(7, 1, vy.dot(f.attitude.1))
      meet(7, 2, vy.dot(f.attitude.2))
      meet(7, 6, vy.dot(f.velocity.0))
      meet(7, 7, vy.dot(f.velocity.1))
    }
  }

  /// `P h`; cheap where `h` is mostly zero.
  mutating func times(_ h: ErrorVector) -> ErrorVector {
    withRows { rows in
      var sum = ErrorVector.zero
      for row in 0..<ErrorVector.count {
        let factor = h[row]
        if factor != 0 { sum.add(rows[row], times: factor) }
      }
      return sum
    }
  }

  /// Takes one scalar measurement `value = h x + noise` into `P` and the errors `x`.
  mutating func update(_ x: inout ErrorVector, h: ErrorVector, value: Double, variance: Double) {
    update(&x, h: h, ph: times(h), value: value, variance: variance)
  }

  private mutating func update(
    _ x: inout ErrorVector, h: ErrorVector, ph: ErrorVector, value: Double, variance: Double
  ) {
    let spread = h.dot(ph) + variance
    guard spread > 0, spread.isFinite else { return }
    x.add(ph, times: (value - h.dot(x)) / spread)
    withRows { rows in
      for row in 0..<ErrorVector.count { rows[row].add(ph, times: -ph[row] / spread) }
    }
  }

  /// Turns the earth frame about the vertical: attitude and velocity errors turn with it.
  mutating func turnEarth(sine: Double, cosine: Double) {
    withRows { rows in
      for (a, b) in [(0, 1), (6, 7)] as [(Int, Int)] {
        let (x, y) = (rows[a], rows[b])
        rows[a] = .zero
        rows[b] = .zero
        rows[a].add(x, times: cosine)
        rows[a].add(y, times: -sine)
        rows[b].add(x, times: sine)
        rows[b].add(y, times: cosine)
        for row in 0..<ErrorVector.count {
          let (left, right) = (rows[row][a], rows[row][b])
          rows[row][a] = cosine * left - sine * right
          rows[row][b] = sine * left + cosine * right
        }
      }
    }
  }

  /// Whether every variance is finite and not negative.
  mutating func isSound() -> Bool {
    withRows { rows in
      for row in 0..<ErrorVector.count {
        let variance = rows[row][row]
        guard variance >= 0, variance.isFinite else { return false }
      }
      return true
    }
  }

  /// The rows of `F` that are not those of the identity.
  struct Transition {
    var attitude: (ErrorVector, ErrorVector, ErrorVector)
    var velocity: (ErrorVector, ErrorVector)
  }
}

extension ErrorCovariance: Equatable {
  static func == (a: ErrorCovariance, b: ErrorCovariance) -> Bool {
    var (left, right) = (a, b)
    return left.withRows { x in
      right.withRows { y in
        for row in 0..<ErrorVector.count where x[row] != y[row] { return false }
        return true
      }
    }
  }
}

extension ErrorCovariance: Codable {
  init(from decoder: any Decoder) throws {
    self.init()
    var values = try decoder.unkeyedContainer()
    for row in 0..<ErrorVector.count {
      for column in 0..<ErrorVector.count {
        let value = try values.decode(Double.self)
        withRows { $0[row][column] = value }
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    var copy = self
    for row in 0..<ErrorVector.count {
      for column in 0..<ErrorVector.count {
        try values.encode(copy.withRows { $0[row][column] })
      }
    }
  }
}
