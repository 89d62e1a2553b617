// What the calibration has left of the magnetometer's offset, from the field's own consistency.

import LinearAlgebra

/// The offset that makes the field of the last turns one and the same vector of the earth.
///
/// Least squares over running means with an *angle* of rotation as their memory: only turning shows an
/// offset, and rest must not forget what turning has shown. Learnt freely among the other states of the
/// filter the offset does harm, because a field that differs from place to place looks like one.
/// So it is believed only as far as it explains what is not explained without it.
///
/// With `s` a sample in the body frame, `R` its attitude, `c` an offset and `B` the field,
/// `s - c = R' B + noise`; over a window the best `B` for a given `c` is `<R s> - <R> c`, and what is
/// left has its least for `G c = <s> - <R>' <R s>`, `G = I - <R>'<R>`.
struct ResidualOffset: Sendable, Equatable, Codable {
  /// Microtesla, body frame; to be subtracted from a sample besides what the filter's own state holds.
  private(set) var found = Vector3.zero
  private var meanRotation = Matrix3(diagonal: .zero)
  private var meanEarth = Vector3.zero
  private var meanBody = Vector3.zero
  private var meanSquare = 0.0
  private var isEmpty = true
  /// `found` when the filter was last told of a move.
  private var told = Vector3.zero
  /// Radians of turning to wait for until the window says something, after a magnet was attached.
  private var wait = 0.0

  /// What explains the newest window, where something does.
  private(set) var solution: ResidualOffsetSolution?

  /// What the window has not seen of an offset: all along a direction where `H` is 1, nothing where it is 0.
  func hidden(_ p: ResidualOffsetParameters) -> Matrix3 {
    let g = observability
    let square = p.clearance * p.clearance
    guard !isEmpty, let inverse = regular(squared: g, by: square).inverse else { return .identity }
    return square * inverse
  }

  /// Mean square over the window of what neither a field nor the offset that is known explains, uT^2.
  func unexplained(known: Vector3) -> Double {
    guard !isEmpty else { return 0 }
    return left(by: known + found, observability, meanBody - meanRotation.transposed * meanEarth)
  }

  /// Mean square that an offset leaves over the window, uT^2, by its equations `G c = r`.
  private func left(by c: Vector3, _ g: Matrix3, _ r: Vector3) -> Double {
    meanSquare - meanEarth.lengthSquared - 2 * c.dot(r) + c.dot(g * c)
  }

  private var observability: Matrix3 {
    Matrix3.identity - meanRotation.transposed * meanRotation
  }

  private func regular(squared g: Matrix3, by square: Double) -> Matrix3 {
    g * g + Matrix3(diagonal: Vector3(repeating: square))
  }

  /// Takes the means of a block.
  /// - Parameters:
  ///   - rotation: Mean of the attitude matrices.
  ///   - body: Mean of the samples, freed of their lag, body frame, microtesla.
  ///   - earth: The same turned into the earth frame before the mean was taken.
  ///   - square: Mean square of the samples.
  ///   - turned: Radians that the block turned by.
  ///   - known: The filter's own state of the offset.
  /// - Returns: Squared move of `found` that the filter has to be told of, or `nil`.
  mutating func update(
    rotation: Matrix3, body: Vector3, earth: Vector3, square: Double, turned: Double,
    known: Vector3, _ p: ResidualOffsetParameters
  ) -> Double? {
    let gain = isEmpty ? 1 : turned / (p.memory + turned)
    isEmpty = false
    meanRotation = meanRotation + gain * (rotation - meanRotation)
    meanEarth += (earth - meanEarth) * gain
    meanBody += (body - meanBody) * gain
    meanSquare += (square - meanSquare) * gain
    wait = max(0, wait - turned)
    guard wait == 0 else { return nil }
    let target = estimate(beyond: known, p)
    found += (target - found) * (turned / (p.foundMemory + turned))
    guard (found - told).lengthSquared > p.step * p.step else { return nil }
    // North was found with what was known then: its error is the whole way from there, not the sum of the
    // steps' squares.
    let more = found.lengthSquared - told.lengthSquared
    let move = max((found - told).lengthSquared, more)
    told = found
    return move
  }

  /// What `known` leaves to be found, as far as the evidence goes.
  private mutating func estimate(
    beyond known: Vector3, _ p: ResidualOffsetParameters
  ) -> Vector3 {
    solution = nil
    let g = observability
    let r = meanBody - meanRotation.transposed * meanEarth
    let square = p.visibility * p.visibility
    guard let inverse = regular(squared: g, by: square).inverse else { return .zero }
    let beta = inverse * (g * (r - g * known))
    let rest = left(by: known + beta, g, r)
    let evidence = (left(by: known, g, r) - rest) / max(rest, p.evenness)
    guard evidence > 0 else { return .zero }
    let seen = square * inverse.trace
    if evidence > p.proof, seen < p.largestUnobserved, let whole = g.inverse {
      let c = whole * r
      if left(by: c, g, r) < p.unevenness {
        solution = ResidualOffsetSolution(iron: c, field: meanEarth - meanRotation * c)
        if evidence > p.certainty { return c - known }
      }
    }
    return beta * (evidence * evidence / (evidence * evidence + 1))
  }

  /// Takes the solution for what is found.
  mutating func adopt(_ solution: ResidualOffsetSolution, known: Vector3) {
    found = solution.iron - known
    told = found
    self.solution = nil
  }

  /// Begins anew: a magnet has come or gone.
  mutating func restart(_ p: ResidualOffsetParameters) {
    self = ResidualOffset()
    wait = p.leastRotation
  }

  /// Turns the earth frame.
  mutating func turnEarth(_ turn: Quaternion) {
    meanRotation = turn.matrix * meanRotation
    meanEarth = turn.rotate(meanEarth)
  }
}

/// Iron and field that explain the window wholly.
struct ResidualOffsetSolution: Sendable, Equatable, Codable {
  /// All of it, body frame, microtesla.
  var iron: Vector3
  /// In the earth frame, whose north may turn out not to be the field's.
  var field: Vector3
}
