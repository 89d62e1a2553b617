// The covariance of the attitude filter's errors: 24 x 24.

import LinearAlgebra

/// A symmetric 24 x 24 matrix.
///
/// Its rows stand in one array: a copy of the filter shares them until one of the two goes on, and what
/// the filter does in place allocates nothing.
struct ErrorCovariance: Sendable, Hashable, Codable {
  private var rows = [ErrorVector](repeating: .zero, count: ErrorVector.count)
  /// What has been done since somebody last looked, where a smoother wants to know; no part of the value.
  var tape: ErrorTape?

  static func == (a: ErrorCovariance, b: ErrorCovariance) -> Bool { a.rows == b.rows }

  func hash(into hasher: inout Hasher) { hasher.combine(rows) }

  /// One entry; `row` and `column` from 0 to 23.
  subscript(row: Int, column: Int) -> Double { rows[row][column] }

  /// One row, which is also one column.
  func row(_ index: Int) -> ErrorVector { rows[index] }

  /// The part that belongs to three errors that follow each other.
  func block(_ index: Int) -> Matrix3 {
    Matrix3(
      columns: rows[index][vector: index], rows[index + 1][vector: index],
      rows[index + 2][vector: index])
  }

  /// Makes one error independent of all others, with the given variance.
  mutating func decouple(_ index: Int, variance: Double) {
    tape?.decouple(index)
    for row in rows.indices { rows[row][index] = 0 }
    rows[index] = .zero
    rows[index][index] = variance
  }

  /// Adds `variance` to one error.
  mutating func add(_ variance: Double, to index: Int) { rows[index][index] += variance }

  /// Adds a variance to each error.
  mutating func add(_ noise: ErrorVector) {
    for row in rows.indices { rows[row][row] += noise[row] }
  }

  /// Adds what one cause, of unknown size, does to all errors together: `P <- P + e e'`.
  mutating func add(common e: ErrorVector) {
    for row in rows.indices { rows[row].add(e, times: e[row]) }
  }

  /// The rows of a transition matrix that are not those of the identity.
  struct Transition {
    var attitude: (ErrorVector, ErrorVector, ErrorVector)
    /// Half of what the vertical force gives as velocity, m/s: the part of a tilt before and after that shows in it.
    var lift: Double
    /// What the body turned by, radians: where it is known, an error of scale or misalignment changes the attitude as that of
    /// the bias on its axis does, times this.
    var turned: Vector3?

    /// `v_x += lift (phi_y + phi_y')`, `v_y -= lift (phi_x + phi_x')`, with phi' the attitude's error after it.
    var velocity: (ErrorVector, ErrorVector) {
      var (x, y) = (ErrorVector.unit(6), ErrorVector.unit(7))
      x.add(attitude.1, times: lift)
      x.motion[1] += lift
      y.add(attitude.0, times: -lift)
      y.motion[0] -= lift
      return (x, y)
    }
  }

  /// `P <- F P F'`.
  mutating func propagate(_ f: Transition) {
    tape?.propagate(f)
    let (x, y, z) = attitudeProducts(f)
    let velocity = f.velocity
    rows.withUnsafeMutableBufferPointer { rows in
      var (vx, vy) = (rows[6], rows[7])
      vx.add(y, times: f.lift)
      vx.add(rows[1], times: f.lift)
      vy.add(x, times: -f.lift)
      vy.add(rows[0], times: -f.lift)
      // Outside the five rows and columns that change, a column of F P F' is that of F P.
      for row in rows.indices {
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
      meet(6, 6, vx.dot(velocity.0))
      meet(7, 0, vy.dot(f.attitude.0))
      meet(7, 1, vy.dot(f.attitude.1))
      meet(7, 2, vy.dot(f.attitude.2))
      meet(7, 6, vy.dot(velocity.0))
      meet(7, 7, vy.dot(velocity.1))
    }
  }

  /// `P` times the attitude's rows of a transition. Of bias, scale and misalignment only their sums on three axes count.
  private func attitudeProducts(_ f: Transition) -> (ErrorVector, ErrorVector, ErrorVector) {
    guard let turned = f.turned else {
      return (times(f.attitude.0), times(f.attitude.1), times(f.attitude.2))
    }
    func rate(_ axis: Int) -> ErrorVector {
      let first = ErrorVector.gyroMatrix + 3 * axis
      var sum = rows[ErrorVector.bias + axis]
      sum.add(rows[first], times: turned.x)
      sum.add(rows[first + 1], times: turned.y)
      sum.add(rows[first + 2], times: turned.z)
      return sum
    }
    let (x, y, z) = (rate(0), rate(1), rate(2))
    func product(_ axis: Int, _ row: ErrorVector) -> ErrorVector {
      var sum = rows[axis]
      sum.add(x, times: row.motion[3])
      sum.add(y, times: row.motion[4])
      sum.add(z, times: row.motion[5])
      return sum
    }
    return (product(0, f.attitude.0), product(1, f.attitude.1), product(2, f.attitude.2))
  }

  /// `P h`; cheap where `h` is mostly zero.
  func times(_ h: ErrorVector) -> ErrorVector {
    rows.withUnsafeBufferPointer { rows in
      var sum = ErrorVector.zero
      for row in rows.indices {
        let factor = h[row]
        if factor != 0 { sum.add(rows[row], times: factor) }
      }
      return sum
    }
  }

  /// Takes one scalar measurement `value = h x + noise` into `P` and the errors `x`.
  mutating func update(_ x: inout ErrorVector, h: ErrorVector, value: Double, variance: Double) {
    let ph = times(h)
    let (spread, innovation) = (h.dot(ph) + variance, value - h.dot(x))
    guard spread > 0, spread.isFinite else { return }
    tape?.update(h: h, ph: ph, innovation: innovation, spread: spread)
    correct(&x, ph, innovation: innovation, spread: spread)
  }

  /// Takes a measurement of one error itself.
  mutating func update(_ x: inout ErrorVector, error: Int, value: Double, variance: Double) {
    let ph = rows[error]
    let (spread, innovation) = (ph[error] + variance, value - x[error])
    guard spread > 0, spread.isFinite else { return }
    tape?.update(h: .unit(error), ph: ph, innovation: innovation, spread: spread)
    correct(&x, ph, innovation: innovation, spread: spread)
  }

  private mutating func correct(
    _ x: inout ErrorVector, _ ph: ErrorVector, innovation: Double, spread: Double
  ) {
    x.add(ph, times: innovation / spread)
    let share = -1 / spread
    rows.withUnsafeMutableBufferPointer { rows in
      ph.forEach { row, value in rows[row].add(ph, times: value * share) }
    }
  }

  /// The same for a measurement that corrects only a part of each error, and otherwise considers it: the partial-update
  /// filter of Brink (2017), which with shares of 0 is that of Schmidt (1966).
  ///
  /// With `g` the corrected part of `P h / s` and `s` the innovation's variance:
  /// `P <- P - g (P h)' - (P h) g' + s g g'`.
  ///
  /// - Parameter ph: `P h`.
  /// - Returns: What was taken from `P`; `nil` where the measurement could not be taken.
  mutating func update(
    _ x: inout ErrorVector, h: ErrorVector, ph: ErrorVector, value: Double, variance: Double,
    part: UpdateShares
  ) -> Reduction? {
    let spread = h.dot(ph) + variance
    guard spread > 0, spread.isFinite else { return nil }
    let innovation = value - h.dot(x)
    let corrected = part.corrected(ph)
    tape?.update(h: h, ph: ph, innovation: innovation, spread: spread)
    x.add(corrected, times: innovation / spread)
    var left = ph
    left.add(corrected, times: -1)
    let share = -1 / spread
    rows.withUnsafeMutableBufferPointer { rows in
      for row in rows.indices {
        let (a, b) = (corrected[row], left[row])
        if a != 0 { rows[row].add(ph, times: a * share) }
        if b != 0 { rows[row].add(corrected, times: b * share) }
      }
    }
    return Reduction(corrected: corrected, whole: ph, left: left, share: share)
  }

  /// What a measurement has taken from `P`, which gives the product with another row without a look at all of `P`.
  struct Reduction {
    fileprivate var corrected: ErrorVector
    fileprivate var whole: ErrorVector
    fileprivate var left: ErrorVector
    fileprivate var share: Double

    /// `P h` after it, by the one before it.
    func applied(to ph: ErrorVector, _ h: ErrorVector) -> ErrorVector {
      var result = ph
      result.add(corrected, times: share * whole.dot(h))
      result.add(left, times: share * corrected.dot(h))
      return result
    }
  }

  /// One error fades: `x <- factor x`.
  mutating func fade(_ index: Int, by factor: Double) {
    tape?.fade(index, by: factor)
    for row in rows.indices { rows[row][index] *= factor }
    var row = ErrorVector.zero
    row.add(rows[index], times: factor)
    rows[index] = row
  }

  /// Turns the earth frame about the vertical: errors of attitude and velocity turn with it.
  mutating func turnEarth(sine: Double, cosine: Double) {
    tape?.turnEarth(sine: sine, cosine: cosine)
    for a in [ErrorVector.attitude, ErrorVector.velocity] {
      let (x, y) = (rows[a], rows[a + 1])
      rows[a] = .zero
      rows[a].add(x, times: cosine)
      rows[a].add(y, times: -sine)
      rows[a + 1] = .zero
      rows[a + 1].add(x, times: sine)
      rows[a + 1].add(y, times: cosine)
      for row in rows.indices {
        let (left, right) = (rows[row][a], rows[row][a + 1])
        rows[row][a] = cosine * left - sine * right
        rows[row][a + 1] = sine * left + cosine * right
      }
    }
  }

  /// Whether every variance is finite and not negative.
  var isSound: Bool {
    rows.indices.allSatisfy { rows[$0][$0] >= 0 && rows[$0][$0].isFinite }
  }
}

/// How much of each error a measurement corrects: 1 where it is estimated, 0 where it is only considered.
struct UpdateShares: Sendable {
  /// Of each error but the gyro's bias.
  var shares: ErrorVector
  /// Of the bias about the horizontal axes.
  var levelBias: Double
  /// Of the bias about the vertical.
  var verticalBias = 1.0
  /// The vertical in the body frame.
  var up: SIMD3<Double>

  /// The part of `P h` that is corrected.
  func corrected(_ ph: ErrorVector) -> ErrorVector {
    var corrected = ErrorVector(
      motion: ph.motion * shares.motion, magnetic: ph.magnetic * shares.magnetic,
      scale: ph.scale * shares.scale)
    let bias = ph[vector: ErrorVector.bias]
    let vertical = (bias * up).sum() * up
    corrected[vector: ErrorVector.bias] = vertical * verticalBias + (bias - vertical) * levelBias
    return corrected
  }
}

extension ErrorCovariance {
  init(from decoder: any Decoder) throws {
    rows = try decoder.singleValueContainer().decode([ErrorVector].self)
    guard rows.count == ErrorVector.count else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "not \(ErrorVector.count) rows"))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rows)
  }
}
